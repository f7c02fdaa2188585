/* For profilers: where each layer of a run begins and ends. */
#ifndef LAYERS_H
#define LAYERS_H

#include <nk.h>

#ifdef MARK_LAYERS
/* Prints kind and multiply-accumulates of each layer, and lets each run of the model call layer_begins() and layer_ends(), on
 * which a profiler can stop. */
void layers_watch(nk_model_t *model);

void layer_begins(uint32_t index);
void layer_ends(uint32_t index);
#else
static inline void layers_watch(nk_model_t *model) {
    (void)model;
}
#endif

#endif /* LAYERS_H */
