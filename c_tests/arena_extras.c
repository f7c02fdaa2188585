/* Marks, peaks and arenas over an allocator of the program. */
#include "check.h"

static unsigned char memory[256 * 1024];
static const float mlp_input[2] = {1.0f, 2.0f};

static nk_status_t answer(const nk_model_t *model) {
    float output[2] = {0, 0};
    nk_status_t status = nk_run(model, mlp_input, sizeof mlp_input, output, sizeof output, NULL);
    EXPECT(status != NK_OK || (is_close(output[0], 3) && is_close(output[1], 3)));
    return status;
}

/* Number of mapped regions of files under models/; -1 where the system does not tell. */
static int mapped_models(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[1024];
    int count = 0;
    if (maps == NULL) {
        return -1;
    }
    while (fgets(line, sizeof line, maps) != NULL) {
        count += strstr(line, "models/") != NULL && strstr(line, ".nk") != NULL;
    }
    fclose(maps);
    return count;
}

/* ---- marks ---- */

static void rewinding_takes_back_and_unmaps(void) {
    nk_arena_t arena;
    nk_model_t first, second, third;
    int none = mapped_models();
    nk_arena_init(&arena, memory, sizeof memory);
    EXPECT(nk_arena_mark(&arena) == 0);
    EXPECT_OK(nk_load("models/test_mlp.nk", &arena, &first));
    size_t mark = nk_arena_mark(&arena);
    EXPECT(mark == nk_arena_used(&arena));
    for (int round = 0; round < 3; round++) {
        EXPECT_OK(nk_load("models/test_mlp.nk", &arena, &second));
        EXPECT_OK(nk_load("models/test_mlp.nk", &arena, &third));
        nk_unload(&third);
        EXPECT(none < 0 || mapped_models() == none + 2);
        EXPECT_OK(answer(&second));
        EXPECT_OK(nk_arena_rewind(&arena, mark));
        EXPECT(nk_arena_used(&arena) == mark && (none < 0 || mapped_models() == none + 1));
        EXPECT_STATUS(answer(&second), NK_ERR_MODEL_NOT_LOADED);
        EXPECT_OK(answer(&first));
    }
    EXPECT_OK(nk_arena_rewind(&arena, mark)); /* nothing to do */
    EXPECT_OK(answer(&first));
    EXPECT_OK(nk_arena_rewind(&arena, 0));
    EXPECT(nk_arena_used(&arena) == 0 && mapped_models() == none);
    EXPECT_STATUS(answer(&first), NK_ERR_MODEL_NOT_LOADED);
    nk_arena_reset(&arena);
    EXPECT(mapped_models() == none);
}

static void allocations_come_back_in_order(void) {
    nk_arena_t arena;
    nk_arena_init(&arena, memory, 256);
    EXPECT(nk_arena_alloc(&arena, 32, 1) == memory);
    size_t mark = nk_arena_mark(&arena);
    EXPECT(nk_arena_alloc(&arena, 100, 1) == memory + 32);
    EXPECT_OK(nk_arena_rewind(&arena, mark));
    EXPECT(nk_arena_alloc(&arena, 224, 1) == memory + 32 && nk_arena_remaining(&arena) == 0);
    EXPECT(nk_arena_peak(&arena) == 256);
}

static void marks_that_are_refused(void) {
    nk_arena_t arena, garbage;
    memset(&garbage, 0xA5, sizeof garbage);
    nk_arena_init(&arena, memory, 256);
    nk_arena_alloc(&arena, 32, 1);
    EXPECT(nk_arena_mark(NULL) == 0 && nk_arena_mark(&garbage) == 0);
    EXPECT_STATUS(nk_arena_rewind(NULL, 0), NK_ERR_INVALID_ARGUMENT);
    EXPECT_ERROR(nk_arena_rewind(&arena, 33), NK_ERR_INVALID_ARGUMENT, "mark is 33, expected at most 32");
    EXPECT_ERROR(nk_arena_rewind(&arena, SIZE_MAX), NK_ERR_INVALID_ARGUMENT, "expected at most 32");
    EXPECT_STATUS(nk_arena_rewind(&garbage, 1), NK_ERR_INVALID_ARGUMENT);
    EXPECT_OK(nk_arena_rewind(&garbage, 0));
    EXPECT(nk_arena_used(&arena) == 32);
}

static void the_peak_remembers(void) {
    nk_arena_t arena, garbage;
    nk_model_t model;
    float values[2] = {1, 2};
    uint32_t count;
    memset(&garbage, 0xA5, sizeof garbage);
    EXPECT(nk_arena_peak(NULL) == 0 && nk_arena_peak(&garbage) == 0);
    nk_arena_init(&arena, memory, sizeof memory);
    EXPECT(nk_arena_peak(&arena) == 0);
    nk_arena_alloc(&arena, 1000, 1);
    nk_arena_reset(&arena);
    EXPECT(nk_arena_peak(&arena) == 1000 && nk_arena_used(&arena) == 0);
    nk_arena_alloc(&arena, 1, 1);
    EXPECT(nk_arena_alloc(&arena, sizeof memory, 1) == NULL && nk_arena_peak(&arena) == 1000);

    /* What a run borrows counts, although nothing is taken. */
    nk_arena_init(&arena, memory, sizeof memory);
    EXPECT_OK(nk_load("models/test_mlp.nk", &arena, &model));
    size_t used = nk_arena_used(&arena);
    EXPECT(nk_arena_peak(&arena) == used);
    EXPECT_OK(nk_forward(&model, &arena, values, 2, values, 2, &count));
    EXPECT(nk_arena_used(&arena) == used && nk_arena_peak(&arena) >= used + sizeof values);
    nk_arena_t exact;
    static unsigned char again[256 * 1024];
    values[0] = 1, values[1] = 2;
    nk_arena_init(&exact, again + ((uintptr_t)memory - (uintptr_t)again) % 64, nk_arena_peak(&arena));
    EXPECT_OK(nk_load("models/test_mlp.nk", &exact, &model));
    EXPECT_OK(nk_forward(&model, &exact, values, 2, values, 2, &count));
    nk_arena_reset(&exact);
    nk_arena_reset(&arena);
}

/* ---- allocators ---- */

typedef struct pool {
    _Alignas(256) unsigned char bytes[64 * 1024];
    size_t size, alignment, shift;
    int taken, given_back;
    bool is_right;
} pool;

static pool mine;

static void *take(void *user, size_t size, size_t alignment) {
    pool *here = (pool *)user;
    here->size = size;
    here->alignment = alignment;
    here->taken++;
    /* The second half of the alignment: aligned to no more than was asked for. */
    size_t start = alignment + here->shift;
    return size > sizeof here->bytes - start ? NULL : here->bytes + start;
}

static void give_back(void *user, void *ptr, size_t size, size_t alignment) {
    pool *here = (pool *)user;
    here->given_back++;
    here->is_right = ptr == here->bytes + alignment + here->shift && size == here->size && alignment == here->alignment;
}

static nk_allocator_t allocator_of(pool *here) {
    nk_allocator_t allocator;
    memset(here, 0xFF, sizeof *here);
    here->size = here->alignment = here->shift = 0;
    here->taken = here->given_back = 0;
    here->is_right = false;
    memset(&allocator, 0, sizeof allocator);
    allocator.struct_size = (uint32_t)sizeof allocator;
    allocator.alloc = take;
    allocator.free_ = give_back;
    allocator.user = here;
    return allocator;
}

static void an_arena_from_an_allocator(void) {
    for (size_t alignment = 1; alignment <= 256; alignment *= 2) {
        for (size_t capacity = 4000; capacity < 4009; capacity++) {
            nk_allocator_t allocator = allocator_of(&mine);
            nk_arena_t arena;
            nk_model_t model;
            memset(&arena, 0xA5, sizeof arena);
            EXPECT_OK(nk_arena_init_allocator(&arena, capacity, alignment, &allocator));
            memset(&allocator, 0, sizeof allocator); /* was copied */
            EXPECT(mine.taken == 1 && mine.alignment >= alignment && mine.size >= capacity);
            EXPECT(nk_arena_capacity(&arena) == capacity && nk_arena_remaining(&arena) == capacity);
            EXPECT_OK(nk_load("models/test_mlp.nk", &arena, &model));
            EXPECT_OK(answer(&model));
            nk_arena_reset(&arena);
            unsigned char *all = (unsigned char *)nk_arena_alloc(&arena, capacity, 1);
            if (EXPECT(all != NULL && (uintptr_t)all % alignment == 0)) {
                memset(all, 0x5A, capacity);
            }
            nk_arena_deinit(&arena);
            EXPECT(mine.given_back == 1 && mine.is_right && nk_arena_capacity(&arena) == 0);
            nk_arena_deinit(&arena);
            EXPECT(mine.given_back == 1);
        }
    }
}

static void an_allocator_without_free(void) {
    nk_allocator_t allocator = allocator_of(&mine);
    nk_arena_t arena;
    allocator.free_ = NULL;
    EXPECT_OK(nk_arena_init_allocator(&arena, 64, 64, &allocator));
    nk_arena_deinit(&arena);
    EXPECT(mine.given_back == 0 && nk_arena_capacity(&arena) == 0);
}

static void allocators_that_are_refused(void) {
    nk_allocator_t allocator = allocator_of(&mine);
    nk_arena_t arena;
    nk_arena_init(&arena, memory, 99);
    EXPECT_STATUS(nk_arena_init_allocator(NULL, 64, 64, &allocator), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_arena_init_allocator(&arena, 64, 64, NULL), NK_ERR_INVALID_ARGUMENT);
    EXPECT_ERROR(nk_arena_init_allocator(&arena, 64, 0, &allocator), NK_ERR_INVALID_ARGUMENT,
                 "alignment is 0; no power of two");
    EXPECT_ERROR(nk_arena_init_allocator(&arena, 64, 24, &allocator), NK_ERR_INVALID_ARGUMENT,
                 "alignment is 24; no power of two");
    EXPECT_ERROR(nk_arena_init_allocator(&arena, 0, 64, &allocator), NK_ERR_ARENA_OVERFLOW,
                 "the allocator has no block");
    EXPECT_ERROR(nk_arena_init_allocator(&arena, SIZE_MAX, 64, &allocator), NK_ERR_ARENA_OVERFLOW,
                 "the allocator has no block");
    EXPECT(mine.taken == 0);
    EXPECT_ERROR(nk_arena_init_allocator(&arena, sizeof mine.bytes, 64, &allocator), NK_ERR_ARENA_OVERFLOW,
                 "the allocator has no block");
    EXPECT(mine.taken == 1 && mine.given_back == 0);
    mine.shift = 32;
    EXPECT_ERROR(nk_arena_init_allocator(&arena, 64, 64, &allocator), NK_ERR_INVALID_ARGUMENT, "misaligned block");
    EXPECT(mine.taken == 2 && mine.given_back == 1 && mine.is_right);
    allocator.alloc = NULL;
    EXPECT_ERROR(nk_arena_init_allocator(&arena, 64, 64, &allocator), NK_ERR_INVALID_ARGUMENT, "has no alloc");
    allocator.alloc = take;
    allocator.struct_size = 4;
    EXPECT_ERROR(nk_arena_init_allocator(&arena, 64, 64, &allocator), NK_ERR_INVALID_ARGUMENT, "struct_size is 4");
    EXPECT(mine.taken == 2 && nk_arena_capacity(&arena) == 99); /* the handle stays */
}

static void every_kind_of_arena_ends(void) {
    nk_arena_t arena;
    nk_model_t model;
    int none = mapped_models();
    memset(&arena, 0xA5, sizeof arena);
    nk_arena_deinit(&arena); /* never initialised */
    nk_arena_deinit(NULL);
    nk_arena_init(&arena, memory, sizeof memory);
    EXPECT_OK(nk_load("models/test_mlp.nk", &arena, &model));
    EXPECT(none < 0 || mapped_models() == none + 1);
    nk_arena_deinit(&arena);
    EXPECT(nk_arena_capacity(&arena) == 0 && mapped_models() == none);
    EXPECT_STATUS(answer(&model), NK_ERR_MODEL_NOT_LOADED);
    EXPECT_OK(nk_arena_init_heap(&arena, 4096));
    nk_arena_deinit(&arena);
    EXPECT(nk_arena_capacity(&arena) == 0);
    nk_arena_deinit(&arena);
    nk_allocator_t allocator = allocator_of(&mine);
    EXPECT_OK(nk_arena_init_allocator(&arena, 64, 64, &allocator));
    nk_arena_destroy_heap(&arena);
    EXPECT(mine.given_back == 1);
}

int main(void) {
    RUN(rewinding_takes_back_and_unmaps);
    RUN(allocations_come_back_in_order);
    RUN(marks_that_are_refused);
    RUN(the_peak_remembers);
    RUN(an_arena_from_an_allocator);
    RUN(an_allocator_without_free);
    RUN(allocators_that_are_refused);
    RUN(every_kind_of_arena_ends);
    return report();
}
