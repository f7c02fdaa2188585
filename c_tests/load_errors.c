/* Every way to look at a model or to load one, with every fault that a model, a file and an arena can have: the status,
 * what the text names, and that nothing is left behind. malformed.c has more faults, for two of these ways. */
#define _FILE_OFFSET_BITS 64
#include "check.h"

#include <unistd.h>

enum { GUARD = 64, ROOM = 16 * 1024, LITTLE = 100, UNTOUCHED = 0xA5 };

static unsigned char memory[GUARD + ROOM + GUARD];
static nk_arena_t arena;

/* A model as a file and in memory. */
typedef struct subject {
    const char *path;
    const unsigned char *bytes;
    size_t size;
} subject;

/* ---- ways ---- */

typedef union result {
    nk_arch_info_t arch;
    nk_memory_plan_t plan;
    nk_inspect_info_t inspect;
    nk_model_t model;
    nk_mlp_t mlp;
    nk_cnn_t cnn;
} result;

static nk_arch_info_t info;
static size_t text_pieces;

static void count_pieces(void *user, const char *text, size_t length) {
    (void)text;
    (void)length;
    ++*(size_t *)user;
}

/* The status of a call that gives a size, or 0 and an error. */
static nk_status_t status_of_size(size_t size) {
    nk_error_info_t error;
    memset(&error, 0, sizeof error);
    error.struct_size = (uint32_t)sizeof error;
    EXPECT_OK(nk_last_error_info(&error));
    EXPECT((size == 0) == (error.status != NK_OK));
    return error.status;
}

static nk_status_t parse(const subject *s, result *to) { return nk_parse_architecture(s->path, &to->arch); }
static nk_status_t parse_memory(const subject *s, result *to) {
    return nk_parse_architecture_memory(s->bytes, s->size, &to->arch);
}
static nk_status_t print(const subject *s, result *to) {
    (void)to;
    return nk_arch_print(s->path);
}
static nk_status_t write_arch(const subject *s, result *to) {
    (void)to;
    return nk_arch_write(s->bytes, s->size, count_pieces, &text_pieces);
}
static nk_status_t recommend(const subject *s, result *to) {
    (void)to;
    nk_clear_last_error();
    return status_of_size(nk_recommended_arena_bytes(s->path));
}
static nk_status_t recommend_memory(const subject *s, result *to) {
    (void)to;
    nk_clear_last_error();
    return status_of_size(nk_recommended_arena_bytes_memory(s->bytes, s->size));
}
static nk_status_t plan_memory(const subject *s, result *to) {
    to->plan.struct_size = (uint32_t)sizeof to->plan;
    nk_status_t status = nk_plan_memory(s->bytes, s->size, &to->plan);
    memset(&to->plan.struct_size, UNTOUCHED, sizeof to->plan.struct_size);
    return status;
}
static nk_status_t inspect(const subject *s, result *to) { return nk_inspect_model(s->path, &arena, &to->inspect); }
static nk_status_t inspect_memory(const subject *s, result *to) {
    return nk_inspect_model_memory(s->bytes, s->size, &arena, &to->inspect);
}
static nk_status_t model_load(const subject *s, result *to) { return nk_model_load(s->path, &arena, &to->model); }
static nk_status_t short_load(const subject *s, result *to) { return nk_load(s->path, &arena, &to->model); }
static nk_status_t model_load_memory(const subject *s, result *to) {
    return nk_model_load_memory(s->bytes, s->size, &arena, &to->model);
}
static nk_status_t short_load_memory(const subject *s, result *to) {
    return nk_load_memory(s->bytes, s->size, &arena, &to->model);
}
static nk_status_t load_copy(const subject *s, result *to) {
    return nk_load_memory_copy(s->bytes, s->size, &arena, &to->model);
}
static nk_status_t mlp_load(const subject *s, result *to) { return nk_mlp_load(s->path, &arena, &to->mlp, &info); }
static nk_status_t mlp_load_memory(const subject *s, result *to) {
    return nk_mlp_load_memory(s->bytes, s->size, &arena, &to->mlp, &info);
}
static nk_status_t cnn_load(const subject *s, result *to) { return nk_cnn_load(s->path, &arena, &to->cnn, &info); }
static nk_status_t cnn_load_memory(const subject *s, result *to) {
    return nk_cnn_load_memory(s->bytes, s->size, &arena, &to->cnn, &info);
}
/* The MLP goes to the result; kind and CNN are watched here. */
static nk_status_t load_auto(const subject *s, result *to) {
    nk_network_kind_t kind = NK_NETWORK_UNKNOWN;
    nk_cnn_t cnn;
    memset(&cnn, UNTOUCHED, sizeof cnn);
    nk_status_t status = nk_model_load_auto(s->path, &arena, &kind, &to->mlp, &cnn, &info);
    EXPECT(kind == (status == NK_OK ? NK_NETWORK_MLP : NK_NETWORK_UNKNOWN) && all_bytes(&cnn, sizeof cnn, UNTOUCHED));
    return status;
}

/* How far a call comes with a model whose kind nobody knows. */
typedef enum role { LOOKS, PLANS, LOADS, LOADS_MLP, LOADS_CNN, LOADS_EITHER } role;

/* What becomes of the result when the call fails. */
typedef enum outcome { KEPT, CLEARED, FILLED_IN_PART } outcome;

static const struct way {
    const char *name;
    nk_status_t (*call)(const subject *, result *);
    role role;
    bool from_file;
    outcome unparsed, unknown_kind, unplaced; /* the file is no model, is of another kind, does not fit the arena */
} ways[] = {
    {"nk_parse_architecture", parse, LOOKS, true, KEPT, KEPT, KEPT},
    {"nk_parse_architecture_memory", parse_memory, LOOKS, false, KEPT, KEPT, KEPT},
    {"nk_arch_print", print, LOOKS, true, KEPT, KEPT, KEPT},
    {"nk_arch_write", write_arch, LOOKS, false, KEPT, KEPT, KEPT},
    {"nk_recommended_arena_bytes", recommend, PLANS, true, KEPT, KEPT, KEPT},
    {"nk_recommended_arena_bytes_memory", recommend_memory, PLANS, false, KEPT, KEPT, KEPT},
    {"nk_plan_memory", plan_memory, PLANS, false, KEPT, KEPT, KEPT},
    {"nk_inspect_model", inspect, LOADS, true, CLEARED, FILLED_IN_PART, FILLED_IN_PART},
    {"nk_inspect_model_memory", inspect_memory, LOADS, false, CLEARED, FILLED_IN_PART, FILLED_IN_PART},
    {"nk_model_load", model_load, LOADS, true, KEPT, CLEARED, CLEARED},
    {"nk_load", short_load, LOADS, true, KEPT, CLEARED, CLEARED},
    {"nk_model_load_memory", model_load_memory, LOADS, false, KEPT, CLEARED, CLEARED},
    {"nk_load_memory", short_load_memory, LOADS, false, KEPT, CLEARED, CLEARED},
    {"nk_load_memory_copy", load_copy, LOADS, false, KEPT, CLEARED, CLEARED},
    {"nk_mlp_load", mlp_load, LOADS_MLP, true, CLEARED, CLEARED, CLEARED},
    {"nk_mlp_load_memory", mlp_load_memory, LOADS_MLP, false, KEPT, KEPT, CLEARED},
    {"nk_cnn_load", cnn_load, LOADS_CNN, true, CLEARED, CLEARED, CLEARED},
    {"nk_cnn_load_memory", cnn_load_memory, LOADS_CNN, false, KEPT, KEPT, CLEARED},
    {"nk_model_load_auto", load_auto, LOADS_EITHER, true, KEPT, KEPT, KEPT},
};

enum { WAYS = sizeof ways / sizeof ways[0] };

/* ---- faults ---- */

typedef enum place { IN_HEADER, IN_LAYER, IN_CATALOG, NOWHERE } place;

static const struct fault {
    const char *what, *text; /* what nk_last_error() names */
    place place;
    size_t at; /* from the start of the file, of the first layer's fields or of the catalog */
    uint32_t value;
    size_t width;
    nk_status_t status;
} faults[] = {
    {"wrong magic", "NKIT", IN_HEADER, 0, 'X', 1, NK_ERR_MODEL_PARSE},
    {"an unknown layer", "layer 0", IN_HEADER, 48, 99, 1, NK_ERR_MODEL_READ},
    {"version 9", "9", IN_HEADER, 4, 9, 4, NK_ERR_VERSION_MISMATCH},
    {"101 layers", "101", IN_HEADER, 28, 101, 4, NK_ERR_LAYER_CONFIG},
    {"a wrong number of elements", "1000", IN_CATALOG, 20, 1000, 4, NK_ERR_WEIGHT_MISMATCH},
    {"a layer of no units, or without a kernel", "layer 0", IN_LAYER, 0, 0, 4, NK_ERR_LAYER_CONFIG},
    {"an unknown kind of network", "network_kind is 7", IN_HEADER, 8, 7, 1, NK_ERR_UNSUPPORTED_NETWORK},
    {"a small arena", "100", NOWHERE, 0, 0, 0, NK_ERR_ARENA_OVERFLOW},
    {"no file", "open", NOWHERE, 0, 0, 0, NK_ERR_MODEL_OPEN},
};

enum { FAULTS = sizeof faults / sizeof faults[0] };

static nk_status_t status_for(const struct way *way, const struct fault *fault) {
    switch (fault->status) {
    case NK_ERR_MODEL_OPEN: return way->from_file ? fault->status : NK_OK;
    case NK_ERR_ARENA_OVERFLOW: return way->role >= LOADS ? fault->status : NK_OK;
    case NK_ERR_UNSUPPORTED_NETWORK:
        return way->role == LOOKS ? NK_OK : way->role == LOADS_EITHER ? NK_ERR_LAYER_CONFIG : fault->status;
    default: return fault->status;
    }
}

static bool is_inspect(const struct way *way) { return way->call == inspect || way->call == inspect_memory; }

static outcome outcome_for(const struct way *way, const struct fault *fault) {
    if (fault->place == IN_LAYER) {
        return is_inspect(way) ? CLEARED : way->unplaced;
    }
    switch (fault->status) {
    case NK_ERR_ARENA_OVERFLOW: return way->unplaced;
    case NK_ERR_UNSUPPORTED_NETWORK: return way->unknown_kind;
    default: return way->unparsed;
    }
}

static bool is_as(const result *found, size_t used_bytes, outcome wanted) {
    const nk_inspect_info_t *inspected = &found->inspect;
    switch (wanted) {
    case KEPT: return all_bytes(found, sizeof *found, UNTOUCHED);
    case CLEARED: return all_bytes(found, used_bytes, 0);
    default:
        return inspected->arch.version == 3 && inspected->weight_floats > 0 && inspected->flash_payload_bytes > 0 &&
               inspected->arena_bytes_after_load == 0 && inspected->arena_bytes_after_forward == 0 &&
               inspected->arena_remaining == 0;
    }
}

static size_t result_bytes(const struct way *way) {
    switch (way->role) {
    case LOADS: return is_inspect(way) ? sizeof(nk_inspect_info_t) : sizeof(nk_model_t);
    case LOADS_CNN: return sizeof(nk_cnn_t);
    default: return sizeof(nk_mlp_t);
    }
}

/* ---- the tests ---- */

/* One call in a fresh arena that holds something already, and everything that it must not touch. */
static nk_status_t try(const struct way *way, const subject *s, size_t room, result *found) {
    memset(found, UNTOUCHED, sizeof *found);
    memset(&info, UNTOUCHED, sizeof info);
    memset(memory, UNTOUCHED, sizeof memory);
    nk_arena_init(&arena, memory + GUARD, room);
    EXPECT(nk_arena_alloc(&arena, 7, 1) != NULL);
    text_pieces = 0;
    nk_status_t status = way->call(s, found);
    EXPECT_THAT(all_bytes(memory, GUARD + 7, UNTOUCHED), "%s writes before its memory", way->name);
    EXPECT_THAT(all_bytes(memory + GUARD + room, GUARD, UNTOUCHED), "%s writes behind the arena", way->name);
    return status;
}

static model_file broken_copy(const struct way *way, const struct fault *fault) {
    model_file file = need_model(way->role == LOADS_CNN ? "models/cnn_4x4_single.nk" : "models/test_mlp.nk");
    size_t catalog = way->role == LOADS_CNN ? 72 : 80, layer = 52;
    size_t start = fault->at + (fault->place == IN_CATALOG ? catalog : fault->place == IN_LAYER ? layer : 0);
    for (size_t i = 0; fault->place != NOWHERE && i < fault->width; i++) {
        file.bytes[start + i] = (unsigned char)(fault->value >> (8 * i));
    }
    return file;
}

static void expect_fault(const struct way *way, const struct fault *fault, const char *path) {
    model_file file = broken_copy(way, fault);
    FILE *stream = fopen(path, "wb");
    if (!EXPECT(stream != NULL)) {
        exit(2);
    }
    fwrite(file.bytes, 1, file.size, stream);
    fclose(stream);
    subject s = {fault->status == NK_ERR_MODEL_OPEN ? "models/no_such_model.nk" : path, file.bytes, file.size};
    result found;
    size_t room = fault->status == NK_ERR_ARENA_OVERFLOW ? LITTLE + 7 : ROOM;
    nk_status_t wanted = status_for(way, fault), status = try(way, &s, room, &found);
    EXPECT_THAT(status == wanted, "%s with %s gives %s", way->name, fault->what, nk_status_string(status));
    if (wanted != NK_OK) {
        EXPECT_THAT(strstr(nk_last_error(), fault->text) != NULL, "%s: no \"%s\" in the text", way->name, fault->text);
        EXPECT_THAT(nk_arena_used(&arena) == 7, "%s with %s keeps memory", way->name, fault->what);
        EXPECT_THAT(is_as(&found, result_bytes(way), outcome_for(way, fault)), "%s with %s: result", way->name,
                    fault->what);
        EXPECT_THAT(all_bytes(&info, sizeof info, UNTOUCHED), "%s with %s writes info", way->name, fault->what);
        EXPECT_THAT(text_pieces == 0, "%s with %s writes text", way->name, fault->what);
    }
    nk_arena_reset(&arena);
    free(file.bytes);
}

static void every_way_with_every_fault(void) {
    char path[] = "/tmp/nk_load_errors_XXXXXX";
    int descriptor = mkstemp(path);
    if (!EXPECT(descriptor >= 0)) {
        return;
    }
    close(descriptor);
    for (size_t i = 0; i < WAYS * FAULTS; i++) {
        expect_fault(&ways[i / FAULTS], &faults[i % FAULTS], path);
    }
    remove(path);
}

static void every_way_succeeds(void) {
    for (size_t i = 0; i < WAYS; i++) {
        model_file file = need_model(ways[i].role == LOADS_CNN ? "models/cnn_4x4_single.nk" : "models/test_mlp.nk");
        subject s = {file.path, file.bytes, file.size};
        result found;
        EXPECT_STATUS(try(&ways[i], &s, ROOM, &found), NK_OK);
        EXPECT_THAT((nk_arena_used(&arena) > 7) == (ways[i].role >= LOADS), "%s and the arena", ways[i].name);
        EXPECT_THAT((text_pieces > 0) == (ways[i].call == print || ways[i].call == write_arch), "%s", ways[i].name);
        nk_arena_reset(&arena);
        free(file.bytes);
    }
}

/* A file that is not there is looked for one folder up; what goes wrong then is about that file. */
static void every_way_looks_one_folder_up(void) {
    if (!EXPECT(chdir("models") == 0)) {
        return;
    }
    for (size_t i = 0; i < WAYS; i++) {
        result found;
        if (ways[i].from_file) {
            subject s = {ways[i].role == LOADS_CNN ? "models/cnn_4x4_single.nk" : "models/test_mlp.nk", NULL, 0};
            EXPECT_THAT(try(&ways[i], &s, ROOM, &found) == NK_OK, "%s in a folder of its own", ways[i].name);
            s.path = "models/README.md";
            EXPECT_THAT(try(&ways[i], &s, ROOM, &found) == NK_ERR_MODEL_PARSE, "%s of another file", ways[i].name);
            s.path = "c_tests";
            EXPECT_THAT(try(&ways[i], &s, ROOM, &found) == NK_ERR_MODEL_OPEN, "%s of a folder", ways[i].name);
            nk_arena_reset(&arena);
        }
    }
    EXPECT(chdir("..") == 0);
}

/* An int8 model with a layer that int8 has no form of can be looked at, but not loaded. */
static void an_int8_model_with_a_feature_tap(void) {
    enum { TAP_AT = 72, TAP_BYTES = 12 };
    model_file file = need_model("models/digits_cnn_int8.nk");
    unsigned char *bytes = (unsigned char *)must_alloc(file.size + TAP_BYTES);
    memcpy(bytes, file.bytes, TAP_AT);
    memset(bytes + TAP_AT, 0, TAP_BYTES);
    memcpy(bytes + TAP_AT + TAP_BYTES, file.bytes + TAP_AT, file.size - TAP_AT);
    bytes[TAP_AT] = 13;
    write_u32(bytes + TAP_AT + 4, read_u32(bytes + 60)); /* channels of the convolution in front */
    write_u32(bytes + 28, read_u32(bytes + 28) + 1);
    char path[] = "/tmp/nk_load_errors_XXXXXX";
    int descriptor = mkstemp(path);
    if (EXPECT(descriptor >= 0 && write(descriptor, bytes, file.size + TAP_BYTES) > 0)) {
        subject s = {path, bytes, file.size + TAP_BYTES};
        for (size_t i = 0; i < WAYS; i++) {
            result found;
            nk_status_t wanted = ways[i].role == LOOKS ? NK_OK : NK_ERR_UNSUPPORTED_NETWORK;
            nk_status_t status = try(&ways[i], &s, ROOM, &found);
            EXPECT_THAT(status == wanted, "%s gives %s", ways[i].name, nk_status_string(status));
            EXPECT_THAT(wanted == NK_OK || nk_arena_used(&arena) == 7, "%s keeps memory", ways[i].name);
            const char *named = ways[i].role == LOADS_MLP ? "CNN" : "feature taps";
            EXPECT_THAT(wanted == NK_OK || strstr(nk_last_error(), named) != NULL, "%s", ways[i].name);
        }
        close(descriptor);
        remove(path);
    }
    free(bytes);
    free(file.bytes);
}

/* Files above 2 and 4 GiB, all holes: to 64-bit programs they are no models, 32-bit ones cannot have them. */
static void very_large_files(void) {
    char path[] = "/tmp/netkit_large_XXXXXX";
    int file = mkstemp(path);
    if (!EXPECT(file >= 0)) {
        return;
    }
    for (int gigabytes = 3; gigabytes <= 5; gigabytes += 2) {
        nk_model_t model;
        EXPECT(ftruncate(file, ((off_t)gigabytes << 30) + 64) == 0);
        nk_arena_init(&arena, memory + GUARD, ROOM);
        if (sizeof(size_t) == 8) {
            EXPECT_ERROR(nk_load(path, &arena, &model), NK_ERR_MODEL_PARSE, "not a .nk model");
        } else {
            EXPECT_ERROR(nk_load(path, &arena, &model), NK_ERR_MODEL_READ, "Could not size .nk file");
        }
        EXPECT(nk_arena_used(&arena) == 0);
    }
    close(file);
    unlink(path);
}

int main(void) {
    nk_set_print_callback(count_pieces, &text_pieces);
    RUN(every_way_with_every_fault);
    RUN(every_way_succeeds);
    RUN(every_way_looks_one_folder_up);
    RUN(an_int8_model_with_a_feature_tap);
    RUN(very_large_files);
    return report();
}
