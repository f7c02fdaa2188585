//! Each rewrite on the smallest graph that needs it: the layers, records and weights that come out.

mod building;

use building::{Builder, ints, same3};
use netkit::format::records::{ActivationCode, Conv2d, Layer};
use netkit_convert::graph::{Attribute, Graph};
use netkit_convert::lower::{Lowered, Options, lower};
use netkit_convert::network::Header;

fn lowered(graph: &Graph) -> Lowered {
    lower(graph, Options::default()).unwrap_or_else(|refusals| panic!("{refusals:#?}"))
}

fn kinds(lowered: &Lowered) -> Vec<u8> {
    lowered.network.layers.iter().map(|layer| layer.record.kind()).collect()
}

fn weights(lowered: &Lowered, layer: usize) -> &[f64] {
    &lowered.network.layers[layer].tensors[0].0.elements
}

fn bias(lowered: &Lowered, layer: usize) -> &[f64] {
    &lowered.network.layers[layer].tensors[0].1.elements
}

fn conv2d(lowered: &Lowered, layer: usize) -> Conv2d {
    match lowered.network.layers[layer].record {
        Layer::Conv2d(record) => record,
        other => panic!("layer {layer} is {other:?}"),
    }
}

fn activation(lowered: &Lowered, layer: usize) -> ActivationCode {
    match lowered.network.layers[layer].record {
        Layer::Conv2d(record) => record.activation,
        Layer::DepthwiseConv2d(record) => record.activation,
        Layer::Dense(record) => record.activation,
        other => panic!("layer {layer} is {other:?}"),
    }
}

fn has_rewrite(lowered: &Lowered, layer: usize, part: &str) -> bool {
    lowered.network.layers[layer].rewrites.iter().any(|rewrite| rewrite.contains(part))
}

#[test]
fn gemm_takes_alpha_and_beta_into_weights_and_bias() {
    let (mut b, x) = Builder::new(&[1, 2]);
    let (w, c) = (b.constant(&[2, 1], &[3.0, 5.0]), b.constant(&[1], &[7.0]));
    let attributes = [("alpha", Attribute::Float(0.5)), ("beta", Attribute::Float(2.0))];
    let y = b.op("Gemm", &[x, w, c], &attributes, &[1, 1]);
    let lowered = lowered(&b.finish(y));
    assert_eq!(lowered.network.header, Header::Mlp { batch: 1, features: 2 });
    assert_eq!((weights(&lowered, 0), bias(&lowered, 0)), (&[1.5, 2.5][..], &[14.0][..]));
}

#[test]
fn columns_behind_a_flatten_follow_memory() {
    let (mut b, x) = Builder::new(&[1, 2, 1, 3]);
    let flat = b.op("Flatten", &[x], &[], &[1, 6]);
    let w = b.constant(&[6, 1], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let y = b.op("MatMul", &[flat, w], &[], &[1, 1]);
    let graph = b.finish(y);
    let lowered = lowered(&graph);
    // The input itself is flattened, so it arrives as a row in the model's order.
    assert_eq!((kinds(&lowered), weights(&lowered, 0)), (vec![1], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0][..]));

    let (mut b, x) = Builder::new(&[1, 2, 1, 3]);
    let r = b.op("Relu", &[x], &[], &[1, 2, 1, 3]);
    let flat = b.op("Flatten", &[r], &[], &[1, 6]);
    let w = b.constant(&[6, 1], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let y = b.op("MatMul", &[flat, w], &[], &[1, 1]);
    let lowered = self::lowered(&b.finish(y));
    assert_eq!((kinds(&lowered), weights(&lowered, 2)), (vec![7, 4, 1], &[0.0, 3.0, 1.0, 4.0, 2.0, 5.0][..]));
}

#[test]
fn transposes_to_and_from_channels_last_cost_nothing() {
    let (mut b, x) = Builder::new(&[1, 4, 5, 2]);
    let nchw = b.op("Transpose", &[x], &[("perm", ints(&[0, 3, 1, 2]))], &[1, 2, 4, 5]);
    let c = b.conv(nchw, &[3, 2, 1, 1], &[], &[1, 3, 4, 5]);
    let y = b.op("Transpose", &[c], &[("perm", ints(&[0, 2, 3, 1]))], &[1, 4, 5, 3]);
    let lowered = lowered(&b.finish(y));
    assert_eq!(kinds(&lowered), [2]);
    assert_eq!((&lowered.network.input.places, &lowered.network.output.places), (&None, &None));
    assert!(lowered.fates[0].is_layout && lowered.fates[2].is_layout);
    assert_eq!(lowered.fates[1].layers, [0]);
}

#[test]
fn a_flat_output_is_put_in_the_models_order() {
    let (mut b, x) = Builder::new(&[1, 1, 2, 1]);
    let c = b.conv(x, &[2, 1, 1, 1], &[], &[1, 2, 2, 1]);
    let y = b.op("Flatten", &[c], &[], &[1, 4]);
    let lowered = lowered(&b.finish(y));
    assert_eq!(kinds(&lowered), [2, 4, 1]);
    let expected = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    assert_eq!(weights(&lowered, 2), expected);
    assert_eq!(lowered.network.output.places, None);
}

#[test]
fn a_rectangular_kernel_grows_to_a_square() {
    let (mut b, x) = Builder::new(&[1, 1, 4, 5]);
    let y = b.conv(x, &[1, 1, 3, 1], &[("pads", ints(&[1, 0, 1, 0]))], &[1, 1, 4, 5]);
    let lowered = lowered(&b.finish(y));
    let record = conv2d(&lowered, 0);
    assert_eq!((record.kernel_size, record.pad_h, record.pad_w, record.pad_extra), (3, 1, 1, 0));
    assert_eq!(weights(&lowered, 0), [0.0, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 1.5, 0.0]);
    assert!(has_rewrite(&lowered, 0, "grown"));
}

#[test]
fn a_dilated_kernel_has_zeros_between_its_taps() {
    let (mut b, x) = Builder::new(&[1, 1, 4, 5]);
    let y = b.conv(x, &[1, 1, 2, 2], &[("dilations", ints(&[2, 2]))], &[1, 1, 2, 3]);
    let lowered = lowered(&b.finish(y));
    assert_eq!(weights(&lowered, 0), [0.5, 0.0, 1.0, 0.0, 0.0, 0.0, 1.5, 0.0, 2.0]);
}

#[test]
fn groups_become_blocks_of_zeros_and_depthwise_stays() {
    let (mut b, x) = Builder::new(&[1, 2, 3, 4]);
    let grouped = b.conv(x, &[4, 1, 1, 1], &[("group", Attribute::Int(2))], &[1, 4, 3, 4]);
    let y = b.conv(grouped, &[4, 1, 2, 2], &[("group", Attribute::Int(4))], &[1, 4, 2, 3]);
    let lowered = lowered(&b.finish(y));
    assert_eq!(kinds(&lowered), [2, 7]);
    assert_eq!(weights(&lowered, 0), [0.5, 0.0, 1.0, 0.0, 0.0, 1.5, 0.0, 2.0]);
}

#[test]
fn a_series_is_a_map_of_one_row() {
    let (mut b, x) = Builder::new(&[1, 2, 6]);
    let y = b.conv(x, &[1, 2, 3], &[("pads", ints(&[1, 1]))], &[1, 1, 6]);
    let lowered = lowered(&b.finish(y));
    assert_eq!(lowered.network.header, Header::Cnn { height: 1, width: 6, channels: 2 });
    assert_eq!(weights(&lowered, 0)[6..12], [0.5, 2.0, 1.0, 2.5, 1.5, 3.0]);
}

#[test]
fn a_batch_norm_goes_into_the_convolution_and_the_activation_behind_it_too() {
    let (mut b, x) = Builder::new(&[1, 1, 3, 4]);
    let c = b.conv(x, &[2, 1, 1, 1], &[], &[1, 2, 3, 4]);
    let numbers = [&[2.0, 4.0], &[1.0, -1.0], &[0.5, 0.25], &[4.0, 16.0]].map(|values| b.constant(&[2], values));
    let inputs = [c, numbers[0], numbers[1], numbers[2], numbers[3]];
    let n = b.op("BatchNormalization", &inputs, &[("epsilon", Attribute::Float(0.0))], &[1, 2, 3, 4]);
    let y = b.op("Relu", &[n], &[], &[1, 2, 3, 4]);
    let lowered = lowered(&b.finish(y));
    assert_eq!((kinds(&lowered), activation(&lowered, 0)), (vec![2], ActivationCode::RELU));
    assert_eq!((weights(&lowered, 0), bias(&lowered, 0)), (&[0.5, 1.0][..], &[0.5, -1.25][..]));
    assert_eq!(lowered.fates.iter().map(|fate| fate.layers.as_slice()).collect::<Vec<_>>(), [[0], [0], [0]]);
}

#[test]
fn a_shift_before_zero_padding_stays_a_batch_norm() {
    for (pads, expected) in [([0, 0, 0, 0], vec![2]), ([1, 1, 1, 1], vec![6, 2])] {
        let (mut b, x) = Builder::new(&[1, 1, 4, 5]);
        let shift = b.constant(&[1], &[3.0]);
        let shifted = b.op("Add", &[x, shift], &[], &[1, 1, 4, 5]);
        let size = 2 + 2 * pads[0] as usize;
        let y = b.conv(shifted, &[1, 1, 3, 3], &[("pads", ints(&pads))], &[1, 1, size, size + 1]);
        let lowered = lowered(&b.finish(y));
        assert_eq!(kinds(&lowered), expected);
    }
}

#[test]
fn an_activation_moves_before_a_max_pool_but_not_before_an_average() {
    for (pool, expected) in [("MaxPool", vec![2, 3]), ("AveragePool", vec![2, 5, 7])] {
        let (mut b, x) = Builder::new(&[1, 1, 4, 5]);
        let c = b.conv(x, &[2, 1, 1, 1], &[], &[1, 2, 4, 5]);
        let p = b.op(pool, &[c], &[("kernel_shape", ints(&[2, 2]))], &[1, 2, 3, 4]);
        let y = b.op("Relu", &[p], &[], &[1, 2, 3, 4]);
        assert_eq!(kinds(&lowered(&b.finish(y))), expected);
    }
}

#[test]
fn a_clip_is_a_scaled_relu6() {
    let (mut b, x) = Builder::new(&[1, 1]);
    let w = b.constant(&[1, 1], &[5.0]);
    let m = b.op("MatMul", &[x, w], &[], &[1, 1]);
    let (low, high) = (b.constant(&[], &[1.0]), b.constant(&[], &[4.0]));
    let y = b.op("Clip", &[m, low, high], &[], &[1, 1]);
    let lowered = lowered(&b.finish(y));
    assert_eq!((kinds(&lowered), activation(&lowered, 0)), (vec![1, 1], ActivationCode::RELU6));
    assert_eq!((weights(&lowered, 0), bias(&lowered, 0)), (&[10.0][..], &[-2.0][..]));
    assert_eq!((weights(&lowered, 1), bias(&lowered, 1)), (&[0.5][..], &[1.0][..]));
}

#[test]
fn slopes_for_each_channel_are_two_layers() {
    let (mut b, x) = Builder::new(&[1, 1, 3, 4]);
    let c = b.conv(x, &[2, 1, 1, 1], &[], &[1, 2, 3, 4]);
    let slopes = b.constant(&[2, 1, 1], &[0.25, -0.5]);
    let y = b.op("PRelu", &[c, slopes], &[], &[1, 2, 3, 4]);
    let lowered = lowered(&b.finish(y));
    assert_eq!((kinds(&lowered), activation(&lowered, 0)), (vec![2, 2], ActivationCode::RELU));
    assert_eq!(weights(&lowered, 0), [0.5, 1.0, -0.5, -1.0]);
    assert_eq!(weights(&lowered, 1), [1.0, 0.0, -0.25, 0.0, 0.0, 1.0, 0.0, 0.5]);
}

#[test]
fn a_bend_at_zero_is_a_leaky_relu() {
    let (mut b, x) = Builder::new(&[1, 1, 3, 4]);
    let c = b.conv(x, &[2, 1, 1, 1], &[], &[1, 2, 3, 4]);
    let k = b.constant(&[], &[0.125]);
    let scaled = b.op("Mul", &[c, k], &[], &[1, 2, 3, 4]);
    let y = b.op("Max", &[scaled, c], &[], &[1, 2, 3, 4]);
    let lowered = lowered(&b.finish(y));
    assert_eq!((kinds(&lowered), activation(&lowered, 0)), (vec![2], ActivationCode::LEAKY_RELU));
    assert_eq!(conv2d(&lowered, 0).alpha, 0.125);
}

#[test]
fn branches_of_one_tensor_are_added_into_one_kernel() {
    let (mut b, x) = Builder::new(&[1, 1, 3, 4]);
    let c = b.conv(x, &[1, 1, 3, 3], &[same3()], &[1, 1, 3, 4]);
    let y = b.op("Add", &[x, c], &[], &[1, 1, 3, 4]);
    let lowered = lowered(&b.finish(y));
    assert_eq!(weights(&lowered, 0), [0.5, 1.0, 1.5, 2.0, 3.5, 3.0, 3.5, 4.0, 4.5]);
}

#[test]
fn branches_with_one_activation_are_filters_of_one_layer() {
    let (mut b, x) = Builder::new(&[1, 1, 3, 4]);
    let narrow = b.conv(x, &[1, 1, 1, 1], &[], &[1, 1, 3, 4]);
    let narrow = b.op("Relu", &[narrow], &[], &[1, 1, 3, 4]);
    let wide = b.conv(x, &[1, 1, 3, 3], &[same3()], &[1, 1, 3, 4]);
    let wide = b.op("Relu", &[wide], &[], &[1, 1, 3, 4]);
    let y = b.op("Concat", &[narrow, wide], &[("axis", Attribute::Int(1))], &[1, 2, 3, 4]);
    let lowered = lowered(&b.finish(y));
    assert_eq!((kinds(&lowered), activation(&lowered, 0)), (vec![2], ActivationCode::RELU));
    assert_eq!(weights(&lowered, 0)[..9], [0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn an_average_that_counts_padding_is_a_depthwise_convolution() {
    let (mut b, x) = Builder::new(&[1, 2, 3, 4]);
    let attributes = [("kernel_shape", ints(&[3, 3])), same3(), ("count_include_pad", Attribute::Int(1))];
    let y = b.op("AveragePool", &[x], &attributes, &[1, 2, 3, 4]);
    let lowered = lowered(&b.finish(y));
    assert_eq!((kinds(&lowered), weights(&lowered, 0)), (vec![7], &[1.0 / 9.0; 18][..]));
}

#[test]
fn zeros_around_a_map_become_padding() {
    let (mut b, x) = Builder::new(&[1, 1, 3, 4]);
    let pads = b.whole(&[0, 0, 1, 0, 0, 0, 0, 2]);
    let padded = b.op("Pad", &[x, pads], &[], &[1, 1, 4, 6]);
    let y = b.conv(padded, &[1, 1, 2, 2], &[], &[1, 1, 3, 5]);
    let lowered = lowered(&b.finish(y));
    assert_eq!(kinds(&lowered), [2]);
    assert!(has_rewrite(&lowered, 0, "zeros joined"));
}

#[test]
fn linear_layers_in_a_row_are_multiplied_only_if_that_is_smaller() {
    for (middle, expected) in [(8, vec![2]), (1, vec![2, 2])] {
        let (mut b, x) = Builder::new(&[1, 4, 2, 3]);
        let c = b.conv(x, &[middle, 4, 1, 1], &[], &[1, middle, 2, 3]);
        let y = b.conv(c, &[4, middle, 1, 1], &[], &[1, 4, 2, 3]);
        assert_eq!(kinds(&lowered(&b.finish(y))), expected);
    }
}

/// `relu(conv(relu(conv(x))) + x)` with a kernel size and, for the first activation, an operation.
fn basic_block(kernel: usize, activation: &str, has_end: bool) -> Graph {
    let (mut b, x) = Builder::new(&[1, 2, 4, 5]);
    let shape = [1, 2, 4, 5];
    let pads = [("pads", ints(&[kernel as i64 / 2; 4]))];
    let c = b.conv(x, &[2, 2, kernel, kernel], &pads, &shape);
    let r = b.op(activation, &[c], &[], &shape);
    let d = b.conv(r, &[2, 2, kernel, kernel], &pads, &shape);
    let sum = b.op("Add", &[x, d], &[], &shape);
    let y = if has_end { b.op("Relu", &[sum], &[], &shape) } else { sum };
    b.finish(y)
}

#[test]
fn a_basic_block_is_one_layer_only_if_everything_agrees() {
    assert_eq!(kinds(&lowered(&basic_block(3, "Relu", true))), [10]);
    for other in [basic_block(5, "Relu", true), basic_block(3, "LeakyRelu", true), basic_block(3, "Relu", false)] {
        let refusals = lower(&other, Options::default()).unwrap_err();
        assert_eq!((refusals.len(), refusals[0].op.as_str()), (1, "Add"));
        let carried = lower(&other, Options { lower_residual: true, ..Options::default() }).unwrap();
        assert_eq!(kinds(&carried), [2, 2]);
        assert_eq!(conv2d(&carried, 0).filters, 6);
    }
    let refused = lower(&basic_block(3, "Sigmoid", true), Options { lower_residual: true, ..Options::default() });
    assert!(refused.is_err(), "a sigmoid cannot be undone");
}

/// TensorFlow pads a strided convolution behind the map only.
#[test]
fn a_block_padded_behind_the_map_has_its_first_convolution_before_it() {
    let (mut b, x) = Builder::new(&[1, 2, 4, 6]);
    let shape = [1, 3, 2, 3];
    let c = b.conv(x, &[3, 2, 3, 3], &[("pads", ints(&[0, 0, 1, 1])), ("strides", ints(&[2, 2]))], &shape);
    let r = b.op("Relu", &[c], &[], &shape);
    let d = b.conv(r, &[3, 3, 3, 3], &[same3()], &shape);
    let s = b.conv(x, &[3, 2, 1, 1], &[("strides", ints(&[2, 2]))], &shape);
    let sum = b.op("Add", &[s, d], &[], &shape);
    let y = b.op("Relu", &[sum], &[], &shape);
    let lowered = lowered(&b.finish(y));
    assert_eq!(kinds(&lowered), [2, 10]);
    let record = conv2d(&lowered, 0);
    assert_eq!((record.kernel_size, record.stride, record.filters), (3, 2, 5));
    assert_eq!((record.pad_h, record.pad_w, record.pad_extra), (0, 0, 0x11));
    // What the shortcut reads: channel 1 of the pixel where the window begins.
    let mut tap = [0.0; 18];
    tap[1] = 1.0;
    assert_eq!(weights(&lowered, 0)[4 * 18..], tap);
    let Layer::ResnetBasicBlock(block) = lowered.network.layers[1].record else { panic!("no block") };
    assert_eq!((block.in_channels, block.out_channels, block.stride), (5, 3, 1));
    let first = weights(&lowered, 1);
    assert_eq!((first.len(), first.iter().filter(|&&weight| weight != 0.0).count()), (3 * 9 * 5, 3));
    assert_eq!((first[4 * 5], first[45 + 4 * 5 + 1], first[90 + 4 * 5 + 2]), (1.0, 1.0, 1.0));
}

#[test]
fn a_block_whose_inside_is_read_elsewhere_is_not_taken() {
    let shape = [1, 2, 4, 5];
    let (mut b, x) = Builder::new(&shape);
    let c = b.conv(x, &[2, 2, 3, 3], &[same3()], &shape);
    let r = b.op("Relu", &[c], &[], &shape);
    let d = b.conv(r, &[2, 2, 3, 3], &[same3()], &shape);
    let sum = b.op("Add", &[x, d], &[], &shape);
    let end = b.op("Relu", &[sum], &[], &shape);
    let y = b.op("Add", &[end, r], &[], &shape);
    assert_eq!(lower(&b.finish(y), Options::default()).unwrap_err().len(), 2);
}

#[test]
fn expanded_channels_are_filled_up_to_a_multiple_of_eight() {
    let (mut b, x) = Builder::new(&[1, 4, 3, 5]);
    let e = b.conv(x, &[10, 4, 1, 1], &[], &[1, 10, 3, 5]);
    let e = b.op("Relu", &[e], &[], &[1, 10, 3, 5]);
    let attributes = [same3(), ("group", Attribute::Int(10))];
    let m = b.conv(e, &[10, 1, 3, 3], &attributes, &[1, 10, 3, 5]);
    let m = b.op("Relu", &[m], &[], &[1, 10, 3, 5]);
    let p = b.conv(m, &[4, 10, 1, 1], &[], &[1, 4, 3, 5]);
    let y = b.op("Add", &[p, x], &[], &[1, 4, 3, 5]);
    let lowered = lowered(&b.finish(y));
    assert_eq!(kinds(&lowered), [9]);
    assert_eq!(lowered.network.layers[0].tensors[0].0.dims, [16, 1, 1, 4]);
    assert!(has_rewrite(&lowered, 0, "multiple of 8"));
}

#[test]
fn two_convolutions_without_a_sum_stay_two_layers() {
    let shape = [1, 2, 4, 5];
    let (mut b, x) = Builder::new(&shape);
    let c = b.conv(x, &[2, 2, 3, 3], &[same3()], &shape);
    let r = b.op("Relu", &[c], &[], &shape);
    let y = b.conv(r, &[2, 2, 3, 3], &[same3()], &shape);
    assert_eq!(kinds(&lowered(&b.finish(y))), [2, 2]);
}

#[test]
fn a_batch_of_rows_with_a_layer_norm_is_a_map() {
    let (mut b, x) = Builder::new(&[3, 4]);
    let (gamma, beta) = (b.counting(&[4]), b.counting(&[4]));
    let y = b.op("LayerNormalization", &[x, gamma, beta], &[], &[3, 4]);
    let lowered = lowered(&b.finish(y));
    assert_eq!(lowered.network.header, Header::Cnn { height: 3, width: 1, channels: 4 });
    assert_eq!(kinds(&lowered), [11]);
}

#[test]
fn different_strides_are_phases_of_one_stride() {
    let (mut b, x) = Builder::new(&[1, 1, 4, 5]);
    let y = b.conv(x, &[1, 1, 2, 2], &[("strides", ints(&[2, 1]))], &[1, 1, 2, 4]);
    let lowered = lowered(&b.finish(y));
    let record = conv2d(&lowered, 0);
    assert_eq!((record.kernel_size, record.stride, record.filters), (3, 2, 2));
    let (first, second) = ([0.5, 1.0, 0.0, 1.5, 2.0, 0.0], [0.0, 0.5, 1.0, 0.0, 1.5, 2.0]);
    // A row of zeros before the kernel makes the padding symmetric.
    assert_eq!((&weights(&lowered, 0)[3..9], &weights(&lowered, 0)[12..]), (&first[..], &second[..]));
    assert_eq!(lowered.network.output.places, None);
}

#[test]
fn padding_keeps_linear_layers_apart() {
    let (mut b, x) = Builder::new(&[1, 2, 2, 3]);
    let (w, bias) = (b.counting(&[2, 2, 1, 1]), b.counting(&[2]));
    let c = b.op("Conv", &[x, w, bias], &[], &[1, 2, 2, 3]);
    let y = b.conv(c, &[2, 2, 1, 1], &[("pads", ints(&[0, 0, 1, 0]))], &[1, 2, 3, 3]);
    assert_eq!(kinds(&lowered(&b.finish(y))), [2, 2]);
}

#[test]
fn what_is_empty_or_would_be_huge_is_refused() {
    let (mut b, x) = Builder::new(&[1, 0]);
    let y = b.op("Relu", &[x], &[], &[1, 0]);
    assert_eq!(lower(&b.finish(y), Options::default()).unwrap_err()[0].found, "shape [1, 0]");

    let far = 1 << 23;
    let (mut b, x) = Builder::new(&[1, 1, 2, 2]);
    let attributes =
        [("dilations", ints(&[far, far])), ("pads", ints(&[far, far, far, far])), ("strides", ints(&[far, far]))];
    let y = b.conv(x, &[1, 1, 2, 2], &attributes, &[1, 1, 2, 2]);
    let refusals = lower(&b.finish(y), Options::default()).unwrap_err();
    assert!(refusals[0].reason.contains("too many elements"), "{refusals:?}");
}

#[test]
fn all_reasons_are_told_at_once() {
    let (mut b, x) = Builder::new(&[1, 2, 4, 6]);
    let attributes = [("strides", ints(&[2, 1])), ("kernel_shape", ints(&[2, 2]))];
    let p = b.op("MaxPool", &[x], &attributes, &[1, 2, 2, 5]);
    let e = b.op("Elu", &[p], &[], &[1, 2, 2, 5]);
    let other = b.op("LeakyRelu", &[p], &[("beta", Attribute::Float(1.0))], &[1, 2, 2, 5]);
    let z = b.op("Concat", &[e, other], &[("axis", Attribute::Int(1))], &[1, 4, 2, 5]);
    let refusals = lower(&b.finish(z), Options::default()).unwrap_err();
    let told: Vec<(&str, &str)> = refusals.iter().map(|r| (r.op.as_str(), r.found.as_str())).collect();
    assert_eq!(told, [("MaxPool", "strides = [2, 1]"), ("Elu", "operation Elu"), ("LeakyRelu", "attribute beta")]);
}

#[test]
fn limits_are_told_with_the_count_that_was_reached() {
    let shape = [1, 1, 2, 3];
    let (mut b, mut at) = Builder::new(&shape);
    for _ in 0..130 {
        at = b.conv(at, &[1, 1, 1, 1], &[], &shape);
        at = b.op("Sigmoid", &[at], &[], &shape);
    }
    let refusals = lower(&b.finish(at), Options::default()).unwrap_err();
    let found: Vec<&str> = refusals.iter().map(|refusal| refusal.found.as_str()).collect();
    assert_eq!(found, ["130 layers, at most 100", "130 weight tensors, at most 128"]);
}
