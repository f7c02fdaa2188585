//! The C of every model computes what the library computes, and compiles without a warning.

mod common;

use std::fs;
use std::path::Path;

use common::{Lowered, WARNINGS, compare, compile, driver, has, models, run_driver, selftest, succeed, with_test};
use netkit_aot::{Options, Scratch};

/// Largest model whose C is compiled by default: the time of a compiler grows with the weights.
const MOST_BYTES: u64 = 3 << 20;
/// Inputs for each model.
const INPUTS: usize = 6;

fn lower_all(folder: &Path, most_bytes: u64, options: &Options) -> Vec<Lowered> {
    let networks: Vec<Lowered> = models(most_bytes).iter().map(|path| Lowered::write(path, folder, options)).collect();
    let mut names: Vec<&str> = networks.iter().map(|network| network.symbol.lower()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), networks.len(), "two models have one name");
    networks
}

fn check_all(driver: &Path, networks: &[Lowered], inputs: usize) {
    for (index, network) in networks.iter().enumerate() {
        selftest(driver, network);
        let expected = network.expected(inputs, index as u64);
        compare(network, &expected, &run_driver(driver, network, &expected.inputs));
    }
}

#[test]
fn every_model_computes_what_the_library_computes() {
    let folder = tempfile::tempdir().expect("a folder");
    let networks = lower_all(folder.path(), MOST_BYTES, &with_test());
    let flags = [WARNINGS, &["-O2"]].concat();
    let driver = driver("gcc", &flags, folder.path(), &networks);
    check_all(&driver, &networks, INPUTS);
    headers_are_cpp(folder.path(), &networks);
}

/// The headers are those of C++ programs too.
fn headers_are_cpp(folder: &Path, networks: &[Lowered]) {
    let includes = networks.iter().map(|network| format!("#include \"{}_aot.h\"\n", network.symbol.lower()));
    let text: String = includes.collect();
    fs::write(folder.join("headers.cpp"), text).expect("the file can be written");
    let flags = ["-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-fsyntax-only"];
    let mut command = std::process::Command::new("g++");
    succeed(command.current_dir(folder).args(flags).arg("headers.cpp"), "g++");
}

/// Nothing overflows, is out of bounds or is read before it is written; with memory of the caller.
#[test]
fn sanitizers_find_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let networks = lower_all(folder.path(), 30 << 10, &Options { scratch: Scratch::Caller, ..with_test() });
    let flags = ["-std=c99", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-funsigned-char"];
    let driver = driver("gcc", &flags, folder.path(), &networks);
    check_all(&driver, &networks, 2);
}

/// Another compiler finds nothing to warn of either.
#[test]
fn clang_has_no_warnings() {
    if !has("clang") {
        println!("SKIPPED: there is no clang");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let options = Options { scratch: Scratch::Caller, with_main: true, ..with_test() };
    let networks = lower_all(folder.path(), 30 << 10, &options);
    let sources: Vec<String> = networks.iter().map(Lowered::source).collect();
    compile("clang", &[WARNINGS, &["-O1", "-DNETKIT_AOT_MAIN"]].concat(), folder.path(), &sources);
}

/// `cargo test -p netkit-aot -- --ignored`: models whose C is a hundred megabytes.
#[test]
#[ignore = "takes minutes and gigabytes"]
fn large_models_compute_what_the_library_computes() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut networks = lower_all(folder.path(), u64::MAX, &with_test());
    networks.retain(|network| network.bytes.len() as u64 > MOST_BYTES);
    let driver = driver("gcc", &[WARNINGS, &["-O2"]].concat(), folder.path(), &networks);
    check_all(&driver, &networks, 1);
}
