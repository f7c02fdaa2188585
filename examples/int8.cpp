// An int8 model that reads a digit. The program converts the picture to the model's integers and the answer back;
// model::run_auto() would do all of it in one call.
#include <nk.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>

static const char picture[16][17] = {
    "................", "......####......", "......####......", "....########....", "....########....",
    "......####......", "......####......", "......####......", "......####......", "......####......",
    "......####......", "......####......", "......####......", "....########....", "....########....",
    "................",
};

static unsigned char memory[16384];

int main() {
    nk::arena arena(memory);
    nk::model model;
    nk_quant_params_t in, out;
    if (model.load("models/digits_mlp_int8.nk", arena) != NK_OK || model.input_quant(in) != NK_OK ||
        model.output_quant(out) != NK_OK) {
        std::fprintf(stderr, "%s\n", nk_last_error());
        return 1;
    }

    std::array<float, 256> pixels;
    for (std::size_t i = 0; i < pixels.size(); i++) {
        pixels[i] = picture[i / 16][i % 16] == '#' ? 1.0f : 0.0f;
    }
    std::array<std::int8_t, 256> input;
    std::array<std::int8_t, 10> output;
    std::array<float, 10> chances;
    nk::quantize(pixels, input, in);
    if (model.run(arena, input, output) != NK_OK) {
        std::fprintf(stderr, "%s\n", nk_last_error());
        return 1;
    }
    nk::dequantize(output, chances, out);
    const std::uint32_t digit = nk_argmax_i8(output.data(), 10);
    std::printf("digit %u, %.0f %%\n", static_cast<unsigned>(digit), 100.0 * static_cast<double>(chances[digit]));
    return 0;
}
