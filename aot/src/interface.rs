//! What both modes say about a network in their header.

use netkit::format::quant::QuantParams;
use netkit::plan::shapes;
use netkit::tensor::Shape;
use netkit::{MemoryPlan, Model};

use crate::Error;
use crate::program::Program;
use crate::symbol::Symbol;
use crate::text::Literal;

/// A sentence about a lowered network.
pub(crate) fn summary(program: &Program<'_>) -> String {
    let (layers, kind) = (program.layers.len(), if program.is_int8() { "int8" } else { "float32" });
    format!("{layers} {} of {kind}, computed without the library.", if layers == 1 { "layer" } else { "layers" })
}

/// Macros about input and output.
pub(crate) fn macros(model: &Model<'_>, symbol: &Symbol) -> Result<String, Error> {
    let (input, output) = shapes(model)?;
    let plan = MemoryPlan::of(model)?;
    let mut text = side(symbol, "INPUT", input, plan.input_quant)?;
    text.push_str(&side(symbol, "OUTPUT", output, plan.output_quant)?);
    Ok(text)
}

fn side(symbol: &Symbol, side: &str, shape: Shape, quant: Option<QuantParams>) -> Result<String, Error> {
    let (dims, rank) = shape.dims();
    let dims: Vec<String> = dims.iter().take(rank as usize).map(u32::to_string).collect();
    let mut macros = vec![
        ("ELEMENTS", shape.elements()?.to_string()),
        ("RANK", rank.to_string()),
        ("SHAPE", format!("{{{}}}", dims.join(", "))),
    ];
    if let Some(quant) = quant {
        macros.push(("SCALE", quant.scale.literal()));
        macros.push(("ZERO_POINT", parenthesised(quant.zero_point)));
    }
    let prefix = format!("{}_AOT_{side}", symbol.upper());
    Ok(macros.iter().map(|(name, value)| format!("#define {prefix}_{name} {value}\n")).collect())
}

/// A number that stands in any expression as it is.
fn parenthesised(number: i32) -> String {
    if number < 0 { format!("({number})") } else { number.to_string() }
}
