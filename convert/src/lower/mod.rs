//! From a graph whose shapes are known to a network of `.nk` layers that computes the same.
//!
//! ```text
//! Graph --import--> Ir --fuse, blocks, carry, expand--> Ir, a chain --emit--> Network
//! ```
//!
//! * [`view`]: the layout rule: how a tensor of the model lies in memory. Rearranging costs nothing.
//! * [`ir`]: operations over memory.
//! * `import`: ONNX operations, attributes and shapes, checked one by one.
//! * `fuse`: rewrites between equal operations.
//! * `blocks`: residual blocks that are one layer.
//! * `carry`: other residual sums, at the price of more channels.
//! * `emit`: records, and the geometry that they can express.

mod blocks;
mod carry;
mod emit;
pub(crate) mod expand;
mod fuse;
pub(crate) mod import;
pub mod ir;
mod leftovers;
pub mod view;

use import::Imported;

use crate::graph::Graph;
use crate::network::Network;
use crate::refusal::Refusal;

/// The one rewrite that is not exact: the block kind of the format computes another form of GELU than most exporters write.
pub const GELU_APPROXIMATION: &str = "GELU in its tanh form, which differs from the exact one by up to 5e-4";

/// What may be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether residual sums that no block computes may be computed with more channels.
    pub lower_residual: bool,
    /// Whether linear layers in a row stay apart instead of being multiplied.
    pub keeps_linear_layers: bool,
}

/// What became of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fate {
    /// Name of the node.
    pub node: String,
    /// Its operation.
    pub op: String,
    /// Layers that compute it.
    pub layers: Vec<usize>,
    /// What was done to these layers.
    pub rewrites: Vec<&'static str>,
    /// Whether it only rearranges elements, or changes nothing.
    pub is_layout: bool,
}

/// A lowered graph.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The network.
    pub network: Network,
    /// What became of each node.
    pub fates: Vec<Fate>,
    /// Rewrites that are not exact.
    pub approximations: Vec<&'static str>,
}

/// Lowers a graph, or tells everything that stands in the way.
pub fn lower(graph: &Graph, options: Options) -> Result<Lowered, Vec<Refusal>> {
    lower_float(import::import(graph)?, graph, options)
}

/// Lowers operations in floats.
pub(crate) fn lower_float(mut imported: Imported, graph: &Graph, options: Options) -> Result<Lowered, Vec<Refusal>> {
    let ir = &mut imported.ir;
    fuse::simplify(ir);
    blocks::recognise(ir);
    fuse::simplify(ir);
    if options.lower_residual {
        carry::lower_residuals(ir);
        fuse::simplify(ir);
    }
    expand::expand(ir);
    fuse::simplify(ir);
    if !options.keeps_linear_layers {
        fuse::shrink(ir);
    }
    finish(imported, graph)
}

/// Lowers operations on int8 codes, whose rounding no rewrite of floats keeps.
pub(crate) fn lower_int8(
    mut imported: Imported,
    graph: &Graph,
    complete: impl FnOnce(&mut ir::Ir),
) -> Result<Lowered, Vec<Refusal>> {
    fuse::join_pads(&mut imported.ir);
    blocks::recognise(&mut imported.ir);
    complete(&mut imported.ir);
    finish(imported, graph)
}

/// Emits a chain of operations that all have layers.
fn finish(mut imported: Imported, graph: &Graph) -> Result<Lowered, Vec<Refusal>> {
    let left = leftovers::refusals(&imported.ir, graph);
    if !left.is_empty() {
        return Err(left);
    }
    let network = emit::emit(&mut imported, graph)?;
    network.check()?;
    let fates = fates(graph, &network, &imported.layout_only);
    let is_approximate = network.layers.iter().any(|layer| layer.rewrites.contains(GELU_APPROXIMATION));
    let approximations = if is_approximate { vec![GELU_APPROXIMATION] } else { Vec::new() };
    Ok(Lowered { network, fates, approximations })
}

fn fates(graph: &Graph, network: &Network, layout_only: &std::collections::BTreeSet<usize>) -> Vec<Fate> {
    let fate = |(index, node): (usize, &crate::graph::Node)| {
        let layers: Vec<usize> =
            (0..network.layers.len()).filter(|&layer| network.layers[layer].nodes.contains(&index)).collect();
        let mut rewrites: Vec<&'static str> =
            layers.iter().flat_map(|&layer| network.layers[layer].rewrites.iter().copied()).collect();
        rewrites.sort_unstable();
        rewrites.dedup();
        let is_layout = layout_only.contains(&index);
        Fate { node: node.name.clone(), op: node.op.clone(), layers, rewrites, is_layout }
    };
    graph.nodes.iter().enumerate().map(fate).collect()
}
