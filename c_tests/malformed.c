/* Broken files: a status and a sentence, or a correct run where the change did not matter, and nothing written by a
 * call that fails. Each broken copy lies in a block of exactly its size, so that valgrind sees every byte read too far.
 *
 * With arguments only the sweeps run, on the named files. */
#include "check.h"

#include <unistd.h>

enum { ARENA_BYTES = 256 * 1024, MOST_FLOATS = 16 * 1024, UNTOUCHED = 0xA7 };

static unsigned char memory[ARENA_BYTES];
static float input[MOST_FLOATS], output[MOST_FLOATS + 1];

/* Parses, plans, loads and runs; the status of the load, or of the parse when that fails. */
static nk_status_t try_model(const unsigned char *bytes, size_t size, const char *what) {
    nk_arena_t arena;
    nk_model_t model, empty;
    nk_arch_info_t arch;
    nk_memory_plan_t plan;
    memset(&arch, UNTOUCHED, sizeof arch);
    memset(&empty, 0, sizeof empty);
    model = empty;
    nk_arena_init(&arena, memory, sizeof memory);

    nk_status_t parsed = nk_parse_architecture_memory(bytes, size, &arch);
    if (parsed != NK_OK) {
        EXPECT_THAT(nk_last_error()[0] != '\0', "%s: a status without a text", what);
        EXPECT_THAT(all_bytes(&arch, sizeof arch, UNTOUCHED), "%s: arch info written by a failed call", what);
    }
    memset(&plan, 0, sizeof plan);
    plan.struct_size = (uint32_t)sizeof plan;
    nk_status_t planned = nk_plan_memory(bytes, size, &plan);
    nk_status_t loaded = nk_load_memory(bytes, size, &arena, &model);
    if (parsed != NK_OK) {
        EXPECT_THAT(planned == parsed, "%s: parse %d, plan %d", what, parsed, planned);
        EXPECT_THAT(loaded == parsed, "%s: parse %d, load %d", what, parsed, loaded);
        EXPECT_THAT(memcmp(&model, &empty, sizeof model) == 0, "%s: handle written by a failed load", what);
        return parsed;
    }
    if (loaded != NK_OK) {
        EXPECT_THAT(nk_last_error()[0] != '\0', "%s: a status without a text", what);
        EXPECT_THAT(nk_arena_used(&arena) == 0, "%s: a failed load keeps arena bytes", what);
        EXPECT_THAT(nk_model_kind(&model) == NK_NETWORK_UNKNOWN, "%s: a failed load leaves a model", what);
        return loaded;
    }
    EXPECT_THAT(planned == NK_OK && plan.arena_bytes <= sizeof memory, "%s: plan %d but load succeeds", what, planned);
    size_t input_bytes = nk_model_input_bytes(&model), output_bytes = nk_model_output_bytes(&model);
    if (input_bytes <= sizeof input && output_bytes < sizeof output) {
        unsigned char *behind = (unsigned char *)output + output_bytes;
        *behind = UNTOUCHED;
        EXPECT_THAT(run_model(&model, &arena, input, output) == NK_OK, "%s: run", what);
        EXPECT_THAT(*behind == UNTOUCHED, "%s: a byte behind the output was written", what);
    }
    return NK_OK;
}

/* End of the quantisation section that begins at `at`: descriptors, then lists of scales for the channels. */
static size_t quantisation_end(const model_file *file, size_t at) {
    uint16_t descriptors = read_u16(file->bytes + at + 4), flags = read_u16(file->bytes + at + 6);
    at += 8 + 32 * (size_t)descriptors;
    for (uint16_t i = 0; (flags & 1u) != 0 && i < descriptors; i++) {
        at += 4 + 4 * (size_t)read_u32(file->bytes + at);
    }
    return at;
}

/* End of header, layer records, tensor catalog and quantisation, where every byte has a meaning. */
static size_t metadata_bytes(const model_file *file) {
    static const unsigned char record_bytes[15] = {0, 16, 24, 16, 4, 16, 12, 24, 16, 24, 16, 16, 20, 12, 28};
    size_t end = 48;
    for (uint32_t i = 0; i < read_u32(file->bytes + 28); i++) {
        end += record_bytes[file->bytes[end]];
    }
    end += 24 * ((size_t)read_u32(file->bytes + 32) + read_u32(file->bytes + 36));
    return is_int8_model(file) ? quantisation_end(file, end) : end;
}

static unsigned char *exact_copy(const unsigned char *bytes, size_t size) {
    unsigned char *copy = (unsigned char *)must_alloc(size);
    memcpy(copy, bytes, size);
    return copy;
}

/* Every prefix up to the payload, then every 61st, and the last ones again. */
static void every_prefix(const model_file *file) {
    size_t dense = metadata_bytes(file) + 64;
    for (size_t size = 0; size < file->size; size++) {
        if (size < dense || size % 61 == 0 || size + 64 > file->size) {
            unsigned char *copy = exact_copy(file->bytes, size);
            char what[48];
            snprintf(what, sizeof what, "prefix of %zu bytes", size);
            try_model(copy, size, what);
            free(copy);
        }
    }
}

/* Every byte of header, records, catalog and quantisation, each with several values. */
static void every_byte_changed(const model_file *file) {
    static const unsigned char values[] = {0x00, 0x01, 0x02, 0x7F, 0x80, 0xFF};
    size_t end = metadata_bytes(file);
    unsigned char *copy = exact_copy(file->bytes, file->size);
    for (size_t at = 0; at < end; at++) {
        unsigned char old = copy[at];
        for (size_t i = 0; i < sizeof values + 10; i++) {
            unsigned char changed;
            if (i < sizeof values) {
                changed = values[i];
            } else if (i < sizeof values + 8) {
                changed = (unsigned char)(old ^ (1u << (i - sizeof values)));
            } else {
                changed = (unsigned char)(i == sizeof values + 8 ? old + 1 : old - 1);
            }
            if (changed != old) {
                char what[48];
                snprintf(what, sizeof what, "byte %zu changed to 0x%02X", at, changed);
                copy[at] = changed;
                try_model(copy, file->size, what);
                copy[at] = old;
            }
        }
    }
    free(copy);
}

/* A change of test_mlp.nk and the status that it must give. */
static void expect_change(size_t at, uint32_t value, size_t width, nk_status_t wanted, const char *what) {
    model_file file = need_model("models/test_mlp.nk");
    for (size_t i = 0; i < width; i++) {
        file.bytes[at + i] = (unsigned char)(value >> (8 * i));
    }
    nk_status_t found = try_model(file.bytes, file.size, what);
    check_status(found, wanted, what, __FILE__, __LINE__);
    free(file.bytes);
}

static void expect_prefix(size_t size, nk_status_t wanted) {
    model_file file = need_model("models/test_mlp.nk");
    unsigned char *copy = exact_copy(file.bytes, size);
    char what[48];
    snprintf(what, sizeof what, "prefix of %zu bytes", size);
    nk_status_t found = try_model(copy, size, what);
    check_status(found, wanted, what, __FILE__, __LINE__);
    free(copy);
    free(file.bytes);
}

/* test_mlp.nk: header to 48, two dense records to 80, four catalog entries to 176, weights to 208, biases to 224. */
static void typical_faults(void) {
    expect_prefix(1, NK_ERR_MODEL_PARSE);
    expect_prefix(47, NK_ERR_MODEL_PARSE);
    expect_prefix(48, NK_ERR_MODEL_READ);
    expect_prefix(63, NK_ERR_MODEL_READ);
    expect_prefix(100, NK_ERR_MODEL_READ);
    expect_prefix(200, NK_ERR_MODEL_PARSE);
    expect_prefix(223, NK_ERR_MODEL_PARSE);

    expect_change(0, 'X', 1, NK_ERR_MODEL_PARSE, "wrong magic");
    expect_change(4, 0, 4, NK_ERR_VERSION_MISMATCH, "version 0");
    expect_change(4, 2, 4, NK_ERR_VERSION_MISMATCH, "version 2");
    expect_change(4, 5, 4, NK_ERR_VERSION_MISMATCH, "version 5");
    expect_change(4, 0xFFFFFFFFu, 4, NK_ERR_VERSION_MISMATCH, "version of ones");
    expect_change(28, 101, 4, NK_ERR_LAYER_CONFIG, "101 layers");
    expect_change(32, 129, 4, NK_ERR_LAYER_CONFIG, "129 weight tensors");
    expect_change(36, 129, 4, NK_ERR_LAYER_CONFIG, "129 bias tensors");
    expect_change(48, 0, 1, NK_ERR_MODEL_READ, "layer kind 0");
    expect_change(48, 15, 1, NK_ERR_MODEL_READ, "layer kind 15");
    expect_change(10, 0x0003, 2, NK_ERR_MODEL_READ, "quantisation flag on version 3");
    expect_change(10, 0x0000, 2, NK_ERR_MODEL_PARSE, "bytes behind the payload without the test flag");
    expect_change(52, 3, 4, NK_ERR_WEIGHT_MISMATCH, "three units but weights for two");
}

/* Faults for which only "not OK" is promised here; the status depends on which check sees them first. */
static void impossible_models(void) {
    static const struct {
        size_t at;
        uint32_t value;
        size_t width;
        const char *what;
    } faults[] = {
        {9, 0, 1, "rank 0"},
        {9, 5, 1, "rank 5"},
        {9, 255, 1, "rank 255"},
        {12, 0, 4, "batch 0"},
        {16, 0, 4, "no features"},
        {16, 0xFFFFFFFFu, 4, "4294967295 features"},
        {12, 0x80000000u, 4, "a batch of 2147483648"},
        {28, 0, 4, "no layers, tensors left over"},
        {28, 1, 4, "one layer, tensors left over"},
        {32, 1, 4, "a weight tensor missing"},
        {36, 1, 4, "a bias tensor missing"},
        {40, 0x7FFFFFFFu, 4, "more weight bytes than the file has"},
        {40, 28, 4, "fewer weight bytes than the catalog has"},
        {52, 0, 4, "no units"},
        {52, 0xFFFFFFFFu, 4, "4294967295 units"},
        {80, 0, 1, "tensor of rank 0"},
        {80, 5, 1, "tensor of rank 5"},
        {81, 2, 1, "int8 weights in a float model"},
        {100, 5, 4, "element count that is not the product of the dims"},
        {84, 0xFFFFFFFFu, 4, "dims whose product overflows"},
        {176, 0x7FC00000u, 4, "NaN as weight"},
        {208, 0x7F800000u, 4, "infinite bias"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        model_file file = need_model("models/test_mlp.nk");
        for (size_t byte = 0; byte < faults[i].width; byte++) {
            file.bytes[faults[i].at + byte] = (unsigned char)(faults[i].value >> (8 * byte));
        }
        EXPECT_THAT(try_model(file.bytes, file.size, faults[i].what) != NK_OK, "%s loads", faults[i].what);
        free(file.bytes);
    }
}

/* cnn_4x4_single.nk begins with a convolution record at byte 48: kernel at 52, stride at 56, filters at 60. */
static void impossible_convolutions(void) {
    static const struct {
        size_t at;
        uint32_t value;
        const char *what;
    } faults[] = {
        {56, 0, "stride 0"},         {52, 0, "kernel 0"},
        {60, 0, "no filters"},       {52, 64, "kernel larger than the padded input"},
        {60, 0x40000000u, "filters beyond any memory"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        model_file file = need_model("models/cnn_4x4_single.nk");
        if (!EXPECT_THAT(file.bytes[48] == 2, "the first layer is no convolution")) {
            free(file.bytes);
            return;
        }
        write_u32(file.bytes + faults[i].at, faults[i].value);
        EXPECT_THAT(try_model(file.bytes, file.size, faults[i].what) != NK_OK, "%s loads", faults[i].what);
        free(file.bytes);
    }
}

/* The same faults through files: an empty one, a short one, one that is no model. */
static void broken_files(void) {
    static const struct {
        const char *content;
        size_t size;
        nk_status_t wanted;
    } files[] = {
        {"", 0, NK_ERR_MODEL_PARSE},
        {"NKIT", 4, NK_ERR_MODEL_PARSE},
        {"MZ\x90 this is something else that is longer than a header of 48 bytes", 60, NK_ERR_MODEL_PARSE},
    };
    char path[] = "/tmp/nk_malformed_XXXXXX";
    int descriptor = mkstemp(path);
    if (!EXPECT(descriptor >= 0)) {
        return;
    }
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        FILE *stream = fopen(path, "wb");
        nk_arena_t arena;
        nk_model_t model;
        nk_arch_info_t arch;
        if (!EXPECT(stream != NULL)) {
            break;
        }
        fwrite(files[i].content, 1, files[i].size, stream);
        fclose(stream);
        nk_arena_init(&arena, memory, sizeof memory);
        EXPECT_STATUS(nk_load(path, &arena, &model), files[i].wanted);
        EXPECT_STATUS(nk_parse_architecture(path, &arch), files[i].wanted);
        EXPECT_STATUS(nk_arch_print(path), files[i].wanted);
        EXPECT(nk_last_error()[0] != '\0');
        EXPECT(nk_recommended_arena_bytes(path) == 0);
        EXPECT(nk_arena_used(&arena) == 0);
    }
    close(descriptor);
    remove(path);
}

/* An earlier model in the handle survives a load whose file does not parse. */
static void earlier_model_survives(void) {
    static const unsigned char nonsense[64] = {'N', 'K', 'I', 'T', 9};
    const float two[2] = {1.0f, 2.0f};
    float answer[2] = {0.0f, 0.0f};
    uint32_t count = 0;
    nk_arena_t arena;
    nk_model_t model;
    nk_arena_init(&arena, memory, sizeof memory);
    EXPECT_OK(nk_load("models/test_mlp.nk", &arena, &model));
    size_t used = nk_arena_used(&arena);
    EXPECT_STATUS(nk_load_memory(nonsense, sizeof nonsense, &arena, &model), NK_ERR_VERSION_MISMATCH);
    EXPECT_STATUS(nk_load("models/no_such_model.nk", &arena, &model), NK_ERR_MODEL_OPEN);
    EXPECT(nk_arena_used(&arena) == used);
    EXPECT_OK(nk_forward(&model, &arena, two, 2, answer, 2, &count));
    EXPECT(is_close(answer[0], 3.0f) && is_close(answer[1], 3.0f));
}

int main(int argc, char **argv) {
    fill_input(input, MOST_FLOATS, 1);
    if (argc == 1) {
        RUN(typical_faults);
        RUN(impossible_models);
        RUN(impossible_convolutions);
        RUN(broken_files);
        RUN(earlier_model_survives);
    }
    for_each_model(argc, argv, "every_prefix", every_prefix);
    for_each_model(argc, argv, "every_byte_changed", every_byte_changed);
    return report();
}
