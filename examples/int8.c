/* An int8 model that reads a digit. The program converts the picture to the model's integers and the answer back, with
 * scales and zero points that the model tells; nk_model_run_auto() would do all of it in one call. */
#include <nk.h>

#include <stdio.h>

static const char picture[16][17] = {
    "................", "......####......", "......####......", "....########....", "....########....",
    "......####......", "......####......", "......####......", "......####......", "......####......",
    "......####......", "......####......", "......####......", "....########....", "....########....",
    "................",
};

static unsigned char memory[16384];

int main(void) {
    float pixels[256], chances[10];
    int8_t input[256], output[10];
    uint32_t count;
    nk_arena_t arena;
    nk_model_t model;
    nk_quant_params_t in, out;

    nk_arena_init(&arena, memory, sizeof memory);
    if (nk_load("models/digits_mlp_int8.nk", &arena, &model) != NK_OK || nk_model_input_quant(&model, &in) != NK_OK ||
        nk_model_output_quant(&model, &out) != NK_OK) {
        fprintf(stderr, "%s\n", nk_last_error());
        return 1;
    }
    for (int i = 0; i < 256; i++) {
        pixels[i] = picture[i / 16][i % 16] == '#' ? 1.0f : 0.0f;
    }
    nk_quantize_f32(pixels, input, 256, in);
    if (nk_model_run_int8(&model, &arena, input, 256, output, 10, &count) != NK_OK) {
        fprintf(stderr, "%s\n", nk_last_error());
        return 1;
    }
    nk_dequantize_i8(output, chances, 10, out);
    uint32_t digit = nk_argmax_i8(output, 10);
    printf("digit %u, %.0f %%\n", (unsigned)digit, 100.0 * (double)chances[digit]);
    return 0;
}
