/* The 22 checks of a firmware-style program for netkit: one static arena, one model after the other. Compiles for every
 * NETKIT_TARGET_... of netkit_config.h. */
#include "netkit.h"

#include <stdio.h>

static unsigned char arena_memory[256 * 1024];
static int checks, failures;

static void check(int holds, const char *name) {
    checks++;
    printf("%s %s\n", holds ? "PASS" : "FAIL", name);
    failures += holds ? 0 : 1;
}

static int is_near(float found, float wanted) {
    float difference = found - wanted;
    return difference > -1e-5f && difference < 1e-5f;
}

static void print_profile(void) {
#if defined(NETKIT_CLASS_MCU)
    const char *profile = "microcontroller";
#elif defined(NETKIT_CLASS_MPU)
    const char *profile = "application processor";
#else
    const char *profile = "desktop";
#endif
#if defined(NETKIT_USE_CMSIS_NN)
    const char *backend = "CMSIS-NN";
#else
    const char *backend = "built in";
#endif
    printf("profile: %s, backend: %s, default arena %u bytes\n", profile, backend, NK_ARENA_DEFAULT_CAPACITY);
    check(1, "profile");
}

static void check_status(nk_status_t status, const char *name) {
    if (status != NK_OK) {
        printf("%s: %s (%s)\n", name, nk_status_string(status), nk_last_error());
    }
    check(status == NK_OK, name);
}

static void test_parse(void) {
    nk_arch_info_t info;
    check_status(nk_parse_architecture("models/test_mlp.nk", &info), "parse test_mlp");
    check(info.version == 3, "version");
    check(info.kind == NK_NETWORK_MLP, "test_mlp is an MLP");
    check(info.input_elements == 2, "test_mlp inputs");
    check(info.output_elements == 2, "test_mlp outputs");
    check_status(nk_parse_architecture("models/cnn_4x4_single.nk", &info), "parse cnn_4x4_single");
    check(info.kind == NK_NETWORK_CNN, "cnn_4x4_single is a CNN");
    check(info.input_elements == 16, "cnn_4x4_single inputs");
    check(info.output_elements == 4, "cnn_4x4_single outputs");
}

static void test_load_run(void) {
    const float pair[2] = {1.0f, 2.0f};
    float ones[16], output[16] = {0};
    uint32_t count = 0;
    int i;
    nk_arena_t arena;
    nk_model_t model;
    for (i = 0; i < 16; i++) {
        ones[i] = 1.0f;
    }
    nk_arena_init(&arena, arena_memory, sizeof arena_memory);
    check_status(nk_model_load("models/test_mlp.nk", &arena, &model), "load test_mlp");
    check_status(nk_model_run(&model, &arena, pair, 2, output, 16, &count), "run test_mlp");
    check(count == 2, "count of test_mlp");
    check(is_near(output[0], 3.0f), "output 0 of test_mlp");
    check(is_near(output[1], 3.0f), "output 1 of test_mlp");
    nk_arena_reset(&arena);
    check_status(nk_model_load("models/cnn_4x4_single.nk", &arena, &model), "load cnn_4x4_single");
    check_status(nk_model_run(&model, &arena, ones, 16, output, 16, &count), "run cnn_4x4_single");
    check(count == 4, "count of cnn_4x4_single");
    for (i = 0; i < 4; i++) {
        check(is_near(output[i], 4.0f), "output of cnn_4x4_single");
    }
}

int main(void) {
    print_profile();
    test_parse();
    test_load_run();
    printf("Checks: %d of 22\nFailures: %d\n", checks, failures);
    return failures == 0 && checks == 22 ? 0 : 1;
}
