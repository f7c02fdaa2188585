//! The library is that of the Python package; `ORT_DYLIB_PATH` says where it is.

use std::cell::RefCell;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use ort::session::builder::GraphOptimizationLevel;
use ort::session::{Session, SessionOutputs};
use ort::value::{DynValue, Tensor};
use rust_peers::{Arguments, Input, serve};

fn main() -> Result<()> {
    let arguments = Arguments::read()?;
    let start = Instant::now();
    let session = load(&arguments.model)?;
    let shape = arguments.shape;
    let input: DynValue = match arguments.input {
        Input::Float(values) => Tensor::from_array((shape, values))?.into_dyn(),
        Input::Int8(values) => Tensor::from_array((shape, values))?.into_dyn(),
        Input::Uint8(values) => Tensor::from_array((shape, values))?.into_dyn(),
    };
    let mut binding = session.create_binding()?;
    binding.bind_input(session.inputs()[0].name(), &input)?;
    binding.bind_output_to_device(session.outputs()[0].name(), &session.allocator().memory_info())?;
    let session = RefCell::new(session);
    serve(
        start,
        || {
            let mut session = session.borrow_mut();
            let outputs: SessionOutputs<'_> = session.run_binding(&binding)?;
            Ok(outputs[0].try_extract_tensor::<f32>()?.1.to_vec())
        },
        || Ok(drop(std::hint::black_box(session.borrow_mut().run_binding(&binding)?))),
    )
}

fn load(model: &Path) -> Result<Session> {
    let library = std::env::var("ORT_DYLIB_PATH").context("ORT_DYLIB_PATH is not set")?;
    let environment = ort::environment::init_from(library)?.build()?;
    let session = || -> ort::Result<Session> {
        Ok(Session::builder(&environment)?
            .with_optimization_level(GraphOptimizationLevel::All)?
            .with_intra_threads(1)?
            .with_inter_threads(1)?
            .with_intra_op_spinning(false)?
            .commit_from_file(model)?)
    };
    Ok(session()?)
}
