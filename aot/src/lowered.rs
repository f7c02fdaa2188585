//! C99 that needs nothing but its compiler: a header and a source file.

use crate::cases::{self, Cases};
use crate::options::{Layout, Options, Scratch};
use crate::package::{Cost, File, LayerCost, Package};
use crate::program::Program;
use crate::source::Source;
use crate::symbol::Symbol;
use crate::template::fill;
use crate::{Error, arduino, interface, main_program, steps, text};

use netkit::Model;

pub(crate) fn generate(
    model: &Model<'_>,
    file_name: &str,
    symbol: &Symbol,
    options: &Options,
) -> Result<Package, Error> {
    let program = Program::new(model)?;
    let mut source = Source::new(&program);
    steps::emit(&program, &mut source)?;
    let cases = if options.with_test { Some(Cases::gather(model)?) } else { None };
    let cost = cost(&program, &source, cases.as_ref())?;
    let parts = Parts { program: &program, source: &source, symbol, options, cases: cases.as_ref() };
    let values = parts.values(file_name, cost.ram_bytes)?;
    let files = files(symbol, include_str!("templates/lowered.h"), include_str!("templates/lowered.c"), &values);
    let files = match options.layout {
        Layout::Flat => files,
        Layout::Arduino => arduino::library(files, symbol, file_name, &program),
    };
    Ok(Package { files, cost })
}

/// The header and the source file of a network, made of templates.
pub(crate) fn files(symbol: &Symbol, header: &str, code: &str, values: &[(&str, String)]) -> Vec<File> {
    let code_name = format!("{}_aot.c", symbol.lower());
    let all = [(header_name(symbol), header), (code_name, code)];
    all.map(|(path, template)| File { path, text: fill(template, values) }).into()
}

pub(crate) fn header_name(symbol: &Symbol) -> String {
    format!("{}_aot.h", symbol.lower())
}

/// Name of the function that runs the network.
pub(crate) fn run_name(symbol: &Symbol, is_int8: bool) -> String {
    format!("{}_aot_run{}", symbol.lower(), if is_int8 { "_int8" } else { "" })
}

fn cost(program: &Program<'_>, source: &Source, cases: Option<&Cases>) -> Result<Cost, Error> {
    let layers = program.layers.iter().zip(&source.flash);
    let layers: Vec<LayerCost> =
        layers.map(|(facts, &flash_bytes)| LayerCost { kind: facts.kind, flash_bytes, macs: facts.macs }).collect();
    let bytes = program.element_bytes() as u64;
    Ok(Cost {
        flash_bytes: source.flash.iter().sum::<u64>() + cases.map_or(0, Cases::flash_bytes),
        ram_bytes: program.arena_elements() as u64 * bytes,
        input_bytes: u64::from(program.input.elements()?) * bytes,
        output_bytes: u64::from(program.output.elements()?) * bytes,
        layers,
    })
}

/// Everything that the templates have places for.
struct Parts<'p, 'm> {
    program: &'p Program<'m>,
    source: &'p Source,
    symbol: &'p Symbol,
    options: &'p Options,
    cases: Option<&'p Cases>,
}

impl Parts<'_, '_> {
    fn values(&self, file_name: &str, ram_bytes: u64) -> Result<Vec<(&'static str, String)>, Error> {
        let is_int8 = self.program.is_int8();
        let selftest = self.cases.map(|cases| cases.lowered(self.program, self.symbol, self.options));
        let (selftest_declaration, selftest) = selftest.unwrap_or_default();
        let all = self.source.all();
        let activations = if is_int8 { String::new() } else { steps::activations(&self.source.used) };
        let mut headers = self.source.used.headers(all);
        if cases::need_math(self.cases) {
            headers.extend(["float.h", "math.h"]);
        }
        let main = match self.options.with_main {
            true => main_program::lowered(self.program, self.symbol, self.options),
            false => String::new(),
        };
        Ok(vec![
            ("file", text::harmless(file_name)),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("summary", interface::summary(self.program)),
            ("SYMBOL", self.symbol.upper()),
            ("header", header_name(self.symbol)),
            ("headers", headers.iter().map(|header| format!("#include <{header}>\n")).collect()),
            ("interface", interface::macros(&self.program.model, self.symbol)?),
            ("ram", ram_bytes.to_string()),
            ("run", run_name(self.symbol, is_int8)),
            ("element", self.program.element().to_owned()),
            ("scratch", self.scratch_type()),
            ("scratch_parameter", self.scratch_parameter()),
            ("threads", if self.is_callers() { " with the same scratch memory" } else { "" }.to_owned()),
            ("kernels", self.source.used.text(all, ("epilogue", &activations))),
            ("constants", self.source.constants.clone()),
            ("arena", self.arena()),
            ("prologue", self.prologue()),
            ("calls", self.source.calls.clone()),
            ("selftest", selftest),
            ("selftest_declaration", selftest_declaration),
            ("main", main),
        ])
    }

    fn is_callers(&self) -> bool {
        self.options.scratch == Scratch::Caller
    }

    /// The type of the caller's memory, in the header.
    fn scratch_type(&self) -> String {
        if !self.is_callers() {
            return String::new();
        }
        let (element, elements) = (self.program.element(), self.program.arena_elements().max(1));
        let name = scratch_name(self.symbol);
        format!(
            "/* Memory that a run works in. What it holds before does not matter. */\n\
             typedef struct {{\n    {element} values[{elements}];\n}} {name};\n\n"
        )
    }

    fn scratch_parameter(&self) -> String {
        if self.is_callers() { format!("{} *scratch, ", scratch_name(self.symbol)) } else { String::new() }
    }

    /// The network's own memory.
    fn arena(&self) -> String {
        match self.program.arena_elements() {
            0 => String::new(),
            _ if self.is_callers() => String::new(),
            elements => format!("static {} arena[{elements}];\n\n", self.program.element()),
        }
    }

    fn prologue(&self) -> String {
        match self.program.arena_elements() {
            _ if !self.is_callers() => String::new(),
            0 => "    (void)scratch;\n".to_owned(),
            _ => format!("    {} *const arena = scratch->values;\n\n", self.program.element()),
        }
    }
}

pub(crate) fn scratch_name(symbol: &Symbol) -> String {
    format!("{}_aot_scratch_t", symbol.lower())
}
