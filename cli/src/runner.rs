//! A loaded network with the buffers of its input and output, float or int8.

use netkit::{Error, MemoryPlan, Model, Network, Watcher};

use crate::run::zeroed;

/// Elements of an input or output.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    Float(Vec<f32>),
    Int8(Vec<i8>),
}

/// Runs a network again and again on one input.
pub(crate) struct Runner<'m, 'a> {
    network: Network<'m, 'a>,
    input: Values,
    output: Values,
}

impl<'m, 'a> Runner<'m, 'a> {
    /// Loads the model into `region`, which has the bytes that the plan asks for. `input` must be of its type and size.
    pub(crate) fn load(
        model: &Model<'m>,
        plan: &MemoryPlan,
        region: &'a mut [u8],
        input: Values,
    ) -> Result<Self, Error> {
        let outputs = plan.output.elements()? as usize;
        let output = match input {
            Values::Float(_) => Values::Float(zeroed(outputs)?),
            Values::Int8(_) => Values::Int8(zeroed(outputs)?),
        };
        Ok(Self { network: Network::load_planned(model, plan, region)?, input, output })
    }

    /// One run.
    pub(crate) fn run(&mut self) -> Result<(), Error> {
        match (&self.input, &mut self.output) {
            (Values::Float(input), Values::Float(output)) => self.network.run(input, output),
            (Values::Int8(input), Values::Int8(output)) => self.network.run_int8(input, output),
            _ => unreachable!("the output was made for the input"),
        }
    }

    /// One run, layer by layer.
    pub(crate) fn run_layers(&mut self, watcher: &mut dyn Watcher) -> Result<(), Error> {
        match (&self.input, &mut self.output) {
            (Values::Float(input), Values::Float(output)) => self.network.run_layers(watcher, input, output),
            (Values::Int8(input), Values::Int8(output)) => self.network.run_layers_int8(watcher, input, output),
            _ => unreachable!("the output was made for the input"),
        }
    }
}
