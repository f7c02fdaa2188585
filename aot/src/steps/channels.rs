//! What an int8 kernel does with a sum: bias, multipliers, the codes that a result may have.

use netkit::plan::steps::FLAG_POOLED;

use super::At;
use crate::Error;
use crate::source::{Source, fields};

/// Names of the arrays and structures of a step with weights.
pub(super) struct Channels {
    pub(super) bias: String,
    /// The bias as the file has it.
    pub(super) bias_at_edge: String,
    /// The structure `nk_channels`.
    pub(super) output: String,
    /// Whether a larger sum never has a smaller code: shifts to the left lose upper bits.
    pub(super) keeps_order: bool,
}

/// Where the zero point of the input goes into the bias.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    /// Everywhere: every sum runs over the whole filter.
    Always,
    /// Not at the edges of the map.
    Inside,
    /// The kernel subtracts it.
    Never,
}

impl Channels {
    /// Writes the tables of a step. What the zero points contribute to every sum goes into the bias; it wraps as the sums do.
    /// At edges of the map it does not, so that a step with edges has both; see [`Fold`].
    pub(super) fn emit(
        at: &At<'_, '_>,
        filters: &[Vec<i8>],
        bias: &[i32],
        fold: Fold,
        source: &mut Source,
    ) -> Result<Self, Error> {
        let quant = &at.step.quant;
        let (input, weight) = (i64::from(quant.input_zero_point), i64::from(quant.weight_zero_point));
        let folded = filters.iter().zip(bias).map(|(filter, &bias)| {
            let sum: i64 = filter.iter().map(|&code| i64::from(code)).sum();
            (i64::from(bias) - input * sum + input * weight * filter.len() as i64) as i32
        });
        let folded: Vec<i32> = folded.collect();
        let inside = if fold == Fold::Never { bias } else { &folded };
        let edges = if fold == Fold::Always { &folded } else { bias };
        let name = source.array(at.name("bias"), inside);
        let bias_at_edge = if inside == edges { name.clone() } else { source.array(at.name("bias_at_edge"), edges) };
        let (multipliers, shifts) = at.program.requantization(at.index)?;
        let keeps_order = shifts.iter().all(|&shift| shift <= 0);
        let output = fields(&[
            ("multipliers", source.array(at.name("multipliers"), &multipliers)),
            ("shifts", source.array(at.name("shifts"), &shifts)),
            ("codes", codes(quant.min, quant.max, i32::from(quant.output_zero_point))),
        ]);
        Ok(Self { bias: name, bias_at_edge, output, keeps_order })
    }
}

/// The structure `nk_codes`.
pub(super) fn codes(least: i8, largest: i8, zero_point: i32) -> String {
    fields(&[
        ("least", (i32::from(least) - zero_point).to_string()),
        ("largest", (i32::from(largest) - zero_point).to_string()),
        ("zero_point", zero_point.to_string()),
    ])
}

/// Extent of the blocks of which the largest result is the output.
pub(super) fn pool(at: &At<'_, '_>) -> String {
    if at.step.flags & FLAG_POOLED == 0 { "1" } else { "2" }.to_owned()
}
