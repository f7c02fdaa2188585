/*
 * NETKIT for C++ - owners for the handles of nk.h, and buffers that know their length
 *
 *     #include <nk.hpp>
 *     #include <cstdio>
 *
 *     static unsigned char memory[64 * 1024];
 *
 *     int main() {
 *         nk::arena arena(memory);
 *         nk::model model;
 *         const float input[] = {1.0f, 2.0f};
 *         float output[2];
 *
 *         if (model.load("models/test_mlp.nk", arena) != NK_OK || model.run(arena, input, output) != NK_OK) {
 *             std::puts(nk_last_error());
 *             return 1;
 *         }
 *         std::printf("%g %g\n", static_cast<double>(output[0]), static_cast<double>(output[1]));
 *     }
 *
 * Optional, C++11, header only, without exceptions, run-time type information or memory of its own: every function is
 * one call of nk.h, which says what it does, what can go wrong and which thread may call it. get() gives the handle for
 * the functions of nk.h that have no name here; a program may mix both.
 *
 * A model lives in the memory of its arena and has to end before that memory does. Declare it after the arena, as
 * members too: objects end in the reverse order. Call unload() first where you replace an arena by another one. After
 * arena::reset() unload or reload the models that were in it before you load others. Moving an arena or a model moves
 * no memory and is always fine.
 */
#ifndef NK_HPP
#define NK_HPP

#include "nk.h"

#include <cstddef>
#include <cstdint>

namespace nk {

/** Pointer and count of values that belong to somebody else. */
template <typename T>
class span {
public:
    /** No values. */
    span() noexcept : data_(nullptr), size_(0) {}

    /** The `size` values at `data`. */
    span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}

    /** All of an array. */
    template <std::size_t N>
    span(T (&array)[N]) noexcept : data_(array), size_(N) {}

    /** All of a container whose values lie one behind the other: std::vector, std::array, another span. */
    template <typename Container, typename Pointer = decltype(static_cast<T *>(
                                      static_cast<Container *>(nullptr)->data()))>
    span(Container &container) noexcept : data_(container.data()), size_(container.size()) {}

    /** The same for one that must not be changed. */
    template <typename Container, typename Pointer = decltype(static_cast<T *>(
                                      static_cast<const Container *>(nullptr)->data()))>
    span(const Container &container) noexcept : data_(container.data()), size_(container.size()) {}

    /** First value. */
    T *data() const noexcept { return data_; }

    /** Number of values. */
    std::size_t size() const noexcept { return size_; }

    /** True without values. */
    bool empty() const noexcept { return size_ == 0; }

    /** First value, for loops. */
    T *begin() const noexcept { return data_; }

    /** Behind the last value. */
    T *end() const noexcept { return data_ + size_; }

    /** Value at an index, which is not checked. */
    T &operator[](std::size_t index) const noexcept { return data_[index]; }

private:
    T *data_;
    std::size_t size_;
};

/** Owner of an arena; see nk_arena_init(). Can be moved, not copied. */
class arena {
public:
    /** An arena without memory: everything in it fails. */
    arena() noexcept { nk_arena_init(&handle_, nullptr, 0); }

    /** An arena over `size` bytes of memory that outlives it. */
    arena(void *memory, std::size_t size) noexcept { nk_arena_init(&handle_, memory, size); }

    /** An arena over an array that outlives it. */
    template <typename T, std::size_t N>
    explicit arena(T (&memory)[N]) noexcept {
        nk_arena_init(&handle_, memory, sizeof memory);
    }

    arena(const arena &) = delete;
    arena &operator=(const arena &) = delete;

    /** Takes over; the other arena is without memory then. */
    arena(arena &&other) noexcept : handle_(other.handle_) { nk_arena_init(&other.handle_, nullptr, 0); }

    /** Ends what is here, with no model in it that is still loaded, and takes over. */
    arena &operator=(arena &&other) noexcept {
        if (this != &other) {
            release();
            handle_ = other.handle_;
            nk_arena_init(&other.handle_, nullptr, 0);
        }
        return *this;
    }

    ~arena() { release(); }

#ifdef NETKIT_ARENA_HEAP
    /** Ends what is here, as an assignment does, and makes an arena on the heap; without memory when that fails. See
     * nk_arena_init_heap(). */
    nk_status_t init_heap(std::size_t bytes) noexcept {
        release();
        const nk_status_t status = nk_arena_init_heap(&handle_, bytes);
        if (status != NK_OK) {
            nk_arena_init(&handle_, nullptr, 0);
        }
        return status;
    }
#endif

    /** See nk_arena_alloc(). */
    void *alloc(std::size_t size, std::size_t alignment) noexcept { return nk_arena_alloc(&handle_, size, alignment); }

    /** Ends all that is in the arena; see nk_arena_reset(). */
    void reset() noexcept { nk_arena_reset(&handle_); }

    /** See nk_arena_capacity(). */
    std::size_t capacity() const noexcept { return nk_arena_capacity(&handle_); }

    /** See nk_arena_used(). */
    std::size_t used() const noexcept { return nk_arena_used(&handle_); }

    /** See nk_arena_remaining(). */
    std::size_t remaining() const noexcept { return nk_arena_remaining(&handle_); }

    /** The handle, for functions of nk.h. */
    nk_arena_t *get() noexcept { return &handle_; }

    /** The handle, for functions of nk.h. */
    const nk_arena_t *get() const noexcept { return &handle_; }

private:
    void release() noexcept {
#ifdef NETKIT_ARENA_HEAP
        nk_arena_destroy_heap(&handle_);
#else
        nk_arena_reset(&handle_);
#endif
    }

    nk_arena_t handle_;
};

/** Memory that a model needs; see nk_plan_memory(). */
inline nk_status_t plan_memory(span<const std::uint8_t> bytes, nk_memory_plan_t &plan) noexcept {
    plan = nk_memory_plan_t();
    plan.struct_size = static_cast<std::uint32_t>(sizeof plan);
    return nk_plan_memory(bytes.data(), bytes.size(), &plan);
}

/** Converts floats to int8, as many as both spans hold; see nk_quantize_f32(). */
inline void quantize(span<const float> from, span<std::int8_t> to, nk_quant_params_t params) noexcept {
    nk_quantize_f32(from.data(), to.data(), from.size() < to.size() ? from.size() : to.size(), params);
}

/** Converts int8 values to floats, as many as both spans hold; see nk_dequantize_i8(). */
inline void dequantize(span<const std::int8_t> from, span<float> to, nk_quant_params_t params) noexcept {
    nk_dequantize_i8(from.data(), to.data(), from.size() < to.size() ? from.size() : to.size(), params);
}

/** Owner of a loaded model. Can be moved, not copied. */
class model {
public:
    /** No model: it answers 0, and a run fails with NK_ERR_MODEL_NOT_LOADED. */
    model() noexcept : handle_() {}

    model(const model &) = delete;
    model &operator=(const model &) = delete;

    /** Takes over; the other object holds no model then. */
    model(model &&other) noexcept : handle_(other.handle_) { other.handle_ = nk_model_t(); }

    /** Unloads what is here and takes over. */
    model &operator=(model &&other) noexcept {
        if (this != &other) {
            unload();
            handle_ = other.handle_;
            other.handle_ = nk_model_t();
        }
        return *this;
    }

    ~model() { unload(); }

    /** Unloads what is here and loads a file; see nk_model_load(). */
    nk_status_t load(const char *path, arena &arena) noexcept {
        unload();
        return nk_model_load(path, arena.get(), &handle_);
    }

    /** Unloads what is here and loads from memory that outlives the model; see nk_model_load_memory(). */
    nk_status_t load(span<const std::uint8_t> bytes, arena &arena) noexcept {
        unload();
        return nk_model_load_memory(bytes.data(), bytes.size(), arena.get(), &handle_);
    }

    /** Ends the model; see nk_unload(). */
    void unload() noexcept { nk_unload(&handle_); }

    /** Runs a float model; see nk_model_run(). Exactly output_count() floats are written. */
    nk_status_t run(arena &arena, span<const float> input, span<float> output) const noexcept {
        std::uint32_t written = 0;
        return nk_model_run(&handle_, arena.get(), input.data(), count(input.size()), output.data(),
                            count(output.size()), &written);
    }

    /** Runs an int8 model; see nk_model_run_int8(). Exactly output_count() values are written. */
    nk_status_t run(arena &arena, span<const std::int8_t> input, span<std::int8_t> output) const noexcept {
        std::uint32_t written = 0;
        return nk_model_run_int8(&handle_, arena.get(), input.data(), count(input.size()), output.data(),
                                 count(output.size()), &written);
    }

    /** Runs a model of either type on floats; see nk_model_run_auto(). */
    nk_status_t run_auto(arena &arena, span<const float> input, span<float> output) const noexcept {
        std::uint32_t written = 0;
        return nk_model_run_auto(&handle_, arena.get(), input.data(), count(input.size()), output.data(),
                                 count(output.size()), &written);
    }

    /** True with a model. */
    bool is_loaded() const noexcept { return nk_model_kind(&handle_) != NK_NETWORK_UNKNOWN; }

    /** See nk_model_kind(). */
    nk_network_kind_t kind() const noexcept { return nk_model_kind(&handle_); }

    /** See nk_model_is_quantized(). */
    bool is_quantized() const noexcept { return nk_model_is_quantized(&handle_); }

    /** See nk_model_input_count(). */
    std::uint32_t input_count() const noexcept { return nk_model_input_count(&handle_); }

    /** See nk_model_output_count(). */
    std::uint32_t output_count() const noexcept { return nk_model_output_count(&handle_); }

    /** See nk_model_input_quant(). */
    nk_status_t input_quant(nk_quant_params_t &params) const noexcept { return nk_model_input_quant(&handle_, &params); }

    /** See nk_model_output_quant(). */
    nk_status_t output_quant(nk_quant_params_t &params) const noexcept {
        return nk_model_output_quant(&handle_, &params);
    }

    /** See nk_model_get_arch(). */
    nk_status_t arch(nk_arch_info_t &info) const noexcept { return nk_model_get_arch(&handle_, &info); }

    /** See nk_model_set_omit_final_softmax(). */
    void set_omit_final_softmax(bool omit) noexcept { nk_model_set_omit_final_softmax(&handle_, omit); }

    /** See nk_model_omit_final_softmax(). */
    bool omit_final_softmax() const noexcept { return nk_model_omit_final_softmax(&handle_); }

    /** The handle, for functions of nk.h. */
    nk_model_t *get() noexcept { return &handle_; }

    /** The handle, for functions of nk.h. */
    const nk_model_t *get() const noexcept { return &handle_; }

private:
    /* A count that does not fit is no count of any model; the largest one is refused as such, or is enough. */
    static std::uint32_t count(std::size_t size) noexcept {
        return size > 0xFFFFFFFFu ? 0xFFFFFFFFu : static_cast<std::uint32_t>(size);
    }

    nk_model_t handle_;
};

} // namespace nk

#endif /* NK_HPP */
