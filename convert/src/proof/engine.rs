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
        let plan = MemoryPlan::of(&model).map_err(failure)?;
        let (input, output) = netkit::plan::shapes(&model).map_err(failure)?;
        let elements = |shape: netkit::tensor::Shape| {
            shape.elements().map(|count| count as usize).map_err(|fault| failure(fault.into()))
        };
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

    /// The output for an input; both are codes in an int8 model.
    pub(super) fn run(&mut self, input: &[f32]) -> Result<&[f32], ProofError> {
        let mut network = Network::load_planned(&self.model, &self.plan, &mut self.arena).map_err(failure)?;
        if self.model.is_quantized() {
            let codes: Vec<i8> = input.iter().map(|&code| code as i8).collect();
            let mut output = vec![0i8; self.output.len()];
            network.run_int8(&codes, &mut output).map_err(failure)?;
            self.output.iter_mut().zip(output).for_each(|(to, code)| *to = f32::from(code));
        } else {
            network.run(input, &mut self.output).map_err(failure)?;
        }
        Ok(&self.output)
    }
}

fn failure(error: netkit::Error) -> ProofError {
    ProofError::Engine(error.to_string())
}
