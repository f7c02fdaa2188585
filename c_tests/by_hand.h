/* Builds the network of a float model by hand: goes through the records and the catalog of a .nk file and makes the
 * call for each layer, with pointers to the file's own weights. */
#ifndef BY_HAND_H
#define BY_HAND_H

#include "check.h"

/* A place in the file, and the weights and biases of the next tensor. */
typedef struct walk {
    const unsigned char *record;
    uint32_t layers;
    const unsigned char *weight_entry, *bias_entry;
    float *weights, *biases;
    /* A layer came by whose kernel no call can tell: those of nk.h take squares, and 3x3 for ResNet blocks. */
    bool has_no_call;
} walk;

typedef struct pair {
    float *w, *b;
    uint32_t dims[4], bias_elems;
} pair;

static uint32_t record_bytes(unsigned char kind) {
    static const unsigned char body[] = {0, 12, 20, 12, 0, 12, 8, 20, 12, 20, 12, 12, 16, 8, 24};
    return 4u + body[kind];
}

/* The bytes must be aligned to 4. */
CHECK_UNUSED static walk walk_model(const model_file *file) {
    walk at;
    uint32_t weights = read_u32(file->bytes + 32), biases = read_u32(file->bytes + 36);
    const unsigned char *catalog = file->bytes + 48;
    at.record = catalog;
    at.layers = read_u32(file->bytes + 28);
    for (uint32_t i = 0; i < at.layers; i++) {
        catalog += record_bytes(catalog[0]);
    }
    at.weight_entry = catalog;
    at.bias_entry = catalog + 24 * weights;
    at.weights = (float *)(void *)(file->bytes + (at.bias_entry + 24 * biases - file->bytes));
    at.biases = at.weights + read_u32(file->bytes + 40) / 4;
    at.has_no_call = false;
    return at;
}

static pair next_pair(walk *at) {
    pair p;
    p.w = at->weights;
    p.b = at->biases;
    for (int i = 0; i < 4; i++) {
        p.dims[i] = read_u32(at->weight_entry + 4 + 4 * i);
    }
    p.bias_elems = read_u32(at->bias_entry + 20);
    at->weights += read_u32(at->weight_entry + 20);
    at->biases += p.bias_elems;
    at->weight_entry += 24;
    at->bias_entry += 24;
    return p;
}

CHECK_UNUSED static float record_float(const unsigned char *bytes) {
    uint32_t bits = read_u32(bytes);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int record_int(const unsigned char *bytes) { return (int)read_u32(bytes); }

/* Output extents of a window, as the format says. */
static int window_out(int in, int kernel, int stride, int before, int behind) {
    return (in + before + behind - kernel) / stride + 1;
}

/* The tensors of a dense layer. */
CHECK_UNUSED static void dense_tensors(walk *at, nk_tensor_t *weights, nk_tensor_t *bias) {
    pair p = next_pair(at);
    nk_tensor_view_2d(p.w, p.dims[0], p.dims[1], weights);
    nk_tensor_view_2d(p.b, 1, p.bias_elems, bias);
}

/* The pointers of a YOLOX head. */
typedef struct head {
    pair stem, cls_pred, reg_pred, obj_pred;
    float *cls_w[8], *cls_b[8], *reg_w[8], *reg_b[8];
} head;

static head next_head(walk *at, int convs) {
    head h;
    memset(&h, 0, sizeof h);
    h.stem = next_pair(at);
    for (int i = 0; i < convs; i++) {
        pair p = next_pair(at);
        h.cls_w[i] = p.w;
        h.cls_b[i] = p.b;
    }
    for (int i = 0; i < convs; i++) {
        pair p = next_pair(at);
        h.reg_w[i] = p.w;
        h.reg_b[i] = p.b;
    }
    h.cls_pred = next_pair(at);
    h.reg_pred = next_pair(at);
    h.obj_pred = next_pair(at);
    return h;
}

/* Describes the next layer, which stands on a map of `*h` and `*w`, which become those of its output. */
static nk_status_t next_layer(walk *at, nk_cnn_t *cnn, nk_arena_t *arena, uint32_t index, int *h, int *w) {
    const unsigned char *r = at->record + 4;
    unsigned char kind = at->record[0];
    uint32_t sh = (uint32_t)*h, sw = (uint32_t)*w;
    at->record += record_bytes(kind);
    switch (kind) {
    case 1: {
        nk_tensor_t weights, bias;
        dense_tensors(at, &weights, &bias);
        return nk_cnn_init_dense_layer(cnn, index, &weights, &bias, (nk_activation_t)r[4], record_float(r + 8));
    }
    case 2: {
        pair p = next_pair(at);
        at->has_no_call |= p.dims[1] != p.dims[2];
        int k = record_int(r), stride = record_int(r + 4), top = r[13], left = r[14];
        int bottom = top + (r[15] & 15), right = left + (r[15] >> 4);
        *h = window_out(*h, k, stride, top, bottom);
        *w = window_out(*w, k, stride, left, right);
        return nk_cnn_init_conv_layer(cnn, index, k, stride, (int)p.dims[3], record_int(r + 8), p.w, p.b,
                                      (nk_conv_activation_t)r[12], record_float(r + 16), top, left,
                                      bottom == top ? NK_PAD_MIRROR : bottom, right == left ? NK_PAD_MIRROR : right);
    }
    case 3:
    case 5: {
        int ph = record_int(r), stride = record_int(r + 4), top = r[8], left = r[9], pw = r[10] != 0 ? r[10] : ph;
        int bottom = top + (r[11] & 15), right = left + (r[11] >> 4);
        *h = window_out(*h, ph, stride, top, bottom);
        *w = window_out(*w, pw, stride, left, right);
        return kind == 3 ? nk_cnn_init_pool_layer(cnn, index, ph, pw, stride, top, left, bottom, right)
                         : nk_cnn_init_avg_pool_layer(cnn, index, ph, pw, stride, top, left, bottom, right);
    }
    case 4: return nk_cnn_init_flatten_layer(cnn, index);
    case 6: {
        pair p = next_pair(at);
        return nk_cnn_init_batch_norm_layer(cnn, index, record_int(r), p.w, p.b);
    }
    case 7: {
        pair p = next_pair(at);
        int kh = (int)p.dims[1], kw = (int)p.dims[2], stride = record_int(r + 4), top = r[13], left = r[14];
        /* The byte is extra padding unless it says the width of the kernel. */
        bool is_width = r[15] == kw || r[15] == 0;
        int bottom = top + (is_width ? 0 : r[15] & 15), right = left + (is_width ? 0 : r[15] >> 4);
        *h = window_out(*h, kh, stride, top, bottom);
        *w = window_out(*w, kw, stride, left, right);
        return nk_cnn_init_depthwise_conv_layer(cnn, index, kh, kw, stride, record_int(r + 8), p.w, p.b,
                                                (nk_conv_activation_t)r[12], record_float(r + 16), top, left, bottom,
                                                right);
    }
    case 8: {
        pair dw = next_pair(at), ln = next_pair(at), pw1 = next_pair(at), grn = next_pair(at), pw2 = next_pair(at);
        return nk_cnn_init_convnextv2_block_layer(cnn, arena, index, sh, sw, record_int(r), record_float(r + 8), dw.w,
                                                  dw.b, ln.w, ln.b, pw1.w, pw1.b, grn.w, grn.b, pw2.w, pw2.b);
    }
    case 9: {
        static const pair none;
        int start_k = r[8], middle_k = r[9], stride = r[10], down = r[11];
        pair start = none, start_bn = none, middle = none, middle_bn = none;
        if (start_k != 0) {
            start = next_pair(at);
            start_bn = next_pair(at);
            int s = down != 0 && middle_k != 0 ? 1 : stride, pad = (start_k - 1) / 2;
            *h = window_out(*h, start_k, s, pad, pad);
            *w = window_out(*w, start_k, s, pad, pad);
        }
        pair expand = next_pair(at), expand_bn = next_pair(at);
        if (middle_k != 0) {
            middle = next_pair(at);
            middle_bn = next_pair(at);
            int s = down != 0 ? stride : 1, pad = (middle_k - 1) / 2;
            *h = window_out(*h, middle_k, s, pad, pad);
            *w = window_out(*w, middle_k, s, pad, pad);
        }
        pair proj = next_pair(at), proj_bn = next_pair(at);
        return nk_cnn_init_mobilenetv4_uib_layer(
            cnn, arena, index, sh, sw, record_int(r), record_int(r + 4), start_k, middle_k, stride, down,
            record_float(r + 12), start.w, start.b, start_bn.w, start_bn.b, expand.w, expand.b, expand_bn.w,
            expand_bn.b, middle.w, middle.b, middle_bn.w, middle_bn.b, proj.w, proj.b, proj_bn.w, proj_bn.b);
    }
    case 10: {
        static const pair none;
        int in = record_int(r), out = record_int(r + 4), stride = r[8];
        pair c1 = next_pair(at), n1 = next_pair(at), c2 = next_pair(at), n2 = next_pair(at), cs = none, ns = none;
        if (stride != 1 || in != out) {
            cs = next_pair(at);
            ns = next_pair(at);
        }
        at->has_no_call |= c1.dims[1] != 3;
        *h = window_out(*h, 3, stride, 1, 1);
        *w = window_out(*w, 3, stride, 1, 1);
        return nk_cnn_init_resnet_basic_block_layer(cnn, arena, index, sh, sw, in, out, stride, c1.w, c1.b, n1.w, n1.b,
                                                    c2.w, c2.b, n2.w, n2.b, cs.w, cs.b, ns.w, ns.b);
    }
    case 11: {
        pair p = next_pair(at);
        return nk_cnn_init_layernorm_layer(cnn, index, record_int(r), record_float(r + 8), p.w, p.b);
    }
    case 12: {
        head d = next_head(at, r[12]);
        return nk_cnn_init_yolox_decoupled_head_layer(
            cnn, arena, index, sh, sw, record_int(r), record_int(r + 4), record_int(r + 8), r[12], d.stem.w, d.stem.b,
            d.cls_w, d.cls_b, d.reg_w, d.reg_b, d.cls_pred.w, d.cls_pred.b, d.reg_pred.w, d.reg_pred.b, d.obj_pred.w,
            d.obj_pred.b);
    }
    case 13: return nk_cnn_init_feature_tap_layer(cnn, arena, index, sh, sw, record_int(r), r[4]);
    default: {
        pair p[11];
        for (int i = 0; i < 11; i++) {
            p[i] = next_pair(at);
        }
        nk_status_t status = nk_cnn_init_yolox_pafpn_layer(
            cnn, arena, index, sh, sw, record_int(r), record_int(r + 4), record_int(r + 8), record_int(r + 12),
            record_int(r + 16), r[20], p[0].w, p[0].b, p[1].w, p[1].b, p[2].w, p[2].b, p[3].w, p[3].b, p[4].w, p[4].b,
            p[5].w, p[5].b, p[6].w, p[6].b, p[7].w, p[7].b, p[8].w, p[8].b, p[9].w, p[9].b, p[10].w, p[10].b);
        for (uint32_t scale = 0; scale < 3 && status == NK_OK; scale++) {
            head d = next_head(at, r[20]);
            status = nk_cnn_set_yolox_pafpn_head(
                cnn, index, scale, d.stem.w, d.stem.b, (const float *const *)d.cls_w, (const float *const *)d.cls_b,
                (const float *const *)d.reg_w, (const float *const *)d.reg_b, d.cls_pred.w, d.cls_pred.b, d.reg_pred.w,
                d.reg_pred.b, d.obj_pred.w, d.obj_pred.b);
        }
        return status;
    }
    }
}

/* A CNN of the model's layers, without buffers yet; false also where a layer has no call. */
CHECK_UNUSED static bool describe_cnn(const model_file *file, nk_arena_t *arena, nk_cnn_t *cnn) {
    walk at = walk_model(file);
    int h = record_int(file->bytes + 12), w = record_int(file->bytes + 16);
    if (!EXPECT_OK(nk_cnn_create(arena, at.layers, cnn))) {
        return false;
    }
    for (uint32_t i = 0; i < at.layers; i++) {
        if (!EXPECT_OK(next_layer(&at, cnn, arena, i, &h, &w)) || at.has_no_call) {
            return false;
        }
    }
    return true;
}

/* An MLP of the model's layers, without buffers yet. */
CHECK_UNUSED static bool describe_mlp(const model_file *file, nk_arena_t *arena, nk_mlp_t *mlp) {
    walk at = walk_model(file);
    if (!EXPECT_OK(nk_mlp_create(arena, at.layers, mlp))) {
        return false;
    }
    for (uint32_t i = 0; i < at.layers; i++) {
        const unsigned char *r = at.record + 4;
        nk_tensor_t weights, bias;
        at.record += record_bytes(1);
        dense_tensors(&at, &weights, &bias);
        if (!EXPECT_OK(nk_mlp_init_layer(mlp, i, &weights, &bias, (nk_activation_t)r[4], record_float(r + 8)))) {
            return false;
        }
    }
    return true;
}

#endif
