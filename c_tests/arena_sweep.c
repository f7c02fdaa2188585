/* The planned size is enough and one byte less is not, wherever the arena starts and whatever it held before; no byte
 * outside the arena is written. */
#include "check.h"

enum { GUARD_BYTES = 64, CANARY = 0xC5 };

/* An arena of exact size inside a larger block of canaries. */
typedef struct arena_block {
    unsigned char *block;
    size_t block_bytes;
    unsigned char *base;
    size_t bytes;
} arena_block;

static arena_block make_arena(size_t bytes, size_t offset, unsigned char fill) {
    arena_block made;
    made.block_bytes = bytes + 2 * GUARD_BYTES + 64;
    made.block = (unsigned char *)must_alloc(made.block_bytes);
    memset(made.block, CANARY, made.block_bytes);
    size_t start = (size_t)(round_up((uintptr_t)made.block + GUARD_BYTES, 64) - (uintptr_t)made.block);
    made.base = made.block + start + offset;
    made.bytes = bytes;
    if (bytes > 0) {
        memset(made.base, fill, bytes);
    }
    return made;
}

static bool canaries_stand(const arena_block *made) {
    size_t before = (size_t)(made->base - made->block);
    size_t behind = made->block_bytes - before - made->bytes;
    return all_bytes(made->block, before, CANARY) && all_bytes(made->base + made->bytes, behind, CANARY);
}

/* Loads and runs twice in an arena of `bytes`; true when the output equals `wanted`, which the first call fills. */
static bool works_in(const model_file *file, size_t bytes, size_t offset, unsigned char fill, unsigned char *wanted,
                     bool first) {
    arena_block made = make_arena(bytes, offset, fill);
    nk_arena_t arena;
    nk_model_t model;
    bool works = false;
    nk_arena_init(&arena, made.base, bytes);
    if (EXPECT_OK(nk_load_memory(file->bytes, file->size, &arena, &model))) {
        size_t output_bytes = nk_model_output_bytes(&model), used = nk_arena_used(&arena);
        unsigned char *input = (unsigned char *)must_alloc(nk_model_input_bytes(&model));
        unsigned char *output = (unsigned char *)must_alloc(output_bytes);
        fill_model_input(&model, input, 1);
        works = true;
        for (int i = 0; i < 2 && works; i++) {
            memset(output, 0xFF, output_bytes);
            works = EXPECT_OK(run_model(&model, &arena, input, output));
            if (first) {
                memcpy(wanted, output, output_bytes);
                first = false;
            }
            works = works && memcmp(wanted, output, output_bytes) == 0;
        }
        works = works && nk_arena_used(&arena) == used && used <= bytes;
        free(input);
        free(output);
    }
    EXPECT_THAT(canaries_stand(&made), "a byte outside the arena was written, offset %zu", offset);
    free(made.block);
    return works;
}

/* True when the text has this number in it. */
static bool names(const char *text, size_t number) {
    char digits[32];
    snprintf(digits, sizeof digits, "%zu", number);
    return strstr(text, digits) != NULL;
}

static void overflows_in(const model_file *file, size_t needed, size_t bytes, size_t offset) {
    arena_block made = make_arena(bytes, offset, 0xFF);
    nk_arena_t arena;
    nk_model_t model;
    nk_error_info_t info;
    nk_arena_init(&arena, made.base, bytes);
    EXPECT_STATUS(nk_load_memory(file->bytes, file->size, &arena, &model), NK_ERR_ARENA_OVERFLOW);
    memset(&info, 0, sizeof info);
    info.struct_size = (uint32_t)sizeof info;
    EXPECT_OK(nk_last_error_info(&info));
    EXPECT_THAT(info.needed == needed, "needs %zu, reported as %zu", needed, info.needed);
    EXPECT_THAT(info.available == bytes, "has %zu, reported as %zu", bytes, info.available);
    EXPECT_THAT(names(nk_last_error(), needed), "needed %zu is not in the text", needed);
    EXPECT_THAT(names(nk_last_error(), bytes), "available %zu is not in the text", bytes);
    EXPECT_THAT(nk_arena_used(&arena) == 0, "a failed load keeps %zu bytes", nk_arena_used(&arena));
    EXPECT_THAT(canaries_stand(&made), "a failed load wrote outside the arena of %zu bytes", bytes);
    free(made.block);
}

static void arena_sweep(const model_file *file) {
    nk_memory_plan_t plan = plan_of(file);
    nk_arch_info_t arch;
    if (!EXPECT_OK(nk_parse_architecture_memory(file->bytes, file->size, &arch)) || !EXPECT(plan.arena_bytes > 0)) {
        return;
    }
    unsigned char *wanted = (unsigned char *)must_alloc(arch.output_elements * sizeof(float));
    EXPECT_THAT(works_in(file, plan.arena_bytes, 0, 0xFF, wanted, true), "the planned %zu bytes", plan.arena_bytes);
    EXPECT_THAT(works_in(file, plan.arena_bytes, 0, 0x00, wanted, false), "an arena of zeros");
    EXPECT_THAT(works_in(file, plan.arena_bytes + 4096, 0, 0x7F, wanted, false), "a larger arena of large floats");
    overflows_in(file, plan.arena_bytes, plan.arena_bytes / 2, 0);
    overflows_in(file, plan.arena_bytes, 0, 0);
    for (size_t offset = 0; offset < 16; offset++) {
        EXPECT_THAT(works_in(file, plan.arena_bytes, offset, 0xFF, wanted, false), "start offset %zu", offset);
        overflows_in(file, plan.arena_bytes, plan.arena_bytes - 1, offset);
    }
    free(wanted);
}

/* Weights stay where they are, at any address of the blob, and the plan for that address holds. */
static void blob_offsets(const model_file *file) {
    nk_arch_info_t arch;
    if (file->size > 256 * 1024 || !EXPECT_OK(nk_parse_architecture_memory(file->bytes, file->size, &arch))) {
        return;
    }
    unsigned char *wanted = (unsigned char *)must_alloc(arch.output_elements * sizeof(float));
    unsigned char *block = (unsigned char *)must_alloc(file->size + 32);
    unsigned char *aligned = block + (round_up((uintptr_t)block, 16) - (uintptr_t)block);
    for (size_t offset = 0; offset < 16; offset++) {
        model_file moved = *file;
        moved.bytes = aligned + offset;
        memcpy(moved.bytes, file->bytes, file->size);
        nk_memory_plan_t plan = plan_of(&moved);
        EXPECT_THAT(works_in(&moved, plan.arena_bytes, 0, 0xFF, wanted, offset == 0), "blob offset %zu", offset);
        EXPECT_THAT(memcmp(moved.bytes, file->bytes, file->size) == 0, "the blob was written, offset %zu", offset);
        overflows_in(&moved, plan.arena_bytes, plan.arena_bytes - 1, 0);
    }
    free(block);
    free(wanted);
}

/* Besides the plan, room for input and output is recommended: an eighth more of all, and 64 KiB; and room for packed
 * weights, which lie at the end of the memory and count as free. */
static void recommended(const model_file *file) {
    nk_memory_plan_t plan = plan_of(file);
    nk_arch_info_t arch;
    if (EXPECT_OK(nk_parse_architecture_memory(file->bytes, file->size, &arch))) {
        size_t values = (size_t)arch.input_elements + arch.output_elements;
        size_t peak = plan.arena_bytes + values * (is_int8_model(file) ? 1 : sizeof(float));
        size_t bytes = nk_recommended_arena_bytes_memory(file->bytes, file->size);
        size_t least = peak + peak / 8 + 65536;
        EXPECT(bytes >= least);
        /* Beyond the biases nothing is packed but weights, in blocks of eight outputs and lines of 64 bytes. */
        EXPECT(bytes <= least + 2 * plan.flash_bytes + 1024 * arch.num_layers + 65536);
        unsigned char *memory = (unsigned char *)must_alloc(bytes);
        nk_arena_t arena;
        nk_model_t model;
        nk_arena_init(&arena, memory, bytes);
        if (EXPECT_OK(nk_load_memory(file->bytes, file->size, &arena, &model))) {
            EXPECT(nk_arena_used(&arena) == plan.arena_bytes);
        }
        free(memory);
    }
}

int main(int argc, char **argv) {
    for_each_model(argc, argv, "arena_sweep", arena_sweep);
    for_each_model(argc, argv, "blob_offsets", blob_offsets);
    for_each_model(argc, argv, "recommended", recommended);
    return report();
}
