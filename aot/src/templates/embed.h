/* @file@ as data for netkit, made by `netkit aot` @version@. */
#ifndef @SYMBOL@_AOT_H
#define @SYMBOL@_AOT_H

#include <nk.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 1: the network is C that needs nothing else; 0: it is data for the library. */
#define @SYMBOL@_AOT_LOWERED 0

@interface@
/* Bytes of the model, and of the arena: what loading takes, which runs do not add to, and with room for packed
 * weights and for whatever else lies in the arena. They hold for pointers of 64 bits; with shorter ones a little
 * less is enough. */
#define @SYMBOL@_AOT_NK_BYTES @bytes@
#define @SYMBOL@_AOT_ARENA_BYTES_AFTER_LOAD @arena@
#define @SYMBOL@_AOT_ARENA_BYTES_AFTER_FORWARD @arena@
#define @SYMBOL@_AOT_ARENA_BYTES_RECOMMENDED @recommended@

/* The model, whose address is a multiple of 4 so that weights are used where they lie. */
extern const uint32_t @symbol@_aot_nk_words[@words@];
extern const size_t @symbol@_aot_nk_size;
#define @symbol@_aot_nk ((const uint8_t *)@symbol@_aot_nk_words)

/* Begins an arena in some memory, of which @SYMBOL@_AOT_ARENA_BYTES_AFTER_LOAD bytes are enough. */
static inline void @symbol@_aot_init_arena(nk_arena_t *arena, void *memory, size_t size) {
    nk_arena_init(arena, memory, size);
}

/* Loads the model into the arena. */
static inline nk_status_t @symbol@_aot_load(nk_arena_t *arena, nk_model_t *model) {
    return nk_load_memory(@symbol@_aot_nk, @SYMBOL@_AOT_NK_BYTES, arena, model);
}

/* Computes the output, whose number of values is told in `count`, for an input of @SYMBOL@_AOT_INPUT_ELEMENTS
 * values. */
static inline nk_status_t @run@(const nk_model_t *model, nk_arena_t *arena, const @element@ *input, @element@ *output,
                                uint32_t *count) {
    return @forward@(model, arena, input, @SYMBOL@_AOT_INPUT_ELEMENTS, output, @SYMBOL@_AOT_OUTPUT_ELEMENTS, count);
}
@selftest_declaration@
#ifdef __cplusplus
}
#endif

#endif /* @SYMBOL@_AOT_H */
