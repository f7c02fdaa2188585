/* Every model passes the test cases that it carries. */
#include "check.h"

static void regression(const model_file *file) {
    if (is_int8_model(file)) {
        return;
    }
    nk_test_summary_t summary = nk_run_model_tests(file->path);
    EXPECT_THAT(summary.failed == 0 && summary.passed > 0, "%u passed, %u failed", summary.passed, summary.failed);
}

/* A file that is not there, or that carries no cases, is one failed test. */
static void nothing_to_test(void) {
    nk_test_summary_t summary = nk_run_model_tests("models/no_such_model.nk");
    EXPECT(summary.passed == 0 && summary.failed == 1);
}

int main(int argc, char **argv) {
    setenv("NETKIT_REGRESSION_VERBOSE", "0", 0);
    for_each_model(argc, argv, "regression", regression);
    RUN(nothing_to_test);
    return report();
}
