//! A source model of whatever file, with what is done with it.

mod onnx_file;

use std::path::Path;

use crate::error::Error;
use crate::graph::Graph;
use crate::lower::{self, Lowered};
use crate::onnx::{self, Notes};
use crate::proof::{DEFAULT_TOLERANCE, Placement, Reference};
use crate::refusal::Refusal;
use crate::{qdq, tflite};

pub use onnx_file::OnnxFile;

/// Where the identifier of a TensorFlow Lite file stands, and which it is.
const TFLITE: (usize, &[u8]) = (4, b"TFL3");

/// A network that computes the answers of a source model.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The network, and what became of each node.
    pub lowered: Lowered,
    /// Rows of the model's batch, which the network computes one at a time.
    pub rows: usize,
}

impl Conversion {
    /// How the model's tensors lie in those of the network.
    pub fn placement(&self) -> Placement<'_> {
        let network = &self.lowered.network;
        let (input, output) = (network.input.places.as_deref(), network.output.places.as_deref());
        Placement { rows: self.rows, input, output }
    }
}

/// A model that was read.
#[derive(Debug)]
pub enum Source<'f> {
    /// From an ONNX file.
    Onnx(Box<OnnxFile<'f>>),
    /// From an ONNX file with a quantised graph.
    Quantized(Box<qdq::Source>),
    /// From a TensorFlow Lite file.
    Tflite(Box<tflite::Source<'f>>),
}

impl<'f> Source<'f> {
    /// Reads a file; its first bytes or the end of its name tell what it is. `folder` is that of the model, `options` are for
    /// ONNX models only.
    pub fn read(file: &'f [u8], path: &Path, options: &onnx::Options) -> Result<Self, Error> {
        let (place, identifier) = TFLITE;
        let is_tflite = path.extension().is_some_and(|extension| extension == "tflite")
            || file.get(place..place + identifier.len()) == Some(identifier);
        if !is_tflite {
            let source = OnnxFile::read(file, path.parent(), options)?;
            if !qdq::is_quantized(&source.graph) {
                return Ok(Self::Onnx(Box::new(source)));
            }
            let source = qdq::Source::of(source.graph, source.notes).map_err(Error::Unsupported)?;
            return Ok(Self::Quantized(Box::new(source)));
        }
        if *options != onnx::Options::default() {
            let message =
                "--input-shape, --dim and --output are for ONNX models; TensorFlow Lite files state all shapes";
            return Err(Error::Usage(message.into()));
        }
        Ok(Self::Tflite(Box::new(tflite::Source::read(file)?)))
    }

    /// Names of nodes and tensors.
    pub fn graph(&self) -> &Graph {
        match self {
            Self::Onnx(source) => &source.graph,
            Self::Quantized(source) => &source.graph,
            Self::Tflite(source) => &source.outline,
        }
    }

    /// The form of the file, with its version where that counts.
    pub fn format(&self) -> String {
        match self {
            Self::Onnx(source) => format!("opset {}", source.graph.opset),
            Self::Quantized(source) => format!("opset {}, quantised", source.graph.opset),
            Self::Tflite(source) if source.is_int8() => "TensorFlow Lite, int8".into(),
            Self::Tflite(_) => "TensorFlow Lite, float32".into(),
        }
    }

    /// What reading decided.
    pub fn notes(&self) -> Notes {
        match self {
            Self::Onnx(source) => source.notes.clone(),
            Self::Quantized(source) => source.notes.clone(),
            Self::Tflite(source) => Notes {
                producer: source.model.description.into(),
                nodes_in_file: source.model.operators.len(),
                ..Notes::default()
            },
        }
    }

    /// Lowers the model, or tells everything that stands in the way. Where a batch does, the network computes one row at a
    /// time; only a proof can tell that rows do not depend on each other, so that is not done without one.
    pub fn lower(&self, options: lower::Options, is_proven: bool) -> Result<Conversion, Vec<Refusal>> {
        match self {
            Self::Onnx(source) => source.lower(options, is_proven),
            Self::Quantized(source) => source.lower(options).map(|lowered| Conversion { lowered, rows: 1 }),
            Self::Tflite(source) => source.lower(options).map(|lowered| Conversion { lowered, rows: 1 }),
        }
    }

    /// What executes the model.
    pub fn reference(&self) -> &dyn Reference {
        match self {
            Self::Onnx(source) => &source.graph,
            Self::Quantized(source) => &**source,
            Self::Tflite(source) => &**source,
        }
    }

    /// Largest relative difference that is accepted by default: none for int8 models whose source is executed in integers.
    pub fn tolerance(&self) -> f64 {
        match self {
            Self::Tflite(source) if source.is_int8() => 0.0,
            _ => DEFAULT_TOLERANCE,
        }
    }
}
