//! Runs the C programs with a recorder between them and the library, and gathers its notes.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::c_header::{Function, Parameter};
use crate::c_library::{self, Language, Linkage};
use crate::promises::Statuses;

/// What the calls of a function gave, in all programs.
#[derive(Debug, Default)]
pub struct Notes {
    pub statuses: Statuses,
    /// For each pointer: of the calls in which it alone is NULL, and in which it leads to an empty handle.
    pub at_pointers: Vec<(Statuses, Statuses)>,
    /// Promises that were not kept, and where.
    pub broken: Vec<String>,
}

/// Runs every program of `c_tests`.
pub fn run_programs(functions: &[Function]) -> BTreeMap<String, Notes> {
    let folder = c_library::scratch("c_coverage");
    let recorder = compile_recorder(functions, &folder);
    let mut arguments = vec![recorder.display().to_string()];
    arguments.extend(functions.iter().map(|function| format!("-Wl,--wrap={}", function.name)));
    let mut notes = BTreeMap::new();
    for source in c_library::programs() {
        let program = c_library::compile(&source, Linkage::Shared, &folder, &arguments);
        let file = program.with_extension("notes");
        let _ = std::fs::remove_file(&file);
        let mut command = c_library::start(&program, &source, Linkage::Shared);
        // Whether the program is content shows in tests/c_abi.rs.
        c_library::output_of(command.env("NETKIT_RECORD", &file), "a C program");
        let text = std::fs::read_to_string(&file);
        let text = text.unwrap_or_else(|_| panic!("{} left no notes: it crashed", source.display()));
        text.lines().for_each(|line| gather(line, functions, &source, &mut notes));
    }
    notes
}

/// Adds a line of notes to those of the other programs.
fn gather(line: &str, functions: &[Function], source: &Path, notes: &mut BTreeMap<String, Notes>) {
    let mut words = line.split(' ');
    let name = words.next().unwrap_or_default();
    let function = functions.iter().find(|function| function.name == name).expect("the recorder knows no other names");
    let mut next = || Statuses::of_bits(words.next().and_then(|word| word.parse().ok()).expect("a set of statuses"));
    let sum = notes.entry(name.to_owned()).or_default();
    sum.statuses = sum.statuses.and(next());
    let pointers = function.parameters.iter().filter(|parameter| parameter.is_pointer()).count();
    sum.at_pointers.resize(pointers, (Statuses::NONE, Statuses::NONE));
    for (null, empty) in &mut sum.at_pointers {
        (*null, *empty) = (null.and(next()), empty.and(next()));
    }
    let broken = words.collect::<Vec<_>>().join(" ");
    if !broken.is_empty() {
        sum.broken.push(format!("{name} in {}: {broken}", source.display()));
    }
}

/// The functions that stand between a program and the library, as an object file.
fn compile_recorder(functions: &[Function], folder: &Path) -> PathBuf {
    let (source, object) = (folder.join("recorder.c"), folder.join("recorder.o"));
    std::fs::write(&source, recorder(functions)).expect("the target folder is writable");
    let mut command: Command = c_library::compiler(Language::C, "c11");
    command.arg("-I").arg(c_library::root().join("tests/c_coverage"));
    c_library::succeed(command.arg("-c").arg(&source).arg("-o").arg(&object), "compiling the recorder");
    object
}

fn recorder(functions: &[Function]) -> String {
    let mut text = String::from("#include \"recorder.h\"\n\nstatic record records[] = {\n");
    for function in functions {
        let pointers = function.parameters.iter().filter(|parameter| parameter.is_pointer());
        let names: Vec<_> = pointers.map(|parameter| format!("\"{}\"", parameter.name)).collect();
        let list = if names.is_empty() { "NULL".into() } else { format!("(const char *[]){{{}}}", names.join(", ")) };
        let _ = writeln!(text, "    {{\"{}\", {list}, {}, 0, 0, {{0}}, {{0}}, NULL}},", function.name, names.len());
    }
    text.push_str("};\n");
    for (index, function) in functions.iter().enumerate() {
        text.push_str(&wrapper(function, index));
    }
    text.push_str("\n__attribute__((destructor)) static void at_the_end(void) {\n");
    text.push_str("    write_notes(records, sizeof records / sizeof records[0]);\n}\n");
    text
}

fn wrapper(function: &Function, index: usize) -> String {
    let declared: Vec<_> = function.parameters.iter().map(|p| format!("{} {}", p.kind, p.name)).collect();
    let given: Vec<_> = function.parameters.iter().map(|p| p.name.as_str()).collect();
    let declared = if declared.is_empty() { "void".into() } else { declared.join(", ") };
    let (name, result) = (&function.name, &function.result);
    let mut text = format!("\n{result} __real_{name}({declared});\n{result} __wrap_{name}({declared});\n");
    let _ = writeln!(text, "{result} __wrap_{name}({declared}) {{\n    call this;");
    let _ = writeln!(text, "    begin(&this, &records[{index}], {});", promise(function));
    for parameter in function.parameters.iter().filter(|parameter| parameter.is_pointer()) {
        text.push_str(&look_at(function, parameter));
    }
    let call = format!("__real_{name}({})", given.join(", "));
    let (assign, give) = match result.as_str() {
        "void" => (String::new(), ""),
        _ => (format!("{result} result = "), "    return result;\n"),
    };
    let status = if result == "nk_status_t" { "(int)result" } else { "NK_OK" };
    let _ = write!(text, "    {assign}{call};\n    end(&this, {status});\n{give}}}\n");
    text
}

/// What a function promises about the text of the last error.
fn promise(function: &Function) -> &'static str {
    match function.result.as_str() {
        _ if function.about.contains("leaves the last error as it is") => "HAS_NO_STATUS",
        "nk_status_t" => "HAS_STATUS",
        _ if function.about.contains("nk_last_error()") || function.about.starts_with("Forgets") => "PROMISES_NOTHING",
        _ => "HAS_NO_STATUS",
    }
}

/// The statements of the recorder for a pointer.
fn look_at(function: &Function, parameter: &Parameter) -> String {
    let name = &parameter.name;
    let mut text = format!("    pointer(&this, {name} == NULL);\n");
    if parameter.is_handle() && !parameter.is_handle_to_fill() {
        let _ = writeln!(text, "    handle(&this, {name}, sizeof *{name});");
    }
    if function.result != "nk_status_t" || parameter.is_handle_to_fill() {
        return text;
    }
    if parameter.kind == "nk_arena_t *" {
        let _ = writeln!(text, "    arena_at(&this, {name});");
    } else if parameter.is_single_output() {
        let _ = writeln!(text, "    output_at(&this, {name}, sizeof *{name});");
    }
    text
}
