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

mod activation;
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
use ir::Ir;

use crate::graph::{Graph, ValueId};
use crate::network::Network;
use crate::refusal::Refusal;

/// The one rewrite that is not exact: the block kind of the format computes another form of GELU than most exporters write.
pub const GELU_APPROXIMATION: &str = "GELU in its tanh form, which differs from the exact one by up to 5e-4";

/// Most elements of a row that a matrix of its own may rearrange, scale or bend.
const MAX_SQUARE: usize = 2048;

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
    if let Some(refusal) = import::unfit_tensor(graph) {
        return Err(vec![refusal]);
    }
    let mut refusals = import::ports(graph);
    let (Some(&input), Some(&output)) = (graph.inputs.first(), graph.outputs.first()) else { return Err(refusals) };
    let mut best: Option<import::Failure> = None;
    for start in import::starts(graph, input) {
        match lower_from(graph, &start, output, options) {
            Ok(lowered) if refusals.is_empty() => return Ok(lowered),
            Ok(_) => return Err(refusals),
            Err(failure) if best.as_ref().is_none_or(|best| failure.progress > best.progress) => {
                best = Some(failure);
            }
            Err(_) => {}
        }
    }
    match best {
        Some(failure) => refusals.extend(all_refusals(failure, graph, options)),
        None => refusals.push(import::input_refusal(graph, input)),
    }
    Err(refusals)
}

/// Lowers a graph whose input lies in memory as `start` says.
fn lower_from(
    graph: &Graph,
    start: &import::Start,
    output: ValueId,
    options: Options,
) -> Result<Lowered, import::Failure> {
    let imported = import::import(graph, start, output)?;
    lower_float(imported, graph, options).map_err(|refusals| import::Failure {
        progress: import::Progress::ALL,
        refusals,
        ir: Ir::default(),
    })
}

/// What was refused, and what the rewrites leave of the rest.
fn all_refusals(mut failure: import::Failure, graph: &Graph, options: Options) -> Vec<Refusal> {
    if !failure.ir.ops.is_empty() {
        rewrite(&mut failure.ir, options);
        failure.refusals.extend(leftovers::refusals(&failure.ir, graph));
    }
    failure.refusals
}

/// Everything between translation and layout.
fn rewrite(ir: &mut Ir, options: Options) {
    fuse::simplify(ir);
    blocks::recognise(ir, !options.keeps_linear_layers);
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
}

/// Lowers operations in floats.
pub(crate) fn lower_float(mut imported: Imported, graph: &Graph, options: Options) -> Result<Lowered, Vec<Refusal>> {
    rewrite(&mut imported.ir, options);
    finish(imported, graph)
}

/// Lowers operations on int8 codes, whose rounding no rewrite of floats keeps.
pub(crate) fn lower_int8(
    mut imported: Imported,
    graph: &Graph,
    complete: impl FnOnce(&mut Ir),
) -> Result<Lowered, Vec<Refusal>> {
    fuse::join_pads(&mut imported.ir);
    blocks::recognise(&mut imported.ir, false);
    complete(&mut imported.ir);
    let lowered = finish(imported, graph)?;
    lowered.network.check_int8()?;
    Ok(lowered)
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
