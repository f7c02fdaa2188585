// An arena whose size is fixed when the program is built, and a check at its start that it is enough.
#include <nk.hpp>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

static unsigned char memory[1024];

int main() {
    std::ifstream file("models/test_mlp.nk", std::ios::binary);
    const std::vector<unsigned char> bytes(std::istreambuf_iterator<char>(file), {});
    nk_memory_plan_t plan;
    if (nk::plan_memory(bytes, plan) != NK_OK) {
        std::fprintf(stderr, "%s\n", nk_last_error());
        return 1;
    }
    std::printf("needs %zu bytes, has %zu\n", plan.arena_bytes, sizeof memory);

    nk::arena arena(memory);
    nk::model model;
    const float input[] = {1, 2};
    float output[2];
    if (model.load(bytes, arena) != NK_OK || model.run(arena, input, output) != NK_OK) {
        std::fprintf(stderr, "%s\n", nk_last_error());
        return 1;
    }
    std::printf("%g, %g\n", static_cast<double>(output[0]), static_cast<double>(output[1]));
    return 0;
}
