//! The elements that this build leaves out: networks of them cannot be loaded, so that there is nothing to run.

use super::{Element, Memory};
use crate::element;
use crate::fault::Fault;
use crate::network::SharedNetwork;
use crate::plan::steps::Step;

#[cfg(feature = "int8")]
type Absent = f32;
#[cfg(not(feature = "int8"))]
type Absent = i8;

impl Element for Absent {
    const IS_INT8: bool = !cfg!(feature = "int8");

    fn run_steps(_: &SharedNetwork<'_>, _: &[Step], _: Memory<'_, Self>) -> Result<(), Fault> {
        Err(element::missing(Self::IS_INT8))
    }

    fn pack(_: &SharedNetwork<'_>, _: &[Step], _: &mut [u8]) -> Result<(), Fault> {
        Err(element::missing(Self::IS_INT8))
    }
}
