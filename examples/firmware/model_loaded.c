/* Models that somebody wrote to flash behind the program, such as an emulator or a programmer: one after the other, each
 * behind a header and at a multiple of 16 bytes. A size of 0, or of erased flash, ends them. */
#include "model.h"

#include <stdint.h>

struct header {
    uint32_t size;
    uint32_t class_only;
    char name[56];
};

/* Of the linker script. */
extern const struct header models_start[], models_end[];

bool model_at(unsigned index, struct model *model) {
    const struct header *header = models_start;
    for (;; index--) {
        if (header >= models_end || header->size == 0 || header->size == UINT32_MAX) {
            return false;
        }
        model->name = header->name;
        model->bytes = (const unsigned char *)(header + 1);
        model->size = header->size;
        model->class_only = header->class_only != 0;
        if (index == 0) {
            return true;
        }
        header = (const struct header *)(model->bytes + (header->size + 15) / 16 * 16);
    }
}
