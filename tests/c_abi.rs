//! The library as C sees it: builds `libnetkit.a` and `libnetkit.so`, compiles every program of `c_tests` against both
//! and runs it, and checks what the shared library exports and needs.
//!
//! The compiler is the one that the `cc` crate finds for this machine: `$CC` or `cc`, `$CXX` or `c++`, with `$CFLAGS` or
//! `$CXXFLAGS`. Without it, `nm` or `ldd` these tests fail: an ABI that nobody looked at is not tested. `NETKIT_BLESS=1`
//! writes `capi/symbols.txt` anew.

use std::collections::BTreeSet;
use std::process::Command;

use c_library::{Language, Linkage, compiler, library, output_of, root, scratch, succeed, text_of};

mod c_header;
mod c_library;

#[test]
fn c_programs_run_against_the_static_library() {
    run_programs(Linkage::Static);
}

#[test]
fn c_programs_run_against_the_shared_library() {
    run_programs(Linkage::Shared);
}

#[test]
fn the_header_compiles_alone_in_every_language() {
    for header in ["nk.h", "netkit.h"] {
        let source = scratch("c_abi").join(format!("{header}.c"));
        std::fs::write(&source, format!("#include \"{header}\"\nint not_an_empty_file;\n"))
            .expect("scratch is writable");
        let languages = [(Language::C, &["c99", "c11", "c17"][..]), (Language::Cpp, &["c++11", "c++17"])];
        for (language, standards) in languages {
            for standard in standards {
                let mut command = compiler(language, standard);
                command.args([
                    "-x",
                    if language == Language::C { "c" } else { "c++" },
                    "-fsyntax-only",
                    "-ffreestanding",
                ]);
                succeed(command.arg(&source), &format!("{header} alone as {standard}"));
            }
        }
    }
}

#[test]
fn the_shared_library_exports_what_the_header_declares() {
    let mut nm = Command::new("nm");
    let symbols = succeed(nm.args(["-D", "--defined-only"]).arg(library("libnetkit.so")), "nm");
    let exported: BTreeSet<String> =
        symbols.lines().filter_map(|line| line.split_whitespace().nth(2)).map(str::to_owned).collect();
    let foreign: Vec<_> = exported.iter().filter(|name| !name.starts_with("nk_")).collect();
    assert!(foreign.is_empty(), "libnetkit.so exports names that are not ours: {foreign:?}");

    let declared: BTreeSet<String> = c_header::functions().into_iter().map(|function| function.name).collect();
    assert_eq!(exported, declared, "libnetkit.so (left) and include/nk.h (right) differ");

    let list = root().join("capi/symbols.txt");
    let lines: String = exported.iter().map(|name| format!("{name}\n")).collect();
    if std::env::var_os("NETKIT_BLESS").is_some() {
        std::fs::write(&list, &lines).expect("capi/symbols.txt is writable");
    }
    let committed = std::fs::read_to_string(&list).unwrap_or_default();
    assert_eq!(lines, committed, "libnetkit.so (left) and capi/symbols.txt (right) differ; see the top of this file");
}

#[test]
fn the_shared_library_needs_the_c_library_only() {
    let needed = succeed(Command::new("ldd").arg(library("libnetkit.so")), "ldd");
    for line in needed.lines().map(str::trim) {
        let known = ["linux-vdso.so", "linux-gate.so", "libc.so", "libm.so", "ld-linux", "/lib/ld-", "/lib64/ld-"];
        let is_known = known.iter().any(|name| line.starts_with(name)) || line.contains("ld-musl");
        assert!(is_known, "libnetkit.so needs more than the C library: {line}");
    }
}

/// Running an int8 model uses integers only, so that a processor without a floating-point unit needs no emulation. What
/// computes multipliers at load, and the regression runner, are not part of a run.
#[cfg(target_arch = "x86_64")]
#[test]
fn the_int8_path_has_no_float_arithmetic() {
    let mut objdump = Command::new("objdump");
    let text = succeed(objdump.args(["-dC", "--no-show-raw-insn"]).arg(library("libnetkit.so")), "objdump");
    let in_a_run = |name: &str| {
        let is_kernel = ["kernels::int8::", "x86_64::int8::", "run::int8::"].iter().any(|path| name.contains(path))
            || name.ends_with("::run_int8");
        is_kernel && !name.contains("requantize::")
    };
    let mut function = "";
    let mut functions = 0;
    for line in text.lines() {
        if let Some((_, name)) = line.strip_suffix(">:").and_then(|line| line.split_once(" <")) {
            function = name;
            functions += usize::from(in_a_run(name));
        } else if in_a_run(function) && is_float_arithmetic(line) {
            panic!("{function}: {line}");
        }
    }
    assert!(functions > 20, "only {functions} int8 functions were found: have they been renamed?");
}

/// True for a line of disassembly that computes with floats; moves and bit operations on vector registers do not.
#[cfg(target_arch = "x86_64")]
fn is_float_arithmetic(line: &str) -> bool {
    let Some(mnemonic) = line.split_whitespace().nth(1) else { return false };
    let name = mnemonic.strip_prefix('v').unwrap_or(mnemonic);
    let computes =
        ["add", "sub", "mul", "div", "sqrt", "max", "min", "rcp", "rsqrt", "round", "dp", "hadd", "fm", "fnm"];
    let is_float = ["ss", "sd", "ps", "pd"].iter().any(|ending| name.ends_with(ending)) && !name.starts_with('p');
    let converts = name.starts_with("cvt") || name.contains("comis");
    converts || is_float && computes.iter().any(|start| name.starts_with(start))
}

/// Compiles and runs every program of `c_tests`.
fn run_programs(linkage: Linkage) {
    let mut failures = Vec::new();
    for source in c_library::programs() {
        let program = c_library::compile(&source, linkage, &scratch("c_abi"), &[]);
        let output = output_of(&mut c_library::start(&program, &source, linkage), "a C program");
        if !output.status.success() {
            failures.push(format!("{} ({linkage:?}), {}:\n{}", source.display(), output.status, text_of(&output)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
