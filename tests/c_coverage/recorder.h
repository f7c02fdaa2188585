/* Stands between a C program and the library: the linker sends each call of a function `nk_x` to `__wrap_nk_x`, which
 * calls `__real_nk_x` and writes down what came of it. tests/c_coverage.rs makes these functions from nk.h and reads the
 * notes.
 *
 * Beside that it watches what the conventions of nk.h promise for every call: a call that fails leaves a text, one that
 * succeeds leaves none, one without a status leaves the text alone; a pointer that must not be NULL is named in the text;
 * a call that fails takes nothing from an arena and writes to no output. */
#ifndef RECORDER_H
#define RECORDER_H

#include <nk.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *__real_nk_last_error(void);
size_t __real_nk_arena_used(const nk_arena_t *arena);

enum { MOST_POINTERS = 40, MOST_OUTPUTS = 4, LARGEST_OUTPUT = 192 };

/* Notes on one function. A set of statuses has bit 0 for NK_OK and for functions without a status, bit n for status n,
 * and bit 13 for NK_ERR_STOPPED. */
typedef struct record {
    const char *name;
    const char *const *pointer_names;
    int pointers;
    unsigned calls;
    unsigned statuses;
    unsigned null_at[MOST_POINTERS];  /* calls in which this pointer is NULL and no other one */
    unsigned empty_at[MOST_POINTERS]; /* calls in which this handle is all zeros and no pointer is NULL */
    const char *broken;               /* the promise that a call did not keep */
} record;

/* What a function promises about the text of nk_last_error(). */
typedef enum promise { HAS_STATUS, HAS_NO_STATUS, PROMISES_NOTHING } promise;

typedef struct output {
    const void *place;
    size_t bytes;
    unsigned char before[LARGEST_OUTPUT];
} output;

/* One call. */
typedef struct call {
    record *record;
    promise promise;
    int pointers, nulls, null, empties, empty, outputs;
    output output[MOST_OUTPUTS];
    const nk_arena_t *arena;
    size_t used;
    char text[NK_MAX_MESSAGE_LEN];
} call;

static inline void begin(call *c, record *to, promise promise) {
    memset(c, 0, sizeof *c);
    c->record = to;
    c->promise = promise;
    strcpy(c->text, __real_nk_last_error());
}

/* The next pointer among the arguments. */
static inline void pointer(call *c, bool is_null) {
    c->nulls += is_null;
    c->null = is_null ? c->pointers : c->null;
    c->pointers++;
}

/* The pointer before is a handle that the call reads. */
static inline void handle(call *c, const void *handle, size_t bytes) {
    static const unsigned char zeros[LARGEST_OUTPUT];
    if (handle != NULL && memcmp(handle, zeros, bytes) == 0) {
        c->empties++;
        c->empty = c->pointers - 1;
    }
}

/* The pointer before leads to an output that a failing call leaves alone. */
static inline void output_at(call *c, const void *place, size_t bytes) {
    if (place != NULL && bytes <= LARGEST_OUTPUT) {
        output *kept = &c->output[c->outputs++];
        kept->place = place;
        kept->bytes = bytes;
        memcpy(kept->before, place, bytes);
    }
}

/* The pointer before is an arena from which a failing call takes nothing. */
static inline void arena_at(call *c, const nk_arena_t *arena) {
    c->arena = arena;
    c->used = __real_nk_arena_used(arena);
}

static inline const char *broken_promise(const call *c, int status) {
    bool failed = status != NK_OK;
    bool has_text = __real_nk_last_error()[0] != '\0';
    if (c->promise == HAS_STATUS && failed != has_text) {
        return failed ? "a call that failed left no text" : "a call that succeeded left a text";
    }
    if (c->promise == HAS_NO_STATUS && strcmp(c->text, __real_nk_last_error()) != 0) {
        return "a call without a status changed the text";
    }
    if (failed && c->promise == HAS_STATUS && c->nulls == 1 && strstr(__real_nk_last_error(), "NULL") != NULL &&
        strstr(__real_nk_last_error(), c->record->pointer_names[c->null]) == NULL) {
        return "the text does not name the pointer that is NULL";
    }
    if (failed && __real_nk_arena_used(c->arena) != c->used) {
        return "a call that failed took memory from an arena";
    }
    for (int i = 0; failed && i < c->outputs; i++) {
        if (memcmp(c->output[i].place, c->output[i].before, c->output[i].bytes) != 0) {
            return "a call that failed wrote to an output";
        }
    }
    return NULL;
}

static inline void end(call *c, int status) {
    unsigned bit = 1u << (status == NK_ERR_STOPPED ? 13 : status);
    record *to = c->record;
    __atomic_fetch_add(&to->calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_or(&to->statuses, bit, __ATOMIC_RELAXED);
    if (c->nulls == 1) {
        __atomic_fetch_or(&to->null_at[c->null], bit, __ATOMIC_RELAXED);
    }
    if (c->nulls == 0 && c->empties == 1) {
        __atomic_fetch_or(&to->empty_at[c->empty], bit, __ATOMIC_RELAXED);
    }
    const char *broken = broken_promise(c, status);
    if (broken != NULL) {
        __atomic_store_n(&to->broken, broken, __ATOMIC_RELAXED);
    }
}

/* One line for each function that was called, to the file that NETKIT_RECORD names. */
static inline void write_notes(const record *records, size_t count) {
    FILE *file = fopen(getenv("NETKIT_RECORD"), "w");
    for (const record *r = records; file != NULL && r < records + count; r++) {
        if (r->calls > 0) {
            fprintf(file, "%s %u", r->name, r->statuses);
            for (int i = 0; i < r->pointers; i++) {
                fprintf(file, " %u %u", r->null_at[i], r->empty_at[i]);
            }
            fprintf(file, " %s\n", r->broken != NULL ? r->broken : "");
        }
    }
    if (file == NULL || fclose(file) != 0) {
        abort();
    }
}

#endif
