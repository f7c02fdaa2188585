/* Every model passes the test cases that it carries; those of this repository also in strict mode. */
#include "check.h"

static void regression(const model_file *file) {
    nk_test_summary_t summary = nk_run_model_tests(file->path);
    EXPECT_THAT(summary.failed == 0 && summary.passed > 0, "%u passed, %u failed", summary.passed, summary.failed);
}

/* A file that is not there, or that carries no cases, is one failed test. */
static void nothing_to_test(void) {
    nk_test_summary_t summary = nk_run_model_tests("models/no_such_model.nk");
    EXPECT(summary.passed == 0 && summary.failed == 1);
}

/* Strict mode sees an output that is wrong but not the largest: the last one of the last case, which ends the file. */
static void strict_mode_looks_at_every_output(void) {
    char path[] = "/tmp/nk_regression_XXXXXX";
    int descriptor = mkstemp(path);
    FILE *stream = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (!EXPECT(stream != NULL)) {
        return;
    }
    model_file file = need_model("models/digits_mlp_int8.nk");
    const float wrong = -1e3f;
    memcpy(file.bytes + file.size - sizeof wrong, &wrong, sizeof wrong);
    fwrite(file.bytes, 1, file.size, stream);
    fclose(stream);
    setenv("NETKIT_REGRESSION_STRICT", "0", 1);
    nk_test_summary_t lax = nk_run_model_tests(path);
    setenv("NETKIT_REGRESSION_STRICT", "1", 1);
    nk_test_summary_t strict = nk_run_model_tests(path);
    EXPECT(lax.failed == 0 && lax.passed > 0);
    EXPECT(strict.failed == 1 && strict.passed + 1 == lax.passed);
    remove(path);
    free(file.bytes);
}

int main(int argc, char **argv) {
    setenv("NETKIT_REGRESSION_VERBOSE", "0", 0);
    for_each_model(argc, argv, "regression", regression);
    if (argc == 1) {
        setenv("NETKIT_REGRESSION_STRICT", "1", 1);
        for_each_model(argc, argv, "regression strict", regression);
        RUN(strict_mode_looks_at_every_output);
    }
    RUN(nothing_to_test);
    return report();
}
