/* Loading and running call no allocator. The program brings its own one, which the whole process uses: it hands out a
 * static block and counts. */
#include "check.h"

#include <errno.h>

enum { POOL_BYTES = 96 * 1024 * 1024, ALIGNMENT = 64 };

static _Alignas(ALIGNMENT) unsigned char pool[POOL_BYTES];
static size_t pool_used;
static unsigned long calls;

/* The size stands in front of each block. */
static void *take(size_t size, size_t alignment) {
    size_t start = round_up(pool_used + sizeof(size_t), alignment > ALIGNMENT ? alignment : ALIGNMENT);
    calls++;
    if (size > POOL_BYTES || start > POOL_BYTES - size) {
        errno = ENOMEM;
        return NULL;
    }
    memcpy(pool + start - sizeof size, &size, sizeof size);
    pool_used = start + size;
    return pool + start;
}

void *malloc(size_t size) {
    return take(size, ALIGNMENT);
}

void *calloc(size_t count, size_t size) {
    void *taken = size != 0 && count > SIZE_MAX / size ? NULL : take(count * size, ALIGNMENT);
    return taken != NULL ? memset(taken, 0, count * size) : NULL;
}

static size_t size_of_block(const void *block) {
    size_t size;
    memcpy(&size, (const unsigned char *)block - sizeof size, sizeof size);
    return size;
}

void *realloc(void *old, size_t size) {
    void *taken = take(size, ALIGNMENT);
    if (taken != NULL && old != NULL) {
        size_t old_size = size_of_block(old);
        memcpy(taken, old, old_size < size ? old_size : size);
    }
    return taken;
}

/* Only the block that was taken last goes back to the pool: that is enough for the files of the models. */
void free(void *old) {
    if (old != NULL) {
        size_t start = (size_t)((unsigned char *)old - pool);
        calls++;
        if (start + size_of_block(old) == pool_used) {
            pool_used = start - sizeof(size_t);
        }
    }
}

void *aligned_alloc(size_t alignment, size_t size) {
    return take(size, alignment);
}

void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size) {
    return take(size, alignment);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    *result = take(size, alignment);
    return *result != NULL ? 0 : ENOMEM;
}

static void the_counter_counts(void) {
    unsigned long before = calls;
    nk_arena_t arena;
    EXPECT_OK(nk_arena_init_heap(&arena, 4096)); /* the one call that is allowed to allocate */
    EXPECT(calls > before);
    nk_arena_destroy_heap(&arena);
}

static void load_and_run(const model_file *file, bool from_file) {
    static unsigned char *memory;
    static float *input, *output;
    enum { ARENA_BYTES = 32 * 1024 * 1024, MOST_FLOATS = 1024 * 1024 };
    if (memory == NULL) {
        memory = (unsigned char *)must_alloc(ARENA_BYTES);
        input = (float *)must_alloc(MOST_FLOATS * sizeof *input);
        output = (float *)must_alloc(MOST_FLOATS * sizeof *output);
    }
    nk_arena_t arena;
    nk_model_t model;
    uint32_t count = 0;
    unsigned long before = calls;

    nk_arena_init(&arena, memory, ARENA_BYTES);
    nk_status_t loaded = from_file ? nk_load(file->path, &arena, &model)
                                   : nk_load_memory(file->bytes, file->size, &arena, &model);
    nk_status_t ran = NK_OK;
    for (int i = 0; i < 3 && loaded == NK_OK && ran == NK_OK; i++) {
        fill_model_input(&model, input, 1);
        ran = run_model(&model, &arena, input, output);
    }
    if (loaded == NK_OK && ran == NK_OK) {
        uint32_t inputs = nk_model_input_count(&model);
        fill_input(input, inputs, 1);
        ran = nk_model_run_auto(&model, &arena, input, inputs, output, MOST_FLOATS, &count);
    }
    nk_arena_reset(&arena);
    unsigned long made = calls - before;

    EXPECT_STATUS(loaded, NK_OK);
    EXPECT_STATUS(ran, NK_OK);
    EXPECT_THAT(made == 0, "%lu calls of the allocator, from %s", made, from_file ? "file" : "memory");
}

static void no_allocation(const model_file *file) {
    load_and_run(file, false);
    load_and_run(file, true);
}

/* Errors allocate nothing either. */
static void failures_allocate_nothing(void) {
    static const unsigned char nonsense[64] = {'N', 'K', 'I', 'T', 3};
    static unsigned char memory[256];
    nk_arena_t arena;
    nk_model_t model;
    nk_arch_info_t arch;
    unsigned long before = calls;
    nk_arena_init(&arena, memory, sizeof memory);
    nk_status_t opened = nk_load("models/no_such_model.nk", &arena, &model);
    nk_status_t small = nk_load("models/test_mlp.nk", &arena, &model);
    nk_status_t parsed = nk_parse_architecture_memory(nonsense, sizeof nonsense, &arch);
    unsigned long made = calls - before;
    EXPECT(opened == NK_ERR_MODEL_OPEN && small == NK_ERR_ARENA_OVERFLOW && parsed != NK_OK);
    EXPECT_THAT(made == 0, "%lu calls of the allocator", made);
}

int main(int argc, char **argv) {
    RUN(the_counter_counts);
    for_each_model(argc, argv, "no_allocation", no_allocation);
    RUN(failures_allocate_nothing);
    return report();
}
