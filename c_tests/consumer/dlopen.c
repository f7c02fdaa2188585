/* Opens the shared library while it runs, with nothing of it linked; checks that it fits this header before use. */
#include <nk.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* A function pointer from dlsym(), by the detour that C allows. */
#define FIND(library, function) find((library), #function, &function, sizeof function)

static int find(void *library, const char *name, void *function, size_t size) {
    void *symbol = dlsym(library, name);
    if (symbol == NULL || size != sizeof symbol) {
        fprintf(stderr, "%s is missing\n", name);
        return 0;
    }
    memcpy(function, &symbol, size);
    return 1;
}

static int use(void *library) {
    static unsigned char memory[16384];
    nk_status_t (*nk_check_abi)(uint32_t, size_t, size_t, size_t);
    void (*nk_arena_init)(nk_arena_t *, void *, size_t);
    nk_status_t (*nk_load)(const char *, nk_arena_t *, nk_model_t *);
    nk_status_t (*nk_forward)(const nk_model_t *, nk_arena_t *, const float *, uint32_t, float *, uint32_t, uint32_t *);
    const char *(*nk_last_error)(void);
    nk_arena_t arena;
    nk_model_t model;
    float input[2] = {1, 2}, output[2];
    uint32_t count;

    if (!FIND(library, nk_check_abi) || !FIND(library, nk_arena_init) || !FIND(library, nk_load) ||
        !FIND(library, nk_forward) || !FIND(library, nk_last_error)) {
        return 1;
    }
    if (!nk_abi_ok()) {
        fprintf(stderr, "the library is of another version than nk.h\n");
        return 1;
    }
    nk_arena_init(&arena, memory, sizeof memory);
    if (nk_load("models/test_mlp.nk", &arena, &model) != NK_OK ||
        nk_forward(&model, &arena, input, 2, output, 2, &count) != NK_OK) {
        fprintf(stderr, "%s\n", nk_last_error());
        return 1;
    }
    printf("%g, %g\n", (double)output[0], (double)output[1]);
    return 0;
}

int main(int argc, char **argv) {
    void *library;
    int result;
    if (argc != 2) {
        fprintf(stderr, "usage: %s LIBRARY\n", argv[0]);
        return 2;
    }
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    result = use(library);
    dlclose(library);
    return result;
}
