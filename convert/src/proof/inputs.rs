//! Inputs for a proof: seeded, so that a failure can be repeated.

use std::fmt;

use crate::graph::{Graph, ValueId};
use crate::tensor::Tensor;

/// Nodes in a row that are looked through for the range of the input.
const MOST_SCALING_NODES: usize = 8;

/// What is fed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// Normally distributed numbers.
    Normal,
    /// The same with opposite signs.
    SignFlipped,
    /// Numbers in the range that the first nodes of the graph expect, such as 0 to 255; from 0 to 1 if they do not
    /// tell.
    Range,
    /// Normally distributed numbers times 100.
    Large,
    /// Zeros.
    Zeros,
}

impl InputKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Normal, Self::SignFlipped, Self::Range, Self::Large, Self::Zeros];
}

impl fmt::Display for InputKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Normal => "normal",
            Self::SignFlipped => "sign-flipped",
            Self::Range => "range",
            Self::Large => "large",
            Self::Zeros => "zeros",
        })
    }
}

/// Elements of an input in the order of the model.
pub(super) fn values(graph: &Graph, input: ValueId, kind: InputKind, seed: u64) -> Vec<f32> {
    let count = graph.value(input).shape.iter().flatten().product();
    let range = if kind == InputKind::Range { expected_range(graph, input) } else { (0.0, 1.0) };
    reals(count, range, kind, seed)
}

/// Codes of an int8 input.
pub(super) fn codes(count: usize, zero_point: i32, kind: InputKind, seed: u64) -> Vec<f32> {
    // Numbers of variance 1 spread over most of the codes.
    const STEPS: f32 = 48.0;
    let code = |x: f32| (STEPS * x + zero_point as f32).round().clamp(-128.0, 127.0);
    match kind {
        InputKind::Range => reals(count, (-128.0, 128.0), kind, seed).into_iter().map(f32::floor).collect(),
        _ => reals(count, (0.0, 1.0), kind, seed).into_iter().map(code).collect(),
    }
}

/// Numbers; `range` counts for [`InputKind::Range`].
pub(super) fn reals(count: usize, (low, high): (f64, f64), kind: InputKind, seed: u64) -> Vec<f32> {
    let mut random = Random(seed);
    let mut fill = |element: &mut dyn FnMut(&mut Random) -> f64| -> Vec<f32> {
        (0..count).map(|_| element(&mut random) as f32).collect()
    };
    match kind {
        InputKind::Normal => fill(&mut Random::normal),
        InputKind::SignFlipped => fill(&mut |random| -random.normal()),
        InputKind::Large => fill(&mut |random| 100.0 * random.normal()),
        InputKind::Zeros => vec![0.0; count],
        InputKind::Range => fill(&mut |random| low + (high - low) * random.uniform()),
    }
}

/// The range that becomes -2 to 2 through the shifts and scales directly behind the input; 0 to 1 if there are none.
fn expected_range(graph: &Graph, input: ValueId) -> (f64, f64) {
    let readers = graph.readers();
    // The current value is `scale * input + shift`.
    let (mut scale, mut shift) = (1.0, 0.0);
    let mut at = input;
    for _ in 0..MOST_SCALING_NODES {
        let [reader] = readers[at.0 as usize][..] else { break };
        let node = &graph.nodes[reader];
        let parameter = |index: usize| {
            let id = node.inputs.get(index).copied().flatten()?;
            mean(graph.constant(id)?)
        };
        let step = match node.op.as_str() {
            "Transpose" | "Reshape" | "Identity" | "Cast" => Some((1.0, 0.0)),
            "Add" => parameter(1).or_else(|| parameter(0)).map(|c| (1.0, c)),
            "Mul" => parameter(1).or_else(|| parameter(0)).map(|c| (c, 0.0)),
            "Sub" => parameter(1).map(|c| (1.0, -c)),
            "Div" => parameter(1).map(|c| (1.0 / c, 0.0)),
            "BatchNormalization" => parameter(3).zip(parameter(4)).map(|(mean, variance)| {
                let deviation = variance.max(1e-12).sqrt();
                (1.0 / deviation, -mean / deviation)
            }),
            _ => None,
        };
        let (Some((factor, offset)), Some(&Some(output))) = (step, node.outputs.first()) else { break };
        scale *= factor;
        shift = shift * factor + offset;
        at = output;
    }
    let ends = [(-2.0 - shift) / scale, (2.0 - shift) / scale];
    match (scale, shift) == (1.0, 0.0) || !ends.iter().all(|end| end.is_finite() && end.abs() < 1e6) {
        true => (0.0, 1.0),
        false => (ends[0].min(ends[1]), ends[0].max(ends[1])),
    }
}

fn mean(tensor: &Tensor) -> Option<f64> {
    let elements = tensor.as_real().filter(|elements| !elements.is_empty())?;
    Some(elements.iter().sum::<f64>() / elements.len() as f64)
}

/// Random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// At least 0, below 1.
    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Mean 0, variance 1, by the method of Box and Muller.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::*;
    use crate::graph::{Node, Value};
    use crate::tensor::ElementType;

    fn value(name: &str, constant: Option<f64>) -> Value {
        let constant = constant.map(|x| Arc::new(Tensor::real(ElementType::F32, vec![1], vec![x]).unwrap()));
        Value { name: name.into(), element_type: Some(ElementType::F32), shape: Some(vec![1000]), constant }
    }

    fn graph(chain: &[(&str, f64)]) -> Graph {
        let mut graph = Graph::default();
        let mut at = graph.add_value(value("x", None));
        graph.inputs.push(at);
        for (index, (op, parameter)) in chain.iter().enumerate() {
            let parameter = graph.add_value(value(&format!("c{index}"), Some(*parameter)));
            let output = graph.add_value(value(&format!("y{index}"), None));
            graph.nodes.push(Node {
                name: format!("n{index}"),
                op: (*op).into(),
                domain: String::new(),
                inputs: vec![Some(at), Some(parameter)],
                outputs: vec![Some(output)],
                attributes: BTreeMap::new(),
            });
            at = output;
        }
        graph.outputs.push(at);
        graph
    }

    #[test]
    fn the_range_of_pixels_is_found() {
        let graph = graph(&[("Div", 255.0), ("Sub", 0.5), ("Mul", 4.0)]);
        let (low, high) = expected_range(&graph, graph.inputs[0]);
        assert!(low.abs() < 1e-9 && (high - 255.0).abs() < 1e-9, "{low} {high}");
        let values = values(&graph, graph.inputs[0], InputKind::Range, 3);
        assert!(values.iter().all(|x| (0.0..255.0).contains(x)) && values.iter().any(|x| *x > 200.0));
    }

    #[test]
    fn without_scaling_the_range_is_that_of_unit_pixels() {
        let graph = graph(&[("Conv", 2.0)]);
        assert_eq!(expected_range(&graph, graph.inputs[0]), (0.0, 1.0));
    }

    #[test]
    fn numbers_are_normal_and_repeatable() {
        let graph = graph(&[("Conv", 2.0)]);
        let normal = values(&graph, graph.inputs[0], InputKind::Normal, 7);
        assert_eq!(normal, values(&graph, graph.inputs[0], InputKind::Normal, 7));
        assert_ne!(normal, values(&graph, graph.inputs[0], InputKind::Normal, 8));
        let mean = normal.iter().sum::<f32>() / 1000.0;
        let variance = normal.iter().map(|x| x * x).sum::<f32>() / 1000.0;
        assert!(mean.abs() < 0.15 && (0.8..1.2).contains(&variance), "{mean} {variance}");
        let flipped = values(&graph, graph.inputs[0], InputKind::SignFlipped, 7);
        assert!(normal.iter().zip(&flipped).all(|(a, b)| *a == -b));
    }
}
