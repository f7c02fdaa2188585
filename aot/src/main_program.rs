//! A program that runs a network once, for a first look at it on a new target.

use crate::lowered::{run_name, scratch_name};
use crate::options::{Options, Scratch};
use crate::program::Program;
use crate::symbol::Symbol;
use crate::template::fill;

/// What differs between the programs.
#[derive(Default)]
pub(crate) struct Parts {
    /// Memory that the calls need.
    pub(crate) declarations: String,
    /// Statements that run the network.
    pub(crate) run: String,
    /// Arguments of the self-test.
    pub(crate) selftest_arguments: String,
}

/// The program for a lowered network.
pub(crate) fn lowered(program: &Program<'_>, symbol: &Symbol, options: &Options) -> String {
    let run = run_name(symbol, program.is_int8());
    let parts = match options.scratch {
        Scratch::Static => Parts { run: format!("    {run}(input, output);\n"), ..Parts::default() },
        Scratch::Caller => Parts {
            declarations: format!("    static {} scratch;\n", scratch_name(symbol)),
            run: format!("    {run}(&scratch, input, output);\n"),
            selftest_arguments: "&scratch".to_owned(),
        },
    };
    program_with(symbol, program.is_int8(), options.with_test, &parts)
}

/// The program.
pub(crate) fn program_with(symbol: &Symbol, is_int8: bool, with_test: bool, parts: &Parts) -> String {
    let upper = symbol.upper();
    let zero = if is_int8 { format!("{upper}_AOT_INPUT_ZERO_POINT") } else { "0.0f".to_owned() };
    let selftest = format!(
        "    failures = {}_selftest({});\n    printf(\"%d test cases failed\\n\", failures);\n",
        symbol.lower(),
        parts.selftest_arguments
    );
    fill::<&str>(
        include_str!("templates/main.c"),
        &[
            ("SYMBOL", &upper),
            ("element", if is_int8 { "int8_t" } else { "float" }),
            ("also", if with_test { ", then how many test cases fail" } else { "" }),
            ("declarations", &parts.declarations),
            ("zero", &zero),
            ("run", &parts.run),
            ("format", if is_int8 { "%d" } else { "%.9g" }),
            ("shown", if is_int8 { "int" } else { "double" }),
            ("selftest", if with_test { &selftest } else { "" }),
        ],
    )
}
