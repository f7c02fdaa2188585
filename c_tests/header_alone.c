/* nk.h needs nothing before it. Compiled as C99, C11, C17, C++11 and C++17 with every warning an error, and for bare
 * metal. */
#include <nk.h>

typedef struct everything {
    nk_arena_t arena;
    nk_model_t model;
    nk_mlp_t mlp;
    nk_cnn_t cnn;
    nk_tensor_t tensor;
    nk_activation_t activation;
    nk_conv_activation_t conv_activation;
    nk_cnn_block_type_t block_type;
    nk_arch_info_t arch;
    nk_inspect_info_t inspect;
    nk_memory_plan_t plan;
    nk_error_info_t error;
    nk_test_summary_t summary;
} everything;

#ifdef __cplusplus
#define NOTHING nullptr
extern "C" int use_header(everything *all);
#else
#define NOTHING ((void *)0)
int use_header(everything *all);
#endif

int use_header(everything *all) {
    nk_status_t status = NK_OK;
    size_t capacity;
    nk_arena_init(&all->arena, NOTHING, 0);
    capacity = nk_arena_capacity(&all->arena);
    all->plan.struct_size = (uint32_t)sizeof all->plan;
    if (!nk_abi_ok() || NK_MAX_TENSOR_RANK != 4 || capacity != 0) {
        status = NK_ERR_INVALID_ARGUMENT;
    }
    return (int)status;
}

#if defined(__STDC_HOSTED__) && __STDC_HOSTED__
#include <stdio.h>

int main(void) {
    static everything all;
    int failures = use_header(&all) == 0 ? 0 : 1;
    printf("%s header_alone\nFailures: %d\n", failures == 0 ? "PASS" : "FAIL", failures);
    return failures;
}
#endif
