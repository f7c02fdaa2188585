/* In the manner of the C files that netkit generates from a model: the model as an array, an arena, and functions with a
 * prefix that answer with statuses. */
#include "netkit.h"

#include "../../examples/test_mlp_model.h"

#include <stdio.h>

#define TINY_INPUTS 2u
#define TINY_OUTPUTS 2u

static unsigned char tiny_arena_memory[16 * 1024];
static nk_arena_t tiny_arena;
static nk_model_t tiny_model;
static bool tiny_is_loaded = false;

static nk_status_t tiny_init(void) {
    nk_status_t status;
    nk_arena_init(&tiny_arena, tiny_arena_memory, sizeof tiny_arena_memory);
    status = nk_model_load_memory((const uint8_t*)test_mlp_model, sizeof test_mlp_model, &tiny_arena, &tiny_model);
    tiny_is_loaded = status == NK_OK;
    return status;
}

static nk_status_t tiny_run(const float* input, uint32_t input_count, float* output, uint32_t output_count) {
    uint32_t written = 0;
    nk_status_t status;
    if (!tiny_is_loaded) {
        return NK_ERR_NOT_INITIALIZED;
    }
    if (input == nullptr || output == nullptr || input_count != TINY_INPUTS || output_count < TINY_OUTPUTS) {
        return NK_ERR_INVALID_ARGUMENT;
    }
    status = nk_model_run(&tiny_model, &tiny_arena, input, input_count, output, output_count, &written);
    if (status != NK_OK) {
        return status;
    }
    return written == TINY_OUTPUTS ? NK_OK : NK_ERR_MODEL_NOT_LOADED;
}

int main(void) {
    const float input[TINY_INPUTS] = {1.0f, 2.0f};
    float output[TINY_OUTPUTS] = {0};
    int failures = 0;
    failures += tiny_run(input, TINY_INPUTS, output, TINY_OUTPUTS) != NK_ERR_NOT_INITIALIZED;
    failures += tiny_init() != NK_OK;
    failures += tiny_run(nullptr, TINY_INPUTS, output, TINY_OUTPUTS) != NK_ERR_INVALID_ARGUMENT;
    /* A run takes nothing from the arena, so that the loop of a device never ends. */
    for (int i = 0; i < 10000; i++) {
        failures += tiny_run(input, TINY_INPUTS, output, TINY_OUTPUTS) != NK_OK;
    }
    failures += output[0] != 3.0f || output[1] != 3.0f;
    printf("%s generated model\nFailures: %d\n", failures == 0 ? "PASS" : "FAIL", failures);
    return failures == 0 ? 0 : 1;
}
