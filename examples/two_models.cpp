// Two models in one arena, one after the other in its memory. Both stay loaded and run in any order.
#include <nk.hpp>

#include <array>
#include <cstdio>

static unsigned char memory[16384];

int main() {
    nk::arena arena(memory);
    nk::model mlp, cnn;
    const std::array<float, 2> numbers = {{1, 2}};
    std::array<float, 16> image;
    std::array<float, 2> sums;
    std::array<float, 4> map;
    image.fill(1);

    if (mlp.load("models/test_mlp.nk", arena) != NK_OK || cnn.load("models/cnn_4x4_single.nk", arena) != NK_OK ||
        cnn.run(arena, image, map) != NK_OK || mlp.run(arena, numbers, sums) != NK_OK) {
        std::fprintf(stderr, "%s\n", nk_last_error());
        return 1;
    }
    std::printf("mlp: %g, %g\n", static_cast<double>(sums[0]), static_cast<double>(sums[1]));
    std::printf("cnn: %g, %g, %g, %g\n", static_cast<double>(map[0]), static_cast<double>(map[1]),
                static_cast<double>(map[2]), static_cast<double>(map[3]));
    return 0;
}
