//! Prints the document for people.

use std::io::Write;

use netkit::text::{Dims, General};

use super::facts::{Document, Layer};
use super::memory::{Memory, Range, Step};
use super::quant::{Descriptor, Params, Quantization};
use super::tensors::{Contents, Sections, Tensor, Tests};
use crate::args::InspectArgs;
use crate::failure::Failure;
use crate::output::{Output, escaped};

type Printed = Result<(), Failure>;

/// The parts below the Network Summary.
pub(crate) fn print(document: &Document, args: &InspectArgs, out: &mut Output) -> Printed {
    if args.layers {
        layer_costs(document, out)?;
    }
    if args.full {
        arena(&document.memory, out)?;
    }
    if let Some(steps) = &document.plan {
        plan(steps, out)?;
    }
    if let Some(contents) = &document.contents {
        header(document, contents, out)?;
        sections(&contents.sections, out)?;
        layer_stack(&document.layers, out)?;
        catalog("Weight tensor catalog", "weight", &contents.weights, out)?;
        catalog("Bias tensor catalog", "bias", &contents.biases, out)?;
    }
    if let Some(Some(quantization)) = &document.quantization {
        quantized(quantization, out)?;
    }
    if let Some(contents) = &document.contents {
        tests(contents.tests.as_ref(), out)?;
    }
    Ok(())
}

/// Each layer with its costs, and the sums.
fn layer_costs(document: &Document, out: &mut Output) -> Printed {
    writeln!(out, "\nLayers ({}):", document.layers.len())?;
    let known = |value: Option<u64>| value.map_or("-".to_owned(), |value| value.to_string());
    let row = |layer: &Layer| {
        vec![
            format!("[{}]", layer.index),
            layer.kind.to_owned(),
            shape(layer.output_shape.as_deref()),
            known(layer.parameter_count),
            known(layer.macs),
            known(layer.weight_bytes),
        ]
    };
    let header = ["", "kind", "output", "parameters", "MACs", "weight bytes"];
    out.table(&header, document.layers.iter().map(row).collect())?;
    let memory = &document.memory;
    let [least, recommended] =
        [memory.arena_bytes, memory.recommended_arena_bytes].map(|bytes| known(bytes.map(|bytes| bytes as u64)));
    writeln!(out, "\nTotals:")?;
    writeln!(out, "  parameters:         {}", document.parameter_count)?;
    writeln!(out, "  MACs:               {}", known(memory.macs))?;
    writeln!(out, "  weight bytes:       {}", memory.flash_bytes)?;
    writeln!(out, "  least arena:        {least}")?;
    writeln!(out, "  recommended arena:  {recommended}")?;
    Ok(())
}

fn shape(dims: Option<&[u32]>) -> String {
    dims.map_or("?".to_owned(), |dims| Dims(dims).to_string())
}

fn arena(memory: &Memory, out: &mut Output) -> Printed {
    let flash = memory.flash_bytes;
    let (Some(arena), Some(plan), Some(activations), Some(live), Some(steps), Some(macs)) = (
        memory.arena_bytes,
        memory.plan_bytes,
        memory.activation_bytes,
        memory.peak_live_bytes,
        memory.steps,
        memory.macs,
    ) else {
        let reason = memory.arena_reason.as_deref().unwrap_or("unknown");
        writeln!(out, "\nArena (not known: {reason}):\n  flash payload:        {flash} bytes (not in arena)")?;
        return Ok(());
    };
    // Programs read the first two numbers by these exact words.
    writeln!(out, "\nArena ({arena} bytes needed):")?;
    writeln!(out, "  after load:           {arena} bytes")?;
    writeln!(out, "  after forward (zero): {arena} bytes")?;
    writeln!(out, "  flash payload:        {flash} bytes (not in arena)")?;
    writeln!(out, "  activations:          {activations} bytes (with scratch)")?;
    writeln!(out, "  largest live sum:     {live} bytes (activations cannot need less)")?;
    writeln!(out, "  plan:                 {plan} bytes ({steps} steps)")?;
    if let Some(tables @ 1..) = memory.table_bytes {
        writeln!(out, "  integer tables:       {tables} bytes (multipliers of every channel)")?;
    }
    if let (Some(packed), Some(recommended)) = (memory.packed_bytes, memory.recommended_arena_bytes) {
        writeln!(out, "  packed weights:       {packed} bytes (beyond what is needed, for faster runs)")?;
        writeln!(out, "  recommended arena:    {recommended} bytes (with packed weights and room to spare)")?;
    }
    writeln!(out, "  MACs of one run:      {macs}")?;
    Ok(())
}

fn plan(steps: &[Step], out: &mut Output) -> Printed {
    writeln!(out, "\nSteps ({}), places in bytes:", steps.len())?;
    let header = ["step", "layer", "operation", "kernel", "input", "output", "reads", "writes", "scratch", "MACs"];
    let row = |step: &Step| {
        let in_place = step.input == step.output;
        vec![
            step.index.to_string(),
            step.layer.to_string(),
            std::iter::once(step.op).chain(step.fused.iter().copied()).collect::<Vec<_>>().join("+"),
            step.kernel.map_or("-".to_owned(), |[rows, columns]| format!("{rows}x{columns}")),
            Dims(&step.input_shape).to_string(),
            Dims(&step.output_shape).to_string(),
            if in_place { "in place".to_owned() } else { place(&step.input) },
            place(&step.output),
            step.scratch.as_ref().map_or("-".to_owned(), place),
            step.macs.to_string(),
        ]
    };
    out.table(&header, steps.iter().map(row).collect())
}

fn place(range: &Range) -> String {
    format!("{} {}+{}", range.place, range.offset, range.bytes)
}

fn header(document: &Document, contents: &Contents, out: &mut Output) -> Printed {
    let flags = if document.flags.is_empty() { "none".to_owned() } else { document.flags.join(", ") };
    let flags = format!("0x{:04x} ({flags})", document.flag_bits);
    writeln!(out, "\nnetkit binary model (.nk)")?;
    writeln!(out, "  file:            {}", escaped(&document.path))?;
    writeln!(out, "  size:            {} bytes", document.file_bytes)?;
    writeln!(out, "  format version:  {}", document.format_version)?;
    writeln!(out, "  network:         {}", document.network)?;
    writeln!(out, "  input rank:      {}", document.input_shape.len())?;
    writeln!(out, "  input shape:     {}", Dims(&document.input_shape))?;
    writeln!(out, "  flags:           {flags}")?;
    writeln!(out, "  layers:          {}", document.layers.len())?;
    writeln!(out, "  weight tensors:  {} ({} bytes)", contents.weights.len(), contents.weights_bytes)?;
    writeln!(out, "  bias tensors:    {} ({} bytes)", contents.biases.len(), contents.biases_bytes)?;
    Ok(())
}

fn sections(sections: &Sections, out: &mut Output) -> Printed {
    writeln!(out, "\nSections (file offsets):")?;
    let known = [
        ("header", Some(sections.header)),
        ("layer records", Some(sections.layers)),
        ("weight catalog", Some(sections.weight_catalog)),
        ("bias catalog", Some(sections.bias_catalog)),
        ("quantization", sections.quantization),
        ("weights", Some(sections.weights)),
        ("biases", Some(sections.biases)),
        ("test cases", sections.tests),
        ("end of file", Some(sections.end)),
    ];
    for (name, offset) in known {
        if let Some(offset) = offset {
            writeln!(out, "  {:<16} {offset:>8}", format!("{name}:"))?;
        }
    }
    Ok(())
}

fn layer_stack(layers: &[Layer], out: &mut Output) -> Printed {
    writeln!(out, "\nLayer stack:")?;
    let row = |layer: &Layer| {
        vec![
            format!("[{}]", layer.index),
            layer.kind.to_owned(),
            layer.offset.to_string(),
            shape(layer.input_shape.as_deref()),
            shape(layer.output_shape.as_deref()),
            layer.parameters.to_string(),
        ]
    };
    out.table(&["", "kind", "offset", "input", "output", "fields"], layers.iter().map(row).collect())
}

fn catalog(title: &str, name: &str, tensors: &[Tensor], out: &mut Output) -> Printed {
    if tensors.is_empty() {
        writeln!(out, "\n{title}: empty")?;
        return Ok(());
    }
    writeln!(out, "\n{title}:")?;
    let row = |tensor: &Tensor| {
        vec![
            format!("{name}[{}]", tensor.index),
            layer_index(tensor.layer),
            tensor.dtype.to_owned(),
            Dims(&tensor.shape).to_string(),
            tensor.elements.to_string(),
            tensor.bytes.to_string(),
            tensor.offset.to_string(),
        ]
    };
    let header = ["", "layer", "dtype", "shape", "elements", "bytes", "offset"];
    out.table(&header, tensors.iter().map(row).collect())
}

fn layer_index(layer: Option<usize>) -> String {
    layer.map_or("-".to_owned(), |layer| layer.to_string())
}

fn quantized(section: &Quantization, out: &mut Output) -> Printed {
    let kind = if section.per_channel { "weight scales per channel" } else { "weight scales per tensor" };
    writeln!(out, "\nQuantization, {kind} (scale, zero point):")?;
    let params = |params: &Params| format!("{}, {}", General(params.scale), params.zero_point);
    let weights = |descriptor: &Descriptor| match &descriptor.channel_scales {
        None => params(&descriptor.weights),
        Some(channels) => {
            let (min, max) = (General(channels.min), General(channels.max));
            format!("{min}..{max} ({} channels), {}", channels.count, descriptor.weights.zero_point)
        }
    };
    let then = |descriptor: &Descriptor| match (descriptor.then, &descriptor.then_output) {
        (Some(name), Some(output)) => format!("{name}: {}", params(output)),
        _ => "-".to_owned(),
    };
    let row = |descriptor: &Descriptor| {
        vec![
            format!("weight[{}]", descriptor.index),
            layer_index(descriptor.layer),
            descriptor.kind.unwrap_or("-").to_owned(),
            params(&descriptor.input),
            weights(descriptor),
            params(&descriptor.bias),
            params(&descriptor.output),
            then(descriptor),
        ]
    };
    let header = ["", "layer", "kind", "input", "weights", "bias", "output", "then"];
    out.table(&header, section.descriptors.iter().map(row).collect())
}

fn tests(tests: Option<&Tests>, out: &mut Output) -> Printed {
    let Some(tests) = tests else {
        writeln!(out, "\nTest cases: none")?;
        return Ok(());
    };
    let tolerance = General(tests.tolerance);
    writeln!(out, "\nTest cases, tolerance {tolerance}, {} inputs:", tests.input_dtype)?;
    let row = |(index, case): (usize, &super::tensors::Case)| {
        vec![
            format!("[{index}]"),
            escaped(&case.name).into_owned(),
            case.label.map_or("-".to_owned(), |label| label.to_string()),
            case.inputs.to_string(),
            case.outputs.to_string(),
        ]
    };
    let header = ["", "name", "label", "inputs", "outputs"];
    out.table(&header, tests.cases.iter().enumerate().map(row).collect())
}
