//! The plan of a model that becomes code ahead of time: the same steps, without what only the kernels of this library need.

use super::layers::LayerFacts;
use super::memory::MemoryPlan;
use super::placement::Scheme;
use super::steps::Step;
use crate::error::Error;
use crate::format::Model;

/// The steps of a model for code that is made of them. A type of its own, because no network can be loaded with it: there
/// is no scratch memory but for GRN (one value for each channel), and tensors begin at multiples of 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CodePlan(MemoryPlan);

impl CodePlan {
    /// Checks that the model can run.
    pub fn of(model: &Model<'_>) -> Result<Self, Error> {
        MemoryPlan::new(model, Scheme { is_for_code: true, ..Scheme::COUNT }).map(Self)
    }

    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.0.steps
    }

    /// Bytes of the integer tables of an int8 model.
    pub fn table_bytes(&self) -> usize {
        self.0.table_bytes
    }

    /// Writes as many steps and bytes of tables, see [`super::tables`].
    pub fn write(&self, model: &Model<'_>, steps: &mut [Step], tables: &mut [u8]) -> Result<(), Error> {
        self.0.write(model, steps, tables)
    }

    /// The layers in execution order, until `visit` fails.
    pub fn for_each_layer(
        &self,
        model: &Model<'_>,
        visit: &mut dyn FnMut(&LayerFacts) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.0.for_each_layer(model, visit)
    }
}
