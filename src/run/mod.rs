//! The executor: goes through the steps of a plan. It decides nothing and allocates nothing; a plan that came from
//! [`crate::plan`] cannot fail here. The checks that remain turn a plan that was overwritten in the arena into an error.
//!
//! ```text
//! mod.rs     borrowing the operands of a step
//! watch.rs   looking on, layer by layer
//! float.rs   the steps in float32
//! int8.rs    the steps in int8
//! absent.rs  in place of the one that this build leaves out
//! ```

#[cfg(not(all(feature = "f32", feature = "int8")))]
mod absent;
#[cfg(feature = "f32")]
mod float;
#[cfg(feature = "int8")]
mod int8;
mod watch;

#[cfg(feature = "int8")]
pub(crate) use int8::Constants;
pub use watch::Watcher;

use core::ops::Range;

use bytemuck::Pod;

use crate::fault::{Fault, text};
use crate::network::SharedNetwork;
use crate::plan::steps::{Operand, PACKED_LINE, Place, Step};

/// Type of the values that a network takes and gives.
pub(crate) trait Element: Pod {
    /// Whether networks of this type are int8 networks.
    const IS_INT8: bool;

    /// Runs some of the network's steps.
    fn run_steps(network: &SharedNetwork<'_>, steps: &[Step], memory: Memory<'_, Self>) -> Result<(), Fault>;

    /// Packs the weights of the steps that have a place in `packed`, which starts at a multiple of
    /// [`PACKED_LINE`](crate::plan::steps::PACKED_LINE).
    fn pack(network: &SharedNetwork<'_>, steps: &[Step], packed: &mut [u8]) -> Result<(), Fault>;
}

/// What is left of a plan that somebody wrote over.
pub(crate) const DAMAGED: Fault =
    text!(NotLoaded, note "the network in the arena is damaged or was overwritten").fault();

/// Everything a step can read and write.
pub(crate) struct Memory<'r, T> {
    pub(crate) activations: &'r mut [T],
    pub(crate) input: &'r [T],
    pub(crate) output: &'r mut [T],
}

/// The slices of one step. `input` is empty when the step works in place.
struct Io<'r, T> {
    input: &'r [T],
    output: &'r mut [T],
    scratch: &'r mut [T],
}

impl<'r, T> Memory<'r, T> {
    /// The same memory for a shorter time.
    pub(crate) fn reborrow(&mut self) -> Memory<'_, T> {
        Memory { activations: self.activations, input: self.input, output: self.output }
    }

    /// The values of an operand.
    pub(crate) fn get(&self, operand: &Operand) -> Option<&[T]> {
        let place = match operand.place() {
            Place::Input => self.input,
            Place::Output => &*self.output,
            Place::Arena => &*self.activations,
        };
        place.get(operand.range())
    }

    /// Borrows the operands of a step, which never overlap.
    fn borrow(self, step: &Step) -> Option<Io<'r, T>> {
        let in_arena = |operand: &Operand| match operand.place() {
            Place::Arena => operand.range(),
            Place::Input | Place::Output => EMPTY,
        };
        let reads = if step.is_in_place() { EMPTY } else { in_arena(&step.input) };
        let [arena_input, arena_output, scratch] =
            disjoint(self.activations, [reads, in_arena(&step.output), in_arena(&step.scratch)])?;
        let (output_input, output) = match (step.input.place(), step.output.place()) {
            (Place::Output, Place::Output) if !step.is_in_place() => {
                let [read, write] = disjoint(self.output, [step.input.range(), step.output.range()])?;
                (&*read, write)
            }
            (_, Place::Output) => (&[][..], self.output.get_mut(step.output.range())?),
            (Place::Output, _) => (self.output.get(step.input.range())?, arena_output),
            _ => (&[][..], arena_output),
        };
        let input = match step.input.place() {
            _ if step.is_in_place() => &[][..],
            Place::Input => self.input.get(step.input.range())?,
            Place::Output => output_input,
            Place::Arena => arena_input,
        };
        Some(Io { input, output, scratch })
    }
}

const EMPTY: Range<usize> = 0..0;

/// Where the packed weights of a step lie, so many bytes.
fn packed_range(step: &Step, bytes: usize) -> Range<usize> {
    let first = step.packed as usize * PACKED_LINE;
    first..first.saturating_add(bytes)
}

/// The packed weights of a step, so many bytes; none where they are not packed.
fn packed_part<'p>(step: &Step, packed: &'p [u8], bytes: usize) -> Option<&'p [u8]> {
    if step.packed == 0 || packed.is_empty() { Some(&[]) } else { packed.get(packed_range(step, bytes)) }
}

/// Disjoint parts of one slice; empty ranges give empty parts.
fn disjoint<T, const N: usize>(slice: &mut [T], ranges: [Range<usize>; N]) -> Option<[&mut [T]; N]> {
    slice.get_disjoint_mut(ranges).ok()
}

/// `len` elements from `first` on.
fn part<T>(data: &[T], first: u32, len: usize) -> Option<&[T]> {
    data.get(first as usize..)?.get(..len)
}
