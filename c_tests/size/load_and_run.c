/* What firmware does with the library: it loads a model from memory and runs it. For scripts/size-table, which builds this
 * with the model in model.h, its name as MODEL, and RUN_FLOAT or RUN_INT8, or neither for a run of either type. */
#include <nk.h>

#include "model.h"

static unsigned char memory[4096];
static float input[64], output[64];

int main(void) {
    nk_arena_t arena;
    nk_model_t model;
    nk_arena_init(&arena, memory, sizeof memory);
    if (nk_load_memory(MODEL, sizeof MODEL, &arena, &model) != NK_OK) {
        return 1;
    }
#if defined(RUN_FLOAT)
    uint32_t written;
    return nk_model_run(&model, &arena, input, nk_model_input_count(&model), output, 64, &written) != NK_OK;
#elif defined(RUN_INT8)
    uint32_t written;
    return nk_model_run_int8(&model, &arena, (int8_t *)input, nk_model_input_count(&model), (int8_t *)output, 64,
                             &written) != NK_OK;
#else
    return nk_run(&model, input, nk_model_input_bytes(&model), output, sizeof output, NULL) != NK_OK;
#endif
}
