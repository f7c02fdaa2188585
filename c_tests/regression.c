/* Every model passes the test cases that it carries; those of this repository also in strict mode. */
#include "check.h"

#include <unistd.h>

static void regression(const model_file *file) {
    nk_test_summary_t summary = nk_run_model_tests(file->path);
    EXPECT_THAT(summary.failed == 0 && summary.passed > 0, "%u passed, %u failed", summary.passed, summary.failed);
}

/* A file that is not there, or that carries no cases, is one failed test. */
static void nothing_to_test(void) {
    nk_test_summary_t summary = nk_run_model_tests("models/no_such_model.nk");
    EXPECT(summary.passed == 0 && summary.failed == 1);
}

static char printed[4096];

static void keep(void *user, const char *text, size_t length) {
    size_t used = strlen(printed);
    (void)user;
    if (length < sizeof printed - used) {
        memcpy(printed + used, text, length);
        printed[used + length] = '\0';
    }
}

/* A file that is no model, one that ends in the middle of its cases, and models that cannot be loaded: each is one failed
 * test, and the report says why. */
static void models_that_cannot_be_tested(void) {
    static const struct {
        size_t at;
        unsigned char value;
        size_t missing; /* bytes at the end */
        const char *report, *why;
    } faults[] = {
        {0, 'X', 0, "Model parse failed (", "NKIT"},
        {10, 0, 0, "Model parse failed (", "file size"},
        {4, 3, 10, "Test load failed (", "ends"},
        {52, 0, 0, "Test load failed (", "layer 0 (dense)"},
        {8, 7, 0, "Test load failed (", "network_kind is 7"},
    };
    char path[] = "/tmp/nk_regression_XXXXXX";
    int descriptor = mkstemp(path);
    if (!EXPECT(descriptor >= 0)) {
        return;
    }
    nk_set_print_callback(keep, NULL);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        model_file file = need_model("models/test_mlp.nk");
        FILE *stream = fopen(path, "wb");
        file.bytes[faults[i].at] = faults[i].value;
        if (EXPECT(stream != NULL)) {
            fwrite(file.bytes, 1, file.size - faults[i].missing, stream);
            fclose(stream);
        }
        printed[0] = '\0';
        nk_test_summary_t summary = nk_run_model_tests(path);
        EXPECT_THAT(summary.passed == 0 && summary.failed == 1, "fault %zu", i);
        EXPECT_THAT(strstr(printed, faults[i].report) != NULL && strstr(printed, path) != NULL, "%s", printed);
        EXPECT_THAT(strstr(printed, faults[i].why) != NULL, "%s", printed);
        free(file.bytes);
    }
    nk_set_print_callback(NULL, NULL);
    close(descriptor);
    remove(path);
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
    RUN(models_that_cannot_be_tested);
    RUN(nothing_to_test);
    return report();
}
