//! Models in the library.

use netkit::plan::LayerFacts;
use netkit::{MemoryPlan, Model, Watcher};

use crate::Error;

/// A checked model with its plan.
#[derive(Clone, Debug)]
pub(crate) struct Planned<'m> {
    pub(crate) model: Model<'m>,
    pub(crate) plan: MemoryPlan,
}

impl<'m> Planned<'m> {
    pub(crate) fn parse(bytes: &'m [u8]) -> Result<Self, Error> {
        let model = Model::parse(bytes)?;
        model.check_payload()?;
        Ok(Self { plan: MemoryPlan::of(&model)?, model })
    }

    /// Memory for the network.
    pub(crate) fn region(&self) -> Vec<u8> {
        vec![0; self.plan.arena_bytes]
    }

    pub(crate) fn input_elements(&self) -> Result<usize, Error> {
        Ok(self.plan.input.elements()? as usize)
    }

    pub(crate) fn output_elements(&self) -> Result<usize, Error> {
        Ok(self.plan.output.elements()? as usize)
    }
}

/// Calls a function with the result of each layer.
pub(crate) struct EachLayer<F>(pub(crate) F);

impl<F: FnMut(&LayerFacts, &[u8]) -> Result<(), netkit::Error>> Watcher for EachLayer<F> {
    fn before(&mut self, _layer: &LayerFacts) -> Result<(), netkit::Error> {
        Ok(())
    }

    fn after(&mut self, layer: &LayerFacts, output: &[u8]) -> Result<(), netkit::Error> {
        (self.0)(layer, output)
    }
}

/// The float32 values of a layer's result.
pub(crate) fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|&bytes| f32::from_ne_bytes(bytes)).collect()
}
