//! The container: what the reader takes, the writer gives back byte for byte; what is wrong is refused with a sentence.

mod common;

use common::{Bytes, TestModel, conv_record, dense_record, entry, model_files};
use netkit::error::{Error, ErrorKind};
use netkit::format::records::{BatchNorm2d, ChannelsEps, FeatureTap, MobilenetV4Uib, Pool2d, ResnetBasicBlock};
use netkit::format::write::{CasesSpec, ModelSpec, QuantSpec};
use netkit::format::{Case, Cases, Layer, QuantEntry, TensorEntry};
use netkit::{MemoryPlan, Model};

/// Reads everything into lists and writes it again.
fn rewrite(bytes: &[u8]) -> Vec<u8> {
    let model = Model::parse(bytes).expect("valid");
    let header = model.header();
    let layers: Vec<Layer> = model.layers().map(|record| record.layer).collect();
    let weights: Vec<TensorEntry> = model.weight_tensors().map(|tensor| tensor.entry).collect();
    let biases: Vec<TensorEntry> = model.bias_tensors().map(|tensor| tensor.entry).collect();
    let weight_bytes = weights.iter().map(|entry| entry.num_bytes() as usize).sum();
    let quant = model.quant();
    let entries: Vec<QuantEntry> =
        quant.iter().flat_map(|quant| (0..quant.len()).map(|index| quant.entry(index).expect("entry"))).collect();
    let scales: Vec<&[u8]> =
        quant.iter().flat_map(|quant| (0..quant.len()).map(|index| quant.channel_scales(index))).collect();
    let cases = Cases::read(&model).ok();
    let list: Vec<Case<'_>> = cases.iter().flat_map(Cases::iter).collect();
    let (weight_payload, bias_payload) = model.payload().split_at(header.weights_bytes as usize);
    let spec = ModelSpec {
        version: header.version,
        network: header.network,
        input_rank: header.input_rank,
        input_shape: header.input_shape,
        layers: &layers,
        weights: &weights,
        biases: &biases,
        quant: quant.map(|quant| QuantSpec {
            entries: &entries,
            channel_scales: quant.is_per_channel().then_some(&scales[..]),
        }),
        weight_payload: &weight_payload[..weight_bytes],
        bias_payload,
        cases: cases.map(|cases| CasesSpec { tolerance: cases.tolerance, cases: &list }),
    };
    assert_eq!(spec.metadata_bytes(), model.payload_offset());
    let mut sink = Bytes::default();
    spec.write(&mut sink).expect("written");
    sink.0
}

#[test]
fn reading_and_writing_gives_the_same_bytes() {
    for path in model_files() {
        let bytes = std::fs::read(&path).expect("read");
        assert!(rewrite(&bytes) == bytes, "{}", path.display());
    }
}

#[test]
fn worked_example_has_its_payload_at_byte_176() {
    let bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/models/test_mlp.nk")).expect("test_mlp.nk");
    let model = Model::parse(&bytes).expect("valid");
    assert_eq!((model.payload_offset(), model.header().num_layers, model.payload_bytes()), (176, 2, 48));
}

fn parse_error(bytes: &[u8]) -> Error {
    Model::parse(bytes).expect_err("must be refused")
}

/// The error of loading: parsing or planning.
fn load_error(model: &TestModel) -> Error {
    let bytes = model.bytes();
    match Model::parse(&bytes) {
        Err(error) => error,
        Ok(model) => MemoryPlan::of(&model).expect_err("must be refused"),
    }
}

/// A model with one field overwritten.
fn patched(model: &TestModel, offset: usize, bytes: &[u8]) -> Vec<u8> {
    let mut file = model.bytes();
    file[offset..offset + bytes.len()].copy_from_slice(bytes);
    file
}

#[test]
fn header_faults_are_named() {
    let mlp = TestModel::mlp();
    let cases: &[(&str, Vec<u8>, ErrorKind, &str)] = &[
        ("empty", vec![], ErrorKind::Magic, "not a .nk model: the first four bytes are not NKIT"),
        ("magic", patched(&mlp, 0, b"ONNX"), ErrorKind::Magic, "not a .nk model: the first four bytes are not NKIT"),
        ("short", mlp.bytes()[..20].to_vec(), ErrorKind::Magic, "file size is 20, expected at least 48"),
        (
            "version",
            patched(&mlp, 4, &[2]),
            ErrorKind::Version,
            "byte 4: format version is 2; this library reads versions 3 and 4",
        ),
        (
            "rank 5",
            patched(&mlp, 9, &[5]),
            ErrorKind::Header,
            "byte 9: input_rank is 5, expected 2; an MLP input is [batch, features]",
        ),
        (
            "rank 0",
            patched(&TestModel::conv(), 9, &[0]),
            ErrorKind::Header,
            "byte 9: input_rank is 0, expected 3; a CNN input is [height, width, channels]",
        ),
        (
            "batch 0",
            patched(&mlp, 12, &[0; 4]),
            ErrorKind::Header,
            "byte 12: input dimension is 0, expected at least 1",
        ),
        ("layers", patched(&mlp, 28, &[101]), ErrorKind::Limit, "byte 28: num_layers is 101, expected at most 100"),
        (
            "weights",
            patched(&mlp, 32, &[129]),
            ErrorKind::Limit,
            "byte 32: num_weight_tensors is 129, expected at most 128",
        ),
        (
            "weight bytes",
            patched(&mlp, 40, &[44]),
            ErrorKind::Weights,
            "byte 40: weights_bytes is 44, expected 48; sum of the catalog",
        ),
        (
            "kind",
            patched(&mlp, 48, &[15]),
            ErrorKind::LayerKind,
            "layer 0, byte 48: layer kind is 15, expected at most 14",
        ),
        (
            "reserved",
            patched(&mlp, 50, &[9]),
            ErrorKind::Layer,
            "layer 0 (dense), byte 50: reserved byte is 9, expected 0",
        ),
        ("catalog rank", patched(&mlp, 80, &[5]), ErrorKind::Catalog, "byte 80: tensor rank is 5, expected at most 4"),
        ("catalog count", patched(&mlp, 100, &[7]), ErrorKind::Weights, "byte 80: num_elements is 7, expected 6"),
        (
            "catalog overflow",
            patched(&mlp, 84, &[0xFF; 8]),
            ErrorKind::Catalog,
            "byte 80: num_elements is 6; the product of the dims is too large",
        ),
    ];
    for (name, bytes, kind, text) in cases {
        let error = parse_error(bytes);
        assert_eq!((error.kind, error.to_string().as_str()), (*kind, *text), "{name}");
    }
}

#[test]
fn file_size_faults_are_named() {
    let mut bytes = TestModel::mlp().bytes();
    let size = bytes.len();
    bytes.push(0);
    assert_eq!(parse_error(&bytes).to_string(), format!("file size is {}, expected {size}", size + 1));
    bytes.truncate(size - 1);
    assert_eq!(parse_error(&bytes).to_string(), format!("file size is {}, expected at least {size}", size - 1));
}

#[test]
fn layer_faults_are_named() {
    let conv = |record| TestModel { layers: vec![Layer::Conv2d(record)], ..TestModel::conv() };
    let behind = |layer| {
        let mut model = TestModel::conv();
        model.layers.push(layer);
        model
    };
    let uib = MobilenetV4Uib {
        in_channels: 3,
        out_channels: 3,
        start_dw_kernel: 0,
        middle_dw_kernel: 3,
        stride: 1,
        middle_dw_downsample: 0,
        expand_ratio: -1.0,
    };
    let pool = Pool2d { pool_size: 2, stride: 0, pad_h: 0, pad_w: 0, packed: 0 };
    let cases = [
        (conv(conv_record(3, 0, 3)), "layer 0 (conv2d), byte 48: stride is 0, expected at least 1"),
        (conv(conv_record(0, 1, 3)), "layer 0 (conv2d), byte 48: kernel height is 0, expected at least 1"),
        (conv(conv_record(5, 1, 3)), "layer 0 (conv2d), byte 48: kernel height is 5, expected at most 4"),
        (conv(conv_record(3, 1, 0)), "layer 0 (conv2d), byte 48: filters is 0, expected at least 1"),
        (conv(conv_record(3, 1, 4)), "layer 0 (conv2d), byte 48: elements of the weight tensor is 54, expected 72"),
        (behind(Layer::MaxPool2d(pool)), "layer 1 (max_pool2d), byte 72: stride is 0, expected at least 1"),
        (
            behind(Layer::Dense(dense_record(2))),
            "layer 1 (dense), byte 72: a dense layer needs flat input: put a flatten layer before it",
        ),
        (
            behind(Layer::BatchNorm2d(BatchNorm2d { channels: 4 })),
            "layer 1 (batch_norm2d), byte 72: channels is 4, expected 3",
        ),
        (
            behind(Layer::BatchNorm2d(BatchNorm2d { channels: 3 })),
            "layer 0 (conv2d), byte 48: number of weight tensors is 1, expected at least 2",
        ),
        (
            behind(Layer::LayerNorm2d(ChannelsEps { channels: 3, eps: -1.0 })),
            "layer 1 (layernorm2d), byte 72: eps: must not be negative",
        ),
        (
            behind(Layer::FeatureTap(FeatureTap { channels: 3, tap_id: 4 })),
            "layer 1 (feature_tap), byte 72: tap_id is 4, expected at most 3",
        ),
        (
            behind(Layer::ResnetBasicBlock(ResnetBasicBlock { in_channels: 2, out_channels: 2, stride: 1 })),
            "layer 1 (resnet_basic_block), byte 72: in_channels is 2, expected 3",
        ),
        (
            behind(Layer::MobilenetV4Uib(uib)),
            "layer 1 (mobilenetv4_uib), byte 72: in_channels x expand_ratio: must be above 0 and below 2^29",
        ),
    ];
    for (model, text) in cases {
        assert_eq!(load_error(&model).to_string(), text);
    }
}

#[test]
fn tensors_left_over_or_missing_are_named() {
    let mut model = TestModel::conv();
    model.weights.push(vec![2]);
    model.biases.push(vec![2]);
    assert_eq!(
        load_error(&model).to_string(),
        "byte 32: weight tensors used by the layers is 1, expected 2; the catalog holds more"
    );
    let model = TestModel { weights: vec![], biases: vec![], ..TestModel::conv() };
    assert_eq!(
        load_error(&model).to_string(),
        "layer 0 (conv2d), byte 48: number of weight tensors is 0, expected at least 1"
    );
}

#[test]
fn sizes_that_overflow_are_refused() {
    let model = TestModel { input: vec![1 << 20, 1 << 20, 2], ..TestModel::conv() };
    assert_eq!(load_error(&model).kind, ErrorKind::SizeOverflow);
    let model = TestModel { input: vec![u32::MAX, u32::MAX], ..TestModel::mlp() };
    assert_eq!(load_error(&model).kind, ErrorKind::SizeOverflow);
}

#[test]
fn non_finite_numbers_are_refused() {
    for bits in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let error = parse_error(&patched(&TestModel::mlp(), 60, &bits.to_le_bytes()));
        assert_eq!(error.to_string(), "layer 0 (dense), byte 60: alpha: must be a finite number");
        let file = patched(&TestModel::mlp(), 176 + 8, &bits.to_le_bytes());
        let error = Model::parse(&file).expect("parses").check_payload().expect_err("must be refused");
        assert_eq!(error.to_string(), "byte 184: a weight or bias is NaN or infinite");
    }
}

#[test]
fn writer_enforces_the_limits_of_the_format() {
    let layers = vec![Layer::Flatten; 101];
    let entries = vec![entry(&[1]); 129];
    let spec = ModelSpec {
        version: 3,
        network: 2,
        input_rank: 3,
        input_shape: [1, 1, 1, 0],
        layers: &layers[..100],
        weights: &[],
        biases: &[],
        quant: None,
        weight_payload: &[],
        bias_payload: &[],
        cases: None,
    };
    spec.write(&mut Bytes::default()).expect("100 layers are allowed");
    let too_many = ModelSpec { layers: &layers, ..spec };
    assert_eq!(
        too_many.write(&mut Bytes::default()).expect_err("101 layers").to_string(),
        "number of layers is 101, expected at most 100"
    );
    let too_many = ModelSpec { weights: &entries, ..spec };
    assert_eq!(
        too_many.write(&mut Bytes::default()).expect_err("129 tensors").to_string(),
        "number of weight tensors is 129, expected at most 128"
    );
}

/// The C API's message buffer keeps 127 bytes.
#[test]
fn every_sentence_fits_the_message_buffer() {
    let mut longest = String::new();
    let mut keep = |error: Error| {
        let text = error.to_string();
        if text.len() > longest.len() {
            longest = text;
        }
    };
    for (_, bytes) in common::small_models(3000) {
        for offset in 0..bytes.len().min(1000) {
            let mut file = bytes.clone();
            for value in [0, 1, 5, 0x7F, 0xFF] {
                file[offset] = value;
                match Model::parse(&file) {
                    Err(error) => keep(error),
                    Ok(model) => {
                        let _ = MemoryPlan::of(&model).map_err(&mut keep);
                        let _ = Cases::read(&model).map_err(&mut keep);
                    }
                }
            }
        }
    }
    assert!(longest.len() <= 127, "{} bytes: {longest}", longest.len());
}
