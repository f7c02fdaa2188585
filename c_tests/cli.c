/* The command line as a function, and the tests of a folder of models. */
#define NK_COMPAT_NULLPTR
#include "check.h"

#include <sys/stat.h>
#include <unistd.h>

typedef struct text {
    char bytes[4 * 1024 * 1024];
    size_t length;
} text;

static text out, err;

static void append(text *to, const char *piece, size_t length) {
    if (length < sizeof to->bytes - to->length) {
        memcpy(to->bytes + to->length, piece, length);
        to->length += length;
        to->bytes[to->length] = '\0';
    }
}

static void on_print(void *user, const char *piece, size_t length) {
    append((text *)user, piece, length);
}

static void on_log(void *user, int32_t level, const char *piece, size_t length) {
    EXPECT(level == NK_LOG_ERROR);
    append((text *)user, piece, length);
    append((text *)user, "\n", 1);
}

static void forget(void) {
    out.length = err.length = 0;
    out.bytes[0] = err.bytes[0] = '\0';
}

/* Calls nk_cli_run with words that a NULL ends. */
static int cli(const char *first, ...) {
    static char words[16][256];
    char *argv[17] = {words[0]};
    int argc = 1;
    va_list rest;
    strcpy(words[0], "netkit");
    va_start(rest, first);
    for (const char *word = first; word != NULL && argc < 16; word = va_arg(rest, const char *)) {
        snprintf(words[argc], sizeof words[argc], "%s", word);
        argv[argc] = words[argc];
        argc++;
    }
    va_end(rest);
    argv[argc] = NULL;
    forget();
    return nk_cli_run(argc, argv);
}

#define END ((const char *)0)

static bool says(const text *where, const char *what) {
    return strstr(where->bytes, what) != NULL;
}

/* The only line on stderr. */
static bool tells(const char *line) {
    size_t length = strlen(line);
    return err.length == length + 1 && strncmp(err.bytes, line, length) == 0;
}

static void help(void) {
    char name[] = "netkit";
    char *argv[] = {name, NULL};
    forget();
    EXPECT(nk_cli_run(1, argv) == 1 && says(&out, "Usage:") && err.length == 0);
    forget();
    EXPECT(nk_cli_run(0, NULL) == 1 && says(&out, "Usage:"));
    EXPECT(nk_cli_run(-1, argv) == 1);
    EXPECT(nk_cli_run(2, NULL) == 1);
    EXPECT(cli("help", END) == 0 && says(&out, "Usage:") && says(&out, "--arena SIZE") && err.length == 0);
    EXPECT(cli("-h", END) == 0 && says(&out, "Usage:"));
    EXPECT(cli("--help", END) == 0 && says(&out, "Usage:"));
    EXPECT(cli("run", "models/test_mlp.nk", "-h", END) == 0 && says(&out, "Usage:"));
    EXPECT(cli("inspect", "--help", END) == 0 && says(&out, "Usage:"));
    EXPECT(cli("inspect", "help", END) == 1 && says(&err, "Failed to parse help: ")); /* the name of a file */
    EXPECT(cli("dance", END) == 1 && tells("Unknown command: dance") && says(&out, "Usage:"));
    EXPECT(cli("--arena", "64k", END) == 1 && says(&out, "Usage:") && err.length == 0);
}

static void arena_sizes(void) {
    static const char *const wrong[] = {"", "0", "x", "64q", "-1", "64kb", "99999999999999999999", "17179869184g"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char line[64];
        snprintf(line, sizeof line, "Invalid --arena size: %s", wrong[i]);
        EXPECT_THAT(cli("--arena", wrong[i], "help", END) == 1 && tells(line) && out.length == 0, "%s", wrong[i]);
    }
    EXPECT(cli("--arena", END) == 1 && tells("Missing value for --arena"));
    EXPECT(cli("--arena=", "help", END) == 1 && tells("Invalid --arena size: "));
    EXPECT(cli("--arenas", "help", END) == 1 && tells("Unknown command: --arenas"));
    /* Sizes that can be said but not had. */
    const char *most = sizeof(size_t) == 8 ? "1000000000g" : "3g";
    EXPECT(cli("--arena", most, "inspect", "models/test_mlp.nk", "--full", END) == 1);
    EXPECT(says(&err, "Failed to initialize arena: ") && out.length == 0);
    if (sizeof(size_t) == 4) {
        EXPECT(cli("--arena", "4g", "help", END) == 1 && tells("Invalid --arena size: 4g"));
    }
    EXPECT(cli("--arena", "123456", "inspect", "models/test_mlp.nk", "--full", END) == 0);
    EXPECT(says(&out, "Arena (123456 bytes capacity):"));
    EXPECT(cli("--arena", "1g", "--arena= 2 MiB ", "inspect", "models/test_mlp.nk", "--full", END) == 0);
    EXPECT(says(&out, "Arena (2097152 bytes capacity):"));
    EXPECT(cli("inspect", "models/test_mlp.nk", "--full", END) == 0); /* the size is forgotten */
    EXPECT(says(&out, "Arena (67108864 bytes capacity):"));
}

static size_t number_after(const char *label) {
    const char *found = strstr(out.bytes, label);
    return found != NULL ? (size_t)strtoull(found + strlen(label), NULL, 10) : 0;
}

static void inspect(void) {
    static const char *const paths[] = {"models/test_mlp.nk", "models/digits_cnn.nk", "models/digits_mlp_int8.nk",
                                        "models/digits_cnn_int8.nk"};
    for (size_t i = 0; i < 4; i++) {
        model_file file = need_model(paths[i]);
        nk_memory_plan_t plan = plan_of(&file);
        EXPECT(cli("inspect", paths[i], END) == 0);
        EXPECT(says(&out, "Network Summary") && !says(&out, "Arena (") && err.length == 0);
        EXPECT(cli("inspect", paths[i], "more", "--full", END) == 0);
        EXPECT(says(&out, "Network Summary") && err.length == 0);
        EXPECT(number_after("after load:") == plan.arena_bytes);
        EXPECT(number_after("after forward (zero):") == plan.arena_bytes);
        EXPECT(number_after("remaining:") == 67108864 - plan.arena_bytes);
        EXPECT(number_after("flash payload:") == plan.flash_bytes);
        free(file.bytes);
    }
    EXPECT(cli("inspect", END) == 1 && tells("Missing model path") && says(&out, "Usage:"));
    EXPECT(cli("inspect", "models/no_such_model.nk", END) == 1);
    EXPECT(says(&err, "Failed to parse models/no_such_model.nk: ") && out.length == 0);
    EXPECT(cli("inspect", "c_tests/cli.c", END) == 1 && out.length == 0);
    EXPECT(says(&err, "Failed to parse c_tests/cli.c: ") && says(&err, "NKIT"));
    EXPECT(cli("--arena", "100", "inspect", "models/test_mlp.nk", "--full", END) == 1);
    EXPECT(says(&err, "Failed to load MLP: ") && says(&err, "100") && out.length == 0);
    EXPECT(cli("--arena", "100", "inspect", "models/test_cnn.nk", "--full", END) == 1);
    EXPECT(says(&err, "Failed to load CNN: "));
}

static void run(void) {
    EXPECT(cli("run", "models/test_mlp.nk", "--input", "1,2", END) == 0 && err.length == 0);
    EXPECT(says(&out, "Network Summary"));
    EXPECT(says(&out, "\n\nInput: shape=[1, 2] values=[1.0000, 2.0000]\n"));
    EXPECT(says(&out, "\nOutput: shape=[1, 2] values=[3.0000, 3.0000]\n"));
    static const char *const same[] = {"1 2", " ,1,,2, ", "1e0\t0x2", "+1 2.0"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        EXPECT_THAT(cli("run", "models/test_mlp.nk", "--input", same[i], END) == 0 &&
                        says(&out, "values=[1.0000, 2.0000]"), "%s", same[i]);
    }
    EXPECT(cli("run", "models/test_mlp.nk", "--inputx", "7", "--input=1-2", "--input", "9,9", END) == 0);
    EXPECT(says(&out, "values=[1.0000, -2.0000]"));
    EXPECT(cli("run", "models/test_mlp.nk", "--input", "nan,inf", END) == 0 && says(&out, "values=[nan, inf]"));

    const char *missing = "Missing required --input <a,b,c,...>";
    EXPECT(cli("run", END) == 1 && tells("Missing model path") && says(&out, "Usage:"));
    EXPECT(cli("run", "models/test_mlp.nk", END) == 1 && tells(missing) && out.length == 0);
    EXPECT(cli("run", "models/test_mlp.nk", "--input", END) == 1 && tells(missing));
    EXPECT(cli("run", "models/no_such_model.nk", END) == 1 && tells(missing));
    EXPECT(cli("run", "models/no_such_model.nk", "--input", "1,x", END) == 1);
    EXPECT(says(&err, "Failed to parse models/no_such_model.nk: "));
    static const char *const wrong[] = {"", " , ", "one", "1,2x", "1;2"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char line[64];
        snprintf(line, sizeof line, "Invalid --input values: %s", wrong[i]);
        EXPECT_THAT(cli("run", "models/test_mlp.nk", "--input", wrong[i], END) == 1 && tells(line) && out.length == 0,
                    "%s", wrong[i]);
    }
    EXPECT(cli("run", "models/test_mlp.nk", "--input", "1,2,3", END) == 1);
    EXPECT(tells("Input has 3 values but model expects 2") && out.length == 0);
    /* The summary comes before the load. */
    EXPECT(cli("--arena", "100", "run", "models/test_mlp.nk", "--input", "1,2", END) == 1);
    EXPECT(says(&err, "Failed to load MLP: ") && says(&out, "Network Summary") && !says(&out, "Output:"));
}

/* More values than the list may have. */
static void run_with_too_many_values(void) {
    size_t size = 2 * (NK_MAX_CASE_FLOATS + 1) + 1;
    char *list = (char *)must_alloc(size), name[] = "netkit", command[] = "run", path[] = "models/test_mlp.nk";
    char option[] = "--input";
    char *argv[] = {name, command, path, option, list};
    for (size_t i = 0; i + 1 < size; i++) {
        list[i] = i % 2 == 0 ? '1' : ' ';
    }
    list[size - 1] = '\0';
    forget();
    EXPECT(nk_cli_run(5, argv) == 1 && says(&err, "--input") && !says(&err, "16384 values"));
    list[size - 3] = '\0';
    forget();
    EXPECT(nk_cli_run(5, argv) == 1 && says(&err, "16384 values"));
    free(list);
}

/* An int8 model gets and gives floats, as in nk_model_run_auto. */
static void run_int8(void) {
    static unsigned char memory[64 * 1024];
    nk_arena_t arena;
    nk_model_t model;
    float input[256], output[10];
    uint32_t count;
    char list[256 * 12] = "", wanted[256] = "\nOutput: shape=[1, 10] values=[";
    for (int i = 0; i < 256; i++) {
        input[i] = (float)(i % 16) / 16.0f;
        sprintf(list + strlen(list), "%g,", (double)input[i]);
    }
    nk_arena_init(&arena, memory, sizeof memory);
    EXPECT_OK(nk_load("models/digits_mlp_int8.nk", &arena, &model));
    EXPECT_OK(nk_model_run_auto(&model, &arena, input, 256, output, 10, &count));
    for (int i = 0; i < 10; i++) {
        sprintf(wanted + strlen(wanted), "%s%.4f", i == 0 ? "" : ", ", (double)output[i]);
    }
    char name[] = "netkit", command[] = "run", path[] = "models/digits_mlp_int8.nk", option[] = "--input";
    char *argv[] = {name, command, path, option, list, NULL};
    forget();
    EXPECT(nk_cli_run(5, argv) == 0 && err.length == 0);
    EXPECT_THAT(says(&out, wanted), "no %s in %.1500s", wanted, out.bytes);
    EXPECT(says(&out, "\nInput: shape=[1, 256] values=[0.0000, 0.0625, "));
    nk_arena_reset(&arena);
}

static void test_one_model(void) {
    EXPECT(cli("test", "models/test_mlp.nk", "ignored", END) == 0 && err.length == 0);
    EXPECT(says(&out, "Model: models/test_mlp.nk\n") && says(&out, "\n MODEL TEST SUMMARY\n") &&
           says(&out, "\nFailed: 0\n"));
    EXPECT(cli("test", "models/no_such_model.nk", END) == 1 && says(&out, "\nPassed: 0\nFailed: 1\n"));
}

static void test_all_models(void) {
    EXPECT(cli("test", END) == 0 && err.length == 0);
    EXPECT(says(&out, "============================\n TESTS OF ALL MODELS\n============================\n"));
    EXPECT(says(&out, "Model: models/test_mlp.nk\n") && says(&out, "\nFailed: 0\n"));
    const char *first = strstr(out.bytes, "Model: models/cnn_4x4_single.nk\n");
    EXPECT(first != NULL && strstr(first, "Model: models/test_mlp.nk\n") != NULL); /* in order */
    size_t passed = number_after("\nPassed:");
    forget();
    nk_test_summary_t summary = nk_run_all_tests();
    EXPECT(summary.failed == 0 && summary.passed == passed && passed > 40);
}

static void copy_model(const char *from, const char *to) {
    model_file file = need_model(from);
    FILE *stream = fopen(to, "wb");
    if (EXPECT(stream != NULL)) {
        EXPECT(fwrite(file.bytes, 1, file.size, stream) == file.size);
        fclose(stream);
    }
    free(file.bytes);
}

static void folders_of_models(void) {
    char home[4096], folder[] = "/tmp/netkit_cli_XXXXXX", path[512];
    if (!EXPECT(getcwd(home, sizeof home) != NULL && mkdtemp(folder) != NULL)) {
        return;
    }
    snprintf(path, sizeof path, "%s/models", folder);
    EXPECT(mkdir(path, 0700) == 0);
    snprintf(path, sizeof path, "%s/models/b.nk", folder);
    copy_model("models/test_mlp.nk", path);
    snprintf(path, sizeof path, "%s/models/a.nk", folder);
    copy_model("models/cnn_4x4_single.nk", path);
    snprintf(path, sizeof path, "%s/models/c.txt", folder);
    copy_model("models/test_mlp.nk", path);
    EXPECT(chdir(folder) == 0 && mkdir("below", 0700) == 0);
    forget();
    nk_test_summary_t here = nk_run_all_tests();
    const char *a = strstr(out.bytes, "Model: models/a.nk\n"), *b = strstr(out.bytes, "Model: models/b.nk\n");
    EXPECT(a != NULL && b != NULL && a < b && !says(&out, "c.txt"));
    EXPECT(here.failed == 0 && here.passed > 1);

    EXPECT(chdir("below") == 0);
    forget();
    nk_test_summary_t below = nk_run_all_tests();
    EXPECT(says(&out, "Model: ../models/a.nk\n") && below.passed == here.passed && below.failed == 0);

    EXPECT(mkdir("models", 0700) == 0); /* is there, so ../models does not count */
    forget();
    nk_test_summary_t none = nk_run_all_tests();
    EXPECT(none.passed == 0 && none.failed == 1 && says(&out, "no .nk files"));
    EXPECT(rmdir("models") == 0 && chdir("..") == 0);

    FILE *broken = fopen("models/d.nk", "wb");
    EXPECT(broken != NULL && fclose(broken) == 0);
    forget();
    nk_test_summary_t with_broken = nk_run_all_tests();
    EXPECT(with_broken.passed == here.passed && with_broken.failed == 1);
    EXPECT(unlink("models/a.nk") == 0 && unlink("models/b.nk") == 0 && unlink("models/c.txt") == 0);
    EXPECT(unlink("models/d.nk") == 0 && rmdir("models") == 0 && rmdir("below") == 0);
    forget();
    EXPECT(nk_run_all_tests().failed == 1);
    EXPECT(chdir(home) == 0 && rmdir(folder) == 0);
}

/* Without callbacks: answers to stdout, problems to stderr. */
static void to_the_streams(void) {
    char name[] = "netkit", command[] = "dance", *argv[] = {name, command, NULL}, line[256] = "";
    fflush(stdout);
    fflush(stderr);
    FILE *files[2] = {tmpfile(), tmpfile()};
    int saved[2] = {dup(1), dup(2)};
    if (!EXPECT(files[0] != NULL && files[1] != NULL && saved[0] >= 0 && saved[1] >= 0)) {
        return;
    }
    nk_set_print_callback(NULL, NULL);
    nk_set_log_callback(NULL, NULL);
    dup2(fileno(files[0]), 1);
    dup2(fileno(files[1]), 2);
    int result = nk_cli_run(2, argv);
    fflush(stdout);
    for (int i = 0; i < 2; i++) {
        dup2(saved[i], i + 1);
        close(saved[i]);
        rewind(files[i]);
    }
    EXPECT(result == 1);
    EXPECT(fgets(line, sizeof line, files[1]) != NULL && strcmp(line, "Unknown command: dance\n") == 0);
    EXPECT(fgets(line, sizeof line, files[1]) == NULL);
    EXPECT(fgets(line, sizeof line, files[0]) != NULL && strncmp(line, "Runs .nk", 8) == 0);
    fclose(files[0]);
    fclose(files[1]);
}

/* Names of old programs. */
static void compatibility(void) {
    EXPECT(NK_ERR_JSON_OPEN == NK_ERR_MODEL_OPEN && NK_ERR_BIN_OPEN == NK_ERR_MODEL_READ);
    EXPECT(NK_ERR_JSON_PARSE == NK_ERR_MODEL_PARSE && NK_ERR_BIN_SIZE_MISMATCH == NK_ERR_WEIGHT_MISMATCH);
    void *pointer = nullptr;
    EXPECT(pointer == NULL);
}

int main(void) {
    nk_set_print_callback(on_print, &out);
    nk_set_log_callback(on_log, &err);
    RUN(help);
    RUN(arena_sizes);
    RUN(inspect);
    RUN(run);
    RUN(run_with_too_many_values);
    RUN(run_int8);
    RUN(test_one_model);
    RUN(test_all_models);
    RUN(folders_of_models);
    RUN(to_the_streams);
    RUN(compatibility);
    return report();
}
