//! What lies where in the file: sections, catalog and test cases.

use netkit::Model;
use netkit::format::{Cases, HEADER_BYTES, TensorDesc, catalog};
use serde::Serialize;

/// The parts that `--tensors` adds.
#[derive(Debug, Serialize)]
pub(crate) struct Contents {
    pub(crate) sections: Sections,
    pub(crate) weights_bytes: u32,
    pub(crate) biases_bytes: u32,
    pub(crate) weights: Vec<Tensor>,
    pub(crate) biases: Vec<Tensor>,
    pub(crate) tests: Option<Tests>,
}

/// File offsets; null where the file has no such section.
#[derive(Debug, Serialize)]
pub(crate) struct Sections {
    pub(crate) header: usize,
    pub(crate) layers: usize,
    pub(crate) weight_catalog: usize,
    pub(crate) bias_catalog: usize,
    pub(crate) quantization: Option<usize>,
    pub(crate) weights: usize,
    pub(crate) biases: usize,
    pub(crate) tests: Option<usize>,
    pub(crate) end: usize,
}

/// A catalog entry.
#[derive(Debug, Serialize)]
pub(crate) struct Tensor {
    pub(crate) index: usize,
    /// Null for a tensor that no layer takes.
    pub(crate) layer: Option<usize>,
    pub(crate) dtype: &'static str,
    pub(crate) shape: Vec<u32>,
    pub(crate) elements: u32,
    pub(crate) bytes: u64,
    pub(crate) offset: usize,
}

/// The test section without its values.
#[derive(Debug, Serialize)]
pub(crate) struct Tests {
    pub(crate) tolerance: f32,
    pub(crate) input_dtype: &'static str,
    pub(crate) cases: Vec<Case>,
}

/// A test case without its values.
#[derive(Debug, Serialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// Class that the largest output must have.
    pub(crate) label: Option<i32>,
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
}

pub(crate) fn contents(model: &Model<'_>, owners: &[usize], cases: Option<Cases<'_>>) -> Contents {
    let header = model.header();
    let weight_catalog = model.catalog_offset();
    let tensor = |(index, desc): (usize, TensorDesc)| Tensor {
        index,
        layer: owners.get(index).copied(),
        dtype: desc.entry.dtype.name(),
        shape: desc.entry.active_dims().to_vec(),
        elements: desc.entry.num_elements(),
        bytes: desc.entry.num_bytes(),
        offset: desc.offset,
    };
    Contents {
        sections: Sections {
            header: 0,
            layers: HEADER_BYTES,
            weight_catalog,
            bias_catalog: weight_catalog + catalog::ENTRY_BYTES * header.num_weight_tensors as usize,
            quantization: model.quant().map(|quant| quant.offset()),
            weights: model.payload_offset(),
            biases: model.payload_offset() + header.weights_bytes as usize,
            tests: cases.map(|cases| cases.offset),
            end: model.bytes().len(),
        },
        weights_bytes: header.weights_bytes,
        biases_bytes: header.biases_bytes,
        weights: model.weight_tensors().enumerate().map(tensor).collect(),
        biases: model.bias_tensors().enumerate().map(tensor).collect(),
        tests: cases.map(tests),
    }
}

fn tests(section: Cases<'_>) -> Tests {
    let case = |case: netkit::format::Case<'_>| Case {
        name: case.name.to_owned(),
        label: (case.label >= 0).then_some(case.label),
        inputs: case.input.len(),
        outputs: case.expected.len(),
    };
    Tests {
        tolerance: section.tolerance,
        input_dtype: if section.has_int8_inputs() { "int8" } else { "float32" },
        cases: section.iter().map(case).collect(),
    }
}
