//! The model's bytes for the library, with the calls that it takes.

use netkit::{MemoryPlan, Model};

use crate::cases::{self, Cases};
use crate::lowered::{files, header_name, run_name};
use crate::options::Options;
use crate::package::{Cost, LayerCost, Package};
use crate::symbol::Symbol;
use crate::{Error, interface, main_program, text};

pub(crate) fn generate(
    model: &Model<'_>,
    file_name: &str,
    symbol: &Symbol,
    options: &Options,
) -> Result<Package, Error> {
    model.check_payload()?;
    let plan = MemoryPlan::of(model)?;
    let is_int8 = model.is_quantized();
    let cases = if options.with_test { Some(Cases::gather(model)?) } else { None };
    let words = words(model.bytes());
    let run = run_name(symbol, is_int8);
    let (selftest_declaration, selftest) = cases.as_ref().map(|cases| cases.embedded(symbol, &run)).unwrap_or_default();
    let main = if options.with_main { program(symbol, &run, is_int8, options) } else { String::new() };
    let headers = if cases::need_math(cases.as_ref()) { "#include <float.h>\n#include <math.h>\n\n" } else { "" };
    let values = [
        ("file", text::harmless(file_name)),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("SYMBOL", symbol.upper()),
        ("symbol", symbol.lower().to_owned()),
        ("header", header_name(symbol)),
        ("headers", headers.to_owned()),
        ("interface", interface::macros(model, symbol)?),
        ("bytes", model.bytes().len().to_string()),
        ("arena", plan.arena_bytes.to_string()),
        ("recommended", plan.recommended_arena_bytes()?.to_string()),
        ("words", words.len().to_string()),
        ("elements", text::elements(&words)),
        ("run", run),
        ("element", if is_int8 { "int8_t" } else { "float" }.to_owned()),
        ("forward", if is_int8 { "nk_model_run_int8" } else { "nk_forward" }.to_owned()),
        ("selftest", selftest),
        ("selftest_declaration", selftest_declaration),
        ("main", main),
    ];
    let files = files(symbol, include_str!("templates/embed.h"), include_str!("templates/embed.c"), &values);
    Ok(Package { files, cost: cost(model, &plan, cases.as_ref())? })
}

/// The bytes of a model as little-endian words, the last one filled up with zeros.
fn words(bytes: &[u8]) -> Vec<u32> {
    let (words, rest) = bytes.as_chunks::<4>();
    let mut words: Vec<u32> = words.iter().map(|&word| u32::from_le_bytes(word)).collect();
    if !rest.is_empty() {
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        words.push(u32::from_le_bytes(last));
    }
    words
}

fn program(symbol: &Symbol, run: &str, is_int8: bool, options: &Options) -> String {
    let (lower, upper) = (symbol.lower(), symbol.upper());
    let parts = main_program::Parts {
        declarations: format!(
            "    static uint64_t memory[({upper}_AOT_ARENA_BYTES_AFTER_LOAD + 7) / 8];\n    nk_arena_t arena;\n    \
             nk_model_t model;\n    uint32_t count;\n"
        ),
        run: format!(
            "    {lower}_aot_init_arena(&arena, memory, sizeof memory);\n    if ({lower}_aot_load(&arena, &model) != NK_OK \
             ||\n        {run}(&model, &arena, input, output, &count) != NK_OK) {{\n        fprintf(stderr, \"%s\\n\", \
             nk_last_error());\n        return 1;\n    }}\n"
        ),
        selftest_arguments: "&model, &arena".to_owned(),
    };
    main_program::program_with(symbol, is_int8, options.with_test, &parts)
}

fn cost(model: &Model<'_>, plan: &MemoryPlan, cases: Option<&Cases>) -> Result<Cost, Error> {
    let mut layers = Vec::new();
    plan.for_each_layer(model, &mut |facts| {
        layers.push(LayerCost { kind: facts.kind, flash_bytes: facts.payload_bytes as u64, macs: facts.macs });
        Ok(())
    })?;
    let bytes = if model.is_quantized() { 1 } else { 4 };
    Ok(Cost {
        flash_bytes: model.bytes().len() as u64 + cases.map_or(0, Cases::flash_bytes),
        ram_bytes: plan.arena_bytes as u64,
        input_bytes: u64::from(plan.input.elements()?) * bytes,
        output_bytes: u64::from(plan.output.elements()?) * bytes,
        layers,
    })
}
