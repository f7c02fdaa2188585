//! Looking on at a run, layer by layer.

use crate::error::Error;
use crate::plan::LayerFacts;

/// Somebody who looks on. An error stops the run.
pub trait Watcher {
    /// The layer is about to run.
    fn before(&mut self, layer: &LayerFacts) -> Result<(), Error>;

    /// The layer has run; `output` is its result.
    fn after(&mut self, layer: &LayerFacts, output: &[u8]) -> Result<(), Error>;
}
