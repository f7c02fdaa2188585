//! An int8 model that reads a digit. The program converts the picture to the model's integers and the answer back, with
//! scales and zero points that the model tells.

use netkit::{MemoryPlan, Model, Network, regression};

const PICTURE: [&str; 16] = [
    "................",
    "......####......",
    "......####......",
    "....########....",
    "....########....",
    "......####......",
    "......####......",
    "......####......",
    "......####......",
    "......####......",
    "......####......",
    "......####......",
    "......####......",
    "....########....",
    "....########....",
    "................",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bytes = std::fs::read("models/digits_mlp_int8.nk")?;
    let model = Model::parse(&bytes)?;
    let plan = MemoryPlan::of(&model)?;
    let (Some(input_params), Some(output_params)) = (plan.input_quant, plan.output_quant) else {
        return Err("this is no int8 model".into());
    };
    let mut arena = vec![0; plan.arena_bytes];
    let mut network = Network::load(&model, &mut arena)?;

    let pixels = PICTURE.iter().flat_map(|row| row.bytes()).map(|pixel| if pixel == b'#' { 1.0 } else { 0.0 });
    let input: Vec<i8> = pixels.map(|pixel| input_params.quantize(pixel)).collect();
    let mut output = [0; 10];
    network.run_int8(&input, &mut output)?;
    let digit = regression::argmax(&output);
    println!("digit {digit}, {:.0} %", 100.0 * output_params.dequantize(output[digit]));
    Ok(())
}
