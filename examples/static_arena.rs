//! An arena whose size is fixed when the program is built, and a check at its start that it is enough. The library needs
//! neither a heap nor `std`; this program uses them to read the file.

use std::sync::Mutex;

use netkit::{MemoryPlan, Model, Network};

static MEMORY: Mutex<[u8; 1024]> = Mutex::new([0; 1024]);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bytes = std::fs::read("models/test_mlp.nk")?;
    let model = Model::parse(&bytes)?;
    let mut memory = MEMORY.lock().expect("nobody else has it");
    println!("needs {} bytes, has {}", MemoryPlan::of(&model)?.arena_bytes, memory.len());

    let mut network = Network::load(&model, memory.as_mut_slice())?;
    let mut output = [0.0; 2];
    network.run(&[1.0, 2.0], &mut output)?;
    println!("{}, {}", output[0], output[1]);
    Ok(())
}
