#include "layers.h"

#ifdef MARK_LAYERS
#include "print.h"

/* Not inlined, and with a body that is not left out. */
__attribute__((noinline)) void layer_begins(uint32_t index) {
    __asm__ volatile("" : : "r"(index));
}

__attribute__((noinline)) void layer_ends(uint32_t index) {
    __asm__ volatile("" : : "r"(index));
}

static int32_t watch(void *user, const nk_layer_event_t *event) {
    (void)user;
    if (event->phase == 0) {
        layer_begins(event->layer_index);
    } else {
        layer_ends(event->layer_index);
    }
    return 0;
}

static void print_layers(const nk_model_t *model) {
    nk_layer_info_t info = {.struct_size = sizeof info};
    for (uint32_t i = 0; nk_model_layer_info(model, i, &info) == NK_OK; i++) {
        print("kind ");
        print(nk_block_type_string(info.type));
        print(" macs ");
        print_unsigned(info.macs);
        print("\n");
    }
}

void layers_watch(nk_model_t *model) {
    print_layers(model);
    (void)nk_model_set_layer_hook(model, watch, NULL);
}

#endif /* MARK_LAYERS */
