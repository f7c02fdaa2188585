//! A source model of whatever file, with what is done with it.

use std::path::Path;

use crate::error::Error;
use crate::graph::Graph;
use crate::lower::{self, Lowered};
use crate::onnx::{self, Notes};
use crate::proof::{DEFAULT_TOLERANCE, Reference};
use crate::refusal::Refusal;
use crate::tflite;

/// Where the identifier of a TensorFlow Lite file stands, and which it is.
const TFLITE: (usize, &[u8]) = (4, b"TFL3");

/// A model that was read.
#[derive(Debug)]
pub enum Source<'f> {
    /// From an ONNX file.
    Onnx(Graph, Notes),
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
            let (graph, notes) = onnx::load(file, path.parent(), options)?;
            return Ok(Self::Onnx(graph, notes));
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
            Self::Onnx(graph, _) => graph,
            Self::Tflite(source) => &source.outline,
        }
    }

    /// The form of the file, with its version where that counts.
    pub fn format(&self) -> String {
        match self {
            Self::Onnx(graph, _) => format!("opset {}", graph.opset),
            Self::Tflite(source) if source.is_int8() => "TensorFlow Lite, int8".into(),
            Self::Tflite(_) => "TensorFlow Lite, float32".into(),
        }
    }

    /// What reading decided.
    pub fn notes(&self) -> Notes {
        match self {
            Self::Onnx(_, notes) => notes.clone(),
            Self::Tflite(source) => Notes {
                producer: source.model.description.into(),
                nodes_in_file: source.model.operators.len(),
                ..Notes::default()
            },
        }
    }

    /// Lowers the model, or tells everything that stands in the way.
    pub fn lower(&self, options: lower::Options) -> Result<Lowered, Vec<Refusal>> {
        match self {
            Self::Onnx(graph, _) => lower::lower(graph, options),
            Self::Tflite(source) => source.lower(options),
        }
    }

    /// What executes the model.
    pub fn reference(&self) -> &dyn Reference {
        match self {
            Self::Onnx(graph, _) => graph,
            Self::Tflite(source) => &**source,
        }
    }

    /// Largest relative difference that is accepted by default: none for int8.
    pub fn tolerance(&self) -> f64 {
        match self {
            Self::Tflite(source) if source.is_int8() => 0.0,
            _ => DEFAULT_TOLERANCE,
        }
    }
}
