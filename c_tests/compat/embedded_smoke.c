/* A firmware-style program against the old header name: one static arena, one model after the other. Compiles for every
 * NETKIT_TARGET_... of netkit_config.h. */
#include "netkit.h"

#include <stdio.h>

static unsigned char arena_memory[256 * 1024];
static int failures;

static void check(int holds, const char *name) {
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
    printf("profile: %s, default arena %u bytes\n", profile, NK_ARENA_DEFAULT_CAPACITY);
    check(NK_ARENA_DEFAULT_CAPACITY > 0, "profile");
}

static void parse(const char *path, nk_network_kind_t kind, uint32_t inputs, uint32_t outputs) {
    nk_arch_info_t info;
    nk_status_t status = nk_parse_architecture(path, &info);
    if (status != NK_OK) {
        printf("%s: %s (%s)\n", path, nk_status_string(status), nk_last_error());
    }
    check(status == NK_OK, "parse");
    check(status == NK_OK && info.version == 3 && info.kind == kind, "version and kind");
    check(status == NK_OK && info.input_elements == inputs && info.output_elements == outputs, "element counts");
}

static void run(nk_arena_t *arena, const char *path, const float *input, uint32_t inputs, uint32_t outputs,
                float wanted) {
    nk_model_t model;
    float output[16] = {0};
    uint32_t count = 0, i;
    nk_status_t status;
    nk_arena_reset(arena);
    status = nk_model_load(path, arena, &model);
    check(status == NK_OK, "load");
    if (status != NK_OK) {
        printf("%s: %s (%s)\n", path, nk_status_string(status), nk_last_error());
        return;
    }
    status = nk_model_run(&model, arena, input, inputs, output, 16, &count);
    check(status == NK_OK && count == outputs, "run");
    for (i = 0; i < count; i++) {
        check(is_near(output[i], wanted), "output");
    }
}

int main(void) {
    nk_arena_t arena;
    float ones[16];
    const float pair[2] = {1.0f, 2.0f};
    int i;
    for (i = 0; i < 16; i++) {
        ones[i] = 1.0f;
    }
    print_profile();
    parse("models/test_mlp.nk", NK_NETWORK_MLP, 2, 2);
    parse("models/cnn_4x4_single.nk", NK_NETWORK_CNN, 16, 4);
    nk_arena_init(&arena, arena_memory, sizeof arena_memory);
    run(&arena, "models/test_mlp.nk", pair, 2, 2, 3.0f);
    run(&arena, "models/cnn_4x4_single.nk", ones, 16, 4, 4.0f);
    printf("Failures: %d\n", failures);
    return failures == 0 ? 0 : 1;
}
