/* The least that firmware does: loads the first model behind the program, runs it once on zeros, tells what went wrong. */
#include <nk.h>

#include "model.h"
#include "port.h"

/* All memory that the library gets, and what goes into the model and comes out of it. */
static unsigned char memory[ARENA_BYTES] __attribute__((aligned(16)));

int main(void) {
    struct model file;
    nk_arena_t arena;
    nk_model_t model;
    if (!model_at(0, &file)) {
        port_puts("no model\n");
        return 2;
    }
    nk_arena_init(&arena, memory, sizeof memory);
    nk_status_t status = nk_load_memory(file.bytes, file.size, &arena, &model);
    if (status == NK_OK) {
        size_t input_bytes = nk_model_input_bytes(&model), output_bytes = nk_model_output_bytes(&model);
        void *input = nk_arena_alloc(&arena, input_bytes, sizeof(float));
        void *output = nk_arena_alloc(&arena, output_bytes, sizeof(float));
        status = nk_run(&model, input, input_bytes, output, output_bytes, NULL);
    }
    port_puts(status == NK_OK ? "ran\n" : nk_last_error());
    return status == NK_OK ? 0 : 1;
}
