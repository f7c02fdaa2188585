// Four threads run the same model. The weights are shared: they are read where they lie and never written to. Each
// thread has an arena and a model of its own, since a run writes to the model's memory in its arena.
#include <nk.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <thread>

#include "test_mlp_model.h"

static const std::size_t threads = 4;
static const int runs = 100;

static void work(int *right) {
    unsigned char memory[4096];
    nk::arena arena(memory);
    nk::model model;
    if (model.load(test_mlp_model, arena) != NK_OK) {
        std::fprintf(stderr, "%s\n", nk_last_error()); // the last error of this thread
        return;
    }
    for (int i = 0; i < runs; i++) {
        const float input[] = {1, 2};
        float output[2];
        if (model.run(arena, input, output) == NK_OK && output[0] == 3 && output[1] == 3) {
            ++*right;
        }
    }
}

int main() {
    std::array<int, threads> right = {};
    std::array<std::thread, threads> workers;
    for (std::size_t i = 0; i < threads; i++) {
        workers[i] = std::thread(work, &right[i]);
    }
    int sum = 0;
    for (std::size_t i = 0; i < threads; i++) {
        workers[i].join();
        sum += right[i];
    }
    const int all = static_cast<int>(threads) * runs;
    std::printf("%d of %d runs gave 3, 3\n", sum, all);
    return sum == all ? 0 : 1;
}
