/* nk_arch_print writes the Network Summary, line by line as the specification shows it, in step with printf. */
#include "capture.h"

static const char *text;

/* Lines between which the summary stands show that both go through the same stream. */
static nk_status_t print_to_text(const char *path) {
    capture_begin();
    printf("before\n");
    nk_status_t status = nk_arch_print(path);
    printf("after\n");
    fflush(stdout);
    text = capture_end();
    return status;
}

#define DOUBLE "=====================================================\n"
#define SINGLE "-----------------------------------------------------\n"

static const char test_mlp_summary[] = "before\n" DOUBLE "Network Summary\n" DOUBLE
                                       "\n"
                                       "Name        : test_mlp\n"
                                       "Type        : MLP\n"
                                       "Version     : 3\n"
                                       "\n"
                                       "Input Shape : [1, 2]\n"
                                       "\n"
                                       "Layers (2)\n" SINGLE "  [0] Dense units=2 activation=relu\n"
                                       "  [1] Dense units=2 activation=none\n" SINGLE "Input elements : 2\n"
                                       "Output elements: 2\n"
                                       "Weight floats  : 12\n" DOUBLE "after\n";

/* Compares line by line, so that a failure names the first line that differs. */
static void test_mlp_is_the_worked_example(void) {
    EXPECT_OK(print_to_text("models/test_mlp.nk"));
    const char *found = text, *wanted = test_mlp_summary;
    for (int line = 1; *found != '\0' || *wanted != '\0'; line++) {
        int found_length = (int)strcspn(found, "\n"), wanted_length = (int)strcspn(wanted, "\n");
        if (!EXPECT_THAT(found_length == wanted_length && strncmp(found, wanted, (size_t)found_length) == 0,
                         "line %d is \"%.*s\", not \"%.*s\"", line, found_length, found, wanted_length, wanted)) {
            return;
        }
        found += found_length + (found[found_length] == '\n');
        wanted += wanted_length + (wanted[wanted_length] == '\n');
    }
}

static void nothing_on_failure(void) {
    EXPECT_STATUS(print_to_text("models/no_such_model.nk"), NK_ERR_MODEL_OPEN);
    EXPECT(strcmp(text, "before\nafter\n") == 0);
}

/* Every model, int8 ones too: the frame, the counts of the architecture, and one line a layer. */
static void summary(const model_file *file) {
    nk_arch_info_t arch;
    char line[96];
    if (!EXPECT_OK(nk_parse_architecture_memory(file->bytes, file->size, &arch)) ||
        !EXPECT_OK(print_to_text(file->path))) {
        return;
    }
    EXPECT(strncmp(text, test_mlp_summary, strlen("before\n" DOUBLE "Network Summary\n" DOUBLE "\n")) == 0);
    snprintf(line, sizeof line, "Version     : %u\n", (unsigned)arch.version);
    EXPECT_THAT(strstr(text, line) != NULL, "\"%s\" missing", line);
    snprintf(line, sizeof line, "Layers (%u)\n" SINGLE, (unsigned)arch.num_layers);
    EXPECT_THAT(strstr(text, line) != NULL, "\"%s\" missing", line);
    snprintf(line, sizeof line, "Input elements : %u\n", (unsigned)arch.input_elements);
    EXPECT_THAT(strstr(text, line) != NULL, "\"%s\" missing", line);
    snprintf(line, sizeof line, "Output elements: %u\n", (unsigned)arch.output_elements);
    EXPECT_THAT(strstr(text, line) != NULL, "\"%s\" missing", line);
    snprintf(line, sizeof line, "Weight floats  : %zu\n" DOUBLE "after\n", arch.expected_weight_floats);
    EXPECT_THAT(strstr(text, line) != NULL, "\"%s\" missing", line);
    for (uint32_t i = 0; i < arch.num_layers; i++) {
        snprintf(line, sizeof line, "\n  [%u] ", (unsigned)i);
        EXPECT_THAT(strstr(text, line) != NULL, "layer %u missing", (unsigned)i);
    }
}

int main(int argc, char **argv) {
    if (argc == 1) {
        RUN(test_mlp_is_the_worked_example);
        RUN(nothing_on_failure);
    }
    for_each_model(argc, argv, "summary", summary);
    return report();
}
