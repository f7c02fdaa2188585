use std::time::Instant;

use anyhow::{Result, anyhow};
use rten::{ModelOptions, Value};
use rten_tensor::Tensor;
use rten_tensor::prelude::*;
use rust_peers::{Arguments, Input, serve};

fn main() -> Result<()> {
    let arguments = Arguments::read()?;
    let start = Instant::now();
    let model = ModelOptions::with_all_ops().prepack_weights(true).load_file(&arguments.model)?;
    let shape = &arguments.shape[..];
    let input: Value = match arguments.input {
        Input::Float(values) => Tensor::from_data(shape, values).into(),
        Input::Int8(values) => Tensor::from_data(shape, values).into(),
        Input::Uint8(values) => Tensor::from_data(shape, values).into(),
    };
    let (from, to) = (model.input_ids()[0], model.output_ids()[0]);
    let run = || model.run(vec![(from, input.as_view().into())], &[to], None);
    serve(
        start,
        || {
            let output: Tensor<f32> =
                run()?.remove(0).try_into().map_err(|_| anyhow!("the output is not of floats"))?;
            Ok(output.iter().copied().collect())
        },
        || Ok(drop(std::hint::black_box(run()?))),
    )
}
