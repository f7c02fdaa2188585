//! In place of the lowering that this build leaves out: its models are refused before they are lowered.

use crate::plan::steps::{Op, Step};

/// A step of a network that cannot run has no kernel, so none that needs memory.
pub(super) fn scratch_bytes(_: Op, _: &Step) -> u32 {
    0
}

/// Nor one that could use more.
pub(super) fn spare_scratch_bytes(_: &Step) -> Option<(u32, u32)> {
    None
}

/// Nor one that needs packed weights.
pub(super) fn packed_bytes(_: &Step) -> usize {
    0
}

#[cfg(not(feature = "int8"))]
mod int8 {
    use super::super::{Lowering, Residual, Value, Weighted};
    use crate::element;
    use crate::fault::Fault;
    use crate::format::quant::QuantParams;
    use crate::plan::steps::{Op, Step};
    use crate::tensor::Shape;

    impl Lowering<'_, '_> {
        pub(in crate::plan::lowering) fn quantized(
            &mut self,
            _: Step,
            _: &Weighted,
            _: Value,
            _: Value,
        ) -> Result<(), Fault> {
            Err(element::missing(true))
        }

        pub(in crate::plan::lowering) fn add_quantized(
            &mut self,
            _: Value,
            _: &Residual,
            _: Shape,
        ) -> Result<(), Fault> {
            Err(element::missing(true))
        }

        pub(in crate::plan::lowering) fn softmax_table(&mut self) -> Result<u32, Fault> {
            Err(element::missing(true))
        }

        pub(in crate::plan::lowering) fn require_symmetric_weights(&self, _: &Weighted) -> Result<(), Fault> {
            Ok(())
        }

        pub(in crate::plan::lowering) fn can_pool(&self, _: Op, _: &Weighted) -> Result<bool, Fault> {
            Ok(false)
        }

        /// See the lowering of int8 networks.
        pub fn sum_params(&self, _: &Weighted) -> Result<QuantParams, Fault> {
            Err(element::missing(true))
        }
    }
}
