//! `netkit inspect`: describes a model without running it.

mod chain;
mod facts;
mod fields;
mod memory;
mod quant;
mod tensors;
mod text;

use std::io::Write;

use crate::args::InspectArgs;
use crate::failure::{Failure, Outcome, warn};
use crate::model_file::ModelFile;
use crate::output::{Output, escaped};

/// Shows whatever can be read; what makes the model unfit to load is the error at the end.
pub(crate) fn execute(args: &InspectArgs, out: &mut Output) -> Result<Outcome, Failure> {
    let file = ModelFile::read(&args.model)?;
    let model = file.parse()?;
    let facts = facts::gather(&file, &model, args.full, args.tensors);
    if args.json {
        out.json(&facts.document)?;
    } else {
        let mut summary = String::new();
        // Writing to a string cannot fail.
        let _ = netkit::summary::write(&model, &escaped(&file.name), &mut summary);
        out.write_all(summary.as_bytes())?;
        text::print(&facts.document, args.full, out)?;
    }
    out.finish()?;
    for warning in &facts.document.warnings {
        warn(&file.path, warning);
    }
    facts.fault.map_or(Ok(Outcome::Done), |error| Err(file.failure(&error)))
}
