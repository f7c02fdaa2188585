//! `libnetkit.a` and `libnetkit.so` as a C programmer gets them, the C compiler, and the programs of `c_tests`.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Language of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cpp,
}

impl Language {
    fn of(source: &Path) -> Self {
        if source.extension().is_some_and(|extension| extension == "cpp") { Self::Cpp } else { Self::C }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Linkage {
    Static,
    Shared,
}

/// The programs: every C and C++ file of `c_tests` and `c_tests/compat`.
pub fn programs() -> Vec<PathBuf> {
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
    assert!(!sources.is_empty(), "there are no programs in c_tests");
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

/// Compiles a program together with `extra` arguments of the compiler.
pub fn compile(source: &Path, linkage: Linkage, folder: &Path, extra: &[String]) -> PathBuf {
    let name = source.file_stem().expect("a file has a name").to_string_lossy();
    let program = folder.join(format!("{name}_{linkage:?}"));
    let language = Language::of(source);
    let mut command = compiler(language, if language == Language::Cpp { "c++11" } else { "c11" });
    if is_compat(source) {
        command.arg("-DNK_COMPAT_NULLPTR");
    }
    command.arg(source).args(extra).arg("-o").arg(&program);
    match linkage {
        Linkage::Static => command.arg(library("libnetkit.a")),
        Linkage::Shared => command.arg(library("libnetkit.so")),
    };
    succeed(command.arg("-lm"), &format!("compiling {}", source.display()));
    program
}

/// Prepares a run of the program that was made of `source`, from the root of the repository; those of `c_tests/compat`
/// from a folder with the models that they look for.
pub fn start(program: &Path, source: &Path, linkage: Linkage) -> Command {
    let mut command = Command::new(program);
    command.current_dir(if is_compat(source) { folder_with_suite() } else { root() }).args(words(source));
    if let Linkage::Shared = linkage {
        command.env("LD_LIBRARY_PATH", folder_with_soname());
    }
    command
}

/// A file next to the built libraries; cargo builds them first.
pub fn library(name: &str) -> PathBuf {
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
        let folder = scratch("soname");
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
        let models = scratch("suite/models");
        let list = std::fs::read_to_string(root().join("c_tests/compat/suite.txt")).expect("the list is there");
        for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (name, stand_in) = line.split_once(' ').expect("two names");
            let from = root().join("models").join(format!("{}.nk", stand_in.trim()));
            std::fs::copy(from, models.join(format!("{name}.nk"))).expect("the model is there");
        }
        scratch("suite")
    })
    .clone()
}

/// The target folder that this test was built in.
fn target_folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the folder lies in the target folder").to_owned()
}

/// A folder for what a test writes.
pub fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    folder
}

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A call of the compiler for this machine, with the warnings that the header promises not to cause.
pub fn compiler(language: Language, standard: &str) -> Command {
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
pub fn succeed(command: &mut Command, what: &str) -> String {
    let output = output_of(command, what);
    let words = [command.get_program()].into_iter().chain(command.get_args()).collect::<Vec<_>>();
    assert!(output.status.success(), "{what} fails, {}:\n{words:?}\n{}", output.status, text_of(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn output_of(command: &mut Command, what: &str) -> Output {
    let program = command.get_program().to_string_lossy().into_owned();
    command.output().unwrap_or_else(|error| panic!("{what}: cannot run `{program}`, which this test needs: {error}"))
}

pub fn text_of(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
