//! The embedded test cases of a model as a function in C.
//!
//! A float network is judged as the library's test runner does it: each output within the tolerance of the file and four
//! units in the last place. An int8 network must give the codes of the library, which are computed here: its expected
//! values in the file may come from anywhere.

use netkit::format::{self, Case, FLAG_TESTS, Values};
use netkit::{MemoryPlan, Model, Network};

use crate::Error;
use crate::options::{Options, Scratch};
use crate::program::Program;
use crate::symbol::Symbol;
use crate::template::fill;
use crate::text::{Literal, array};

/// Inputs and expected outputs, one case behind the other.
pub(crate) struct Cases {
    count: usize,
    values: CaseValues,
}

/// How a test runs the network.
struct Call {
    declarations: String,
    /// Up to the input.
    begin: String,
    /// From the output on.
    end: &'static str,
}

enum CaseValues {
    /// Also how far each output may be off.
    Float {
        inputs: Vec<f32>,
        expected: Vec<f32>,
        tolerance: f32,
    },
    Int8 {
        inputs: Vec<i8>,
        expected: Vec<i8>,
    },
}

impl Cases {
    /// The cases of a model; an error if it has none, or one that does not fit.
    pub(crate) fn gather(model: &Model<'_>) -> Result<Self, Error> {
        if model.header().flags & FLAG_TESTS == 0 {
            return Err(Error::NoCases);
        }
        let cases = format::Cases::read(model)?;
        let plan = MemoryPlan::of(model)?;
        let (inputs, outputs) = (plan.input.elements()? as usize, plan.output.elements()? as usize);
        for case in cases.iter() {
            check(&case, model.is_quantized(), inputs, outputs)?;
        }
        let values = if model.is_quantized() {
            let inputs: Vec<i8> = cases.iter().flat_map(|case| case.input.bytes()).map(|&byte| byte as i8).collect();
            let expected = run_int8(model, &plan, &inputs)?;
            CaseValues::Int8 { inputs, expected }
        } else {
            CaseValues::Float {
                inputs: cases.iter().flat_map(|case| case.input.floats()).collect(),
                expected: cases.iter().flat_map(|case| case.expected.floats()).collect(),
                tolerance: cases.tolerance,
            }
        };
        Ok(Self { count: cases.len(), values })
    }

    /// Bytes of the constants.
    pub(crate) fn flash_bytes(&self) -> u64 {
        let bytes = match &self.values {
            CaseValues::Float { inputs, expected, .. } => 4 * (inputs.len() + expected.len()),
            CaseValues::Int8 { inputs, expected } => inputs.len() + expected.len(),
        };
        bytes as u64
    }

    /// Declaration and definition for a lowered network.
    pub(crate) fn lowered(&self, program: &Program<'_>, symbol: &Symbol, options: &Options) -> (String, String) {
        let is_callers = options.scratch == Scratch::Caller;
        let parameters =
            if is_callers { format!("{} *scratch", crate::lowered::scratch_name(symbol)) } else { "void".to_owned() };
        let argument = if is_callers { "scratch, " } else { "" };
        let call = Call {
            declarations: String::new(),
            begin: format!("{}({argument}", crate::lowered::run_name(symbol, program.is_int8())),
            end: ", output)",
        };
        self.define(symbol, &parameters, &call)
    }

    /// The same for a model that the library has loaded.
    pub(crate) fn embedded(&self, symbol: &Symbol, run: &str) -> (String, String) {
        let call = Call {
            declarations: "    uint32_t count;\n".to_owned(),
            begin: format!("is_right = {run}(model, arena, "),
            end: ", output, &count) == NK_OK",
        };
        self.define(symbol, "const nk_model_t *model, nk_arena_t *arena", &call)
    }

    fn define(&self, symbol: &Symbol, parameters: &str, call: &Call) -> (String, String) {
        let count = self.count.to_string();
        let (arrays, template, tolerance) = match &self.values {
            CaseValues::Float { inputs, expected, tolerance } => {
                (arrays(inputs, expected), include_str!("templates/selftest_float.c"), tolerance.literal())
            }
            CaseValues::Int8 { inputs, expected } => {
                (arrays(inputs, expected), include_str!("templates/selftest_int8.c"), String::new())
            }
        };
        let values = [
            ("SYMBOL", symbol.upper()),
            ("symbol", symbol.lower().to_owned()),
            ("arrays", arrays),
            ("count", count),
            ("parameters", parameters.to_owned()),
            ("declarations", call.declarations.clone()),
            ("call", call.begin.clone()),
            ("call_end", call.end.to_owned()),
            ("tolerance", tolerance),
        ];
        (fill(include_str!("templates/selftest.h"), &values), fill(template, &values))
    }
}

/// Whether the self-test uses `NAN` or `INFINITY`, or compares floats.
pub(crate) fn need_math(cases: Option<&Cases>) -> bool {
    matches!(cases, Some(Cases { values: CaseValues::Float { .. }, .. }))
}

fn arrays<T: Literal>(inputs: &[T], expected: &[T]) -> String {
    array("nk_case_inputs", inputs) + &array("nk_case_outputs", expected)
}

/// Refuses a case of another type or size than the model.
fn check(case: &Case<'_>, is_int8: bool, inputs: usize, outputs: usize) -> Result<(), Error> {
    let has_int8 = matches!(case.input, Values::Int8(_));
    let problem = if has_int8 != is_int8 {
        "its input is of another type than that of the model"
    } else if case.input.len() != inputs {
        "its input has another number of values than that of the model"
    } else if case.expected.len() != outputs {
        "its output has another number of values than that of the model"
    } else {
        return Ok(());
    };
    Err(Error::Case { name: case.name.to_owned(), problem })
}

/// What the library computes for inputs one behind the other.
fn run_int8(model: &Model<'_>, plan: &MemoryPlan, inputs: &[i8]) -> Result<Vec<i8>, Error> {
    let mut region = vec![0; plan.arena_bytes];
    let mut network = Network::load_planned(model, plan, &mut region)?;
    let outputs = plan.output.elements()? as usize;
    let mut all = Vec::new();
    for input in inputs.chunks_exact(plan.input.elements()? as usize) {
        let mut output = vec![0; outputs];
        network.run_int8(input, &mut output)?;
        all.extend(output);
    }
    Ok(all)
}
