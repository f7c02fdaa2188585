// The C header from C++11: standard containers as arena and buffers, a small owner of a heap arena, exceptions around it.
#include <nk.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace {

int failures = 0;

void check(bool holds, const char *name) {
    std::printf("%s %s\n", holds ? "PASS" : "FAIL", name);
    failures += holds ? 0 : 1;
}

void must(nk_status_t status) {
    if (status != NK_OK) {
        throw std::runtime_error(std::string(nk_status_string(status)) + ": " + nk_last_error());
    }
}

class HeapArena {
public:
    explicit HeapArena(std::size_t bytes) { must(nk_arena_init_heap(&arena_, bytes)); }
    ~HeapArena() { nk_arena_destroy_heap(&arena_); }
    HeapArena(const HeapArena &) = delete;
    HeapArena &operator=(const HeapArena &) = delete;
    nk_arena_t *get() { return &arena_; }

private:
    nk_arena_t arena_;
};

std::vector<float> run(const nk_model_t &model, nk_arena_t *arena, const std::vector<float> &input) {
    std::vector<float> output(nk_model_output_count(&model));
    std::uint32_t count = 0;
    must(nk_forward(&model, arena, input.data(), static_cast<std::uint32_t>(input.size()), output.data(),
                    static_cast<std::uint32_t>(output.size()), &count));
    output.resize(count);
    return output;
}

bool all_equal(const std::vector<float> &values, std::size_t count, float wanted) {
    if (values.size() != count) {
        return false;
    }
    for (float value : values) {
        if (std::fabs(value - wanted) > 1e-5f) {
            return false;
        }
    }
    return true;
}

void heap_arena() {
    HeapArena arena(nk_recommended_arena_bytes("models/test_mlp.nk"));
    nk_model_t model;
    must(nk_load("models/test_mlp.nk", arena.get(), &model));
    check(all_equal(run(model, arena.get(), {1.0f, 2.0f}), 2, 3.0f), "heap_arena");
}

void vector_as_arena() {
    std::vector<unsigned char> memory(256 * 1024, 0xFF);
    nk_arena_t arena;
    nk_model_t model;
    nk_arena_init(&arena, memory.data(), memory.size());
    must(nk_load("models/cnn_4x4_single.nk", &arena, &model));
    check(all_equal(run(model, &arena, std::vector<float>(16, 1.0f)), 4, 4.0f), "vector_as_arena");
}

void error_becomes_exception() {
    nk_arch_info_t arch;
    try {
        must(nk_parse_architecture("models/no_such_model.nk", &arch));
        check(false, "error_becomes_exception");
    } catch (const std::runtime_error &error) {
        check(std::string(error.what()).find("model file open failed") == 0, "error_becomes_exception");
    }
}

static_assert(std::is_trivially_copyable<nk_model_t>::value, "a handle is plain data");
static_assert(std::is_standard_layout<nk_arena_t>::value, "a handle has C layout");
static_assert(sizeof(nk_arena_t) == NK_ARENA_STORAGE_BYTES && sizeof(nk_model_t) == NK_MODEL_STORAGE_BYTES, "sizes");

} // namespace

int main() {
    try {
        check(nk_abi_ok(), "abi");
        heap_arena();
        vector_as_arena();
        error_becomes_exception();
    } catch (const std::exception &error) {
        std::printf("FAIL %s\n", error.what());
        failures++;
    }
    std::printf("Failures: %d\n", failures);
    return failures == 0 ? 0 : 1;
}
