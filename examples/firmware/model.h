/* The models of the program. */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stddef.h>

struct model {
    const char *name;
    const unsigned char *bytes;
    size_t size;
    /* Its test cases tell the class only: their outputs are those of another arithmetic. */
    bool class_only;
};

/* The model with this index; false when there are no more. */
bool model_at(unsigned index, struct model *model);

#endif /* MODEL_H */
