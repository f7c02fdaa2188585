//! The model is part of the program: an aligned constant, which stays in flash on a microcontroller.

use netkit::{Model, Network};

/// Bytes at an address that is a multiple of 16, so that weights are used where they lie.
#[repr(align(16))]
struct Aligned<T: ?Sized>(T);

static MODEL: &Aligned<[u8]> = &Aligned(*include_bytes!("../models/test_mlp.nk"));

fn main() -> Result<(), netkit::Error> {
    let mut memory = [0; 4096];
    let model = Model::parse(&MODEL.0)?;
    let mut network = Network::load(&model, &mut memory)?;
    let mut output = [0.0; 2];
    network.run(&[1.0, 2.0], &mut output)?;
    println!("{}, {}", output[0], output[1]);
    Ok(())
}
