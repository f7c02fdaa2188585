//! A `.nk` model in the engine.

use netkit::{MemoryPlan, Model, Network};

use super::ProofError;

/// A loaded model with its memory.
pub(super) struct Engine<'m> {
    model: Model<'m>,
    plan: MemoryPlan,
    arena: Vec<u8>,
    output: Vec<f32>,
    input_elements: usize,
}

impl<'m> Engine<'m> {
    pub(super) fn load(nk: &'m [u8]) -> Result<Self, ProofError> {
        let model = Model::parse(nk).map_err(failure)?;
        model.check_payload().map_err(failure)?;
        if model.is_quantized() {
            return Err(ProofError::Engine("it is quantised".into()));
        }
        let plan = MemoryPlan::of(&model).map_err(failure)?;
        let (input, output) = netkit::plan::shapes(&model).map_err(failure)?;
        let elements = |shape: netkit::tensor::Shape| shape.elements().map(|count| count as usize).map_err(failure);
        let (input_elements, output_elements) = (elements(input)?, elements(output)?);
        let arena = vec![0; plan.arena_bytes];
        Ok(Self { model, plan, arena, output: vec![0.0; output_elements], input_elements })
    }

    pub(super) fn input_elements(&self) -> usize {
        self.input_elements
    }

    pub(super) fn output_elements(&self) -> usize {
        self.output.len()
    }

    pub(super) fn run(&mut self, input: &[f32]) -> Result<&[f32], ProofError> {
        let mut network = Network::load_planned(&self.model, &self.plan, &mut self.arena).map_err(failure)?;
        network.run(input, &mut self.output).map_err(failure)?;
        Ok(&self.output)
    }
}

fn failure(error: netkit::Error) -> ProofError {
    ProofError::Engine(error.to_string())
}
