//! A model from an ONNX file: lowered as it stands or one row of its batch at a time.

use std::path::{Path, PathBuf};

use super::Conversion;
use crate::error::Error;
use crate::graph::Graph;
use crate::lower::{self, lower};
use crate::onnx::{self, Notes, Options};
use crate::refusal::Refusal;

/// A model from an ONNX file.
#[derive(Debug)]
pub struct OnnxFile<'f> {
    file: &'f [u8],
    folder: Option<PathBuf>,
    options: Options,
    /// The model as it stands in the file.
    pub graph: Graph,
    /// What was noticed while it was read.
    pub notes: Notes,
}

impl<'f> OnnxFile<'f> {
    /// Reads a file whose weights may lie in other files in `folder`.
    pub fn read(file: &'f [u8], folder: Option<&Path>, options: &Options) -> Result<Self, Error> {
        let (graph, notes, mut refusals) = onnx::survey(file, folder, options)?;
        if refusals.is_empty() {
            let (folder, options) = (folder.map(Path::to_path_buf), options.clone());
            return Ok(Self { file, folder, options, graph, notes });
        }
        // Whatever is known of the rest may stand in the way too.
        for more in lower(&graph, lower::Options::default()).err().into_iter().flatten() {
            if refusals.iter().all(|refusal| (&refusal.node, &refusal.op) != (&more.node, &more.op)) {
                refusals.push(more);
            }
        }
        Err(Error::Unsupported(refusals))
    }

    /// Lowers the model; one row of its batch at a time where that is `allowed` and the batch stands in the way.
    pub fn lower(&self, options: lower::Options, allowed: bool) -> Result<Conversion, Vec<Refusal>> {
        let refusals = match lower(&self.graph, options) {
            Ok(lowered) => return Ok(Conversion { lowered, rows: 1 }),
            Err(refusals) => refusals,
        };
        match self.row().filter(|_| allowed) {
            Some((row, rows)) => lower(&row, options).map(|lowered| Conversion { lowered, rows }),
            None => Err(refusals),
        }
    }

    /// The model with a batch of 1, and the number of rows of its batch, if its output has as many.
    fn row(&self) -> Option<(Graph, usize)> {
        let (&[input], &[output]) = (self.graph.inputs.as_slice(), self.graph.outputs.as_slice()) else { return None };
        let shape = |graph: &Graph, id| graph.value(id).shape.clone();
        let (fed, given) = (shape(&self.graph, input)?, shape(&self.graph, output)?);
        let (&rows, inner) = fed.split_first()?;
        if rows < 2 || given.first() != Some(&rows) {
            return None;
        }
        let mut options = self.options.clone();
        let one = std::iter::once(1).chain(inner.iter().copied()).collect();
        options.input_shapes.push((Some(self.graph.value(input).name.clone()), one));
        let (row, _) = onnx::load(self.file, self.folder.as_deref(), &options).ok()?;
        let of_row = shape(&row, *row.outputs.first()?)?;
        let is_row = of_row.first() == Some(&1) && of_row[1..] == given[1..];
        is_row.then_some((row, rows))
    }
}
