//! Embedded models run in the library, in an arena of exactly the size that the header tells.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{WARNINGS, has, root, succeed, write};
use netkit::Model;
use netkit_aot::{Mode, Options, Symbol, generate};

/// The static library; cargo builds it first.
fn library() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the folder lies in the target folder");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root()).args(["build", "--release", "--package", "netkit-capi"]);
    succeed(cargo.env("CARGO_TARGET_DIR", target), "cargo build of the C library");
    target.join("release/libnetkit.a")
}

fn embed(model: &str, symbol: &Symbol, folder: &Path) -> Vec<u8> {
    let bytes = std::fs::read(root().join("models").join(model)).expect("the model can be read");
    let options = Options { mode: Mode::Embed, with_main: true, with_test: true, ..Options::default() };
    let package = generate(&Model::parse(&bytes).expect("a model"), model, symbol, &options).expect("C");
    write(&package, folder);
    bytes
}

#[test]
fn embedded_models_pass_their_test_cases() {
    let library = library();
    let include = format!("-I{}", root().join("include").display());
    for model in ["digits_cnn.nk", "digits_cnn_dw_int8.nk", "kind_14_yolox_pafpn_multiscale.nk", "mlp_batch3.nk"] {
        let folder = tempfile::tempdir().expect("a folder");
        let symbol = Symbol::of_file(Path::new(model));
        embed(model, &symbol, folder.path());
        let source = format!("{}_aot.c", symbol.lower());
        let mut gcc = Command::new("gcc");
        gcc.current_dir(folder.path()).args(WARNINGS).args(["-O1", "-DNETKIT_AOT_MAIN", &include, &source]);
        succeed(gcc.arg(&library).args(["-lm", "-o", "program"]), "gcc");
        let text = succeed(&mut Command::new(folder.path().join("program")), model);
        assert!(text.ends_with("\n0 test cases failed\n"), "{model}: {text}");

        let header = format!("{}_aot.h", symbol.lower());
        std::fs::write(folder.path().join("header.cpp"), format!("#include \"{header}\"\n")).expect("written");
        let mut gxx = Command::new("g++");
        gxx.current_dir(folder.path()).args([
            "-std=c++11",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Wconversion",
            "-Werror",
        ]);
        succeed(gxx.args(["-fsyntax-only", &include, "header.cpp"]), "g++");
    }
}

/// The words are the bytes of the file, and nothing is read behind them.
#[test]
fn the_words_are_the_file() {
    for model in ["test_mlp.nk", "weight_tail_1_int8.nk"] {
        let folder = tempfile::tempdir().expect("a folder");
        let symbol = Symbol::new("net").expect("a name");
        let bytes = embed(model, &symbol, folder.path());
        let text = std::fs::read_to_string(folder.path().join("net_aot.c")).expect("the source");
        let (_, words) =
            text.split_once("aot_nk_words[").and_then(|(_, rest)| rest.split_once("= {\n")).expect("words");
        let (words, _) = words.split_once("};").expect("their end");
        let words = words.split(',').map(str::trim).filter(|word| !word.is_empty());
        let words = words.map(|word| u32::from_str_radix(word.strip_prefix("0x").expect("hex"), 16).expect("a number"));
        let mut read: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        assert!(read.len() - bytes.len() < 4, "{model}");
        assert!(read.split_off(bytes.len()).iter().all(|&byte| byte == 0), "{model}");
        assert_eq!(read, bytes, "{model}");
    }
}

/// Nobody runs a little-endian model on a big-endian processor by mistake.
#[test]
fn big_endian_compilers_refuse_embedded_models() {
    let compiler = "s390x-linux-gnu-gcc";
    if !has(compiler) {
        println!("SKIPPED: there is no {compiler}");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    embed("test_mlp.nk", &Symbol::new("net").expect("a name"), folder.path());
    let include = format!("-I{}", root().join("include").display());
    let output = Command::new(compiler).current_dir(folder.path()).args([&include, "-c", "net_aot.c"]).output();
    let text = String::from_utf8_lossy(&output.expect("it starts").stderr).into_owned();
    assert!(text.contains("generate this file with --mode lowered"), "{text}");
}
