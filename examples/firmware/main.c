/* Firmware that loads models from flash, runs the test cases that they carry, and tells what that took: arena, stack and the
 * count of one run. It needs no C library, no heap and no operating system. */
#include <nk.h>

#include "cases.h"
#include "layers.h"
#include "model.h"
#include "port.h"
#include "print.h"
#include "stack.h"

/* All memory that the library gets. */
static unsigned char memory[ARENA_BYTES] __attribute__((aligned(16)));

struct counts {
    uint32_t passed;
    uint32_t failed;
    size_t load_stack;
    size_t run_stack;
    uint64_t run_count;
};

static void print_number(const char *before, uint64_t number, const char *behind) {
    print(before);
    print_unsigned(number);
    print(behind);
}

static void print_failure(const struct test_case *test_case, const char *reason) {
    print("  ");
    for (size_t i = 0; i < test_case->name_length; i++) {
        const char text[2] = {test_case->name[i], '\0'};
        print(text);
    }
    print(": ");
    print(reason);
    print("\n");
}

/* An output as a real number. */
static float real_output(const nk_model_t *model, const void *output, uint32_t i) {
    nk_quant_params_t quant;
    if (!nk_model_is_quantized(model)) {
        return ((const float *)output)[i];
    }
    (void)nk_model_output_quant(model, &quant);
    return quant.scale * (float)(((const int8_t *)output)[i] - quant.zero_point);
}

/* How far an output may be from the expected one: as much as the file says, in int8 models at least one step; less than 0
 * when only the class counts. */
static float allowed_difference(const nk_model_t *model, const struct cases *cases, bool class_only) {
    nk_quant_params_t quant;
    if (class_only) {
        return -1;
    }
    if (nk_model_is_quantized(model) && nk_model_output_quant(model, &quant) == NK_OK &&
        quant.scale + 1e-6f > cases->tolerance) {
        return quant.scale + 1e-6f;
    }
    return cases->tolerance;
}

/* Whether the outputs are near those expected, and the largest is that of the label. */
static bool is_as_expected(const nk_model_t *model, const struct test_case *test_case, const void *output, float allowed) {
    uint32_t largest = 0;
    for (uint32_t i = 0; i < test_case->expected_count; i++) {
        float difference = real_output(model, output, i) - cases_float(test_case->expected + 4 * i);
        if (allowed >= 0 && !(difference <= allowed && difference >= -allowed)) {
            print("  output ");
            print_unsigned(i);
            print(" is ");
            print_float(real_output(model, output, i));
            print(", expected ");
            print_float(cases_float(test_case->expected + 4 * i));
            print("\n");
            return false;
        }
        if (real_output(model, output, i) > real_output(model, output, largest)) {
            largest = i;
        }
    }
    return test_case->label < 0 || largest == (uint32_t)test_case->label;
}

/* Runs a test case; false after telling why not. */
static bool run_case(const nk_model_t *model,
                     const struct test_case *test_case,
                     float allowed,
                     unsigned char *input,
                     unsigned char *output,
                     struct counts *counts) {
    size_t input_bytes = nk_model_input_bytes(model), output_bytes = nk_model_output_bytes(model);
    if (test_case->input_bytes != input_bytes || test_case->expected_count != nk_model_output_count(model)) {
        print_failure(test_case, "has not as many values as the model");
        return false;
    }
    for (size_t i = 0; i < input_bytes; i++) {
        input[i] = test_case->input[i];
    }
    stack_paint();
    port_counter_start();
    nk_status_t status = nk_run(model, input, input_bytes, output, output_bytes, NULL);
    counts->run_count = port_counter();
    counts->run_stack = stack_used();
    if (stack_was_full()) {
        print_failure(test_case, "the stack is too small");
        return false;
    }
    if (status != NK_OK) {
        print_failure(test_case, nk_last_error());
        return false;
    }
    if (!is_as_expected(model, test_case, output, allowed)) {
        print_failure(test_case, "the outputs are not those expected");
        return false;
    }
    return true;
}

/* Loads a model and runs its test cases; false after telling why not. */
static bool run_model(const struct model *file, nk_arena_t *arena, struct counts *counts) {
    nk_model_t model;
    struct cases cases;
    struct test_case test_case;
    stack_paint();
    nk_status_t status = nk_load_memory(file->bytes, file->size, arena, &model);
    counts->load_stack = stack_used();
    if (stack_was_full()) {
        print("  the stack is too small\n");
        return false;
    }
    if (status != NK_OK) {
        print_number("  ", (unsigned)status, ": ");
        print(nk_last_error());
        print("\n");
        return false;
    }
    size_t alignment = sizeof(float);
    unsigned char *input = nk_arena_alloc(arena, nk_model_input_bytes(&model), alignment);
    unsigned char *output = nk_arena_alloc(arena, nk_model_output_bytes(&model), alignment);
    if (input == NULL || output == NULL) {
        print("  no room for input and output\n");
        return false;
    }
    if (!cases_find(file->bytes, file->size, &cases)) {
        print("  has no test cases\n");
        return false;
    }
    float allowed = allowed_difference(&model, &cases, file->class_only);
    layers_watch(&model);
    while (cases_next(&cases, &test_case)) {
        if (run_case(&model, &test_case, allowed, input, output, counts)) {
            counts->passed++;
        } else {
            counts->failed++;
        }
    }
    return counts->failed == 0;
}

/* Whether input, output and what loading takes fit the memory. */
static bool fits(const struct model *file, size_t *needed) {
    nk_memory_plan_t plan = {.struct_size = sizeof plan};
    nk_arch_info_t info;
    if (nk_plan_memory(file->bytes, file->size, &plan) != NK_OK ||
        nk_parse_architecture_memory(file->bytes, file->size, &info) != NK_OK) {
        *needed = 0;
        return true; /* Loading tells what is wrong. */
    }
    /* The program keeps one input and one output beside the network, here as if of floats. */
    *needed = plan.arena_bytes;
    return plan.arena_bytes + sizeof(float) * (info.input_elements + info.output_elements + 1) <= sizeof memory;
}

/* One line about a model. */
static bool report(const struct model *file) {
    struct counts counts = {0};
    nk_arena_t arena;
    size_t needed;
    if (!fits(file, &needed)) {
        print(file->name);
        print_number(": too large, needs an arena of ", needed, " bytes\n");
        return true;
    }
    nk_arena_init(&arena, memory, sizeof memory);
    bool passed = run_model(file, &arena, &counts);
    print(file->name);
    print_number(": ", counts.passed, " passed, ");
    print_number("", counts.failed, " failed");
    print_number("; arena ", needed, ", ");
    print_number("stack ", counts.load_stack, " to load, ");
    print_number("", counts.run_stack, " to run, ");
    print_number("", counts.run_count, " ");
    print(port_counter_unit);
    print("\n");
    return passed;
}

int main(void) {
    struct model file;
    uint32_t count = 0, wrong = 0;
    while (model_at(count, &file)) {
        wrong += report(&file) ? 0 : 1;
        count++;
    }
    print_number("models: ", count, "");
    print_number(", wrong: ", wrong, "\n");
    return count > 0 && wrong == 0 ? 0 : 1;
}
