//! Two models in one arena, each in a part of its own. Both stay loaded and run in any order.

use netkit::{MemoryPlan, Model, Network};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mlp_bytes, cnn_bytes) = (std::fs::read("models/test_mlp.nk")?, std::fs::read("models/cnn_4x4_single.nk")?);
    let (mlp, cnn) = (Model::parse(&mlp_bytes)?, Model::parse(&cnn_bytes)?);

    let mut arena = [0; 16384];
    let (for_mlp, for_cnn) = arena.split_at_mut(MemoryPlan::of(&mlp)?.arena_bytes);
    let (mut mlp, mut cnn) = (Network::load(&mlp, for_mlp)?, Network::load(&cnn, for_cnn)?);

    let (mut sums, mut map) = ([0.0; 2], [0.0; 4]);
    cnn.run(&[1.0; 16], &mut map)?;
    mlp.run(&[1.0, 2.0], &mut sums)?;
    println!("mlp: {}, {}", sums[0], sums[1]);
    println!("cnn: {}, {}, {}, {}", map[0], map[1], map[2], map[3]);
    Ok(())
}
