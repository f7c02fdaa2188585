//! `netkit inspect`: describes a model without running it.

mod chain;
mod check;
mod cost;
pub(crate) mod facts;
mod fields;
mod memory;
mod quant;
mod tensors;
mod text;

use std::io::Write;

use netkit::{MemoryPlan, Model};

use crate::args::InspectArgs;
use crate::atomic;
use crate::draw;
use crate::failure::{Failure, Outcome, warn};
use crate::model_file::ModelFile;
use crate::output::{Output, escaped};

/// Shows whatever can be read; what makes the model unfit to load is the error at the end.
pub(crate) fn execute(args: &InspectArgs, out: &mut Output) -> Result<Outcome, Failure> {
    let file = ModelFile::read(&args.model)?;
    if args.check {
        return check::execute(&file, out);
    }
    let model = file.parse()?;
    let facts = facts::gather(&file, &model, args.full, args.tensors);
    if args.json {
        out.json(&facts.document)?;
    } else {
        let mut summary = String::new();
        // Writing to a string cannot fail.
        let _ = netkit::summary::write(&model, &escaped(&file.name), &mut summary);
        out.write_all(summary.as_bytes())?;
        text::print(&facts.document, args, out)?;
    }
    draw(args, &file, &model, &facts.document)?;
    out.finish()?;
    for warning in &facts.document.warnings {
        warn(&file.path, warning);
    }
    facts.fault.map_or(Ok(Outcome::Done), |error| Err(file.failure(&error)))
}

/// Writes the drawings that are asked for.
fn draw(args: &InspectArgs, file: &ModelFile, model: &Model<'_>, document: &facts::Document) -> Result<(), Failure> {
    if let Some(path) = &args.svg {
        atomic::write(path, draw::network::draw(model, document).as_bytes(), "the drawing")?;
    }
    if let Some(path) = &args.memory_svg {
        let plan = MemoryPlan::of(model).map_err(|error| file.failure(&error))?;
        let drawing = draw::memory::draw(model, &file.name, &plan).map_err(|error| file.failure(&error))?;
        atomic::write(path, drawing.as_bytes(), "the drawing")?;
    }
    Ok(())
}
