//! The library as C sees it: builds `libnetkit.a` and `libnetkit.so`, compiles every program of `c_tests` against both
//! and runs it, and checks what the shared library exports and needs.
//!
//! The compiler is the one that the `cc` crate finds for this machine: `$CC` or `cc`, `$CXX` or `c++`, with `$CFLAGS` or
//! `$CXXFLAGS`. Without it, `nm` or `ldd` these tests fail: an ABI that nobody looked at is not tested. `NETKIT_BLESS=1`
//! writes `capi/symbols.txt` anew.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Language of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    C,
    Cpp,
}

#[derive(Clone, Copy, Debug)]
enum Linkage {
    Static,
    Shared,
}

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
        let source = scratch(&format!("{header}.c"));
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

    let header = std::fs::read_to_string(root().join("include/nk.h")).expect("include/nk.h is there");
    assert_eq!(exported, declared_functions(&header), "libnetkit.so (left) and include/nk.h (right) differ");

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

/// Compiles and runs every program of `c_tests`, from the root of the repository; those of `c_tests/compat` from a folder
/// with the models that they look for.
fn run_programs(linkage: Linkage) {
    let mut failures = Vec::new();
    let programs = programs();
    assert!(!programs.is_empty(), "there are no programs in c_tests");
    for source in programs {
        let program = compile(&source, linkage);
        let mut command = Command::new(&program);
        command.current_dir(if is_compat(&source) { folder_with_suite() } else { root() });
        command.args(words(&source));
        if let Linkage::Shared = linkage {
            command.env("LD_LIBRARY_PATH", folder_with_soname());
        }
        let output = output_of(&mut command, "a C program");
        if !output.status.success() {
            failures.push(format!("{} ({linkage:?}), {}:\n{}", source.display(), output.status, text_of(&output)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The programs: every C and C++ file of `c_tests` and `c_tests/compat`.
fn programs() -> Vec<PathBuf> {
    let mut sources = Vec::new();
    for folder in ["c_tests", "c_tests/compat"] {
        let Ok(entries) = std::fs::read_dir(root().join(folder)) else { continue };
        sources.extend(
            entries
                .map(|entry| entry.expect("c_tests can be listed").path())
                .filter(|path| path.extension().is_some_and(|extension| extension == "c" || extension == "cpp")),
        );
    }
    sources.sort();
    sources
}

/// The command line of a program.
fn words(source: &Path) -> &'static [&'static str] {
    match source.file_name().and_then(|name| name.to_str()) {
        Some("infer_c.c" | "nk_infer.c") => &["models/test_mlp.nk", "1", "2"],
        Some("netkit_main.c") => &["test"],
        _ => &[],
    }
}

/// Whether a program was written for netkit.
fn is_compat(source: &Path) -> bool {
    source.parent().is_some_and(|folder| folder.ends_with("compat"))
}

fn compile(source: &Path, linkage: Linkage) -> PathBuf {
    let is_cpp = source.extension().is_some_and(|extension| extension == "cpp");
    let name = source.file_stem().expect("a file has a name").to_string_lossy();
    let program = scratch(&format!("{name}_{linkage:?}"));
    let mut command = if is_cpp { compiler(Language::Cpp, "c++11") } else { compiler(Language::C, "c11") };
    if is_compat(source) {
        command.arg("-DNK_COMPAT_NULLPTR");
    }
    command.arg(source).arg("-o").arg(&program);
    match linkage {
        Linkage::Static => command.arg(library("libnetkit.a")),
        Linkage::Shared => command.arg(library("libnetkit.so")),
    };
    succeed(command.arg("-lm"), &format!("compiling {}", source.display()));
    program
}

/// Names of the functions that the header declares, whatever macros they depend on.
fn declared_functions(header: &str) -> BTreeSet<String> {
    let mut code = String::new();
    let mut rest = header;
    while let Some((before, comment)) = rest.split_once("/*") {
        code.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    code.push_str(rest);
    let statements = code.lines().filter(|line| !line.starts_with(['#', ' '])).collect::<Vec<_>>().join("\n");
    let before_parentheses = statements.split('(').map(|part| part.rsplit([' ', '*', '\n']).next().unwrap_or_default());
    // Names of types of functions end with a parenthesis.
    before_parentheses.filter(|name| name.starts_with("nk_") && !name.ends_with(')')).map(str::to_owned).collect()
}

/// A file next to the built libraries; cargo builds them first.
fn library(name: &str) -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let folder = BUILT.get_or_init(|| {
        let target = target_folder();
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .current_dir(root())
            .args(["build", "--release", "--package", "netkit-capi"])
            .env("CARGO_TARGET_DIR", &target);
        succeed(&mut cargo, "cargo build of the C libraries");
        target.join("release")
    });
    folder.join(name)
}

/// A folder in which the loader finds the shared library under the name that programs ask for.
fn folder_with_soname() -> PathBuf {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = scratch("lib");
        std::fs::create_dir_all(&folder).expect("the target folder is writable");
        let major = env!("CARGO_PKG_VERSION_MAJOR");
        std::fs::copy(library("libnetkit.so"), folder.join(format!("libnetkit.so.{major}"))).expect("it was built");
        folder
    })
    .clone()
}

/// A folder in whose `models` the models of `c_tests/compat/suite.txt` have the names that programs for netkit know.
fn folder_with_suite() -> PathBuf {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = scratch("suite");
        let models = folder.join("models");
        std::fs::create_dir_all(&models).expect("the target folder is writable");
        let list = std::fs::read_to_string(root().join("c_tests/compat/suite.txt")).expect("the list is there");
        for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (name, stand_in) = line.split_once(' ').expect("two names");
            let from = root().join("models").join(format!("{}.nk", stand_in.trim()));
            std::fs::copy(from, models.join(format!("{name}.nk"))).expect("the model is there");
        }
        folder
    })
    .clone()
}

/// The target folder that this test was built in.
fn target_folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the folder lies in the target folder").to_owned()
}

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c_abi");
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    folder.join(name)
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A call of the compiler for this machine, with the warnings that the header promises not to cause.
fn compiler(language: Language, standard: &str) -> Command {
    let mut build = cc::Build::new();
    build.target(host()).host(host()).opt_level(1).debug(true).cargo_metadata(false).cargo_warnings(false);
    build.cpp(language == Language::Cpp).std(standard).include(root().join("include"));
    build.warnings(true).extra_warnings(true).flag("-Wpedantic").warnings_into_errors(true);
    build.try_get_compiler().expect("there is a C and C++ compiler").to_command()
}

/// The target triple of this machine, which cargo tells.
fn host() -> &'static str {
    static HOST: OnceLock<String> = OnceLock::new();
    HOST.get_or_init(|| {
        let version = succeed(Command::new(env!("CARGO")).arg("-vV"), "cargo -vV");
        let host = version.lines().find_map(|line| line.strip_prefix("host: "));
        host.expect("cargo names its host").to_owned()
    })
}

/// Standard output of a command that has to succeed.
fn succeed(command: &mut Command, what: &str) -> String {
    let output = output_of(command, what);
    let words = [command.get_program()].into_iter().chain(command.get_args()).collect::<Vec<_>>();
    assert!(output.status.success(), "{what} fails, {}:\n{words:?}\n{}", output.status, text_of(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn output_of(command: &mut Command, what: &str) -> Output {
    let program = command.get_program().to_string_lossy().into_owned();
    command.output().unwrap_or_else(|error| panic!("{what}: cannot run `{program}`, which this test needs: {error}"))
}

fn text_of(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
