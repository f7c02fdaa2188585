/* Sizes and offsets that programs compiled earlier rely on. Nothing but nk.h is needed, so that any compiler for any
 * target can check them. */
#include <nk.h>

/* Numbers are written as (64-bit, 32-bit pointers). */
#define EITHER(wide, narrow) (sizeof(void *) == 8 ? (wide) : (narrow))
#define SIZE(type, wide, narrow) _Static_assert(sizeof(type) == EITHER(wide, narrow), "size of " #type)
#define AT(type, field, wide, narrow)                                                                                  \
    _Static_assert(offsetof(type, field) == EITHER(wide, narrow), "offset of " #field " in " #type)

/* A handle is as large as its constant says and fits wherever any basic type does. */
#define HANDLE(type, bytes)                                                                                            \
    _Static_assert(sizeof(struct type) == (bytes) && sizeof(type##_t) == (bytes), "size of " #type);                   \
    _Static_assert(_Alignof(type##_t) == _Alignof(max_align_t), "alignment of " #type);                                \
    AT(type##_t, storage, 0, 0)

HANDLE(nk_arena, NK_ARENA_STORAGE_BYTES);
HANDLE(nk_model, NK_MODEL_STORAGE_BYTES);
HANDLE(nk_mlp, NK_MLP_STORAGE_BYTES);
HANDLE(nk_cnn, NK_CNN_STORAGE_BYTES);
SIZE(nk_arena_t, 64, 64);
SIZE(nk_model_t, 96, 96);
SIZE(nk_mlp_t, 16, 16);
SIZE(nk_cnn_t, 16, 16);

SIZE(nk_tensor_t, 56, 52);
AT(nk_tensor_t, data, 0, 0);
AT(nk_tensor_t, dtype, 8, 4);
AT(nk_tensor_t, rank, 12, 8);
AT(nk_tensor_t, shape, 16, 12);
AT(nk_tensor_t, stride, 32, 28);
AT(nk_tensor_t, num_elements, 48, 44);
AT(nk_tensor_t, bytes, 52, 48);

SIZE(nk_conv2d_t, 48, 40);
AT(nk_conv2d_t, kernel_size, 0, 0);
AT(nk_conv2d_t, stride, 4, 4);
AT(nk_conv2d_t, pad_h, 8, 8);
AT(nk_conv2d_t, pad_w, 12, 12);
AT(nk_conv2d_t, pad_h_end, 16, 16);
AT(nk_conv2d_t, pad_w_end, 20, 20);
AT(nk_conv2d_t, in_channels, 24, 24);
AT(nk_conv2d_t, out_channels, 28, 28);
AT(nk_conv2d_t, weights, 32, 32);
AT(nk_conv2d_t, bias, 40, 36);

SIZE(nk_depthwise_conv2d_t, 48, 40);
AT(nk_depthwise_conv2d_t, kernel_h, 0, 0);
AT(nk_depthwise_conv2d_t, kernel_w, 4, 4);
AT(nk_depthwise_conv2d_t, stride, 8, 8);
AT(nk_depthwise_conv2d_t, pad_h, 12, 12);
AT(nk_depthwise_conv2d_t, pad_w, 16, 16);
AT(nk_depthwise_conv2d_t, pad_h_end, 20, 20);
AT(nk_depthwise_conv2d_t, pad_w_end, 24, 24);
AT(nk_depthwise_conv2d_t, channels, 28, 28);
AT(nk_depthwise_conv2d_t, weights, 32, 32);
AT(nk_depthwise_conv2d_t, bias, 40, 36);

SIZE(nk_arch_info_t, 64, 52);
AT(nk_arch_info_t, version, 0, 0);
AT(nk_arch_info_t, kind, 4, 4);
AT(nk_arch_info_t, input_shape, 8, 8);
AT(nk_arch_info_t, input_rank, 24, 24);
AT(nk_arch_info_t, num_layers, 28, 28);
AT(nk_arch_info_t, expected_weight_floats, 32, 32);
AT(nk_arch_info_t, weights_bytes, 40, 36);
AT(nk_arch_info_t, biases_bytes, 48, 40);
AT(nk_arch_info_t, input_elements, 56, 44);
AT(nk_arch_info_t, output_elements, 60, 48);

SIZE(nk_inspect_info_t, 104, 72);
AT(nk_inspect_info_t, arch, 0, 0);
AT(nk_inspect_info_t, weight_floats, 64, 52);
AT(nk_inspect_info_t, arena_bytes_after_load, 72, 56);
AT(nk_inspect_info_t, arena_bytes_after_forward, 80, 60);
AT(nk_inspect_info_t, arena_remaining, 88, 64);
AT(nk_inspect_info_t, flash_payload_bytes, 96, 68);

#ifdef NETKIT_DESKTOP
SIZE(nk_test_summary_t, 8, 8);
AT(nk_test_summary_t, passed, 0, 0);
AT(nk_test_summary_t, failed, 4, 4);
#endif

/* What netkit.h did not have. */

SIZE(nk_error_info_t, 160, 152);
AT(nk_error_info_t, struct_size, 0, 0);
AT(nk_error_info_t, status, 4, 4);
AT(nk_error_info_t, layer_index, 8, 8);
AT(nk_error_info_t, byte_offset, 12, 12);
AT(nk_error_info_t, needed, 16, 16);
AT(nk_error_info_t, available, 24, 20);
AT(nk_error_info_t, message, 32, 24);

SIZE(nk_allocator_t, 32, 16);
AT(nk_allocator_t, struct_size, 0, 0);
AT(nk_allocator_t, alloc, 8, 4);
AT(nk_allocator_t, free_, 16, 8);
AT(nk_allocator_t, user, 24, 12);

SIZE(nk_memory_plan_t, 48, 24);
AT(nk_memory_plan_t, struct_size, 0, 0);
AT(nk_memory_plan_t, arena_bytes, 8, 4);
AT(nk_memory_plan_t, run_bytes, 16, 8);
AT(nk_memory_plan_t, scratch_bytes, 24, 12);
AT(nk_memory_plan_t, alignment, 32, 16);
AT(nk_memory_plan_t, flash_bytes, 40, 20);

SIZE(nk_quant_params_t, 8, 8);
AT(nk_quant_params_t, scale, 0, 0);
AT(nk_quant_params_t, zero_point, 4, 4);

AT(nk_layer_info_t, struct_size, 0, 0);
AT(nk_layer_info_t, type, 4, 4);
AT(nk_layer_info_t, index, 8, 8);
AT(nk_layer_info_t, in_shape, 12, 12);
AT(nk_layer_info_t, out_shape, 28, 28);
AT(nk_layer_info_t, in_rank, 44, 44);
AT(nk_layer_info_t, out_rank, 48, 48);
AT(nk_layer_info_t, weight_bytes, 56, 52);
AT(nk_layer_info_t, macs, 64, 56);
AT(nk_layer_info_t, in_quant, 72, 64);
AT(nk_layer_info_t, out_quant, 80, 72);

AT(nk_layer_event_t, struct_size, 0, 0);
AT(nk_layer_event_t, layer_index, 4, 4);
AT(nk_layer_event_t, type, 8, 8);
AT(nk_layer_event_t, phase, 12, 12);
AT(nk_layer_event_t, elapsed_ns, 16, 16);
AT(nk_layer_event_t, output, 24, 24);

#if defined(__STDC_HOSTED__) && __STDC_HOSTED__
#include <stdio.h>

int main(void) {
    printf("PASS layout\nFailures: 0\n");
    return 0;
}
#else
int layout_is_checked(void);
int layout_is_checked(void) { return 0; }
#endif
