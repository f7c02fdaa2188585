//! What each layer costs: parameters, bytes of weights, multiply-accumulates.

use netkit::format::TensorEntry;
use netkit::{MemoryPlan, Model};

use super::facts::Layer;

/// Elements of all weights and biases.
pub(crate) fn parameters(model: &Model<'_>) -> u64 {
    let tensors = model.weight_tensors().chain(model.bias_tensors());
    tensors.map(|tensor| u64::from(tensor.entry.num_elements())).sum()
}

/// Fills in the costs as far as they are known. `owners` are the layers of the tensor pairs in catalog order.
pub(crate) fn count(model: &Model<'_>, owners: &[usize], layers: &mut [Layer]) {
    let weights: Vec<TensorEntry> = model.weight_tensors().map(|tensor| tensor.entry).collect();
    let biases: Vec<TensorEntry> = model.bias_tensors().map(|tensor| tensor.entry).collect();
    for layer in layers.iter_mut().filter(|layer| layer.tensor_pairs.is_some()) {
        let pairs = owners.iter().enumerate().filter(|(_, owner)| **owner == layer.index).map(|(pair, _)| pair);
        let own = || pairs.clone().flat_map(|pair| [weights.get(pair), biases.get(pair)]).flatten();
        layer.parameter_count = Some(own().map(|entry| u64::from(entry.num_elements())).sum());
        layer.weight_bytes = Some(own().map(TensorEntry::num_bytes).sum());
    }
    let Ok(plan) = MemoryPlan::of(model) else { return };
    // The visitor never fails, and a model that has a plan can be told layer by layer.
    let _ = plan.for_each_layer(model, &mut |facts| {
        if let Some(layer) = layers.get_mut(facts.index) {
            layer.macs = Some(facts.macs);
            layer.merges_next = facts.result_shape != facts.output;
        }
        Ok(())
    });
}
