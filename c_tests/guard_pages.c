/* Unmapped pages directly behind the arena, the blob, the input and the output: one byte too far ends the program. The
 * blob is read-only as well. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "check.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

/* Memory whose last byte lies before an unmapped page. */
typedef struct guarded {
    unsigned char *map;
    size_t map_bytes;
    unsigned char *data;
} guarded;

static guarded make_guarded(size_t bytes) {
    guarded made;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t room = round_up(bytes > 0 ? bytes : 1, page);
    made.map_bytes = room + page;
    void *map = mmap(NULL, made.map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect((unsigned char *)map + room, page, PROT_NONE) != 0) {
        perror("guard page");
        exit(2);
    }
    made.map = (unsigned char *)map;
    made.data = made.map + room - bytes;
    memset(made.map, 0xFF, room);
    return made;
}

static void release(guarded *made) {
    munmap(made->map, made->map_bytes);
}

static const char *current_model = "";

static void on_fault(int signal_number) {
    static const char before[] = "FAIL guard_pages ", after[] = " touches memory outside its buffers\n";
    (void)signal_number;
    ssize_t written = write(STDOUT_FILENO, before, sizeof before - 1);
    written += write(STDOUT_FILENO, current_model, strlen(current_model));
    written += write(STDOUT_FILENO, after, sizeof after - 1);
    _exit(written > 0 ? 1 : 3);
}

/* One load and run with every buffer at its guard and the blob `gap` bytes before its own. */
static void run_guarded(const model_file *file, size_t gap, unsigned char *wanted) {
    guarded blob = make_guarded(file->size + gap);
    memcpy(blob.data, file->bytes, file->size);
    mprotect(blob.map, blob.map_bytes, PROT_READ);

    model_file moved = *file;
    moved.bytes = blob.data;
    nk_memory_plan_t plan = plan_of(&moved);
    guarded memory = make_guarded(plan.arena_bytes);
    nk_arena_t arena;
    nk_model_t model;
    nk_arena_init(&arena, memory.data, plan.arena_bytes);
    if (EXPECT_OK(nk_load_memory(blob.data, file->size, &arena, &model))) {
        size_t output_bytes = nk_model_output_bytes(&model);
        guarded input = make_guarded(nk_model_input_bytes(&model));
        guarded output = make_guarded(output_bytes);
        fill_model_input(&model, input.data, 1);
        EXPECT_OK(run_model(&model, &arena, input.data, output.data));
        if (gap == 0) {
            memcpy(wanted, output.data, output_bytes);
        }
        EXPECT_THAT(memcmp(wanted, output.data, output_bytes) == 0, "blob %zu bytes before the guard", gap);
        release(&input);
        release(&output);
    }
    release(&memory);
    release(&blob);
}

static void guard_pages(const model_file *file) {
    current_model = file->path;
    nk_arch_info_t arch;
    if (!EXPECT_OK(nk_parse_architecture_memory(file->bytes, file->size, &arch))) {
        return;
    }
    unsigned char *wanted = (unsigned char *)must_alloc(arch.output_elements * sizeof(float));
    for (size_t gap = 0; gap < 16; gap++) {
        run_guarded(file, gap, wanted);
    }
    free(wanted);
}

int main(int argc, char **argv) {
    signal(SIGSEGV, on_fault);
    signal(SIGBUS, on_fault);
    for_each_model(argc, argv, "guard_pages", guard_pages);
    return report();
}
