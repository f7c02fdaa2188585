//! Packed weights in the free memory of an arena: made when a model is loaded, used by its runs, gone when the memory is
//! taken by somebody else.

use super::raw::{Span, invalid};
use crate::arena::Arena;
use crate::arena::packed::PackedNode;
use crate::error::Error;
use crate::kernels::PACKS;
use crate::network::{Network, SharedNetwork};
use crate::plan::MemoryPlan;

/// Packs the weights of a network that was just loaded, if the arena has room and the model does not lie there.
///
/// # Safety
/// The memory of the arena is valid, nobody else uses its free part, and the network lies in the rest.
pub(super) unsafe fn pack(network: &mut Network<'_, '_>, plan: &MemoryPlan, arena: &mut Arena) -> Result<(), Error> {
    if !PACKS || plan.packed_bytes == 0 {
        return Ok(());
    }
    let Some(room) = arena.room_for_packed(plan.packed_bytes) else { return Ok(()) };
    if Span::of(room, plan.packed_bytes).overlaps(Span::of_slice(network.blob())) {
        return Ok(());
    }
    // SAFETY: free memory of the arena by `room_for_packed`, valid by this function's contract, and not the model's.
    network.pack(unsafe { core::slice::from_raw_parts_mut(room, plan.packed_bytes) })?;
    arena.note_packed(network.packed_node_mut(), room, plan.packed_bytes);
    Ok(())
}

/// Ends the packed weights of a network whose memory a run is going to use, because it still counts as free.
pub(super) fn make_way(network: &mut Network<'_, '_>, used: &[Span]) {
    if PACKS && is_in(network.packed_node_mut(), used) {
        network.packed_node_mut().clear();
    }
}

/// Refuses a run that shares the model with others and would use the memory of its packed weights.
pub(super) fn refuse_use(network: &SharedNetwork<'_>, used: &[Span]) -> Result<(), Error> {
    if PACKS && is_in(network.packed_node(), used) {
        return Err(invalid("a buffer lies in the free memory of the arena, where the model has packed weights"));
    }
    Ok(())
}

/// The network with its packed weights, if it still has them.
///
/// # Safety
/// The memory of the network's arena is valid, and nobody takes or writes to what is free of it while the network is used.
pub(super) unsafe fn attach<'a>(network: &SharedNetwork<'a>) -> SharedNetwork<'a> {
    match network.packed_node().place() {
        Some((start, bytes)) if PACKS => {
            let start = core::ptr::with_exposed_provenance::<u8>(start);
            // SAFETY: the node is sealed, so that `pack` stored the place, which is memory of the arena.
            network.with_packed(unsafe { core::slice::from_raw_parts(start, bytes) })
        }
        _ => *network,
    }
}

/// Whether packed weights share memory with these ranges.
fn is_in(node: &PackedNode, used: &[Span]) -> bool {
    node.place().is_some_and(|(start, bytes)| {
        let place = Span::of(core::ptr::without_provenance::<u8>(start), bytes);
        used.iter().any(|used| used.overlaps(place))
    })
}
