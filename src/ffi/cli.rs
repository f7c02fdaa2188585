//! Command line
//!
//! The commands test, inspect and run as one function, for programs that bring them along under a name of their own. Only
//! on hosts.

use core::ffi::{c_char, c_int};

use super::cli_options::{Arguments, Options, Outcome, Problem};
use super::{cli_commands, files, print};

/// Does what a command line says and prints the answer to C stdout, and what went wrong to C stderr.
///
/// `NAME help` prints the commands. Models are .nk files, tried once more with `../` in front. Memory comes from the heap
/// for the duration of the call.
///
/// - `test [MODEL]` runs the test cases of a model, or as nk_run_all_tests().
/// - `inspect MODEL [--full]` prints the summary of nk_arch_print(), and with --full the arena bytes that the model takes
///   when it is loaded and after a run on zeros.
/// - `run MODEL --input VALUES` runs the model once on floats, such as `1,2.5`, and prints input and output. An int8 model
///   is run as by nk_model_run_auto().
/// - `--arena SIZE` in front of the command sets the size of the arena, such as `256k` or `4 MiB`; 64 MiB without.
///
/// - argc: number of arguments; the first is the name of the program and does not matter.
/// - argv: argc C strings. They are not changed.
///
/// Returns 0 when all went well, else 1. Threads: any; stdout and stderr are shared. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cli_run(argc: c_int, argv: *mut *mut c_char) -> c_int {
    // SAFETY: `argv` is NULL or by the conventions `argc` C strings.
    let mut arguments = unsafe { Arguments::new(argc, argv) };
    let Err(problem) = obey(&mut arguments) else { return 0 };
    if problem.is_misuse {
        help();
    }
    1
}

fn obey(arguments: &mut Arguments<'_>) -> Outcome {
    let options = Options::take(arguments)?;
    let command = arguments.next().ok_or(Problem::NO_COMMAND)?;
    match command.to_bytes() {
        b"help" | b"-h" | b"--help" => help(),
        _ if arguments.asks_for_help() => help(),
        b"test" => cli_commands::test(arguments)?,
        b"inspect" => cli_commands::inspect(&options, arguments)?,
        b"run" => cli_commands::run(&options, arguments)?,
        other => return Err(Problem::misuse(format_args!("Unknown command: {}", files::text_of(other)))),
    }
    Ok(())
}

fn help() {
    // A stdout that takes no text is the business of the program that closed it.
    print::with_stdout(|out| _ = out.write_str(HELP));
}

const HELP: &str = "\
Runs .nk neural-network models.

Usage:
  netkit [--arena SIZE] test [MODEL]
  netkit [--arena SIZE] inspect MODEL [--full]
  netkit [--arena SIZE] run MODEL --input VALUES
  netkit help

Commands:
  test      Run the test cases inside MODEL, or inside every .nk file in models/.
            NETKIT_REGRESSION_VERBOSE=0 in the environment makes the report short.
  inspect   Say what MODEL consists of.
              --full          also load and run it, and say what it takes in the arena
  run       Run MODEL once and print its input and output.
              --input VALUES  numbers with commas or blanks between them, such as 1,2.5;
                              an int8 model gets them quantized

Options:
  --arena SIZE   bytes of the arena, such as 65536, 256k or 4MiB (default 64MiB)
  -h, --help     print this text

A path that cannot be opened is tried once more with ../ in front of it.
The result is 0 when all went well and 1 otherwise.
";
