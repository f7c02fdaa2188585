//! `capi/abi.txt` is the binary interface as a table: constants, enumerations, sizes and offsets of structures for x86-64
//! and i686, types of functions. It is made from `include/nk.h` by the C compiler's own figures and committed, so that a
//! change shows in review. `NETKIT_BLESS=1 cargo test --test abi_table` writes it.
//!
//! What nothing may change is written by hand: `capi/netkit_h.txt` and `c_tests/layout.c`, the functions and structures that
//! programs written for `netkit.h` use.
//!
//! Figures come from assembler text, which a compiler writes for both targets without a C library for either.
#![cfg(target_arch = "x86_64")]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const HEAD: &str = "\
# The binary interface of libnetkit, made from include/nk.h by tests/abi_table.rs. Offsets, sizes and alignments in bytes,
# x86-64 and i686. A line that changes or goes away breaks programs: raise NK_ABI_VERSION with it.
";

#[test]
fn the_binary_interface_is_the_committed_one() {
    let path = root().join("capi/abi.txt");
    let table = table(&Header::read());
    if std::env::var_os("NETKIT_BLESS").is_some() {
        std::fs::write(&path, &table).expect("capi/abi.txt is writable");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let (old, new): (BTreeSet<&str>, BTreeSet<&str>) = (committed.lines().collect(), table.lines().collect());
    let gone: Vec<_> = old.difference(&new).collect();
    let added: Vec<_> = new.difference(&old).collect();
    assert!(
        committed == table,
        "capi/abi.txt is outdated; see the top of this file\ngone, which breaks programs: {gone:#?}\nnew: {added:#?}"
    );
}

#[test]
fn handles_have_the_sizes_that_the_header_says() {
    let header = Header::read();
    let table = table(&header);
    for (name, bytes) in [("nk_arena", 64), ("nk_model", 96), ("nk_mlp", 16), ("nk_cnn", 16)] {
        assert!(table.contains(&format!("struct {name}: size {bytes} {bytes},")), "{name}\n{table}");
    }
    assert!(header.functions.len() > 150 && header.structs.len() > 15 && header.enums.len() > 5);
}

/// A program may be made of files in several languages, which pass each other structures.
#[test]
fn every_standard_of_c_has_the_same_layout() {
    let expressions = layout(&Header::read());
    for target in TARGETS {
        assert_eq!(figures(&expressions, target, "c99"), figures(&expressions, target, "c11"), "{target}");
    }
}

#[test]
fn structures_have_the_layout_that_programs_rely_on() {
    for target in TARGETS {
        let mut command = compiler("c11");
        check(command.args(["-fsyntax-only", target]).arg(root().join("c_tests/layout.c")));
    }
}

/// Calls each function with the types that programs written for `netkit.h` have.
#[test]
fn calls_of_netkit_h_compile() {
    let list = std::fs::read_to_string(root().join("capi/netkit_h.txt")).expect("capi/netkit_h.txt is there");
    let prototypes: Vec<&str> = list.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(prototypes.len(), 108, "functions of netkit.h");
    let mut program = String::from("#include <netkit.h>\n");
    for prototype in prototypes {
        let (head, types) = prototype.strip_suffix(')').and_then(|line| line.split_once('(')).expect("a prototype");
        let (result, name) = head.split_at(head.rfind([' ', '*']).expect("a result and a name") + 1);
        let types = types.split(", ").filter(|&kind| kind != "void").enumerate();
        let (parameters, arguments): (Vec<_>, Vec<_>) =
            types.map(|(at, kind)| (format!("{kind} p{at}"), format!("p{at}"))).unzip();
        let (parameters, arguments) = (parameters.join(", "), arguments.join(", "));
        let parameters = if parameters.is_empty() { "void" } else { &parameters };
        let give = if result == "void " { "" } else { "return " };
        let _ = writeln!(program, "{result}call_{name}({parameters});");
        let _ = writeln!(program, "{result}call_{name}({parameters}) {{ {give}{name}({arguments}); }}");
    }
    let source = scratch().join("calls.c");
    std::fs::write(&source, program).expect("the target folder is writable");
    for target in TARGETS {
        check(
            compiler("c11").args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", target]).arg(&source),
        );
    }
}

/// What the header declares, comments and conditions left out.
#[derive(Default)]
struct Header {
    constants: Vec<(String, String)>,
    enums: Vec<(String, Vec<String>)>,
    structs: Vec<(String, Vec<Field>)>,
    /// Type definitions that rename no structure, such as those of callbacks.
    types: Vec<String>,
    functions: Vec<String>,
}

struct Field {
    name: String,
    declaration: String,
}

impl Header {
    fn read() -> Self {
        let text = std::fs::read_to_string(root().join("include/nk.h")).expect("include/nk.h is there");
        Self::parse(&without_comments(&text))
    }

    fn parse(text: &str) -> Self {
        let mut header = Self::default();
        let mut code = String::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some((name, value)) = line.strip_prefix("#define NK_").and_then(|rest| rest.split_once(' ')) {
                let is_number = value.trim_start_matches(['(', '-']).starts_with(|c: char| c.is_ascii_digit());
                if is_number && !name.starts_with("VERSION_") {
                    header.constants.push((format!("NK_{name}"), value.trim().to_owned()));
                }
            }
            let mut last = line;
            while last.ends_with('\\') {
                last = lines.next().unwrap_or_default();
            }
            if !line.starts_with('#') && !line.starts_with("extern \"C\"") && !line.starts_with("} ") && line != "}" {
                code.push_str(line);
                code.push(' ');
            }
        }
        for statement in statements(&code) {
            header.add(&statement);
        }
        header
    }

    fn add(&mut self, statement: &str) {
        let body = || statement.split_once('{').and_then(|(head, rest)| Some((head, rest.rsplit_once('}')?.0)));
        if let Some(("enum", name)) = statement.split_once(' ').filter(|_| statement.contains('{')) {
            let (_, values) = body().expect("an enumeration has values");
            let values = values.split(',').map(spaced).filter(|value| !value.is_empty()).collect();
            self.enums.push((first_word(name), values));
        } else if let Some(("struct", name)) = statement.split_once(' ').filter(|_| statement.contains('{')) {
            let (_, fields) = body().expect("a structure has fields");
            let fields = fields.split(';').map(spaced).filter(|field| !field.is_empty());
            let fields = fields.map(|declaration| Field { name: declared_name(&declaration), declaration }).collect();
            self.structs.push((first_word(name), fields));
        } else if let Some(definition) = statement.strip_prefix("typedef ") {
            if !definition.starts_with("struct ") && !definition.starts_with("enum ") {
                self.types.push(definition.to_owned());
            }
        } else if statement.contains('(') {
            self.functions.push(without_parameter_names(statement));
        }
    }
}

/// The expressions whose values are the layout of the header's types.
fn layout(header: &Header) -> Vec<String> {
    let mut expressions = Vec::new();
    for (name, _) in &header.enums {
        expressions.push(format!("sizeof(enum {name})"));
    }
    for (name, fields) in &header.structs {
        expressions.push(format!("sizeof(struct {name})"));
        expressions.push(format!("__alignof__(struct {name})"));
        expressions.extend(fields.iter().map(|field| format!("offsetof(struct {name}, {})", field.name)));
    }
    expressions
}

/// The table; the C compiler fills in the figures.
fn table(header: &Header) -> String {
    let [wide, narrow] = TARGETS.map(|target| figures(&layout(header), target, "c11"));
    let mut figures = wide.iter().zip(&narrow).map(|(wide, narrow)| format!("{wide} {narrow}"));
    let mut next = || figures.next().expect("a figure for each expression");

    let mut text = String::from(HEAD);
    for (name, value) in &header.constants {
        let _ = writeln!(text, "constant {name} {value}");
    }
    for (name, values) in &header.enums {
        let _ = writeln!(text, "\nenum {name}: size {}", next());
        for value in values {
            let _ = writeln!(text, "  {name}: {value}");
        }
    }
    for (name, fields) in &header.structs {
        let (size, alignment) = (next(), next());
        let _ = writeln!(text, "\nstruct {name}: size {size}, alignment {alignment}");
        for field in fields {
            let _ = writeln!(text, "  {name}: {} at {}", field.declaration, next());
        }
    }
    text.push('\n');
    for definition in &header.types {
        let _ = writeln!(text, "type {definition}");
    }
    for function in &header.functions {
        let _ = writeln!(text, "function {function}");
    }
    text
}

/// The values of constant expressions for a target, as the compiler writes them into assembler text. Each is written
/// plus 1, because zeros are written in another way.
fn figures(expressions: &[String], target: &str, standard: &str) -> Vec<u32> {
    let source = scratch().join(format!("figures{target}.{standard}.c"));
    let mut program =
        String::from("#include <nk.h>\nextern const unsigned int figures[];\nconst unsigned int figures[] = {\n");
    for expression in expressions {
        let _ = writeln!(program, "    1u + (unsigned int)({expression}),");
    }
    program.push_str("};\n");
    std::fs::write(&source, program).expect("the target folder is writable");

    let text = check(compiler(standard).args(["-S", "-o", "-", target]).arg(&source));
    let values: Vec<u32> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix(".long"))
        .map(|value| value.trim().parse::<u32>().expect("a number") - 1)
        .collect();
    assert_eq!(values.len(), expressions.len(), "{text}");
    values
}

/// Options for x86-64 and i686.
const TARGETS: [&str; 2] = ["-m64", "-m32"];

/// The C compiler, as for a target without a C library.
fn compiler(standard: &str) -> Command {
    let mut build = cc::Build::new();
    build.target("x86_64-unknown-linux-gnu").host("x86_64-unknown-linux-gnu").opt_level(0);
    build.cargo_metadata(false).cargo_warnings(false).std(standard).include(root().join("include"));
    let mut command = build.try_get_compiler().expect("there is a C compiler").to_command();
    command.arg("-ffreestanding");
    command
}

/// Standard output of the compiler, which has to succeed.
fn check(command: &mut Command) -> String {
    let output = command.output().expect("the C compiler runs");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn scratch() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("abi_table");
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    folder
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn without_comments(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        code.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    code + rest
}

/// Splits at the semicolons outside of braces.
fn statements(code: &str) -> Vec<String> {
    let mut statements = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, c) in code.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ';' if depth == 0 => {
                statements.push(spaced(&code[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    statements.retain(|statement| !statement.is_empty());
    statements
}

/// One blank between words.
fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn first_word(text: &str) -> String {
    text.split([' ', '{']).next().unwrap_or_default().to_owned()
}

/// `x` of `int x`, `int *x`, `int x[4]` and `int (*x)(void)`.
fn declared_name(declaration: &str) -> String {
    if let Some((_, pointer)) = declaration.split_once("(*") {
        return pointer.split(')').next().unwrap_or_default().to_owned();
    }
    let head = declaration.split('[').next().unwrap_or_default();
    head.rsplit([' ', '*']).next().unwrap_or_default().to_owned()
}

/// `int f(int, const char *)` of `int f(int x, const char *y)`. Callbacks stay as they are.
fn without_parameter_names(function: &str) -> String {
    let Some((head, parameters)) = function.split_once('(') else { return function.to_owned() };
    let parameters = parameters.strip_suffix(')').unwrap_or(parameters);
    if parameters.contains('(') {
        return function.to_owned();
    }
    let types = parameters.split(',').map(|parameter| {
        let parameter = parameter.trim();
        let name = parameter.rsplit([' ', '*']).next().unwrap_or_default();
        if parameter == name { parameter } else { parameter[..parameter.len() - name.len()].trim_end() }
    });
    format!("{head}({})", types.collect::<Vec<_>>().join(", "))
}
