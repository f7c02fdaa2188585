//! Rows and columns of zeros at the edges of a kernel are not computed.

mod common;

use common::{Int8Model, TestModel, conv_record};
use netkit::format::records::{Conv2d, Layer};
use netkit::plan::MemoryPlan;
use netkit::plan::steps::Step;
use netkit::{Model, Network};

/// The first convolution of a keyword spotter: 10x4 taps, strided, padded to a map of half the size, grown to 10x10.
fn keyword_model() -> TestModel {
    let record = Conv2d { pad_h: 4, pad_w: 4, pad_extra: 1, ..conv_record(10, 2, 64) };
    let layers = vec![Layer::Conv2d(record)];
    TestModel {
        input: vec![49, 10, 1],
        layers,
        weights: vec![vec![64, 10, 10, 1]],
        biases: vec![vec![64]],
        ..TestModel::conv()
    }
}

/// Sets some weights of a float model, which lie at the start of its payload.
fn set_weights(bytes: &mut [u8], value: impl Fn(usize) -> Option<f32>) {
    let (start, elems) = payload(bytes);
    for (at, weight) in bytes[start..start + 4 * elems].as_chunks_mut::<4>().0.iter_mut().enumerate() {
        if let Some(value) = value(at) {
            *weight = value.to_le_bytes();
        }
    }
}

/// Where the payload starts, and the elements of the first weight tensor.
fn payload(bytes: &[u8]) -> (usize, usize) {
    let model = Model::parse(bytes).expect("valid");
    let tensor = model.weight_tensors().next().expect("a weight tensor");
    (tensor.offset, tensor.entry.num_elements() as usize)
}

fn only_step(bytes: &[u8]) -> Step {
    let model = Model::parse(bytes).expect("valid");
    let plan = MemoryPlan::of(&model).expect("plan");
    let mut only = None;
    plan.for_each_step(&model, &mut |step| assert!(only.replace(*step).is_none())).expect("steps");
    only.expect("one step")
}

fn column(at: usize) -> usize {
    at % 10
}

fn is_inside(at: usize) -> bool {
    (3..7).contains(&column(at))
}

#[test]
fn ten_by_four_taps_cost_forty_products() {
    let mut bytes = keyword_model().bytes();
    set_weights(&mut bytes, |at| (!is_inside(at)).then_some(if at % 2 == 0 { 0.0 } else { -0.0 }));
    let step = only_step(&bytes);
    let window = step.window;
    assert_eq!((window.kernel_h, window.kernel_w, window.pad_top, window.pad_left), (10, 4, 4, 1));
    assert_eq!((window.out_h, window.out_w, step.weights, step.kernel_size), (25, 5, 3, 10));
    assert_eq!(step.macs(), 25 * 5 * 64 * 40);
    let model = Model::parse(&bytes).expect("valid");
    assert_eq!(MemoryPlan::of(&model).expect("plan").macs, step.macs());
}

#[test]
fn a_single_number_in_one_filter_keeps_its_column() {
    for value in [f32::MIN_POSITIVE / 2.0, f32::NAN] {
        let mut bytes = keyword_model().bytes();
        // The last filter has one tap in column 1; columns 0, 8 and 9 are zero in all filters.
        let wanted = 63 * 100 + 50 + 1;
        let is_kept = |at: usize| at == wanted || (3..8).contains(&column(at));
        set_weights(&mut bytes, |at| if at == wanted { Some(value) } else { (!is_kept(at)).then_some(0.0) });
        let window = only_step(&bytes).window;
        assert_eq!((window.kernel_h, window.kernel_w, window.pad_left), (10, 7, 3), "{value}");
    }
}

#[test]
fn zeros_before_the_map_stay_where_no_padding_covers_them_and_one_tap_always_does() {
    let mut model = keyword_model();
    model.layers = vec![Layer::Conv2d(Conv2d { pad_h: 1, pad_w: 1, ..conv_record(10, 1, 64) })];
    let mut bytes = model.bytes();
    set_weights(&mut bytes, |at| (at % 100 / 10 < 3).then_some(0.0));
    let step = only_step(&bytes);
    let window = step.window;
    assert_eq!((window.kernel_h, window.pad_top, step.weights, window.kernel_w), (9, 0, 10, 10));
    set_weights(&mut bytes, |_| Some(0.0));
    let window = only_step(&bytes).window;
    assert_eq!((window.kernel_h, window.kernel_w, window.out_h), (1, 1, 42));
}

#[test]
fn an_infinite_input_does_not_meet_zeros_that_are_left_out() {
    let mut bytes = keyword_model().bytes();
    set_weights(&mut bytes, |at| Some(if is_inside(at) { 0.5 } else { 0.0 }));
    let model = Model::parse(&bytes).expect("valid");
    let mut arena = vec![0; MemoryPlan::of(&model).expect("plan").arena_bytes];
    let mut network = Network::load(&model, &mut arena).expect("load");
    let (mut input, mut output) = (vec![0.0; 490], vec![0.0; 25 * 5 * 64]);
    input[0] = f32::INFINITY;
    network.run(&input, &mut output).expect("run");
    assert!(output.iter().all(|value| !value.is_nan()));
    assert_eq!(output.iter().filter(|value| value.is_infinite()).count(), 3 * 64);
}

#[test]
fn the_sums_of_every_filter_of_an_int8_kernel_are_checked() {
    let mut model = Int8Model::conv();
    model.layers = vec![Layer::Conv2d(Conv2d { pad_h: 1, pad_w: 1, ..conv_record(3, 1, 3) })];
    let mut bytes = model.bytes();
    let (start, elems) = payload(&bytes);
    for (at, code) in bytes[start..start + elems].iter_mut().enumerate() {
        if at % 18 < 6 {
            *code = 0;
        }
    }
    let step = only_step(&bytes);
    assert_eq!((step.window.kernel_h, step.window.kernel_w, step.weights), (2, 3, 6));
    let parsed = Model::parse(&bytes).expect("valid");
    let last_bias = parsed.bias_tensors().next().expect("a bias tensor").offset + 8;
    bytes[last_bias..last_bias + 4].copy_from_slice(&(i32::MAX - 100).to_le_bytes());
    let parsed = Model::parse(&bytes).expect("valid");
    let mut arena = vec![0; MemoryPlan::of(&parsed).expect("plan").arena_bytes];
    let error = Network::load(&parsed, &mut arena).expect_err("sums of the last filter leave 32 bits");
    assert!(error.to_string().contains("channel whose sums can leave 32 bits is 2"), "{error}");
}
