use std::time::Instant;

use anyhow::{Result, anyhow, bail};
use rust_peers::{Arguments, Input, serve};
use tract_onnx::prelude::*;

fn main() -> Result<()> {
    let arguments = Arguments::read()?;
    let Input::Float(values) = &arguments.input else { bail!("float models only") };
    let start = Instant::now();
    let model = tract_onnx::onnx()
        .model_for_path(&arguments.model)?
        .with_input_fact(0, f32::fact(&arguments.shape).into())?
        .into_optimized()?
        .into_runnable()?;
    let input: TValue = Tensor::from_shape(&arguments.shape, values)?.into();
    let run = || model.run(tvec!(input.clone())).map_err(|error| anyhow!("{error:?}"));
    serve(
        start,
        || Ok(run()?[0].to_plain_array_view::<f32>()?.iter().copied().collect()),
        || run().map(|output| drop(std::hint::black_box(output))),
    )
}
