/* One model, as a constant array that the linker puts into flash. CMake makes linked_model.h with scripts/embed-model. */
#include "model.h"

#include "linked_model.h"

bool model_at(unsigned index, struct model *model) {
    model->name = MODEL_NAME;
    model->bytes = linked_model;
    model->size = sizeof linked_model;
    model->class_only = false;
    return index == 0;
}
