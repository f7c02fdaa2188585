//! The shortest program: read a model, load it into memory of ours, run it.

use netkit::{MemoryPlan, Model, Network};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bytes = std::fs::read("models/test_mlp.nk")?;
    let model = Model::parse(&bytes)?;
    let mut arena = vec![0; MemoryPlan::of(&model)?.arena_bytes];
    let mut network = Network::load(&model, &mut arena)?;
    let mut output = [0.0; 2];
    network.run(&[1.0, 2.0], &mut output)?;
    println!("{}, {}", output[0], output[1]);
    Ok(())
}
