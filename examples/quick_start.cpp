// The shortest program with nk.hpp.
#include <nk.hpp>

#include <cstdio>

static unsigned char memory[16384]; // the arena: all the memory that loading and running use

int main() {
    nk::arena arena(memory);
    nk::model model;
    const float input[] = {1, 2};
    float output[2];

    if (model.load("models/test_mlp.nk", arena) != NK_OK || model.run(arena, input, output) != NK_OK) {
        std::fprintf(stderr, "%s\n", nk_last_error());
        return 1;
    }
    std::printf("%g, %g\n", static_cast<double>(output[0]), static_cast<double>(output[1]));
    return 0;
}
