//! Normalisations: elements minus a mean, divided by a deviation.

use crate::tensor::{ElementType, Tensor};

use super::call::{axis, count, invalid, real};
use super::index::{Walk, broadcast_shape};
use super::{Call, Fault, Operator, Signature, since};

pub(super) const OPERATORS: &[Operator] = &[
    Operator { name: "BatchNormalization", opsets: since(7), inputs: 5..=5, infer: infer_batch, compute: batch },
    Operator { name: "InstanceNormalization", opsets: since(6), inputs: 3..=3, infer: infer_groups, compute: groups },
    Operator { name: "GroupNormalization", opsets: since(18), inputs: 3..=3, infer: infer_groups, compute: groups },
    Operator { name: "LayerNormalization", opsets: since(17), inputs: 2..=3, infer: infer_layer, compute: layer },
    Operator { name: "RMSNormalization", opsets: since(23), inputs: 2..=2, infer: infer_layer, compute: layer },
];

const EPSILON: f32 = 1e-5;

fn infer_batch(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    batch_epsilon(call)?;
    let input = call.real_input(0)?;
    let channels = *input.shape.get(1).unwrap_or(&1);
    for index in 1..5 {
        let parameter = call.real_input(index)?;
        if parameter.shape != [channels] {
            return invalid(format!("input {index} of shape {:?} for {channels} channels", parameter.shape));
        }
    }
    Ok(vec![Signature::new(input.kind, input.shape)])
}

fn batch_epsilon(call: &Call<'_>) -> Result<f64, Fault> {
    let attributes = call.attributes();
    let epsilon = attributes.float("epsilon", EPSILON)?;
    attributes.ignore(&["momentum"]);
    if call.opset < 9 && !attributes.flag("spatial", true)? {
        return Err(Fault::unsupported("spatial=0", "statistics of single pixels are not handled"));
    }
    if call.opset >= 14 && attributes.flag("training_mode", false)? {
        let advice = "export the model for inference".to_string();
        let (found, reason) = ("training_mode=1".to_string(), "statistics of the batch are not used".to_string());
        return Err(Fault::Unsupported { found, reason, advice: Some(advice) });
    }
    attributes.finish()?;
    call.only_first_output("statistics of training")?;
    Ok(epsilon)
}

fn batch(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let epsilon = batch_epsilon(call)?;
    let input = call.tensor(0)?;
    let shape = input.shape();
    let (scale, shift, mean, variance) = (call.reals(1)?, call.reals(2)?, call.reals(3)?, call.reals(4)?);
    let plane = count(shape.get(2..).unwrap_or_default())?;
    let mut output = call.reals(0)?.to_vec();
    for (index, plane) in output.chunks_exact_mut(plane.max(1)).enumerate() {
        let channel = index % mean.len();
        let factor = scale[channel] / (variance[channel] + epsilon).sqrt();
        plane.iter_mut().for_each(|x| *x = (*x - mean[channel]) * factor + shift[channel]);
    }
    Ok(vec![real(input.element_type(), shape, output)?])
}

/// Elements that share mean and deviation.
struct Groups {
    epsilon: f64,
    count: usize,
    /// Whether scale and shift belong to groups rather than to channels.
    scales_groups: bool,
}

impl Groups {
    fn read(call: &Call<'_>) -> Result<Self, Fault> {
        let attributes = call.attributes();
        let epsilon = attributes.float("epsilon", EPSILON)?;
        let input = call.real_input(0)?.shape;
        let [_, channels, ..] = *input else {
            return invalid(format!("an input of shape {input:?}, which has no channels"));
        };
        let count = match call.op() {
            "GroupNormalization" => usize::try_from(attributes.required_int("num_groups")?).unwrap_or(0),
            _ => channels,
        };
        if call.op() == "GroupNormalization" && call.opset >= 21 {
            attributes.ignore(&["stash_type"]);
        }
        attributes.finish()?;
        if count == 0 || channels % count != 0 {
            return invalid(format!("{count} groups of {channels} channels"));
        }
        let scales_groups = call.op() == "GroupNormalization" && call.opset < 21;
        let expected = if scales_groups { count } else { channels };
        for index in 1..3 {
            let parameter = call.real_input(index)?;
            if parameter.shape != [expected] {
                return invalid(format!("input {index} of shape {:?}, expected [{expected}]", parameter.shape));
            }
        }
        Ok(Self { epsilon, count, scales_groups })
    }
}

fn infer_groups(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    Groups::read(call)?;
    let input = call.input(0)?;
    Ok(vec![Signature::new(input.kind, input.shape)])
}

fn groups(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let groups = Groups::read(call)?;
    let input = call.tensor(0)?;
    let shape = input.shape();
    let (scale, shift) = (call.reals(1)?, call.reals(2)?);
    let plane = count(&shape[2..])?.max(1);
    let channels = shape[1] / groups.count;
    let mut output = call.reals(0)?.to_vec();
    for (index, group) in output.chunks_exact_mut(channels * plane).enumerate() {
        normalize(group, groups.epsilon, true);
        let group_index = index % groups.count;
        for (channel, plane) in group.chunks_exact_mut(plane).enumerate() {
            let place = if groups.scales_groups { group_index } else { group_index * channels + channel };
            plane.iter_mut().for_each(|x| *x = *x * scale[place] + shift[place]);
        }
    }
    Ok(vec![real(input.element_type(), shape, output)?])
}

/// Subtracts the mean, if wanted, and divides by the deviation. Returns the mean and what was multiplied with.
fn normalize(elements: &mut [f64], epsilon: f64, subtracts_mean: bool) -> (f64, f64) {
    let count = elements.len() as f64;
    let mean = if subtracts_mean { elements.iter().sum::<f64>() / count } else { 0.0 };
    elements.iter_mut().for_each(|x| *x -= mean);
    let variance = elements.iter().map(|x| x * x).sum::<f64>() / count;
    let factor = 1.0 / (variance + epsilon).sqrt();
    elements.iter_mut().for_each(|x| *x *= factor);
    (mean, factor)
}

/// Epsilon and the first normalised axis.
fn layer_parameters(call: &Call<'_>) -> Result<(f64, usize), Fault> {
    let attributes = call.attributes();
    let epsilon = attributes.float("epsilon", EPSILON)?;
    let first = attributes.int("axis", -1)?;
    attributes.ignore(&["stash_type"]);
    attributes.finish()?;
    Ok((epsilon, axis(first, call.real_input(0)?.shape.len())?))
}

fn infer_layer(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    let (_, first) = layer_parameters(call)?;
    let input = call.input(0)?;
    for index in 1..call.inputs.len() {
        if call.optional(index).is_some() {
            let parameter = call.real_input(index)?;
            if broadcast_shape(parameter.shape, input.shape)? != input.shape {
                return invalid(format!("input {index} of shape {:?} for {:?}", parameter.shape, input.shape));
            }
        }
    }
    let output = Signature::new(input.kind, input.shape);
    if call.op() == "RMSNormalization" {
        return Ok(vec![output]);
    }
    let ones = vec![1; input.shape.len() - first];
    let statistic = Signature::new(ElementType::F32, [&input.shape[..first], &ones].concat());
    Ok(vec![output, statistic.clone(), statistic])
}

fn layer(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let (epsilon, first) = layer_parameters(call)?;
    let input = call.tensor(0)?;
    let shape = input.shape();
    let mut output = call.reals(0)?.to_vec();
    let groups = output.chunks_exact_mut(count(&shape[first..])?.max(1));
    let subtracts_mean = call.op() == "LayerNormalization";
    let statistics = groups.map(|group| normalize(group, epsilon, subtracts_mean));
    let (means, factors): (Vec<f64>, Vec<f64>) = statistics.unzip();
    let scale = call.reals(1)?;
    for (element, index) in output.iter_mut().zip(Walk::broadcast(call.input(1)?.shape, shape)) {
        *element *= scale[index];
    }
    if let Some(shift) = call.optional(2) {
        let elements = call.reals(2)?;
        for (element, index) in output.iter_mut().zip(Walk::broadcast(shift.shape, shape)) {
            *element += elements[index];
        }
    }
    let signatures = infer_layer(call)?.into_iter();
    let results = signatures.zip([output, means, factors]);
    results.map(|(Signature { kind, shape }, elements)| real(kind, &shape, elements)).collect()
}
