//! Where the translation of a graph starts: how the model's input may lie in memory.
//!
//! Nothing in a file says which dimension of an input holds channels. The nodes that read it tell: each layout is tried, the
//! most common first, and the first with which the whole graph has layers is the right one.

use super::layout;
use crate::graph::{Graph, ValueId};
use crate::lower::ir::Extent;
use crate::lower::view::{Axis, View};
use crate::refusal::Refusal;

/// Most channels or features of an input: operations hold numbers for each.
const MAX_CHANNELS: usize = 1 << 20;

/// A layout of the input.
pub struct Start {
    /// The input of the model.
    pub input: ValueId,
    /// The value that is laid out: the input, or the same elements behind reshapes.
    pub value: ValueId,
    /// Those reshapes.
    pub skipped: Vec<usize>,
    /// Extents in memory.
    pub extent: Extent,
    /// How the value lies there.
    pub view: View,
    /// Whether rows of features are fed.
    pub takes_rows: bool,
}

/// All layouts that the input of a graph may have.
pub fn starts(graph: &Graph, input: ValueId) -> Vec<Start> {
    let (inner, skipped) = layout::past_reshapes(graph, input);
    let mut starts = Vec::new();
    let values = if inner == input { vec![(input, Vec::new())] } else { vec![(inner, skipped), (input, Vec::new())] };
    for (value, skipped) in values {
        let Some(shape) = graph.value(value).shape.as_deref() else { continue };
        let maps = map_layouts(shape.len()).iter().filter_map(|axes| laid_out(shape, shape, axes));
        let rows = (1..shape.len().max(2)).rev().filter_map(|first| {
            let (outer, inner) = shape.split_at(first.min(shape.len().saturating_sub(1)));
            laid_out(shape, &[outer.iter().product(), inner.iter().product()], &[Axis::N, Axis::C])
        });
        let whole = laid_out(shape, &[1, shape.iter().product()], &[Axis::N, Axis::C]);
        let mut layouts: Vec<(Extent, View, bool)> = maps.chain(rows).chain(whole).collect();
        layouts.dedup();
        starts.extend(layouts.into_iter().map(|(extent, view, takes_rows)| Start {
            input,
            value,
            skipped: skipped.clone(),
            extent,
            view,
            takes_rows,
        }));
    }
    starts
}

/// Layouts of maps and series by the number of dimensions.
fn map_layouts(rank: usize) -> &'static [&'static [Axis]] {
    use Axis::{C, H, N, W};
    match rank {
        3 => &[&[N, C, W], &[N, W, C]],
        4 => &[&[N, C, H, W], &[N, H, W, C]],
        _ => &[],
    }
}

/// The layout in which a tensor of shape `shape`, seen as one of shape `extents`, has one dimension for each of `axes`.
fn laid_out(shape: &[usize], extents: &[usize], axes: &[Axis]) -> Option<(Extent, View, bool)> {
    let along = |axis| axes.iter().position(|&of| of == axis).map_or(1, |dim| extents[dim]);
    if along(Axis::C) > MAX_CHANNELS {
        return None;
    }
    let extent = Extent { n: along(Axis::N), h: along(Axis::H), w: along(Axis::W), c: along(Axis::C) };
    let view = View::of_axes(axes, extent).reshaped(shape)?;
    Some((extent, view, axes == [Axis::N, Axis::C]))
}

/// Why a graph has no layout of its input.
pub fn refusal(graph: &Graph, input: ValueId) -> Refusal {
    Refusal {
        node: graph.value(input).name.clone(),
        op: "input".into(),
        found: match &graph.value(input).shape {
            Some(shape) => format!("shape {shape:?}"),
            None => "an unknown shape".into(),
        },
        reason: "an input is a row of features [batch, features], a series [1, channels, length] or an image".into(),
        advice: Some("give a shape of known numbers with one of these ranks".into()),
    }
}
