/*
 * NETKIT - runs .nk neural-network files inside memory that you provide
 *
 * Three calls are enough:
 *
 *     #include <nk.h>
 *     #include <stdio.h>
 *
 *     static unsigned char memory[64 * 1024];
 *
 *     int main(void) {
 *         nk_arena_t arena;
 *         nk_model_t model;
 *         float input[2] = {1.0f, 2.0f}, output[2];
 *         uint32_t count;
 *
 *         nk_arena_init(&arena, memory, sizeof memory);
 *         if (nk_load("models/test_mlp.nk", &arena, &model) != NK_OK ||
 *             nk_forward(&model, &arena, input, 2, output, 2, &count) != NK_OK) {
 *             puts(nk_last_error());
 *             return 1;
 *         }
 *         printf("%g %g\n", output[0], output[1]);
 *         return 0;
 *     }
 *
 * CONVENTIONS
 *
 * They hold for every function; a function's own text only adds to them.
 *
 * Memory. Everything a model needs lives in an arena: a range of your memory that is handed out from front to back.
 * Loading and running never touch the heap. Loading takes a number of arena bytes that nk_plan_memory() tells
 * beforehand, running takes none. A weight is read where it lies, in your buffer or in the mapped file; the buffer of
 * a model loaded from memory must stay as it is until the model is no longer used, and is never written to. What is
 * free of an arena belongs to the library, which keeps weights there in the order of its kernels to run faster; they
 * give way when you take the memory, so write only to what nk_arena_alloc() gave you. nk_recommended_arena_bytes()
 * has room for them; in a smaller arena models run with the same answers.
 *
 * Ownership. A handle (nk_arena_t, nk_model_t) is plain data in your hands: it may lie anywhere, be copied with `=` or
 * memcpy(), and needs no destructor. Copies are names for the same thing. The arena owns what was loaded into it:
 * resetting or destroying it ends every model in it and unmaps their files. Strings that a function returns are the
 * library's; those of nk_last_error() change with the next call on the same thread, all others never do.
 *
 * Errors. A function that can fail returns nk_status_t: NK_OK is 0, everything else left a sentence behind that
 * nk_last_error() returns. Outputs are written on success only, unless the function says otherwise. A load that fails
 * leaves the arena as it was.
 *
 * NULL. A NULL pointer where an object is needed is never dereferenced: a function that returns a status answers
 * NK_ERR_INVALID_ARGUMENT, a query answers 0, NULL or false, and a function without a result does nothing. The same
 * goes for a handle of zero bytes and, with overwhelming likelihood, for one that was never initialised.
 *
 * Threads. The library has no global state that calls share, except the last error, which every thread has for itself
 * on Unix and which the whole program shares elsewhere, and the functions of yours that nk_set_clock(),
 * nk_set_log_callback() and nk_set_print_callback() set for the whole process. Different models in different arenas may be loaded and run at
 * the same time. One arena, and all models in it, belong to one thread at a time: a run writes to the arena that the
 * model was loaded into; nk_model_run_scratch() lets several threads run one model. "Threads: any" below means any thread, as long as no other one uses the same objects.
 *
 * Alignment. An arena and the bytes of a model may start at any address; an address that is no multiple of 4 makes the
 * library copy weights into the arena. Tensors of floats are arrays of float and aligned as such.
 *
 * Numbers. Counts are elements, names that end in _bytes are bytes. A shape lists the outermost dimension first:
 * [rows, features] for an MLP, [height, width, channels] for a CNN; elements follow each other in that order, the last
 * dimension fastest. An enumeration argument may hold any number; what is not listed counts as unknown.
 *
 * Builds. The functions are the same in every build for an operating system. One that was made without the cargo feature
 * f32 or int8 refuses to plan and load networks of that type, with NK_ERR_UNSUPPORTED_NETWORK; without f32 there are
 * no operations on tensors and no single convolutions either. nk_build_info() tells what is missing.
 *
 * Versions. "Since" names the version of the library that first had a function. Structures that may grow begin with
 * struct_size, which you set to the sizeof of the structure.
 */
#ifndef NK_H
#define NK_H
#include "netkit_config.h"

#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
#include <cstddef>
#else
#include <stdbool.h>
#endif

/* Alignment of the handles: that of the strictest basic type, max_align_t, also for languages that do not know it. */
#if defined(__cplusplus) && (__cplusplus >= 201103L || (defined(_MSVC_LANG) && _MSVC_LANG >= 201103L))
#define NK_ALIGNED_MAX alignas(std::max_align_t)
#elif !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L && !defined(_MSC_VER)
#define NK_ALIGNED_MAX _Alignas(max_align_t)
#elif defined(__GNUC__) && !defined(__clang__) && defined(__i386__)
#define NK_ALIGNED_MAX __attribute__((aligned(16)))
#elif defined(__GNUC__)
#define NK_ALIGNED_MAX \
    __attribute__((aligned( \
        __alignof__(long double) > __alignof__(uint64_t) ? __alignof__(long double) : __alignof__(uint64_t))))
#elif defined(_MSC_VER) && defined(_WIN64)
#define NK_ALIGNED_MAX __declspec(align(16))
#elif defined(_MSC_VER)
#define NK_ALIGNED_MAX __declspec(align(8))
#else
#error "nk.h needs C11, C++11, or a compiler that is compatible with GCC or MSVC"
#endif

/* As padding at the end of an axis: the same as at its start. */
#define NK_PAD_MIRROR (-1)

/* Names that four statuses had in early programs. */
/** Early name of NK_ERR_MODEL_OPEN. */
#define NK_ERR_JSON_OPEN NK_ERR_MODEL_OPEN
/** Early name of NK_ERR_MODEL_READ. */
#define NK_ERR_BIN_OPEN NK_ERR_MODEL_READ
/** Early name of NK_ERR_MODEL_PARSE. */
#define NK_ERR_JSON_PARSE NK_ERR_MODEL_PARSE
/** Early name of NK_ERR_WEIGHT_MISMATCH. */
#define NK_ERR_BIN_SIZE_MISMATCH NK_ERR_WEIGHT_MISMATCH

/* Define NK_COMPAT_NULLPTR in front of this header to compile C programs that say nullptr with compilers that do not
 * know it yet. */
#if defined(NK_COMPAT_NULLPTR) && !defined(__cplusplus) && !defined(nullptr) && \
    (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 202311L)
#define nullptr ((void *)0)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ========================================================================
 * Version and limits
 * ========================================================================
 * Limits of the .nk format and sizes of the opaque handles. All are plain integers, fit for array sizes.
 */

/** Version of the library, first number. */
#define NK_VERSION_MAJOR 0

/** Version of the library, second number. */
#define NK_VERSION_MINOR 1

/** Version of the library, third number. */
#define NK_VERSION_PATCH 0

/** Version of the binary interface that this header describes; see nk_check_abi(). */
#define NK_ABI_VERSION 1

/** Most dimensions of a tensor. */
#define NK_MAX_TENSOR_RANK 4

/** Most values in one input or output of an embedded test case. */
#define NK_MAX_CASE_FLOATS 16384

/** Most layers of a model. */
#define NK_MAX_LAYERS 100

/** Longest path, with its terminating zero, that is also tried with `../` in front. */
#define NK_MAX_PATH_LEN 256

/** Size of an error message with its terminating zero. */
#define NK_MAX_MESSAGE_LEN 128

/** Size of nk_arena_t in bytes. */
#define NK_ARENA_STORAGE_BYTES 64

/** Size of nk_model_t in bytes. */
#define NK_MODEL_STORAGE_BYTES 96

/** Size of an MLP handle in bytes. */
#define NK_MLP_STORAGE_BYTES 16

/** Size of a CNN handle in bytes. */
#define NK_CNN_STORAGE_BYTES 16

/* ========================================================================
 * Status and errors
 * ========================================================================
 * A status tells what kind of thing went wrong; nk_last_error() tells it in a sentence with layer, byte and numbers,
 * and nk_last_error_info() gives the same facts as fields.
 */

/** Result of a call. */
enum nk_status {
    /** The call did what it should. */
    NK_OK = 0,
    /** The file cannot be opened, neither at its path nor at `../` and its path, or is no regular file. */
    NK_ERR_MODEL_OPEN = 1,
    /** The file cannot be read, or a record in it is cut short or of an unknown kind. */
    NK_ERR_MODEL_READ = 2,
    /** This is no .nk file, or its header, sections or payload contradict each other. */
    NK_ERR_MODEL_PARSE = 3,
    /** A valid model that this version of the library cannot run. */
    NK_ERR_UNSUPPORTED_NETWORK = 4,
    /** The file has a format version other than 3 and 4; or see nk_check_abi(). */
    NK_ERR_VERSION_MISMATCH = 5,
    /** A layer cannot work on its input, or the model has too many layers or tensors. */
    NK_ERR_LAYER_CONFIG = 6,
    /** A tensor has another size than its layer asks for. */
    NK_ERR_WEIGHT_MISMATCH = 7,
    /** The arena has too little room; the message gives the bytes needed and available. */
    NK_ERR_ARENA_OVERFLOW = 8,
    /** An argument is NULL, out of range or does not fit the model. */
    NK_ERR_INVALID_ARGUMENT = 9,
    /** The output buffer is shorter than the output. */
    NK_ERR_BUFFER_TOO_SMALL = 10,
    /** The handle holds no loaded model. */
    NK_ERR_MODEL_NOT_LOADED = 11,
    /** The object has to be initialised first. */
    NK_ERR_NOT_INITIALIZED = 12,
    /** Your layer hook stopped the run; see nk_model_set_layer_hook(). */
    NK_ERR_STOPPED = 100,
};

/** Result of a call. */
typedef enum nk_status nk_status_t;

/** The last error as fields. Set struct_size to `sizeof(nk_error_info_t)` before you pass it. */
struct nk_error_info {
    /** Size of this structure in bytes, set by you. */
    uint32_t struct_size;
    /** Status of the call that failed last; NK_OK when the last call succeeded. */
    nk_status_t status;
    /** Index of the layer in the model from 0, or -1. */
    int32_t layer_index;
    /** Offset in the .nk file in bytes, or 0xFFFFFFFF. */
    uint32_t byte_offset;
    /** Bytes or elements that would have been right; 0 when the error is not about an amount. */
    size_t needed;
    /** Bytes or elements that were there; 0 when the error is not about an amount. */
    size_t available;
    /** The sentence of nk_last_error(). */
    char message[NK_MAX_MESSAGE_LEN];
};

/** The last error as fields. */
typedef struct nk_error_info nk_error_info_t;

/**
 * Names a status in two to four words of plain English, such as `arena overflow`.
 *
 * - status: any number; `unknown` for one that is not listed.
 *
 * Returns a constant string, never NULL. Threads: any. Since 0.1.0.
 */
const char *nk_status_string(nk_status_t status);

/**
 * Tells in one sentence why the last call failed that returned a status on this thread.
 *
 * Returns a string of at most 127 bytes, never NULL; empty when that call succeeded or there was none. It is valid
 * until the next call on this thread. Calls that return no status leave it alone. Threads: any, each has its own on
 * Unix; in builds without an operating system there is one for all. Since 0.1.0.
 */
const char *nk_last_error(void);

/** Forgets the last error of this thread. Threads: any. Since 0.1.0. */
void nk_clear_last_error(void);

/**
 * Copies the text of nk_last_error() to a buffer of yours.
 *
 * - buffer: receives the text and a terminating zero, cut to the capacity; may be NULL when capacity is 0.
 * - capacity: size of the buffer in bytes.
 *
 * Returns the length of the whole text in bytes without the terminating zero. Threads: any. Since 0.1.0.
 */
size_t nk_last_error_copy(char *buffer, size_t capacity);

/**
 * Gives the facts of the last error of this thread. Unlike other calls it leaves the last error as it is, whatever it
 * returns.
 *
 * - info: filled in; its struct_size must be set.
 *
 * Returns NK_OK, or NK_ERR_INVALID_ARGUMENT when info is NULL or its struct_size is not the size of the structure.
 * Threads: any. Since 0.1.0.
 */
nk_status_t nk_last_error_info(nk_error_info_t *info);

/* ========================================================================
 * Version of the linked library
 * ========================================================================
 * A program that loads the library at run time checks with nk_abi_ok() that both were made for each other.
 */

/**
 * Version of the library that is linked, such as `0.1.0`.
 *
 * Returns a constant string, never NULL. Threads: any. Since 0.1.0.
 */
const char *nk_version_string(void);

/**
 * How the linked library was built: version, ABI, processor, system and what it was built with, for bug reports. For
 * people; programs ask nk_abi_version() and try.
 *
 * Returns a constant string such as `netkit 0.1.0, abi 1, x86_64-linux, with files and stdio`, never NULL. Threads: any.
 * Since 0.1.0.
 */
const char *nk_build_info(void);

/**
 * Version of the binary interface that the linked library has; NK_ABI_VERSION is the one of this header.
 *
 * Threads: any. Since 0.1.0.
 */
uint32_t nk_abi_version(void);

/**
 * Checks that your program was compiled with a header that fits the linked library. The macro nk_abi_ok() at the end
 * of this header calls it with the right arguments.
 *
 * - header_abi: NK_ABI_VERSION.
 * - arena_size, model_size, tensor_size: sizeof of nk_arena_t, nk_model_t and nk_tensor_t.
 *
 * Returns NK_OK or NK_ERR_VERSION_MISMATCH. Threads: any. Since 0.1.0.
 */
nk_status_t nk_check_abi(uint32_t header_abi, size_t arena_size, size_t model_size, size_t tensor_size);

/* ========================================================================
 * Arena
 * ========================================================================
 * An arena hands out a range of memory from front to back and takes it back all at once. It keeps no bookkeeping
 * inside that memory: nk_arena_used() counts exactly what was handed out, and the padding in front of it. Packed
 * weights of models at the end of the memory count as free.
 */

/** Handle of an arena. Its content belongs to the library. */
struct nk_arena {
    /** Opaque. */
    NK_ALIGNED_MAX unsigned char storage[NK_ARENA_STORAGE_BYTES];
};

/** Handle of an arena. */
typedef struct nk_arena nk_arena_t;

/**
 * Makes an arena over memory of yours.
 *
 * What the handle was before does not matter and is not released.
 *
 * - arena: the handle to fill in.
 * - memory: first byte, at any address; must stay valid as long as the arena is used. With NULL every allocation
 *   fails.
 * - size: bytes at `memory`.
 *
 * Threads: any. Cost: constant. Since 0.1.0.
 */
void nk_arena_init(nk_arena_t *arena, void *memory, size_t size);

/**
 * Takes bytes from an arena. They are not cleared.
 *
 * - arena: where from.
 * - size: bytes, at least 1.
 * - alignment: a power of two; the address is a multiple of it.
 *
 * Returns the first byte, or NULL, with nothing taken, when an argument is wrong or the room is too small. Valid until
 * the arena is reset or destroyed. Threads: any. Cost: constant. Since 0.1.0.
 */
void *nk_arena_alloc(nk_arena_t *arena, size_t size, size_t alignment);

/**
 * Takes all memory of an arena back and unmaps the files that were loaded into it.
 *
 * Everything in it ends: allocations, models, tensors. Handles of models still answer queries, but must not be run.
 * The memory itself must still be there if files were loaded into it.
 *
 * - arena: the arena to empty.
 *
 * Threads: any. Cost: constant, and one unmapping for each file. Since 0.1.0.
 */
void nk_arena_reset(nk_arena_t *arena);

/** Bytes that an arena was made with; 0 for NULL. Threads: any. Since 0.1.0. */
size_t nk_arena_capacity(const nk_arena_t *arena);

/** Bytes that are taken, padding included; 0 for NULL. Threads: any. Since 0.1.0. */
size_t nk_arena_used(const nk_arena_t *arena);

/** Bytes that can still be taken; 0 for NULL. Threads: any. Since 0.1.0. */
size_t nk_arena_remaining(const nk_arena_t *arena);

/* ========================================================================
 * Arena: marks and allocators
 * ========================================================================
 * Taking back a part of an arena, measuring what it really used, and arenas over memory that an allocator of yours
 * provides: from fast memory, from a page that no cache line of others shares, from a pool.
 */

/** Where memory comes from and goes back to. Set struct_size to `sizeof(nk_allocator_t)` before you pass it. */
struct nk_allocator {
    /** Size of this structure in bytes, set by you. */
    uint32_t struct_size;
    /** Gives `size` bytes at a multiple of `alignment`, or NULL. */
    void *(*alloc)(void *user, size_t size, size_t alignment);
    /** Takes back what `alloc` gave, with the same size and alignment; may be NULL for memory that never goes back. */
    void (*free_)(void *user, void *ptr, size_t size, size_t alignment);
    /** Handed to both functions. */
    void *user;
};

/** Where memory comes from and goes back to. */
typedef struct nk_allocator nk_allocator_t;

/**
 * Makes an arena over one block of an allocator of yours.
 *
 * What the handle was before does not matter and is not released. The block is a little larger than the capacity,
 * because the arena remembers behind its memory how the block goes back.
 *
 * - arena: the handle to fill in; end it with nk_arena_deinit().
 * - capacity: bytes, at least 1.
 * - alignment: a power of two; the first byte of the arena lies at a multiple of it.
 * - allocator: copied; its functions must stay callable until the arena ends.
 *
 * Returns NK_OK, NK_ERR_INVALID_ARGUMENT for NULL, a wrong struct_size, an alignment that is no power of two, an
 * allocator without alloc or one that gives a misaligned block, or NK_ERR_ARENA_OVERFLOW when capacity is 0 or the
 * allocator has no such block. Threads: any. Cost: one call of alloc. Since 0.1.0.
 */
nk_status_t nk_arena_init_allocator(nk_arena_t *arena, size_t capacity, size_t alignment, const nk_allocator_t *allocator);

/**
 * Ends an arena of any kind: unmaps its files and gives its memory back to where it came from, the heap or an allocator.
 * Its capacity is 0 afterwards.
 *
 * Harmless for an arena that was ended before and for NULL. Of several copies of a handle end one only.
 *
 * - arena: the arena to end.
 *
 * Threads: any. Cost: giving back one block, and one unmapping for each file. Since 0.1.0.
 */
void nk_arena_deinit(nk_arena_t *arena);

/** A mark for nk_arena_rewind(): the bytes that are taken now; 0 for NULL. Threads: any. Since 0.1.0. */
size_t nk_arena_mark(const nk_arena_t *arena);

/**
 * Takes back everything that was taken since a mark, and unmaps the files that were loaded since then.
 *
 * What was loaded or allocated behind the mark ends, as all does in nk_arena_reset(); what was there before stays.
 *
 * - arena: the arena.
 * - mark: what nk_arena_mark() told for this arena, if neither a reset nor a rewind went below it meanwhile.
 *
 * Returns NK_OK, or NK_ERR_INVALID_ARGUMENT for NULL and for a mark above what is taken. Threads: any. Cost: constant,
 * and one unmapping for each file. Since 0.1.0.
 */
nk_status_t nk_arena_rewind(nk_arena_t *arena, size_t mark);

/**
 * Most bytes that were ever taken from an arena at one time since it was made, resets and rewinds notwithstanding; what
 * a run borrowed for its duration counts. 0 for NULL.
 *
 * An arena of this capacity would have done, if it starts at an address of the same alignment. Threads: any. Since
 * 0.1.0.
 */
size_t nk_arena_peak(const nk_arena_t *arena);

#ifdef NETKIT_ARENA_HEAP
/* ========================================================================
 * Arena on the heap
 * ========================================================================
 * For programs that have a heap and do not care where the arena lies.
 */

/**
 * Makes an arena over one block of the C heap, cleared to zero. A large block costs nothing until it is used.
 *
 * What the handle was before does not matter and is not released.
 *
 * - arena: the handle to fill in; destroy it with nk_arena_destroy_heap().
 * - capacity: bytes, at least 1.
 *
 * Returns NK_OK, NK_ERR_INVALID_ARGUMENT for NULL, or NK_ERR_ARENA_OVERFLOW when the heap has no such block.
 * Threads: any. Cost: one calloc(). Since 0.1.0.
 */
nk_status_t nk_arena_init_heap(nk_arena_t *arena, size_t capacity);

/**
 * Ends an arena: unmaps its files and, when nk_arena_init_heap() made it, frees its memory. Its capacity is 0
 * afterwards.
 *
 * Harmless for an arena that nk_arena_init() made, for one that was destroyed before, and for NULL. Of several copies
 * of a handle destroy one only. The same as nk_arena_deinit(), which every build has.
 *
 * - arena: the arena to end.
 *
 * Threads: any. Cost: one free(), and one unmapping for each file. Since 0.1.0.
 */
void nk_arena_destroy_heap(nk_arena_t *arena);
#endif /* NETKIT_ARENA_HEAP */

/* ========================================================================
 * Models: look and measure
 * ========================================================================
 * What a file holds and how much memory it needs. None of this runs the model, and only nk_inspect_model() and
 * nk_inspect_model_memory() need an arena.
 */

/** Kind of a network. */
enum nk_network_kind {
    /** No network, or a kind that this library does not know. */
    NK_NETWORK_UNKNOWN = 0,
    /** Multi-layer perceptron: works on rows of features. */
    NK_NETWORK_MLP = 1,
    /** Convolutional network: works on maps of height, width and channels. */
    NK_NETWORK_CNN = 2,
};

/** Kind of a network. */
typedef enum nk_network_kind nk_network_kind_t;

/** What a model is. */
struct nk_arch_info {
    /** Format version of the file, 3 or 4. */
    uint32_t version;
    /** Kind of the network; NK_NETWORK_UNKNOWN for a kind that this library does not know. */
    nk_network_kind_t kind;
    /** Extents of the input, outermost first; 0 beyond the rank. */
    uint32_t input_shape[NK_MAX_TENSOR_RANK];
    /** Number of dimensions of the input. */
    uint32_t input_rank;
    /** Number of layers. */
    uint32_t num_layers;
    /** (weights_bytes + biases_bytes) / 4, also for an int8 model. */
    size_t expected_weight_floats;
    /** Size of all weights in bytes. */
    size_t weights_bytes;
    /** Size of all biases in bytes. */
    size_t biases_bytes;
    /** Elements of the input. */
    uint32_t input_elements;
    /** Elements of the output. */
    uint32_t output_elements;
};

/** What a model is. */
typedef struct nk_arch_info nk_arch_info_t;

/** Memory that a model needs. Set struct_size to `sizeof(nk_memory_plan_t)` before you pass it. */
struct nk_memory_plan {
    /** Size of this structure in bytes, set by you. */
    uint32_t struct_size;
    /** Arena bytes that loading the model takes, wherever the free memory of the arena starts. One byte less fails. */
    size_t arena_bytes;
    /** Arena bytes that each run takes: 0. */
    size_t run_bytes;
    /** The part of arena_bytes that a run writes to: activations and scratch. */
    size_t scratch_bytes;
    /** Alignment that the memory of the arena needs: 1, because arena_bytes covers any start address. */
    size_t alignment;
    /** Size of all weights and biases in bytes, which are used where they lie. */
    size_t flash_bytes;
};

/** Memory that a model needs. */
typedef struct nk_memory_plan nk_memory_plan_t;

/** What a model is, and what it took when it was loaded. */
struct nk_inspect_info {
    /** What the model is. */
    nk_arch_info_t arch;
    /** The same as arch.expected_weight_floats. */
    size_t weight_floats;
    /** nk_arena_used() after the model was loaded. */
    size_t arena_bytes_after_load;
    /** nk_arena_used() after a run: the same, because a run takes nothing. */
    size_t arena_bytes_after_forward;
    /** nk_arena_remaining() after that. */
    size_t arena_remaining;
    /** Size of all weights and biases in bytes: they stay where the model lies, such as in flash. */
    size_t flash_payload_bytes;
};

/** What a model is, and what it took when it was loaded. */
typedef struct nk_inspect_info nk_inspect_info_t;

/**
 * Describes the model in a file.
 *
 * - path: a .nk file; tried once more with `../` in front.
 * - info: filled in on success.
 *
 * Returns NK_OK or any of 1 to 3, 5 to 7 and 9. Works for every model that is well-formed, also for one that cannot be
 * loaded. Threads: any. Cost: reads the file without its weights. Since 0.1.0.
 */
nk_status_t nk_parse_architecture(const char *path, nk_arch_info_t *info);

/**
 * Describes a model in memory, otherwise as nk_parse_architecture().
 *
 * - data: the content of a .nk file, at any address; only read during the call.
 * - size: bytes at `data`.
 * - info: filled in on success.
 *
 * Returns NK_OK or any of 2, 3, 5 to 7 and 9. Threads: any. Since 0.1.0.
 */
nk_status_t nk_parse_architecture_memory(const uint8_t *data, size_t size, nk_arch_info_t *info);

/**
 * Prints the summary of the model in a file to C stdout: name, type, shapes, one line for each layer, totals.
 *
 * - path: a .nk file; tried once more with `../` in front.
 *
 * Returns NK_OK or any of 1 to 3, 5 to 7 and 9, with nothing printed then. Builds without an operating system print
 * nothing. Threads: any; stdout is shared. Since 0.1.0.
 */
nk_status_t nk_arch_print(const char *path);

/**
 * Size of an arena in which the model in a file runs fastest and with room to spare: room for packed weights, which make
 * runs faster, for one input and one output, an eighth more, and 64 KiB. nk_plan_memory() gives the least size.
 *
 * - path: a .nk file; tried once more with `../` in front.
 *
 * Returns bytes, or 0 and an error in nk_last_error(). Threads: any. Since 0.1.0.
 */
size_t nk_recommended_arena_bytes(const char *path);

/**
 * The same for a model in memory.
 *
 * - data: the content of a .nk file, at the address that it will be loaded from; only read during the call.
 * - size: bytes at `data`.
 *
 * Returns bytes, or 0 and an error in nk_last_error(). Threads: any. Since 0.1.0.
 */
size_t nk_recommended_arena_bytes_memory(const void *data, size_t size);

/**
 * Tells exactly how much memory a model needs, and checks all of it but its weights, without needing memory itself.
 *
 * - data: the content of a .nk file, at the address that it will be loaded from: at one where its weights are not
 *   aligned to 4 the plan includes a copy of them. Only read during the call.
 * - size: bytes at `data`.
 * - plan: filled in on success; its struct_size must be set.
 *
 * Returns NK_OK or any of 2 to 7 and 9. Threads: any. Cost: reads the file without its weights. Since 0.1.0.
 */
nk_status_t nk_plan_memory(const void *data, size_t size, nk_memory_plan_t *plan);

/**
 * Describes the model in a file and loads it into your arena to tell what it takes there. It is not run.
 *
 * The arena is neither emptied before nor after, so that the figures include what it already held.
 *
 * - path: a .nk file; tried once more with `../` in front.
 * - arena: takes the model in, as in nk_model_load().
 * - info: cleared, then filled in as far as the call comes: arch, weight_floats and flash_payload_bytes stay when
 *   loading fails.
 *
 * Returns NK_OK or any of 1 to 9. Threads: any. Cost: that of loading. Since 0.1.0.
 */
nk_status_t nk_inspect_model(const char *path, nk_arena_t *arena, nk_inspect_info_t *info);

/**
 * Describes and loads a model in memory, otherwise as nk_inspect_model().
 *
 * - data: the content of a .nk file, at any address; see nk_model_load_memory().
 * - size: bytes at `data`.
 * - arena: takes the model in.
 * - info: cleared, then filled in as by nk_inspect_model().
 *
 * Returns NK_OK or any of 2 to 9. Threads: any. Since 0.1.0.
 */
nk_status_t nk_inspect_model_memory(const uint8_t *data, size_t size, nk_arena_t *arena, nk_inspect_info_t *info);

/* ========================================================================
 * Models: load, run, unload
 * ========================================================================
 * A model is loaded into an arena and lives there until the arena is reset. Any number of models share an arena;
 * loading the same bytes twice gives two models. nk_load(), nk_load_memory() and nk_forward() are short names of
 * nk_model_load(), nk_model_load_memory() and nk_model_run().
 */

/** Handle of a model. Its content belongs to the library. */
struct nk_model {
    /** Opaque. */
    NK_ALIGNED_MAX unsigned char storage[NK_MODEL_STORAGE_BYTES];
};

/** Handle of a model. */
typedef struct nk_model nk_model_t;

/**
 * Loads a model from a file.
 *
 * The file is mapped read-only and stays mapped until nk_unload() or the end of the arena; do not shorten it
 * meanwhile. Systems without mapping read it into the arena. A path that cannot be opened is tried once more with
 * `../` in front.
 *
 * - path: a .nk file.
 * - arena: takes the model in; exactly the arena_bytes of nk_plan_memory() on systems with mapping.
 * - model: becomes the handle. It may be uninitialised. A model that it held stays usable when the file is no model at
 *   all (NK_ERR_MODEL_OPEN, NK_ERR_MODEL_READ, NK_ERR_MODEL_PARSE or NK_ERR_VERSION_MISMATCH from the parser).
 *
 * Returns NK_OK or any of 1 to 9; the arena is as before then. Threads: any. Cost: reads all weights once to check
 * them. Since 0.1.0.
 */
nk_status_t nk_model_load(const char *path, nk_arena_t *arena, nk_model_t *model);

/**
 * Loads a model from memory. The bytes are used in place and never written to.
 *
 * - data: the content of a .nk file, at any address; must stay valid and unchanged as long as the model is used. At an
 *   address where its weights are not aligned to 4 the arena takes a copy of them in.
 * - size: bytes at `data`.
 * - arena: takes the model in; exactly the arena_bytes of nk_plan_memory().
 * - model: becomes the handle, as in nk_model_load().
 *
 * Returns NK_OK or any of 2 to 9; the arena is as before then. Threads: any. Cost: reads all weights once to check
 * them. Since 0.1.0.
 */
nk_status_t nk_model_load_memory(const uint8_t *data, size_t size, nk_arena_t *arena, nk_model_t *model);

/**
 * Loads a copy of a model in memory: its bytes go into the arena and are used there.
 *
 * - data: the content of a .nk file, at any address; not needed any more afterwards.
 * - size: bytes at `data`.
 * - arena: takes in the copy, at a multiple of 16, and the model: size bytes, up to 15 for alignment, and the arena_bytes
 *   that nk_plan_memory() tells for bytes at such an address.
 * - model: becomes the handle, as in nk_model_load().
 *
 * Returns NK_OK or any of 2 to 9; the arena is as before then. Threads: any. Cost: copies the model and reads all
 * weights once to check them. Since 0.1.0.
 */
nk_status_t nk_load_memory_copy(const uint8_t *data, size_t size, nk_arena_t *arena, nk_model_t *model);

/**
 * Runs a float model once. The result depends on the model and the input alone, and on the level of the kernels and whether
 * weights are packed in the arena by no more than roundings.
 *
 * - model: a loaded model. Its own arena must be as it was; the run writes to the model's memory there, so that one
 *   model runs on one thread at a time.
 * - arena: any arena. It is used only when input and output overlap: the input is then copied to its free memory for
 *   the duration of the run. Nothing is taken from it.
 * - input: input_count floats; row-major, [height, width, channels] for a CNN.
 * - input_count: must be nk_model_input_count().
 * - output: receives nk_model_output_count() floats.
 * - output_capacity: floats that fit into `output`.
 * - output_count: receives the number of floats written.
 *
 * Checks in this order: NULL (NK_ERR_INVALID_ARGUMENT), model loaded (NK_ERR_MODEL_NOT_LOADED), model of floats and
 * input_count (NK_ERR_INVALID_ARGUMENT), output_capacity (NK_ERR_BUFFER_TOO_SMALL), alignment of the buffers and
 * overlap with the model (NK_ERR_INVALID_ARGUMENT), room for an overlapping input (NK_ERR_ARENA_OVERFLOW). A layer hook
 * that stops the run makes it NK_ERR_STOPPED. Threads: any. Cost: the model's arithmetic; no heap, no system call. Since
 * 0.1.0.
 */
nk_status_t nk_model_run(const nk_model_t *model,
                         nk_arena_t *arena,
                         const float *input,
                         uint32_t input_count,
                         float *output,
                         uint32_t output_capacity,
                         uint32_t *output_count);

/**
 * Runs an int8 model once. The result depends on the model and the input alone and is the same on every machine.
 *
 * Everything is as in nk_model_run(), with int8_t in place of float: input and output are quantised with the parameters
 * that nk_model_input_quant() and nk_model_output_quant() tell, and may lie at any address. A float model is refused
 * with NK_ERR_INVALID_ARGUMENT, as an int8 model is by nk_model_run(), before a buffer is looked at.
 *
 * - model: a loaded int8 model.
 * - arena: any arena; used only when input and output overlap.
 * - input: input_count values; row-major, [height, width, channels] for a CNN.
 * - input_count: must be nk_model_input_count().
 * - output: receives nk_model_output_count() values.
 * - output_capacity: values that fit into `output`.
 * - output_count: receives the number of values written.
 *
 * Returns NK_OK, any of 8 to 11 in the order of nk_model_run(), or NK_ERR_STOPPED. Threads: any. Cost: the model's
 * arithmetic, in integers only; no heap, no system call. Since 0.1.0.
 */
nk_status_t nk_model_run_int8(const nk_model_t *model,
                              nk_arena_t *arena,
                              const int8_t *input,
                              uint32_t input_count,
                              int8_t *output,
                              uint32_t output_capacity,
                              uint32_t *output_count);

/** Short name of nk_model_load(). */
nk_status_t nk_load(const char *path, nk_arena_t *arena, nk_model_t *model);

/** Short name of nk_model_load_memory(). */
nk_status_t nk_load_memory(const uint8_t *data, size_t size, nk_arena_t *arena, nk_model_t *model);

/** Short name of nk_model_run(). */
nk_status_t nk_forward(const nk_model_t *model,
                       nk_arena_t *arena,
                       const float *input,
                       uint32_t input_count,
                       float *output,
                       uint32_t output_capacity,
                       uint32_t *output_count);

/**
 * Leaves out the softmax at the end of a model from now on, or brings it back. Without it the output holds the logits,
 * whose largest value has the same index.
 *
 * Float and int8 models, MLPs and CNNs alike. A model whose last layer is not a dense layer with softmax stays as it is.
 * The setting lives in the arena with the model: all copies of the handle share it, and loading starts without it. The
 * logits of an int8 model have parameters of their own, which nk_model_output_quant() then tells.
 *
 * - model: a loaded model whose arena is as it was; nothing happens without one.
 * - omit: true to leave the softmax out.
 *
 * Threads: any, but not during a run of the model. Cost: constant. Since 0.1.0.
 */
void nk_model_set_omit_final_softmax(nk_model_t *model, bool omit);

/**
 * Whether the softmax at the end of a model is left out; false without a model and for one that has none there.
 *
 * - model: a loaded model whose arena is as it was.
 *
 * Threads: any. Cost: constant. Since 0.1.0.
 */
bool nk_model_omit_final_softmax(const nk_model_t *model);

/**
 * Ends a model: unmaps its file and empties the handle. Its bytes in the arena stay taken until the arena is reset.
 *
 * A model from memory only needs this to empty the handle. Unload a model from a file before its arena's memory goes
 * away. Copies of the handle do not run any more either when the model came from a file.
 *
 * - model: the model to end; NULL and handles without a model are fine.
 *
 * Threads: any. Cost: one unmapping. Since 0.1.0.
 */
void nk_unload(nk_model_t *model);

/* ========================================================================
 * Types of values
 * ======================================================================== */

/** Type of the values of a tensor, an input or an output. */
enum nk_dtype {
    /** IEEE binary32. */
    NK_DTYPE_FLOAT32 = 0,
    /** Signed 8-bit integer. */
    NK_DTYPE_INT8 = 1,
    /** Unsigned 8-bit integer. */
    NK_DTYPE_UINT8 = 2,
    /** Signed 16-bit integer. */
    NK_DTYPE_INT16 = 3,
    /** Signed 32-bit integer. */
    NK_DTYPE_INT32 = 4,
};

/** Type of the values of a tensor, an input or an output. */
typedef enum nk_dtype nk_dtype_t;

/* ========================================================================
 * Tensors
 * ========================================================================
 * A tensor describes values that lie somewhere else, row-major unless its strides say otherwise. It owns nothing: the
 * values of a view are yours, those of a tensor that was created are the arena's. Extents whose product does not fit 32
 * bits of bytes give a view without values.
 */

/** Shape and place of an array of numbers. It owns nothing. */
struct nk_tensor {
    /** First element. */
    void *data;
    /** Type of the elements. */
    nk_dtype_t dtype;
    /** Number of dimensions, 1 to NK_MAX_TENSOR_RANK. */
    uint32_t rank;
    /** Extent of each dimension, outermost first; 0 beyond the rank. */
    uint32_t shape[NK_MAX_TENSOR_RANK];
    /** Elements from one index of a dimension to the next; 0 beyond the rank. */
    uint32_t stride[NK_MAX_TENSOR_RANK];
    /** Product of the extents. */
    uint32_t num_elements;
    /** Size of all elements in bytes. */
    uint32_t bytes;
};

/** Shape and place of an array of numbers. */
typedef struct nk_tensor nk_tensor_t;

/**
 * Makes a tensor [rows, cols] of floats in an arena. Its values are not cleared.
 *
 * - arena: gives 4 * rows * cols bytes at a multiple of 4; when it is reset, the tensor ends.
 * - rows, cols: extents, at least 1.
 * - out: filled in on success.
 *
 * Returns NK_OK, NK_ERR_INVALID_ARGUMENT for NULL and for more than 4 GiB, or NK_ERR_ARENA_OVERFLOW when the arena has
 * too little room or an extent is 0. Threads: any. Cost: constant. Since 0.1.0.
 */
nk_status_t nk_tensor_create_2d(nk_arena_t *arena, uint32_t rows, uint32_t cols, nk_tensor_t *out);

/**
 * Makes a tensor of floats in an arena. Its values are not cleared.
 *
 * - arena: gives 4 bytes for each element at a multiple of 4; when it is reset, the tensor ends.
 * - rank: number of dimensions, 1 to NK_MAX_TENSOR_RANK.
 * - shape: rank extents, at least 1 each, outermost first.
 * - out: filled in on success.
 *
 * Returns NK_OK, NK_ERR_INVALID_ARGUMENT for NULL, another rank and more than 4 GiB, or NK_ERR_ARENA_OVERFLOW when the
 * arena has too little room or an extent is 0. Threads: any. Cost: constant. Since 0.1.0.
 */
nk_status_t nk_tensor_create_nd(nk_arena_t *arena, uint32_t rank, const uint32_t *shape, nk_tensor_t *out);

/**
 * Makes a tensor over values of any type.
 *
 * - data: the values, row-major; may be NULL.
 * - dtype: their type.
 * - rank: number of dimensions, 1 to NK_MAX_TENSOR_RANK.
 * - shape: rank extents, outermost first.
 * - out: filled in on success.
 *
 * Returns NK_OK, or NK_ERR_INVALID_ARGUMENT for NULL as shape or out, another rank, an unknown type and more than 4 GiB.
 * Threads: any. Cost: constant. Since 0.1.0.
 */
nk_status_t nk_tensor_view_nd(void *data, nk_dtype_t dtype, uint32_t rank, const uint32_t *shape, nk_tensor_t *out);

/**
 * Makes a tensor [rows, cols] over floats.
 *
 * - data: rows * cols floats; may be NULL.
 * - rows, cols: extents.
 * - out: filled in.
 *
 * Threads: any. Cost: constant. Since 0.1.0.
 */
void nk_tensor_view_2d(float *data, uint32_t rows, uint32_t cols, nk_tensor_t *out);

/** Makes a tensor [rows, cols] over int8 values, otherwise as nk_tensor_view_2d(). Threads: any. Since 0.1.0. */
void nk_tensor_view_2d_int8(int8_t *data, uint32_t rows, uint32_t cols, nk_tensor_t *out);

/** Makes a tensor [h, w, c] over int8 values, otherwise as nk_tensor_view_2d(). Threads: any. Since 0.1.0. */
void nk_tensor_view_3d_int8(int8_t *data, uint32_t h, uint32_t w, uint32_t c, nk_tensor_t *out);

/**
 * Makes a tensor [1, length], which has rank 2, over int32 values, otherwise as nk_tensor_view_2d(). Threads: any.
 * Since 0.1.0.
 */
void nk_tensor_view_1d_int32(int32_t *data, uint32_t length, nk_tensor_t *out);

/**
 * Copies floats to the first elements of a tensor.
 *
 * - tensor: a tensor of floats; its elements must follow each other.
 * - values: count floats; they may overlap the tensor.
 * - count: number of floats, 1 to the number of elements. Elements beyond it stay as they are.
 *
 * Returns NK_OK, or NK_ERR_INVALID_ARGUMENT for NULL, another count, and a tensor without values or of another type.
 * Threads: any. Cost: linear. Since 0.1.0.
 */
nk_status_t nk_tensor_fill(nk_tensor_t *tensor, const float *values, uint32_t count);

/** Prints a tensor to C stdout under the name `Tensor`; otherwise as nk_tensor_print_labeled(). Threads: any. Since 0.1.0. */
void nk_tensor_print(const nk_tensor_t *tensor);

/**
 * Prints shape and values of a tensor to C stdout, in one line such as
 * `LABEL: shape=[2, 2] values=[1.0000, 2.5000, -3.0000, inf]`.
 *
 * Floats have four decimals, integers none. All elements are printed in the order of memory; `values=[empty]` when there
 * are none or the type is unknown. Stdout is flushed. Builds without an operating system print nothing.
 *
 * - label: UTF-8 text; `Tensor` when NULL. What follows a byte that is not UTF-8 is left out.
 * - tensor: a tensor; nothing is printed for NULL.
 *
 * Threads: any; stdout is shared. Cost: linear. Since 0.1.0.
 */
void nk_tensor_print_labeled(const char *label, const nk_tensor_t *tensor);

/** First float of a tensor; NULL when its type is another one. Threads: any. Since 0.1.0. */
float *nk_tensor_data_f32(nk_tensor_t *tensor);

/** The same for a tensor that must not be changed. Threads: any. Since 0.1.0. */
const float *nk_tensor_data_f32_const(const nk_tensor_t *tensor);

/** First int8 value of a tensor; NULL when its type is another one. Threads: any. Since 0.1.0. */
int8_t *nk_tensor_data_i8(nk_tensor_t *tensor);

/** The same for a tensor that must not be changed. Threads: any. Since 0.1.0. */
const int8_t *nk_tensor_data_i8_const(const nk_tensor_t *tensor);

/** First int32 value of a tensor; NULL when its type is another one. Threads: any. Since 0.1.0. */
int32_t *nk_tensor_data_i32(nk_tensor_t *tensor);

/** The same for a tensor that must not be changed. Threads: any. Since 0.1.0. */
const int32_t *nk_tensor_data_i32_const(const nk_tensor_t *tensor);

/**
 * Index of an element in a tensor [height, width, channels] whose elements follow each other.
 *
 * - tensor: its shape counts; rank and bounds are not checked.
 * - h, w, c: position.
 *
 * Returns (h * width + w) * channels + c, cut to 32 bits; 0 for NULL. Threads: any. Cost: constant. Since 0.1.0.
 */
uint32_t nk_tensor_index_nhwc(const nk_tensor_t *tensor, uint32_t h, uint32_t w, uint32_t c);

/* ========================================================================
 * Operations on tensors
 * ========================================================================
 * They work on tensors of floats. The checks tell whether shapes fit; an operation checks for itself. When its tensors do
 * not fit, it prints a line to C stdout, such as `MulND shape mismatch` or `ReLU: the tensor is not of type float32`, and
 * writes nothing; with NULL as a tensor it does nothing at all. Builds without an operating system print nothing.
 *
 * All but nk_ops_mat_add() and nk_ops_mat_mul() take the elements of a tensor in the order of memory and do not look at
 * strides. The result may be written over an operand: `c` is the same tensor as `a` or `b`, or apart from both. Only
 * nk_ops_mat_mul() needs it to be apart.
 */

/** Whether two tensors have the same shape; false for NULL. Threads: any. Since 0.1.0. */
bool nk_ops_is_elementwise_valid(const nk_tensor_t *a, const nk_tensor_t *b);

/** Whether three tensors are matrices of the same shape; false for NULL. Threads: any. Since 0.1.0. */
bool nk_ops_check_same_shape_2d(const nk_tensor_t *a, const nk_tensor_t *b, const nk_tensor_t *c);

/** Whether three tensors have the same shape; false for NULL. Threads: any. Since 0.1.0. */
bool nk_ops_check_same_shape_nd(const nk_tensor_t *a, const nk_tensor_t *b, const nk_tensor_t *c);

/** Whether `c` has the shape of the matrix product of `a` and `b`; false for NULL. Threads: any. Since 0.1.0. */
bool nk_ops_is_matmul_valid(const nk_tensor_t *a, const nk_tensor_t *b, const nk_tensor_t *c);

/** Whether three tensors have the same shape, which may have any rank; false for NULL. Threads: any. Since 0.1.0. */
bool nk_ops_is_elementwise_valid_nd(const nk_tensor_t *a, const nk_tensor_t *b, const nk_tensor_t *c);

/**
 * Whether the result of an operation on `a` can be written to `c`: both have the same shape; false for NULL. Threads:
 * any. Since 0.1.0.
 */
bool nk_ops_is_unary_op_valid(const nk_tensor_t *a, const nk_tensor_t *c);

/**
 * Multiplies two tensors of the same shape element by element: c = a * b.
 *
 * - a, b: operands.
 * - c: receives the products in the order of memory; needs as many elements, in any shape.
 *
 * Prints `Mul error: shape mismatch` when the shapes do not fit. Threads: any. Cost: linear. Since 0.1.0.
 */
void nk_ops_mul(const nk_tensor_t *a, const nk_tensor_t *b, nk_tensor_t *c);

/**
 * Multiplies all elements of a tensor by a number: c = a * scalar.
 *
 * - a: operand.
 * - scalar: the number.
 * - c: receives the products in the order of memory; needs as many elements, in any shape.
 *
 * Prints `MulScalar shape mismatch` when `c` has fewer elements. Threads: any. Cost: linear. Since 0.1.0.
 */
void nk_ops_mul_scalar(const nk_tensor_t *a, float scalar, nk_tensor_t *c);

/**
 * Adds two matrices: c = a + b.
 *
 * The strides of all three are honoured, so that a matrix may be part of a larger one or lie transposed.
 *
 * - a, b: matrices of the same shape.
 * - c: receives the sums; same shape.
 *
 * Prints `Shape mismatch in Add()` when the shapes do not fit. Threads: any. Cost: linear. Since 0.1.0.
 */
void nk_ops_mat_add(const nk_tensor_t *a, const nk_tensor_t *b, nk_tensor_t *c);

/**
 * Adds two tensors of the same shape element by element: c = a + b.
 *
 * - a, b: operands of any rank.
 * - c: receives the sums; same shape.
 *
 * Prints `Shape mismatch in AddND()` when the shapes do not fit. Threads: any. Cost: linear. Since 0.1.0.
 */
void nk_ops_mat_add_nd(const nk_tensor_t *a, const nk_tensor_t *b, nk_tensor_t *c);

/**
 * Multiplies two matrices: c = a b.
 *
 * The strides of all three are honoured, so that a matrix may be part of a larger one or lie transposed.
 *
 * - a: [rows, n].
 * - b: [n, columns].
 * - c: [rows, columns]; must not overlap the others.
 *
 * Prints `MatMul shape mismatch` when the shapes do not fit. Threads: any. Cost: rows * n * columns multiplications;
 * about 200 bytes of stack. Since 0.1.0.
 */
void nk_ops_mat_mul(const nk_tensor_t *a, const nk_tensor_t *b, nk_tensor_t *c);

/**
 * Multiplies two tensors of the same shape element by element: c = a * b.
 *
 * - a, b: operands of any rank.
 * - c: receives the products; same shape.
 *
 * Prints `MulND shape mismatch` when the shapes do not fit. Threads: any. Cost: linear. Since 0.1.0.
 */
void nk_ops_mul_nd(const nk_tensor_t *a, const nk_tensor_t *b, nk_tensor_t *c);

/**
 * Rectifies: c = a where a > 0, else 0. NaN becomes 0.
 *
 * - a: operand.
 * - c: receives the result; same shape.
 *
 * Prints `ReLU shape mismatch` when the shapes do not fit. Threads: any. Cost: linear. Since 0.1.0.
 */
void nk_ops_relu(const nk_tensor_t *a, nk_tensor_t *c);

/**
 * Logistic function: c = 1 / (1 + exp(-a)).
 *
 * - a: operand.
 * - c: receives the result; same shape.
 *
 * Prints `Sigmoid shape mismatch` when the shapes do not fit. Threads: any. Cost: linear. Since 0.1.0.
 */
void nk_ops_sigmoid(const nk_tensor_t *a, nk_tensor_t *c);

/**
 * Hyperbolic tangent: c = tanh(a).
 *
 * - a: operand.
 * - c: receives the result; same shape.
 *
 * Prints `Tanh shape mismatch` when the shapes do not fit. Threads: any. Cost: linear. Since 0.1.0.
 */
void nk_ops_tanh(const nk_tensor_t *a, nk_tensor_t *c);

/**
 * Leaky rectifier: c = a where a > 0, else alpha * a.
 *
 * - a: operand.
 * - c: receives the result; same shape.
 * - alpha: slope below 0.
 *
 * Prints `LeakyReLU shape mismatch` when the shapes do not fit. Threads: any. Cost: linear. Since 0.1.0.
 */
void nk_ops_leaky_relu(const nk_tensor_t *a, nk_tensor_t *c, float alpha);

/**
 * Rectifier with a ceiling: c = min(max(a, 0), 6). NaN stays NaN.
 *
 * - a: operand.
 * - c: receives the result; same shape.
 *
 * Prints `ReLU6 shape mismatch` when the shapes do not fit. Threads: any. Cost: linear. Since 0.1.0.
 */
void nk_ops_relu6(const nk_tensor_t *a, nk_tensor_t *c);

/**
 * Softmax over all elements of a tensor, whatever its shape: c = exp(a - max) / sum of exp(a - max). See
 * nk_ops_softmax_axis() for the softmax of each row.
 *
 * - a: operand.
 * - c: receives the result in the order of memory; needs as many elements, in any shape.
 *
 * Prints `Softmax shape mismatch` when `c` has fewer elements. Threads: any. Cost: linear. Since 0.1.0.
 */
void nk_ops_softmax(const nk_tensor_t *a, nk_tensor_t *c);

/**
 * Softmax along one dimension: the elements that differ in that index alone sum to 1. Unlike its neighbours it prints
 * nothing and returns a status.
 *
 * - a: operand; its elements must follow each other.
 * - c: receives the result; same shape. It may be the same tensor as `a`.
 * - axis: the dimension from 0, outermost first; a negative one counts from behind, -1 being the last.
 *
 * Returns NK_OK, or NK_ERR_INVALID_ARGUMENT for NULL, a dimension that `a` does not have, different shapes, and a tensor
 * without values or of another type; a build without float networks refuses. Threads: any. Cost:
 * linear; the last dimension is the fastest. Since 0.1.0.
 */
nk_status_t nk_ops_softmax_axis(const nk_tensor_t *a, nk_tensor_t *c, int32_t axis);

/* ========================================================================
 * Convolutions
 * ========================================================================
 * One convolution by itself, on floats that follow each other. Elements outside the input count as 0. You choose the size
 * of the output: output row y reads the input rows from y * stride - pad_h on, columns likewise, and the padding at the
 * end is whatever that comes to. Usual is (size + padding at both ends - kernel) / stride + 1.
 *
 * When the tensors do not fit, a line such as `Conv2D shape mismatch` or `Conv2D: the weights are NULL` is printed to C
 * stdout and nothing is written; with NULL as an argument nothing happens at all. Builds without an operating system print
 * nothing.
 *
 * These functions get no memory to work in and use none: no arena, no heap. They are therefore slower than the same layer
 * in a model, which has scratch memory: a depthwise convolution, and a convolution with at most 48 weights for an output
 * channel and at least 16 output pixels, take the plain loops of the reference kernels.
 */

/** A convolution with a square kernel. */
struct nk_conv2d {
    /** Rows and columns of the kernel, at least 1. */
    int kernel_size;
    /** Step between two windows on both axes, at least 1. */
    int stride;
    /** Rows of zeros above the input, at least 0. */
    int pad_h;
    /** Columns of zeros to the left of the input, at least 0. */
    int pad_w;
    /** Rows below the input; NK_PAD_MIRROR for as many as above. The output's height decides, not this. */
    int pad_h_end;
    /** Columns to the right of the input; NK_PAD_MIRROR for as many as to the left. The output's width decides, not this. */
    int pad_w_end;
    /** Channels of the input. */
    int in_channels;
    /** Channels of the output. */
    int out_channels;
    /** [out_channels, kernel_size, kernel_size, in_channels]; only read. */
    float *weights;
    /** out_channels floats, only read; NULL for zeros. */
    float *bias;
};

/** A convolution with a square kernel. */
typedef struct nk_conv2d nk_conv2d_t;

/** A convolution that has a kernel of its own for each channel. */
struct nk_depthwise_conv2d {
    /** Rows of the kernels, at least 1. */
    int kernel_h;
    /** Columns of the kernels, at least 1. */
    int kernel_w;
    /** Step between two windows on both axes, at least 1. */
    int stride;
    /** Rows of zeros above the input, at least 0. */
    int pad_h;
    /** Columns of zeros to the left of the input, at least 0. */
    int pad_w;
    /** Rows below the input; NK_PAD_MIRROR for as many as above. The output's height decides, not this. */
    int pad_h_end;
    /** Columns to the right of the input; NK_PAD_MIRROR for as many as to the left. The output's width decides, not this. */
    int pad_w_end;
    /** Channels of input and output. */
    int channels;
    /** [channels, kernel_h, kernel_w]; only read. */
    float *weights;
    /** channels floats, only read; NULL for zeros. */
    float *bias;
};

/** A convolution that has a kernel of its own for each channel. */
typedef struct nk_depthwise_conv2d nk_depthwise_conv2d_t;

/**
 * Convolves a map: output[y][x][o] = bias[o] + the sum over ky, kx, i of
 * input[y * stride + ky - pad_h][x * stride + kx - pad_w][i] * weights[o][ky][kx][i]. No activation.
 *
 * - conv: the convolution.
 * - input: [height, width, in_channels].
 * - output: [height, width, out_channels] of any height and width; must not overlap input, weights and bias.
 *
 * Prints `Conv2D shape mismatch` when rank or channels of a tensor do not fit. Threads: any. Cost: one multiplication for
 * each output element and weight of its channel. Since 0.1.0.
 */
void nk_conv2d_forward(const nk_conv2d_t *conv, const nk_tensor_t *input, nk_tensor_t *output);

/**
 * Convolves each channel of a map with its own kernel: output[y][x][c] = bias[c] + the sum over ky, kx of
 * input[y * stride + ky - pad_h][x * stride + kx - pad_w][c] * weights[c][ky][kx]. No activation.
 *
 * - conv: the convolution.
 * - input: [height, width, channels].
 * - output: [height, width, channels] of any height and width; must not overlap input, weights and bias.
 *
 * Prints `DepthwiseConv2D shape mismatch` when rank or channels of a tensor do not fit. Threads: any. Cost: one
 * multiplication for each output element and weight of its channel. Since 0.1.0.
 */
void nk_depthwise_conv2d_forward(const nk_depthwise_conv2d_t *conv, const nk_tensor_t *input, nk_tensor_t *output);

/* ========================================================================
 * Models: questions
 * ========================================================================
 * The handle alone answers them, also after the arena was reset.
 */

/**
 * Describes a loaded model as nk_parse_architecture() describes a file.
 *
 * - model: a loaded model.
 * - info: filled in.
 *
 * Returns NK_OK, NK_ERR_INVALID_ARGUMENT for NULL or NK_ERR_MODEL_NOT_LOADED. Threads: any. Since 0.1.0.
 */
nk_status_t nk_model_get_arch(const nk_model_t *model, nk_arch_info_t *info);

/** Elements of a model's input; 0 without a model. Threads: any. Since 0.1.0. */
uint32_t nk_model_input_count(const nk_model_t *model);

/** Elements of a model's output; 0 without a model. Threads: any. Since 0.1.0. */
uint32_t nk_model_output_count(const nk_model_t *model);

/** Kind of a model; NK_NETWORK_UNKNOWN without a model. Threads: any. Since 0.1.0. */
nk_network_kind_t nk_model_kind(const nk_model_t *model);

/** Whether a model computes with int8; false without a model. Threads: any. Since 0.1.0. */
bool nk_model_is_quantized(const nk_model_t *model);

/**
 * Shape of a model's input.
 *
 * - model: a loaded model.
 * - rank: receives the number of dimensions.
 * - shape: receives NK_MAX_TENSOR_RANK extents, outermost first; 0 beyond the rank.
 *
 * Returns NK_OK, NK_ERR_INVALID_ARGUMENT for NULL or NK_ERR_MODEL_NOT_LOADED. Threads: any. Since 0.1.0.
 */
nk_status_t nk_model_input_shape(const nk_model_t *model, uint32_t *rank, uint32_t *shape);

/**
 * Shape of a model's output; otherwise as nk_model_input_shape().
 *
 * [rows, features] behind a flatten layer and for an MLP, [height, width, channels] else. Threads: any. Since 0.1.0.
 */
nk_status_t nk_model_output_shape(const nk_model_t *model, uint32_t *rank, uint32_t *shape);

/**
 * Type of a model's input: NK_DTYPE_FLOAT32 or NK_DTYPE_INT8; NK_DTYPE_FLOAT32 without a model. Threads: any. Since
 * 0.1.0.
 */
nk_dtype_t nk_model_input_dtype(const nk_model_t *model);

/** Type of a model's output, which is that of its input. Threads: any. Since 0.1.0. */
nk_dtype_t nk_model_output_dtype(const nk_model_t *model);

/** Size of a model's input in bytes: 4 for each float or 1 for each int8; 0 without a model. Threads: any. Since 0.1.0. */
size_t nk_model_input_bytes(const nk_model_t *model);

/** Size of a model's output in bytes; 0 without a model. Threads: any. Since 0.1.0. */
size_t nk_model_output_bytes(const nk_model_t *model);

/**
 * Index of the largest of `count` floats, the first one if there are several. NaN never is the largest.
 *
 * - values: count floats.
 * - count: number of floats.
 *
 * Returns 0 for NULL, for no values and for nothing but NaN. Threads: any. Cost: linear. Since 0.1.0.
 */
uint32_t nk_argmax_f32(const float *values, uint32_t count);

/**
 * Index of the largest of `count` int8 values, the first one if there are several.
 *
 * - values: count values.
 * - count: number of values.
 *
 * Returns 0 for NULL and for no values. Threads: any. Cost: linear. Since 0.1.0.
 */
uint32_t nk_argmax_i8(const int8_t *values, uint32_t count);

/* ========================================================================
 * Models: int8
 * ========================================================================
 * An int8 model takes and gives integers q that stand for real values: real = scale * (q - zero_point).
 * nk_model_run_int8() works on them; nk_model_run_auto() takes and gives floats and converts both ways.
 */

/** What the integers of an int8 tensor stand for: real = scale * (q - zero_point). */
struct nk_quant_params {
    /** Real value of one step; above 0. */
    float scale;
    /** Integer that stands for 0; -128 to 127. */
    int32_t zero_point;
};

/** What the integers of an int8 tensor stand for. */
typedef struct nk_quant_params nk_quant_params_t;

/**
 * Scale and zero point of an int8 model's input.
 *
 * - model: a loaded int8 model.
 * - out: filled in on success.
 *
 * Returns NK_OK, NK_ERR_INVALID_ARGUMENT for NULL and for a float model, or NK_ERR_MODEL_NOT_LOADED. Threads: any.
 * Since 0.1.0.
 */
nk_status_t nk_model_input_quant(const nk_model_t *model, nk_quant_params_t *out);

/**
 * Scale and zero point of an int8 model's output; otherwise as nk_model_input_quant().
 *
 * While nk_model_set_omit_final_softmax() leaves the softmax out, these are the parameters of the logits. That setting
 * is in the arena, whose memory must therefore still be there; after a reset the answer is the one with softmax.
 *
 * Threads: any. Since 0.1.0.
 */
nk_status_t nk_model_output_quant(const nk_model_t *model, nk_quant_params_t *out);

/**
 * Converts floats to int8: round(x / scale) + zero_point, halves away from zero, cut to -128..127. NaN becomes the zero
 * point, an infinity the nearest end.
 *
 * - src: n floats, at any address.
 * - dst: receives n values; must not overlap `src`.
 * - n: number of values.
 * - q: scale and zero point. A scale that is not above 0 gives values without a meaning.
 *
 * Nothing happens when a pointer is NULL. Threads: any. Cost: linear, one float division each. Since 0.1.0.
 */
void nk_quantize_f32(const float *src, int8_t *dst, size_t n, nk_quant_params_t q);

/**
 * Converts int8 values to floats: scale * (x - zero_point).
 *
 * - src: n values.
 * - dst: receives n floats, at any address; must not overlap `src`.
 * - n: number of values.
 * - q: scale and zero point.
 *
 * Nothing happens when a pointer is NULL. Threads: any. Cost: linear. Since 0.1.0.
 */
void nk_dequantize_i8(const int8_t *src, float *dst, size_t n, nk_quant_params_t q);

/**
 * Runs a model of either type on floats.
 *
 * For a float model this is nk_model_run(). The input of an int8 model is converted as by nk_quantize_f32(), its output
 * as by nk_dequantize_i8(), with the parameters of the model. The integers lie in the free memory of `arena` for the
 * duration of the call: one byte for each value of input and output. Nothing is taken from it. Input and output may
 * overlap each other, but not that memory.
 *
 * - model: a loaded model.
 * - arena: an arena with nk_model_input_bytes() + nk_model_output_bytes() bytes free, if the model is int8.
 * - input: input_count floats; row-major, [height, width, channels] for a CNN.
 * - input_count: must be nk_model_input_count().
 * - output: receives nk_model_output_count() floats; on success only.
 * - output_capacity: floats that fit into `output`.
 * - output_count: receives the number of floats written.
 *
 * Returns NK_OK, any of 8 to 11 in the order of nk_model_run(), or NK_ERR_STOPPED; NK_ERR_ARENA_OVERFLOW tells how many
 * bytes are needed and how many there are. Threads: any. Cost: the model's arithmetic and the conversions; no heap, no
 * system call. Since 0.1.0.
 */
nk_status_t nk_model_run_auto(const nk_model_t *model,
                              nk_arena_t *arena,
                              const float *input,
                              uint32_t input_count,
                              float *output,
                              uint32_t output_capacity,
                              uint32_t *output_count);

/* ========================================================================
 * MLPs, built by hand or loaded
 * ========================================================================
 * A network of dense layers over rows of features. By hand: nk_mlp_create(), nk_mlp_init_layer() for every layer,
 * nk_mlp_init_activation_buffers(), nk_mlp_forward(). From a model: nk_mlp_load(), nk_mlp_forward().
 *
 * A network lives in the arena until the arena is reset; its handle must not be used after that.
 */

/** Activation of a dense layer. */
enum nk_activation {
    /** The sum itself. */
    NK_ACTIVATION_NONE = 0,
    /** The larger of x and 0. */
    NK_ACTIVATION_RELU = 1,
    /** 1 / (1 + exp(-x)). */
    NK_ACTIVATION_SIGMOID = 2,
    /** Hyperbolic tangent. */
    NK_ACTIVATION_TANH = 3,
    /** x, or x times leaky_alpha below 0. */
    NK_ACTIVATION_LEAKY_RELU = 4,
    /** x between 0 and 6. */
    NK_ACTIVATION_RELU6 = 5,
    /** Softmax over each row. */
    NK_ACTIVATION_SOFTMAX = 6,
};

/** Handle of an MLP. Its content belongs to the library. */
struct nk_mlp {
    /** Opaque. */
    NK_ALIGNED_MAX unsigned char storage[NK_MLP_STORAGE_BYTES];
};

/** Handle of an MLP. */
typedef struct nk_mlp nk_mlp_t;

/** Activation of a dense layer. */
typedef enum nk_activation nk_activation_t;

/**
 * Begins an MLP whose layers you describe one by one.
 *
 * - arena: takes the list of layers in.
 * - num_layers: 1 to NK_MAX_LAYERS.
 * - mlp: becomes the handle. It may be uninitialised; it is empty when this fails.
 *
 * Returns NK_OK; NK_ERR_INVALID_ARGUMENT for NULL, NK_ERR_ARENA_OVERFLOW without room and for no layers,
 * NK_ERR_LAYER_CONFIG for too many; the arena is as before then. Threads: any. Since 0.1.0.
 */
nk_status_t nk_mlp_create(nk_arena_t *arena, uint32_t num_layers, nk_mlp_t *mlp);

/** Whether the handle holds an MLP, finished or not. Threads: any. Since 0.1.0. */
bool nk_mlp_is_valid(const nk_mlp_t *mlp);

/**
 * Describes a layer: activation(weights x + bias) for each row.
 *
 * Only the description is taken. The values of both tensors must stay until nk_mlp_init_activation_buffers() has copied
 * them; calling this again replaces the layer, and the buffers must then be made anew.
 *
 * - mlp: from nk_mlp_create().
 * - layer_idx: from 0.
 * - weights: floats [out_features, in_features].
 * - bias: floats [1, out_features] or [out_features].
 * - activation: one of nk_activation_t.
 * - leaky_alpha: slope below 0 of NK_ACTIVATION_LEAKY_RELU; otherwise without meaning.
 *
 * Returns NK_OK; NK_ERR_INVALID_ARGUMENT for NULL, a handle without network, a tensor that is not as above and an index
 * that is out of range; NK_ERR_WEIGHT_MISMATCH for a bias of another length. Threads: any. Since 0.1.0.
 */
nk_status_t nk_mlp_init_layer(nk_mlp_t *mlp,
                              uint32_t layer_idx,
                              const nk_tensor_t *weights,
                              const nk_tensor_t *bias,
                              nk_activation_t activation,
                              float leaky_alpha);

/**
 * Finishes an MLP: copies its weights to the arena, checks that the layers fit each other and makes room for what lies
 * between them.
 *
 * An MLP of one layer needs no call: the first nk_mlp_forward() does it for batches of one row. A loaded MLP has its
 * buffers already and only accepts the number of rows that it was made for.
 *
 * - mlp: every layer was described.
 * - arena: takes weights and buffers in; it may be another one than before.
 * - batch_rows: rows of an input, at least 1.
 *
 * Returns NK_OK; NK_ERR_INVALID_ARGUMENT for NULL, a handle without network, no rows and a weight that is NaN or
 * infinite; NK_ERR_NOT_INITIALIZED when a layer is missing; NK_ERR_LAYER_CONFIG or NK_ERR_WEIGHT_MISMATCH when layers
 * do not fit each other; NK_ERR_ARENA_OVERFLOW without room. The arena and the MLP are as before then. Threads: any.
 * Cost: copies all weights. Since 0.1.0.
 */
nk_status_t nk_mlp_init_activation_buffers(nk_mlp_t *mlp, nk_arena_t *arena, uint32_t batch_rows);

/**
 * Whether nk_mlp_forward() can run: after nk_mlp_init_activation_buffers() or loading, and always for one layer.
 * Threads: any. Since 0.1.0.
 */
bool nk_mlp_has_activation_buffers(const nk_mlp_t *mlp);

/**
 * Leaves out the softmax at the end of an MLP from now on, or brings it back; see nk_model_set_omit_final_softmax().
 *
 * - mlp: an MLP, finished or not; nothing happens without one.
 * - omit: true to leave the softmax out.
 *
 * Threads: any, but not during a run of the MLP. Since 0.1.0.
 */
void nk_mlp_set_omit_final_softmax(nk_mlp_t *mlp, bool omit);

/** Whether the softmax at the end of an MLP is left out; false when there is none. Threads: any. Since 0.1.0. */
bool nk_mlp_omit_final_softmax(const nk_mlp_t *mlp);

/**
 * Runs an MLP once.
 *
 * - mlp: an MLP with buffers.
 * - arena: any arena; used only when input and output overlap, as by nk_model_run(), and by the first run of a single
 *   layer that has no buffers yet, which takes them from it.
 * - input: a tensor whose elements are the rows of one batch or of several, then one after another; floats, or int8
 *   values for an int8 MLP.
 * - output: a tensor of the same type with room for all results; its values are written, its description is not.
 *
 * Returns NK_OK; NK_ERR_INVALID_ARGUMENT for NULL, a handle without network, and a tensor of the wrong type or size;
 * NK_ERR_NOT_INITIALIZED without buffers; NK_ERR_BUFFER_TOO_SMALL for a short output; NK_ERR_ARENA_OVERFLOW without
 * room; NK_ERR_MODEL_NOT_LOADED when the arena of the buffers was reset. The arena is as before then. Threads: any. Cost:
 * the network's arithmetic. Since 0.1.0.
 */
nk_status_t nk_mlp_forward(nk_mlp_t *mlp, nk_arena_t *arena, const nk_tensor_t *input, nk_tensor_t *output);

/* ========================================================================
 * CNNs, built by hand or loaded
 * ========================================================================
 * A network that works on maps [height, width, channels]. By hand: nk_cnn_create(), one nk_cnn_init_..._layer() for
 * every layer, nk_cnn_init_activation_buffers(), nk_cnn_forward(). From a model: nk_cnn_load(), nk_cnn_forward().
 *
 * A network lives in the arena until the arena is reset; its handle must not be used after that.
 */

/** Activation of a convolution. */
enum nk_conv_activation {
    /** The sum itself. */
    NK_CONV_ACTIVATION_NONE = 0,
    /** The larger of x and 0. */
    NK_CONV_ACTIVATION_RELU = 1,
    /** 1 / (1 + exp(-x)). */
    NK_CONV_ACTIVATION_SIGMOID = 2,
    /** Hyperbolic tangent. */
    NK_CONV_ACTIVATION_TANH = 3,
    /** x, or x times leaky_alpha below 0. */
    NK_CONV_ACTIVATION_LEAKY_RELU = 4,
    /** x between 0 and 6. */
    NK_CONV_ACTIVATION_RELU6 = 5,
    /** Softmax over the whole map. */
    NK_CONV_ACTIVATION_SOFTMAX = 6,
};

/** Handle of a CNN. Its content belongs to the library. */
struct nk_cnn {
    /** Opaque. */
    NK_ALIGNED_MAX unsigned char storage[NK_CNN_STORAGE_BYTES];
};

/** Handle of a CNN. */
typedef struct nk_cnn nk_cnn_t;

/** Activation of a convolution. */
typedef enum nk_conv_activation nk_conv_activation_t;

/**
 * Begins a CNN whose layers you describe one by one.
 *
 * - arena: takes the list of layers in.
 * - num_layers: 1 to NK_MAX_LAYERS.
 * - cnn: becomes the handle. It may be uninitialised; it is empty when this fails.
 *
 * Returns NK_OK; NK_ERR_INVALID_ARGUMENT for NULL, NK_ERR_ARENA_OVERFLOW without room and for no layers,
 * NK_ERR_LAYER_CONFIG for too many; the arena is as before then. Threads: any. Since 0.1.0.
 */
nk_status_t nk_cnn_create(nk_arena_t *arena, uint32_t num_layers, nk_cnn_t *cnn);

/** Whether the handle holds a CNN, finished or not. Threads: any. Since 0.1.0. */
bool nk_cnn_is_valid(const nk_cnn_t *cnn);

/**
 * Finishes a CNN: copies its weights to the arena, checks that the layers fit each other and makes room for what lies
 * between them, for the feature taps and for the output.
 *
 * A loaded CNN has its buffers already and only accepts the input that it was made for.
 *
 * - cnn: every layer was described.
 * - arena: takes weights and buffers in; it may be another one than before.
 * - in_h, in_w, in_c: extents of the input, each at least 1.
 *
 * Returns NK_OK; NK_ERR_INVALID_ARGUMENT for NULL, a handle without network, an extent of 0 and a weight that is NaN or
 * infinite; NK_ERR_NOT_INITIALIZED when a layer or the heads of a pyramid are missing; NK_ERR_LAYER_CONFIG or
 * NK_ERR_WEIGHT_MISMATCH when layers do not fit each other or the height and width given for a block;
 * NK_ERR_ARENA_OVERFLOW without room. The arena and the CNN are as before then. Threads: any. Cost: copies all weights.
 * Since 0.1.0.
 */
nk_status_t nk_cnn_init_activation_buffers(nk_cnn_t *cnn, nk_arena_t *arena, uint32_t in_h, uint32_t in_w, uint32_t in_c);

/** Whether nk_cnn_forward() can run: after nk_cnn_init_activation_buffers() or loading. Threads: any. Since 0.1.0. */
bool nk_cnn_has_activation_buffers(const nk_cnn_t *cnn);

/** Scratch of the kernels outside the arena: none, so that this returns 0. Threads: any. Since 0.1.0. */
size_t nk_cnn_kernel_workspace_bytes(const nk_cnn_t *cnn);

/**
 * Leaves out the softmax at the end of an int8 CNN from now on, or brings it back; see
 * nk_model_set_omit_final_softmax(). Nothing happens to a CNN of floats: load it as nk_model_t to leave its softmax out.
 *
 * - cnn: an int8 CNN; nothing happens without one.
 * - omit: true to leave the softmax out.
 *
 * Threads: any, but not during a run of the CNN. Since 0.1.0.
 */
void nk_cnn_set_omit_final_softmax(nk_cnn_t *cnn, bool omit);

/**
 * Whether the softmax at the end of a CNN is left out; false when there is none and for floats. Threads: any. Since
 * 0.1.0.
 */
bool nk_cnn_omit_final_softmax(const nk_cnn_t *cnn);

/**
 * Runs a CNN once.
 *
 * - cnn: a CNN with buffers.
 * - arena: any arena; used only when the input is the output of an earlier run: it then is copied to the arena's free
 *   memory for the duration of the run. Nothing is taken from it.
 * - input: a tensor of height * width * channels elements in that order; floats, or int8 values for an int8 CNN.
 * - output: becomes a view of the result inside the network, whatever it was: [height, width, channels], or
 *   [1, features] behind a flatten layer. Every run of a network gives the same address; the values change with the
 *   next run and end with the arena.
 *
 * Returns NK_OK; NK_ERR_INVALID_ARGUMENT for NULL, a handle without network, and a tensor of the wrong type or size;
 * NK_ERR_NOT_INITIALIZED without buffers; NK_ERR_ARENA_OVERFLOW without room for the copy; NK_ERR_MODEL_NOT_LOADED when
 * the arena of the buffers was reset. `output` is as before then. Threads: any. Cost: the network's arithmetic. Since
 * 0.1.0.
 */
nk_status_t nk_cnn_forward(nk_cnn_t *cnn, nk_arena_t *arena, const nk_tensor_t *input, nk_tensor_t *output);

/**
 * The map that a feature tap marks, as the last run left it.
 *
 * A CNN behind this kind of handle keeps its taps; behind nk_model_t their memory is used for other things as soon as
 * the network has read them.
 *
 * - cnn: a CNN with buffers; the arena is as it was.
 * - tap_id: 0 to 3.
 *
 * Returns nk_cnn_get_feature_tap_elems() floats [height, width, channels], which mean nothing before the first run;
 * NULL when there is no such tap. Threads: any. Since 0.1.0.
 */
float *nk_cnn_get_feature_tap_buffer(const nk_cnn_t *cnn, uint8_t tap_id);

/** Number of floats at nk_cnn_get_feature_tap_buffer(); 0 when there is no such tap. Threads: any. Since 0.1.0. */
uint32_t nk_cnn_get_feature_tap_elems(const nk_cnn_t *cnn, uint8_t tap_id);

/* ========================================================================
 * CNN: simple layers
 * ========================================================================
 * Each call describes one layer of a CNN from nk_cnn_create(). Only the description is taken: weights must stay where
 * they are until nk_cnn_init_activation_buffers() has copied them. Calling again replaces the layer, and the buffers must
 * then be made anew. Weights are never written to; a bias that is NULL is all zeros.
 *
 * All return NK_OK; NK_ERR_NOT_INITIALIZED when cnn is NULL or holds no network; NK_ERR_INVALID_ARGUMENT for an index
 * out of range, NULL weights, a negative size, and padding that the format cannot express: padding at an end is that at
 * the start, which NK_PAD_MIRROR stands for, or up to 15 more. Whether a layer fits its input is checked by
 * nk_cnn_init_activation_buffers(). Threads: any.
 */

/**
 * Describes a convolution with a square kernel.
 *
 * - cnn, layer_idx: which layer.
 * - kernel_size: height and width of the kernel.
 * - stride: step on both axes.
 * - in_channels, out_channels: channels before and after.
 * - weights: floats [out_channels, kernel_size, kernel_size, in_channels].
 * - bias: out_channels floats, or NULL.
 * - activation: one of nk_conv_activation_t.
 * - leaky_alpha: slope below 0 of NK_CONV_ACTIVATION_LEAKY_RELU; otherwise without meaning.
 * - pad_h, pad_w: rows above and columns to the left, 0 to 255.
 * - pad_h_end, pad_w_end: rows below and columns to the right.
 *
 * Returns NK_OK, NK_ERR_NOT_INITIALIZED or NK_ERR_INVALID_ARGUMENT; see above. Since 0.1.0.
 */
nk_status_t nk_cnn_init_conv_layer(nk_cnn_t *cnn,
                                   uint32_t layer_idx,
                                   int kernel_size,
                                   int stride,
                                   int in_channels,
                                   int out_channels,
                                   const float *weights,
                                   const float *bias,
                                   nk_conv_activation_t activation,
                                   float leaky_alpha,
                                   int pad_h,
                                   int pad_w,
                                   int pad_h_end,
                                   int pad_w_end);

/**
 * Describes a depthwise convolution: each channel has a kernel of its own.
 *
 * - cnn, layer_idx: which layer.
 * - kernel_h, kernel_w: height and width of the kernel, 1 to 255. The format has one field for the width of a
 *   rectangular kernel and for padding at the ends; combinations that it cannot express are refused.
 * - stride: step on both axes.
 * - channels: channels before and after.
 * - weights: floats [channels, kernel_h, kernel_w].
 * - bias: channels floats, or NULL.
 * - activation, leaky_alpha: as in nk_cnn_init_conv_layer().
 * - pad_h, pad_w, pad_h_end, pad_w_end: as in nk_cnn_init_conv_layer().
 *
 * Returns NK_OK, NK_ERR_NOT_INITIALIZED or NK_ERR_INVALID_ARGUMENT; see above. Since 0.1.0.
 */
nk_status_t nk_cnn_init_depthwise_conv_layer(nk_cnn_t *cnn,
                                             uint32_t layer_idx,
                                             int kernel_h,
                                             int kernel_w,
                                             int stride,
                                             int channels,
                                             const float *weights,
                                             const float *bias,
                                             nk_conv_activation_t activation,
                                             float leaky_alpha,
                                             int pad_h,
                                             int pad_w,
                                             int pad_h_end,
                                             int pad_w_end);

/**
 * Describes a maximum pooling. Padding never is the maximum.
 *
 * - cnn, layer_idx: which layer.
 * - pool_h, pool_w: height and width of the window; the width 1 to 255.
 * - stride: step on both axes.
 * - pad_h, pad_w, pad_h_end, pad_w_end: as in nk_cnn_init_conv_layer().
 *
 * Returns NK_OK, NK_ERR_NOT_INITIALIZED or NK_ERR_INVALID_ARGUMENT; see above. Since 0.1.0.
 */
nk_status_t nk_cnn_init_pool_layer(nk_cnn_t *cnn,
                                   uint32_t layer_idx,
                                   int pool_h,
                                   int pool_w,
                                   int stride,
                                   int pad_h,
                                   int pad_w,
                                   int pad_h_end,
                                   int pad_w_end);

/** Describes an average pooling over the values inside the map; otherwise as nk_cnn_init_pool_layer(). Since 0.1.0. */
nk_status_t nk_cnn_init_avg_pool_layer(nk_cnn_t *cnn,
                                       uint32_t layer_idx,
                                       int pool_h,
                                       int pool_w,
                                       int stride,
                                       int pad_h,
                                       int pad_w,
                                       int pad_h_end,
                                       int pad_w_end);

/**
 * Describes a batch normalisation that is folded to x * scale + bias for each channel.
 *
 * - cnn, layer_idx: which layer.
 * - channels: channels.
 * - scale: channels floats.
 * - bias: channels floats, or NULL.
 *
 * Returns NK_OK, NK_ERR_NOT_INITIALIZED or NK_ERR_INVALID_ARGUMENT; see above. Since 0.1.0.
 */
nk_status_t nk_cnn_init_batch_norm_layer(nk_cnn_t *cnn, uint32_t layer_idx, int channels, const float *scale, const float *bias);

/**
 * Describes a layer normalisation over the channels of each pixel.
 *
 * - cnn, layer_idx: which layer.
 * - channels: channels.
 * - eps: added to the variance, not negative.
 * - weight: channels floats that the normalised values are multiplied by.
 * - bias: channels floats, or NULL.
 *
 * Returns NK_OK, NK_ERR_NOT_INITIALIZED or NK_ERR_INVALID_ARGUMENT; see above. Since 0.1.0.
 */
nk_status_t nk_cnn_init_layernorm_layer(nk_cnn_t *cnn,
                                        uint32_t layer_idx,
                                        int channels,
                                        float eps,
                                        const float *weight,
                                        const float *bias);

/**
 * Describes a flatten layer: the map becomes one row of features.
 *
 * Returns NK_OK, NK_ERR_NOT_INITIALIZED or NK_ERR_INVALID_ARGUMENT; see above. Since 0.1.0.
 */
nk_status_t nk_cnn_init_flatten_layer(nk_cnn_t *cnn, uint32_t layer_idx);

/**
 * Describes a dense layer, which stands behind a flatten layer; otherwise as nk_mlp_init_layer(), whose statuses it gives:
 * NK_ERR_INVALID_ARGUMENT when cnn is NULL or holds no network. Since 0.1.0.
 */
nk_status_t nk_cnn_init_dense_layer(nk_cnn_t *cnn,
                                    uint32_t layer_idx,
                                    const nk_tensor_t *weights,
                                    const nk_tensor_t *bias,
                                    nk_activation_t activation,
                                    float leaky_alpha);

/* ========================================================================
 * CNN: blocks
 * ========================================================================
 * As the simple layers, with these differences: all return NK_ERR_INVALID_ARGUMENT when cnn or arena is NULL or cnn holds
 * no network, and NK_ERR_ARENA_OVERFLOW when the arena has no room for the list of the block's tensors. spatial_h and
 * spatial_w are height and width of the map at the block's input; nk_cnn_init_activation_buffers() compares them with
 * the real ones. A batch norm is x * scale + bias; its scale and bias may be NULL for 1 and 0.
 */

/**
 * Describes a ConvNeXt V2 block: depthwise 7x7, layer norm, expansion to four times the channels, GELU, global response
 * normalisation, projection, and the input added.
 *
 * - cnn, arena, layer_idx, spatial_h, spatial_w: see above.
 * - channels: channels before and after.
 * - eps: of the layer norm and of the response normalisation.
 * - dw_weights, dw_bias: floats [channels, 7, 7] and [channels].
 * - ln_weight, ln_bias: channels floats each.
 * - pw1_weight, pw1_bias: floats [4 * channels, channels] and [4 * channels].
 * - grn_gamma, grn_beta: 4 * channels floats each.
 * - pw2_weight, pw2_bias: floats [channels, 4 * channels] and [channels].
 *
 * Returns NK_OK, NK_ERR_INVALID_ARGUMENT or NK_ERR_ARENA_OVERFLOW; see above. Since 0.1.0.
 */
nk_status_t nk_cnn_init_convnextv2_block_layer(nk_cnn_t *cnn,
                                               nk_arena_t *arena,
                                               uint32_t layer_idx,
                                               uint32_t spatial_h,
                                               uint32_t spatial_w,
                                               int channels,
                                               float eps,
                                               const float *dw_weights,
                                               const float *dw_bias,
                                               const float *ln_weight,
                                               const float *ln_bias,
                                               const float *pw1_weight,
                                               const float *pw1_bias,
                                               const float *grn_gamma,
                                               const float *grn_beta,
                                               const float *pw2_weight,
                                               const float *pw2_bias);

/**
 * Describes a universal inverted bottleneck of MobileNetV4: optional depthwise convolution, expansion, optional depthwise
 * convolution, projection, a batch norm behind each. The input is added when the stride is 1 and the channels stay.
 *
 * - cnn, arena, layer_idx, spatial_h, spatial_w: see above.
 * - in_channels, out_channels: channels before and after.
 * - start_dw_kernel, middle_dw_kernel: kernels of the depthwise convolutions; 0 for none, whose pointers are not looked
 *   at.
 * - stride: stride of the block.
 * - middle_dw_downsample: not 0 when the middle convolution has the stride, 0 when the first one has it.
 * - expand_ratio: expanded channels E are this times in_channels, rounded to a multiple of 8.
 * - start_dw_weights, start_dw_bias: floats [in_channels, k, k] and [in_channels].
 * - start_bn_scale, start_bn_bias: in_channels floats each.
 * - expand_weights, expand_bias: floats [E, in_channels] and [E].
 * - expand_bn_scale, expand_bn_bias: E floats each.
 * - middle_dw_weights, middle_dw_bias: floats [E, k, k] and [E].
 * - middle_bn_scale, middle_bn_bias: E floats each.
 * - proj_weights, proj_bias: floats [out_channels, E] and [out_channels].
 * - proj_bn_scale, proj_bn_bias: out_channels floats each.
 *
 * Returns NK_OK, NK_ERR_INVALID_ARGUMENT or NK_ERR_ARENA_OVERFLOW, see above, or NK_ERR_LAYER_CONFIG for an
 * expand_ratio that does not give a number of channels. Since 0.1.0.
 */
nk_status_t nk_cnn_init_mobilenetv4_uib_layer(nk_cnn_t *cnn,
                                              nk_arena_t *arena,
                                              uint32_t layer_idx,
                                              uint32_t spatial_h,
                                              uint32_t spatial_w,
                                              int in_channels,
                                              int out_channels,
                                              int start_dw_kernel,
                                              int middle_dw_kernel,
                                              int stride,
                                              int middle_dw_downsample,
                                              float expand_ratio,
                                              const float *start_dw_weights,
                                              const float *start_dw_bias,
                                              const float *start_bn_scale,
                                              const float *start_bn_bias,
                                              const float *expand_weights,
                                              const float *expand_bias,
                                              const float *expand_bn_scale,
                                              const float *expand_bn_bias,
                                              const float *middle_dw_weights,
                                              const float *middle_dw_bias,
                                              const float *middle_bn_scale,
                                              const float *middle_bn_bias,
                                              const float *proj_weights,
                                              const float *proj_bias,
                                              const float *proj_bn_scale,
                                              const float *proj_bn_bias);

/**
 * Describes a basic block of ResNet: two 3x3 convolutions with batch norm, the shortcut added, ReLU.
 *
 * The shortcut is the input itself when the stride is 1 and the channels stay; the pointers of the shortcut are not
 * looked at then. Otherwise it is a 1x1 convolution with batch norm.
 *
 * - cnn, arena, layer_idx, spatial_h, spatial_w: see above.
 * - in_channels, out_channels: channels before and after.
 * - stride: stride of the first convolution and of the shortcut.
 * - conv1_weights, conv1_bias: floats [out_channels, 3, 3, in_channels] and [out_channels].
 * - bn1_scale, bn1_bias: out_channels floats each.
 * - conv2_weights, conv2_bias: floats [out_channels, 3, 3, out_channels] and [out_channels].
 * - bn2_scale, bn2_bias: out_channels floats each.
 * - shortcut_weights, shortcut_bias: floats [out_channels, in_channels] and [out_channels].
 * - shortcut_bn_scale, shortcut_bn_bias: out_channels floats each.
 *
 * Returns NK_OK, NK_ERR_INVALID_ARGUMENT or NK_ERR_ARENA_OVERFLOW; see above. Since 0.1.0.
 */
nk_status_t nk_cnn_init_resnet_basic_block_layer(nk_cnn_t *cnn,
                                                 nk_arena_t *arena,
                                                 uint32_t layer_idx,
                                                 uint32_t spatial_h,
                                                 uint32_t spatial_w,
                                                 int in_channels,
                                                 int out_channels,
                                                 int stride,
                                                 const float *conv1_weights,
                                                 const float *conv1_bias,
                                                 const float *bn1_scale,
                                                 const float *bn1_bias,
                                                 const float *conv2_weights,
                                                 const float *conv2_bias,
                                                 const float *bn2_scale,
                                                 const float *bn2_bias,
                                                 const float *shortcut_weights,
                                                 const float *shortcut_bias,
                                                 const float *shortcut_bn_scale,
                                                 const float *shortcut_bn_bias);

/* ========================================================================
 * CNN: YOLOX
 * ========================================================================
 * As the other blocks. A head has num_convs 3x3 convolutions in each of its two branches: the arrays of pointers have as
 * many entries, and are only read during the call. They may be NULL when num_convs is 0; an array of biases may be NULL
 * for zeros.
 */

/**
 * Describes a decoupled head of YOLOX: a stem, a branch for classes, a branch for box and objectness. Its output has
 * 5 + num_classes channels: box 0 to 3, objectness 4, classes from 5 on.
 *
 * - cnn, arena, layer_idx, spatial_h, spatial_w: see above.
 * - in_channels: channels of the input.
 * - hidden_dim: channels H inside the head.
 * - num_classes: classes.
 * - num_convs: convolutions in each branch, 0 to 255.
 * - stem_weights, stem_bias: floats [H, in_channels] and [H].
 * - cls_conv_weights, cls_conv_bias: num_convs pointers to floats [H, 3, 3, H] and [H].
 * - reg_conv_weights, reg_conv_bias: the same for the other branch.
 * - cls_pred_weights, cls_pred_bias: floats [num_classes, H] and [num_classes].
 * - reg_pred_weights, reg_pred_bias: floats [4, H] and [4].
 * - obj_pred_weights, obj_pred_bias: floats [1, H] and [1].
 *
 * Returns NK_OK, NK_ERR_INVALID_ARGUMENT or NK_ERR_ARENA_OVERFLOW; see above. Since 0.1.0.
 */
nk_status_t nk_cnn_init_yolox_decoupled_head_layer(nk_cnn_t *cnn,
                                                   nk_arena_t *arena,
                                                   uint32_t layer_idx,
                                                   uint32_t spatial_h,
                                                   uint32_t spatial_w,
                                                   int in_channels,
                                                   int hidden_dim,
                                                   int num_classes,
                                                   int num_convs,
                                                   const float *stem_weights,
                                                   const float *stem_bias,
                                                   float *const *cls_conv_weights,
                                                   float *const *cls_conv_bias,
                                                   float *const *reg_conv_weights,
                                                   float *const *reg_conv_bias,
                                                   const float *cls_pred_weights,
                                                   const float *cls_pred_bias,
                                                   const float *reg_pred_weights,
                                                   const float *reg_pred_bias,
                                                   const float *obj_pred_weights,
                                                   const float *obj_pred_bias);

/**
 * Describes a feature tap: the map at this place is kept for a feature pyramid behind it, and for
 * nk_cnn_get_feature_tap_buffer(). It changes nothing.
 *
 * - cnn, arena, layer_idx, spatial_h, spatial_w: see above; nothing is taken from the arena.
 * - channels: channels of the map.
 * - tap_id: 0 to 3. A later tap with the same number replaces this one.
 *
 * Returns NK_OK or NK_ERR_INVALID_ARGUMENT, also for a tap_id above 3. Since 0.1.0.
 */
nk_status_t nk_cnn_init_feature_tap_layer(nk_cnn_t *cnn,
                                          nk_arena_t *arena,
                                          uint32_t layer_idx,
                                          uint32_t spatial_h,
                                          uint32_t spatial_w,
                                          int channels,
                                          uint8_t tap_id);

/**
 * Describes a feature pyramid of YOLOX with a head on each of three scales. It reads feature tap 0 (C3, four times the
 * height and width of its input) and tap 1 (C4, twice), which stand before it. nk_cnn_set_yolox_pafpn_head() must
 * follow for scale 0, 1 and 2.
 *
 * Its output is one row of (16 + 4 + 1) * c5_h * c5_w * (5 + num_classes) floats: the predictions of scale 0, 1 and 2,
 * each as nk_cnn_init_yolox_decoupled_head_layer() says.
 *
 * - cnn, arena, layer_idx: see above.
 * - c5_h, c5_w: height and width of the map at its input.
 * - c3_channels, c4_channels, c5_channels: channels of tap 0, of tap 1 and of the input.
 * - hidden_dim: channels H inside the pyramid and the heads.
 * - num_classes, num_convs: of each head.
 * - lat3_weights to lat5_bias: floats [H, channels of the map] and [H].
 * - td_p4_dw_weights to bu_n5_pw_bias: four refinements, each a depthwise convolution of floats [H, 3, 3] and [H], and
 *   a pointwise one of floats [H, H] and [H]; top-down at P4 and P3, bottom-up at N4 and N5.
 *
 * Returns NK_OK, NK_ERR_INVALID_ARGUMENT or NK_ERR_ARENA_OVERFLOW; see above. Since 0.1.0.
 */
nk_status_t nk_cnn_init_yolox_pafpn_layer(nk_cnn_t *cnn,
                                          nk_arena_t *arena,
                                          uint32_t layer_idx,
                                          uint32_t c5_h,
                                          uint32_t c5_w,
                                          int c3_channels,
                                          int c4_channels,
                                          int c5_channels,
                                          int hidden_dim,
                                          int num_classes,
                                          int num_convs,
                                          const float *lat3_weights,
                                          const float *lat3_bias,
                                          const float *lat4_weights,
                                          const float *lat4_bias,
                                          const float *lat5_weights,
                                          const float *lat5_bias,
                                          const float *td_p4_dw_weights,
                                          const float *td_p4_dw_bias,
                                          const float *td_p4_pw_weights,
                                          const float *td_p4_pw_bias,
                                          const float *td_p3_dw_weights,
                                          const float *td_p3_dw_bias,
                                          const float *td_p3_pw_weights,
                                          const float *td_p3_pw_bias,
                                          const float *bu_n4_dw_weights,
                                          const float *bu_n4_dw_bias,
                                          const float *bu_n4_pw_weights,
                                          const float *bu_n4_pw_bias,
                                          const float *bu_n5_dw_weights,
                                          const float *bu_n5_dw_bias,
                                          const float *bu_n5_pw_weights,
                                          const float *bu_n5_pw_bias);

/**
 * Gives a feature pyramid one of its three heads.
 *
 * - cnn, layer_idx: a layer from nk_cnn_init_yolox_pafpn_layer().
 * - scale: 0 for P3, the largest map, 1 for N4, 2 for N5.
 * - stem_w, stem_b: floats [H, H] and [H]; H is the pyramid's hidden_dim.
 * - cls_conv_w to obj_pred_b: as in nk_cnn_init_yolox_decoupled_head_layer(), with the pyramid's num_convs and
 *   num_classes.
 *
 * Returns as the other blocks, and NK_ERR_INVALID_ARGUMENT for a layer that is no pyramid and a scale above 2. Since
 * 0.1.0.
 */
nk_status_t nk_cnn_set_yolox_pafpn_head(nk_cnn_t *cnn,
                                        uint32_t layer_idx,
                                        uint32_t scale,
                                        const float *stem_w,
                                        const float *stem_b,
                                        const float *const *cls_conv_w,
                                        const float *const *cls_conv_b,
                                        const float *const *reg_conv_w,
                                        const float *const *reg_conv_b,
                                        const float *cls_pred_w,
                                        const float *cls_pred_b,
                                        const float *reg_pred_w,
                                        const float *reg_pred_b,
                                        const float *obj_pred_w,
                                        const float *obj_pred_b);

/* ========================================================================
 * Loading as MLP or CNN
 * ========================================================================
 * The same models as nk_model_load() takes, behind a handle of their kind, whose layers work on tensors. Everything said
 * there holds. Beside the arena_bytes of nk_plan_memory() this takes up to 256 bytes, for a CNN its output and up to 15
 * bytes, and for a CNN with feature taps the maps that they keep.
 */

/**
 * Loads an MLP from a file, as nk_model_load() does.
 *
 * - path: a .nk file.
 * - arena: takes the MLP in.
 * - mlp: becomes the handle. It may be uninitialised; it is empty when the file cannot be loaded.
 * - info: filled in on success; may be NULL.
 *
 * Returns NK_OK or any of 1 to 9, NK_ERR_UNSUPPORTED_NETWORK for a model of another kind; the arena is as before then.
 * Threads: any. Cost: reads all weights once to check them. Since 0.1.0.
 */
nk_status_t nk_mlp_load(const char *path, nk_arena_t *arena, nk_mlp_t *mlp, nk_arch_info_t *info);

/**
 * Loads an MLP from memory, as nk_model_load_memory() does: the bytes are used in place.
 *
 * - data: the content of a .nk file, at any address; must stay valid and unchanged as long as the MLP is used.
 * - size: bytes at `data`.
 * - arena: takes the MLP in.
 * - mlp: becomes the handle. What it held stays when the bytes are no model or one of another kind.
 * - info: filled in on success; may be NULL.
 *
 * Returns NK_OK or any of 2 to 9, NK_ERR_UNSUPPORTED_NETWORK for a model of another kind; the arena is as before then.
 * Threads: any. Cost: reads all weights once to check them. Since 0.1.0.
 */
nk_status_t nk_mlp_load_memory(const uint8_t *data, size_t size, nk_arena_t *arena, nk_mlp_t *mlp, nk_arch_info_t *info);

/** Whether an MLP computes with int8; false without a finished MLP. Threads: any. Since 0.1.0. */
bool nk_mlp_is_quantized(const nk_mlp_t *mlp);

/**
 * Loads a CNN from a file; otherwise as nk_mlp_load().
 *
 * - path: a .nk file.
 * - arena: takes the CNN in.
 * - cnn: becomes the handle. It may be uninitialised; it is empty when the file cannot be loaded.
 * - info: filled in on success; may be NULL.
 *
 * Threads: any. Since 0.1.0.
 */
nk_status_t nk_cnn_load(const char *path, nk_arena_t *arena, nk_cnn_t *cnn, nk_arch_info_t *info);

/**
 * Loads a CNN from memory; otherwise as nk_mlp_load_memory().
 *
 * - data: the content of a .nk file, at any address; must stay valid and unchanged as long as the CNN is used.
 * - size: bytes at `data`.
 * - arena: takes the CNN in.
 * - cnn: becomes the handle. What it held stays when the bytes are no model or one of another kind.
 * - info: filled in on success; may be NULL.
 *
 * Threads: any. Since 0.1.0.
 */
nk_status_t nk_cnn_load_memory(const uint8_t *data, size_t size, nk_arena_t *arena, nk_cnn_t *cnn, nk_arch_info_t *info);

/** Whether a CNN computes with int8; false without a finished CNN. Threads: any. Since 0.1.0. */
bool nk_cnn_is_quantized(const nk_cnn_t *cnn);

/**
 * Loads a file into the handle of its kind.
 *
 * - path: a .nk file.
 * - arena: takes the network in.
 * - kind: receives what it is.
 * - mlp: becomes the handle of an MLP; may be NULL, a network without a handle is of no use.
 * - cnn: becomes the handle of a CNN; may be NULL.
 * - info: filled in on success; may be NULL.
 *
 * Returns NK_OK or any of 1 to 9, NK_ERR_LAYER_CONFIG for a network of unknown kind; nothing is written then, and the
 * arena is as before. Threads: any. Cost: reads all weights once to check them. Since 0.1.0.
 */
nk_status_t nk_model_load_auto(const char *path,
                               nk_arena_t *arena,
                               nk_network_kind_t *kind,
                               nk_mlp_t *mlp,
                               nk_cnn_t *cnn,
                               nk_arch_info_t *info);

/* ========================================================================
 * Models: bytes, and one model on several threads
 * ========================================================================
 * nk_run() and nk_model_run_scratch() take models of either type: input and output are bytes, that is
 * nk_model_input_bytes() and nk_model_output_bytes() of them, in native floats or in int8 values.
 *
 * A run writes to memory of the model in its arena, so that one model runs on one thread at a time.
 * nk_model_run_scratch() writes to memory of yours instead: any number of threads may use it with one model at the same
 * time, each with scratch memory of its own, as long as none of them changes, unloads or otherwise runs the model.
 */

/**
 * Runs a model of either type once, on bytes.
 *
 * - model: a loaded model. Its own arena must be as it was; the run writes to the model's memory there.
 * - input: the input; aligned to 4 if the model is one of floats.
 * - input_bytes: must be nk_model_input_bytes().
 * - output: receives nk_model_output_bytes() bytes, aligned as the input; must not overlap it.
 * - output_bytes: bytes that fit into `output`.
 * - output_written: receives the number of bytes written, on success only; may be NULL.
 *
 * Checks in this order: NULL (NK_ERR_INVALID_ARGUMENT), model loaded (NK_ERR_MODEL_NOT_LOADED), input_bytes
 * (NK_ERR_INVALID_ARGUMENT), output_bytes (NK_ERR_BUFFER_TOO_SMALL), alignment and overlaps (NK_ERR_INVALID_ARGUMENT). A
 * layer hook that stops the run makes it NK_ERR_STOPPED. Threads: any. Cost: the model's arithmetic; no heap, no system
 * call. Since 0.1.0.
 */
nk_status_t nk_run(const nk_model_t *model,
                   const void *input,
                   size_t input_bytes,
                   void *output,
                   size_t output_bytes,
                   size_t *output_written);

/**
 * Bytes of scratch memory that nk_model_run_scratch() needs: the same for every run of a model, and part of what
 * nk_plan_memory() tells as scratch_bytes.
 *
 * - model: a loaded model whose arena is as it was.
 *
 * Returns bytes; 0 without a model, and for one that computes straight from input to output. Threads: any. Since 0.1.0.
 */
size_t nk_model_scratch_bytes(const nk_model_t *model);

/** Alignment of the scratch memory in bytes, a power of two; 1 without a model. Threads: any. Since 0.1.0. */
size_t nk_model_scratch_align(const nk_model_t *model);

/**
 * Runs a model of either type once, on bytes and in scratch memory of yours. Nothing else is written to, so that several
 * threads can run one model at the same time; the answers are those of nk_run().
 *
 * - model: a loaded model. Its own arena must be as it was.
 * - scratch: memory that this run alone uses, at a multiple of nk_model_scratch_align(). What it holds does not matter,
 *   neither before nor afterwards. May be NULL when nk_model_scratch_bytes() is 0.
 * - scratch_bytes: at least nk_model_scratch_bytes().
 * - input, input_bytes, output, output_bytes, output_written: as in nk_run(); input and output must not overlap the
 *   scratch memory either.
 *
 * Returns NK_OK, any of 9 to 11 in the order of nk_run(), or NK_ERR_STOPPED; NK_ERR_BUFFER_TOO_SMALL and
 * NK_ERR_INVALID_ARGUMENT also when size or alignment of the scratch memory is wrong. Threads: any, and any number at
 * the same time. Cost: the model's arithmetic; no heap, no system call. Since 0.1.0.
 */
nk_status_t nk_model_run_scratch(const nk_model_t *model,
                                 void *scratch,
                                 size_t scratch_bytes,
                                 const void *input,
                                 size_t input_bytes,
                                 void *output,
                                 size_t output_bytes,
                                 size_t *output_written);

/* ========================================================================
 * Models: layers
 * ========================================================================
 * What a model consists of. The answers come from the model's own bytes, which must still be there.
 */

/** Kind of a layer. */
enum nk_cnn_block_type {
    /** Convolution. */
    NK_CNN_BLOCK_CONV2D = 0,
    /** Convolution of each channel by itself. */
    NK_CNN_BLOCK_DEPTHWISE_CONV2D = 1,
    /** Maximum of each window. */
    NK_CNN_BLOCK_MAX_POOL2D = 2,
    /** Mean of each window. */
    NK_CNN_BLOCK_AVG_POOL2D = 3,
    /** Scale and shift of each channel. */
    NK_CNN_BLOCK_BATCH_NORM2D = 4,
    /** Normalisation of each pixel over its channels. */
    NK_CNN_BLOCK_LAYERNORM2D = 5,
    /** A map becomes one row. */
    NK_CNN_BLOCK_FLATTEN = 6,
    /** Fully connected; the layers of an MLP. */
    NK_CNN_BLOCK_DENSE = 7,
    /** ConvNeXt V2 block. */
    NK_CNN_BLOCK_CONVNEXTV2_BLOCK = 8,
    /** MobileNetV4 universal inverted bottleneck. */
    NK_CNN_BLOCK_MOBILENETV4_UIB = 9,
    /** ResNet basic block. */
    NK_CNN_BLOCK_RESNET_BASIC_BLOCK = 10,
    /** YOLOX decoupled head. */
    NK_CNN_BLOCK_YOLOX_DECOUPLED_HEAD = 11,
    /** Remembers a map for a feature pyramid. */
    NK_CNN_BLOCK_FEATURE_TAP = 12,
    /** YOLOX feature pyramid with three heads. */
    NK_CNN_BLOCK_YOLOX_PAFPN_MULTISCALE = 13,
};

/** Kind of a layer. */
typedef enum nk_cnn_block_type nk_cnn_block_type_t;

/** A layer of a model. Set struct_size to `sizeof(nk_layer_info_t)` before you pass it. */
struct nk_layer_info {
    /** Size of this structure in bytes, set by you. */
    uint32_t struct_size;
    /** Kind of the layer. */
    nk_cnn_block_type_t type;
    /** Index of the layer from 0. */
    uint32_t index;
    /** Extents of its input, outermost first; 0 beyond the rank. */
    uint32_t in_shape[NK_MAX_TENSOR_RANK];
    /** Extents of its output, outermost first; 0 beyond the rank. */
    uint32_t out_shape[NK_MAX_TENSOR_RANK];
    /** Number of dimensions of the input. */
    uint32_t in_rank;
    /** Number of dimensions of the output. */
    uint32_t out_rank;
    /** Size of its weights and biases in bytes. */
    size_t weight_bytes;
    /** Multiply-accumulate operations of one run; 0 for a layer that only compares, copies or normalises. */
    uint64_t macs;
    /** Scale and zero point of its input; both 0 in a float model. */
    nk_quant_params_t in_quant;
    /** Scale and zero point of its output; both 0 in a float model. */
    nk_quant_params_t out_quant;
};

/** A layer of a model. */
typedef struct nk_layer_info nk_layer_info_t;

/** Number of layers of a model; 0 without a model. Threads: any. Since 0.1.0. */
uint32_t nk_model_layer_count(const nk_model_t *model);

/**
 * Describes a layer of a model.
 *
 * - model: a loaded model whose arena is as it was.
 * - index: below nk_model_layer_count().
 * - info: filled in on success; its struct_size must be set.
 *
 * Returns NK_OK, NK_ERR_INVALID_ARGUMENT for NULL, a wrong struct_size or an index that is too large, or
 * NK_ERR_MODEL_NOT_LOADED. Threads: any, also during runs. Cost: reads the model without its weights. Since 0.1.0.
 */
nk_status_t nk_model_layer_info(const nk_model_t *model, uint32_t index, nk_layer_info_t *info);

/**
 * Names a kind of layer in the words of the file format, such as `depthwise_conv2d`.
 *
 * - type: any number; `unknown` for one that is not listed.
 *
 * Returns a constant string, never NULL. Threads: any. Since 0.1.0.
 */
const char *nk_block_type_string(nk_cnn_block_type_t type);

/* ========================================================================
 * Models: layer hook and clock
 * ========================================================================
 * A hook sees each layer of a run: before it is computed, and afterwards with its output and the time it took. It finds
 * the slow layer, compares intermediate results, feeds a watchdog or stops a run that takes too long.
 */

/** What a layer hook sees. */
struct nk_layer_event {
    /** Size of this structure in bytes, set by the library. */
    uint32_t struct_size;
    /** Index of the layer in the model from 0. */
    uint32_t layer_index;
    /** Kind of the layer. */
    nk_cnn_block_type_t type;
    /** 0 before the layer is computed, 1 afterwards. */
    int32_t phase;
    /** Nanoseconds that the layer took, without the hook itself; 0 in phase 0 and without a clock. */
    uint64_t elapsed_ns;
    /** The layer's output in phase 1, else NULL. It is there during the call only, and must not be changed. */
    const nk_tensor_t *output;
};

/** What a layer hook sees. */
typedef struct nk_layer_event nk_layer_event_t;

/** A layer hook. Any result but 0 stops the run. */
typedef int32_t (*nk_layer_hook_fn)(void *user, const nk_layer_event_t *event);

/** A clock: nanoseconds since any moment. */
typedef uint64_t (*nk_clock_fn)(void *user);

/**
 * Sets the hook of a model, which every run of it calls twice for each layer, in the order of the layers.
 *
 * The hook lives in the arena with the model: all copies of the handle share it, and loading starts without one. Layers
 * that the library merges keep their events: a batch norm, or in int8 models a max pool, that became part of the
 * convolution in front takes no time, and the output of that convolution is the normalised or pooled one. Flatten and
 * feature taps compute nothing and take no time either. When the hook stops a run, the call returns NK_ERR_STOPPED with the layer in nk_last_error_info(), and part of
 * the output buffer may be written.
 *
 * - model: a loaded model whose arena is as it was.
 * - fn: called on the thread of the run, before the run returns; when several threads run the model at the same time,
 *   on all of them. It may use other models, but must not run, unload or change this one, or take memory of its arena.
 *   NULL takes the hook away.
 * - user: handed to the hook.
 *
 * Returns NK_OK, NK_ERR_INVALID_ARGUMENT for NULL or NK_ERR_MODEL_NOT_LOADED. Threads: any, but not during a run of the
 * model. Cost: constant; each run with a hook reads the layer records of the model again. Since 0.1.0.
 */
nk_status_t nk_model_set_layer_hook(nk_model_t *model,
                                    nk_layer_hook_fn fn,
                                    void *user);

/**
 * Sets the clock that times layers for hooks. Without one, hosts with Unix use the monotonic clock of the system, and
 * other builds have none.
 *
 * - fn: called before and after each layer of a run with a hook; it must not go backwards. NULL brings the clock of the
 *   system back.
 * - user: handed to the function.
 *
 * Threads: any, but no other one may use the library meanwhile; the clock belongs to the whole process. Since 0.1.0.
 */
void nk_set_clock(nk_clock_fn fn, void *user);

/* ========================================================================
 * Where text goes
 * ========================================================================
 * Functions that print write to C stdout, and failing calls keep their sentence for nk_last_error(). Both can go to
 * functions of yours instead or in addition: to a serial line, a window, a logging system. The functions belong to the
 * whole process. Set them while no other thread uses the library, best before the first call; they must be callable from
 * every thread that uses it.
 */

/** Severity of a log text: a call failed. */
#define NK_LOG_ERROR 0

/**
 * Takes a log text: one sentence in UTF-8, `length` bytes, without a line break or a zero at the end. Levels count from
 * NK_LOG_ERROR upwards to what matters less.
 */
typedef void (*nk_log_fn)(void *user, int32_t level, const char *text, size_t length);

/**
 * Takes a piece of printed text: UTF-8, `length` bytes, no zero at the end. A line of up to 128 bytes comes in one
 * piece, its line break included.
 */
typedef void (*nk_write_fn)(void *user, const char *text, size_t length);

/**
 * Sets the function that gets the sentence of each failing call, right before the call returns; without one nobody
 * gets it unasked. Messages that nk_cli_run() would write to C stderr go there too.
 *
 * - fn: called on the thread whose call failed. It must not call the library, except nk_last_error() and its relatives.
 *   NULL takes the function away.
 * - user: handed to the function.
 *
 * Threads: any, but no other one may use the library meanwhile. Since 0.1.0.
 */
void nk_set_log_callback(nk_log_fn fn, void *user);

/**
 * Sets the function that gets everything that would be printed to C stdout: tensors, summaries, test reports, what
 * nk_cli_run() answers. Builds without an operating system print only there.
 *
 * - fn: called on the thread that prints, several times for one call. It must not call functions that print. NULL
 *   brings C stdout back.
 * - user: handed to the function.
 *
 * Threads: any, but no other one may use the library meanwhile. Since 0.1.0.
 */
void nk_set_print_callback(nk_write_fn fn, void *user);

/**
 * Writes the summary of a model in memory, which nk_arch_print() prints, to a function of yours.
 *
 * - data: the content of a .nk file, at any address; only read during the call. The summary calls it `model`.
 * - size: bytes at `data`.
 * - fn: gets the text, on this thread, before the call returns.
 * - user: handed to the function.
 *
 * Returns NK_OK or any of 2, 3, 5 to 7 and 9, with nothing written then. Threads: any. Cost: reads the model without its
 * weights. Since 0.1.0.
 */
nk_status_t nk_arch_write(const void *data, size_t size, nk_write_fn fn, void *user);

#ifdef NETKIT_DESKTOP
/* ========================================================================
 * Embedded test cases
 * ========================================================================
 * A .nk file can carry inputs and the outputs expected for them. Only on hosts.
 */

/** Number of test cases by result. */
struct nk_test_summary {
    /** Cases whose outputs were as expected. */
    uint32_t passed;
    /** Cases whose outputs were not; 1 when the file could not be tested at all. */
    uint32_t failed;
};

/** Number of test cases by result. */
typedef struct nk_test_summary nk_test_summary_t;

/**
 * Runs the test cases that a file carries and prints what happens to C stdout.
 *
 * A float model passes a case when every output is within the file's tolerance and, where the case has a label, the
 * largest output has that index. An int8 model passes when its largest output has the index of the label or, without
 * one, of the largest expected output: expected outputs may come from a simulation in floats.
 *
 * Memory comes from the heap for the duration of the call. Two environment variables count: NETKIT_REGRESSION_VERBOSE
 * asks for the long report (1, which is the default) or the short one (0), and NETKIT_REGRESSION_STRICT=1 also compares
 * every dequantised output of an int8 model, which may differ by the file's tolerance or by one step of the output,
 * whichever is larger.
 *
 * - path: a .nk file; tried once more with `../` in front.
 *
 * Returns how many cases passed and failed. Threads: any; stdout is shared. Cost: one run for each case. Since 0.1.0.
 */
nk_test_summary_t nk_run_model_tests(const char *path);

/**
 * Runs the test cases of many files, as nk_run_model_tests() does. A folder without models counts as one failure.
 *
 * Where the folder `models` holds the suite of netkit, 29 models by name, these are run in the order of the suite and
 * nothing else, so that the counts are those of netkit: 89 cases. Otherwise it is every .nk file in `models`, or in
 * `../models` where there is no such folder, in order of names.
 *
 * Returns how many cases of all files passed and failed. Threads: any; stdout is shared. Cost: one run for each case.
 * Since 0.1.0.
 */
nk_test_summary_t nk_run_all_tests(void);
#endif /* NETKIT_DESKTOP */

#ifdef NETKIT_DESKTOP
/* ========================================================================
 * Command line
 * ========================================================================
 * The commands test, inspect and run as one function, for programs that bring them along under a name of their own. Only
 * on hosts.
 */

/**
 * Does what a command line says and prints the answer to C stdout, and what went wrong to C stderr.
 *
 * `NAME help` prints the commands. Models are .nk files, tried once more with `../` in front. Memory comes from the heap
 * for the duration of the call.
 *
 * - `test [MODEL]` runs the test cases of a model, or as nk_run_all_tests().
 * - `inspect MODEL [--full]` prints the summary of nk_arch_print(), and with --full the arena bytes that the model takes
 *   when it is loaded and after a run on zeros.
 * - `run MODEL --input VALUES` runs the model once on floats, such as `1,2.5`, and prints input and output. An int8 model
 *   is run as by nk_model_run_auto().
 * - `--arena SIZE` in front of the command sets the size of the arena, such as `256k` or `4 MiB`; 64 MiB without.
 *
 * - argc: number of arguments; the first is the name of the program and does not matter.
 * - argv: argc C strings. They are not changed.
 *
 * Returns 0 when all went well, else 1. Threads: any; stdout and stderr are shared. Since 0.1.0.
 */
int nk_cli_run(int argc, char **argv);
#endif /* NETKIT_DESKTOP */

/** True when this header fits the linked library; see nk_check_abi(). */
#define nk_abi_ok() \
    (nk_check_abi(NK_ABI_VERSION, sizeof(nk_arena_t), sizeof(nk_model_t), sizeof(nk_tensor_t)) == NK_OK)

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* NK_H */
