//! The trap models through lowering and the library: a right answer or a refusal, never a wrong answer.

mod common;
mod running;

use std::fs;

use common::{files_with_extension, read_npy, shared};
use netkit_convert::lower::{self, lower};
use netkit_convert::onnx::{Options, load};

/// Models with no exact form: mixed batch and features, dilated max pool, uneven strides of a max pool, gates, other activations, two
/// outputs, rounding in between.
const REFUSED: [&str; 9] = [
    "branched_mul_gate",
    "gemm_transA",
    "maxpool_dil",
    "maxpool_stride_2x1",
    "mlp_elu",
    "mlp_softmax_axis0",
    "qdq_linear",
    "two_outputs",
    "uib_relu6",
];

/// Residual sums that need more channels.
const CARRIED: [&str; 4] = ["resblock_5x5", "resblock_leaky", "resblock_no_final_relu", "resblock_no_mid_relu"];

#[test]
fn every_trap_is_computed_as_onnxruntime_does_or_refused() {
    let Some(folder) = shared("onnx-traps") else { return };
    let (mut right, mut refused, mut carried) = (Vec::new(), Vec::new(), Vec::new());
    for path in files_with_extension(&folder, "onnx") {
        let name = path.file_stem().unwrap().to_str().unwrap().to_string();
        let mut options = Options::default();
        if name == "dyn_hw" {
            options.add_input_shape("x=1,3,8,8").unwrap();
        }
        let Ok((graph, _)) = load(&fs::read(&path).unwrap(), Some(&folder), &options) else {
            refused.push(name);
            continue;
        };
        let lowered = match lower(&graph, lower::Options::default()) {
            Ok(lowered) => lowered,
            Err(_) => match lower(&graph, lower::Options { lower_residual: true, ..lower::Options::default() }) {
                Ok(lowered) => {
                    carried.push(name.clone());
                    lowered
                }
                Err(refusals) => {
                    for refusal in &refusals {
                        println!("{name}: {refusal}");
                    }
                    refused.push(name);
                    continue;
                }
            },
        };
        let ((_, x), (_, y)) = (read_npy(&path.with_extension("x.npy")), read_npy(&path.with_extension("y.npy")));
        let found = running::run(&lowered.network, &x);
        assert!(running::is_close(&found, &y), "{name}:\n{found:?}\n{y:?}\n{:?}", lowered.network.layers);
        right.push(name);
    }
    assert_eq!(refused, REFUSED);
    assert_eq!(carried, CARRIED);
    assert_eq!(right.len(), 75);
}
