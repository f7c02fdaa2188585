// The model is part of the program: an aligned constant array, which scripts/embed-model makes of a .nk file.
#include <nk.hpp>

#include <cstdio>

#include "test_mlp_model.h"

static unsigned char memory[4096];

int main() {
    nk::arena arena(memory);
    nk::model model;
    const float input[] = {1, 2};
    float output[2];
    if (model.load(test_mlp_model, arena) != NK_OK || model.run(arena, input, output) != NK_OK) {
        std::fprintf(stderr, "%s\n", nk_last_error());
        return 1;
    }
    std::printf("%g, %g\n", static_cast<double>(output[0]), static_cast<double>(output[1]));
    return 0;
}
