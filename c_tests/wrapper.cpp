// nk.hpp: handles end once, moves take over, every function reaches the one of nk.h. Built as C++11 here, and as C++17
// and without exceptions and run-time type information as further tests.
#include <nk.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

const char *const MLP = "models/test_mlp.nk";
const char *const INT8 = "models/digits_mlp_int8.nk";
unsigned char memory[256 * 1024];
int failed_tests = 0;
bool passed = true;

void expect(bool holds, int line, const char *what) {
    if (!holds && passed) {
        std::printf("wrapper.cpp:%d: %s [%s]\n", line, what, nk_last_error());
    }
    passed = passed && holds;
}

#define EXPECT(condition) expect((condition), __LINE__, #condition)

void run_test(void (*test)(), const char *name) {
    passed = true;
    nk_clear_last_error();
    test();
    std::printf("%s %s\n", passed ? "PASS" : "FAIL", name);
    failed_tests += passed ? 0 : 1;
}

std::vector<std::uint8_t> read(const char *path) {
    std::ifstream file(path, std::ios::binary);
    return std::vector<std::uint8_t>(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

bool answers(const nk::model &model, nk::arena &arena) {
    const std::array<float, 2> input = {{1.0f, 2.0f}};
    float output[2] = {0.0f, 0.0f};
    return model.run(arena, input, output) == NK_OK && std::fabs(output[0] - 3.0f) < 1e-5f &&
           std::fabs(output[1] - 3.0f) < 1e-5f;
}

void spans() {
    float values[3] = {1.0f, 2.0f, 3.0f};
    const std::vector<float> constant(values, values + 3);
    std::vector<float> variable(constant);
    const nk::span<float> all(values);
    const nk::span<const float> from_vector(constant), from_span(all), part(values, 2);
    const nk::span<float> of_variable(variable);
    float sum = 0.0f;
    for (float value : from_span) {
        sum += value;
    }
    of_variable[1] = 7.0f;
    EXPECT(all.size() == 3 && from_vector.size() == 3 && from_vector.data() == constant.data());
    EXPECT(sum == 6.0f && part.size() == 2 && part[1] == 2.0f && variable[1] == 7.0f);
    EXPECT(nk::span<int>().empty() && nk::span<int>().data() == nullptr);
}

void file_in_static_arena() {
    nk::arena arena(memory);
    nk::model model;
    EXPECT(!model.is_loaded() && model.kind() == NK_NETWORK_UNKNOWN && model.input_count() == 0);
    EXPECT(model.load(MLP, arena) == NK_OK);
    EXPECT(answers(model, arena) && model.is_loaded() && model.kind() == NK_NETWORK_MLP && !model.is_quantized());
    EXPECT(model.input_count() == 2 && model.output_count() == 2);
    EXPECT(arena.capacity() == sizeof memory && arena.used() + arena.remaining() == sizeof memory);
    nk_arch_info_t info;
    EXPECT(model.arch(info) == NK_OK && info.version == 3 && info.input_elements == 2);
    EXPECT(arena.alloc(64, 64) != nullptr && arena.alloc(sizeof memory, 1) == nullptr);
    EXPECT(model.load(MLP, arena) == NK_OK && answers(model, arena));
    model.unload();
    EXPECT(!model.is_loaded());
}

void exact_memory() {
    const std::vector<std::uint8_t> bytes = read(MLP);
    nk_memory_plan_t plan;
    EXPECT(nk::plan_memory(bytes, plan) == NK_OK && plan.arena_bytes > 0);
    nk::arena enough(memory, plan.arena_bytes), scarce(memory + 100000, plan.arena_bytes - 1);
    nk::model model;
    EXPECT(model.load(bytes, scarce) == NK_ERR_ARENA_OVERFLOW && !model.is_loaded());
    EXPECT(model.load(bytes, enough) == NK_OK && answers(model, enough));
}

void moves() {
    nk::arena first;
    EXPECT(first.capacity() == 0);
    EXPECT(first.init_heap(32 * 1024) == NK_OK && first.capacity() == 32 * 1024);
    nk::arena second(std::move(first));
    EXPECT(second.capacity() == 32 * 1024);
    nk::model model;
    EXPECT(model.load(MLP, second) == NK_OK);
    nk::model other(std::move(model));
    EXPECT(answers(other, second));
    nk::arena third;
    EXPECT(third.init_heap(1000) == NK_OK);
    third = std::move(second);
    EXPECT(answers(other, third));
    nk::model last;
    EXPECT(last.load(MLP, third) == NK_OK);
    last = std::move(other);
    EXPECT(answers(last, third));
    third.reset();
    EXPECT(!answers(last, third) && last.load(MLP, third) == NK_OK && answers(last, third));
    last.unload();
    EXPECT(third.init_heap(0) == NK_ERR_ARENA_OVERFLOW && third.capacity() == 0);
}

void quantised() {
    const std::vector<std::uint8_t> bytes = read(INT8);
    nk::arena arena(memory);
    nk::model model;
    nk_quant_params_t in, out;
    EXPECT(model.input_quant(in) == NK_ERR_MODEL_NOT_LOADED);
    EXPECT(model.load(bytes, arena) == NK_OK && model.is_quantized());
    EXPECT(model.input_quant(in) == NK_OK && model.output_quant(out) == NK_OK);
    std::vector<float> input(model.input_count()), automatic(model.output_count()), by_hand(model.output_count());
    for (std::size_t i = 0; i < input.size(); i++) {
        input[i] = static_cast<float>(i % 17) / 16.0f;
    }
    std::vector<std::int8_t> codes(input.size()), answer(by_hand.size());
    nk::quantize(input, codes, in);
    EXPECT(model.run(arena, codes, answer) == NK_OK);
    nk::dequantize(answer, by_hand, out);
    EXPECT(model.run_auto(arena, input, automatic) == NK_OK && automatic == by_hand);
    EXPECT(model.run(arena, input, automatic) == NK_ERR_INVALID_ARGUMENT);
    model.set_omit_final_softmax(true);
    EXPECT(model.omit_final_softmax());
    EXPECT(nk_model_is_quantized(model.get()) && nk_arena_used(arena.get()) == arena.used());
}

void errors_are_statuses() {
    nk::arena arena(memory);
    nk::model model;
    const float input[2] = {1.0f, 2.0f};
    float output[1];
    EXPECT(model.load("models/no_such_model.nk", arena) == NK_ERR_MODEL_OPEN && std::strlen(nk_last_error()) > 0);
    EXPECT(model.run(arena, input, output) == NK_ERR_MODEL_NOT_LOADED);
    EXPECT(model.load(MLP, arena) == NK_OK && model.run(arena, input, output) == NK_ERR_BUFFER_TOO_SMALL);
}

static_assert(std::is_nothrow_move_constructible<nk::arena>::value && !std::is_copy_constructible<nk::arena>::value,
              "an arena has one owner");
static_assert(std::is_nothrow_move_assignable<nk::model>::value && !std::is_copy_constructible<nk::model>::value,
              "a model has one owner");
static_assert(sizeof(nk::arena) == sizeof(nk_arena_t) && sizeof(nk::model) == sizeof(nk_model_t), "owners add nothing");
static_assert(!std::is_convertible<const std::vector<float> &, nk::span<float>>::value, "const stays const");

} // namespace

int main() {
    run_test(spans, "spans");
    run_test(file_in_static_arena, "file_in_static_arena");
    run_test(exact_memory, "exact_memory");
    run_test(moves, "moves");
    run_test(quantised, "quantised");
    run_test(errors_are_statuses, "errors_are_statuses");
    std::printf("Failures: %d\n", failed_tests);
    return failed_tests == 0 ? 0 : 1;
}
