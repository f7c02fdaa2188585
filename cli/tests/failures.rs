//! Exit codes, help, paths, pipes and damaged files.

mod common;

use std::io::Write;
use std::process::Stdio;

use common::{SUMMARY, model, netkit, root, temporary};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::{contains, starts_with};

#[test]
fn help_and_version_are_code_0() {
    for arguments in ["help", "-h", "--help", "help inspect", "run -h", "test --help", "inspect --help"] {
        netkit(arguments).assert().success().stderr("").stdout(contains("Usage: netkit"));
    }
    let version = format!("netkit {}\n", env!("CARGO_PKG_VERSION"));
    netkit("--version").assert().success().stdout(version);
}

#[test]
fn wrong_usage_is_code_2() {
    for arguments in [
        "",
        "frobnicate",
        "inspect",
        "test",
        "run",
        "inspect a.nk b.nk",
        "inspect a.nk --wrong",
        "--color red inspect a.nk",
    ] {
        netkit(arguments).assert().code(2).stdout("").stderr(contains("Usage").or(contains("--help")));
    }
}

#[test]
fn models_are_also_looked_for_in_the_parent_folder() {
    netkit("inspect models/test_mlp.nk").current_dir(root().join("docs")).assert().success().stdout(SUMMARY);
    netkit("inspect models/no_such.nk").current_dir(root().join("docs")).assert().code(3).stdout("").stderr(
        starts_with("netkit: models/no_such.nk: cannot open the model file: ").and(contains("the parent folder")),
    );
    netkit("inspect models").assert().code(3).stderr(starts_with("netkit: models: cannot read the model file: "));
}

#[test]
fn sentences_say_what_is_wrong_and_what_to_do() {
    let refused = |bytes: &[u8], sentence: &str, hint: &str| {
        let (_folder, path) = temporary("bad.nk", bytes);
        let expected = format!("netkit: {path}: {sentence}\n  hint: {hint}\n");
        for command in ["inspect", "run --input 1,2", "test -q"] {
            netkit(command).arg(&path).assert().code(3).stderr(expected.clone());
        }
    };
    let magic = "not a .nk model: the first four bytes are not NKIT";
    let convert = "only .nk files are read; convert other formats to .nk first";
    refused(b"", magic, convert);
    refused(b"PK\x03\x04 something else", magic, convert);
    let mut bytes = model("test_mlp.nk");
    bytes[4] = 9;
    refused(
        &bytes,
        "byte 4: format version is 9; this library reads versions 3 and 4",
        "export the model again with a writer of one of these versions",
    );
    let cut = "the file was cut or changed on its way; copy it again";
    refused(&model("test_mlp.nk")[..200], "file size is 200, expected at least 224", cut);
    let mut bytes = model("test_mlp.nk");
    bytes[48] = 15;
    let damaged = "the file is damaged, or its writer does not follow the format; export it again";
    refused(&bytes, "layer 0, byte 48: layer kind is 15, expected at most 14", damaged);
}

#[test]
fn every_prefix_ends_in_an_exit_code() {
    let bytes = model("test_mlp.nk");
    for len in (0..bytes.len()).step_by(3) {
        let (_folder, path) = temporary("prefix.nk", &bytes[..len]);
        let output = netkit("inspect --full --tensors").arg(&path).output().expect("started");
        // From byte 224 on only the test section is short.
        assert_eq!(output.status.code(), Some(if len < 224 { 3 } else { 0 }), "{len} bytes: {output:?}");
        assert!(!output.stderr.is_empty(), "{len} bytes");
    }
}

#[test]
fn changed_bytes_end_in_an_exit_code() {
    for name in ["test_mlp.nk", "relu6_int8.nk"] {
        let bytes = model(name);
        let parsed = netkit::Model::parse(&bytes).expect("valid");
        for at in 4..parsed.payload_offset() {
            let mut bad = bytes.clone();
            bad[at] ^= if at % 2 == 0 { 0xFF } else { 0x03 };
            let (_folder, path) = temporary("changed.nk", &bad);
            let output = netkit("inspect --full --tensors --json").arg(&path).output().expect("started");
            assert!(matches!(output.status.code(), Some(0 | 3)), "{name} byte {at}: {output:?}");
        }
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    for (arguments, code) in [("inspect models/test_mlp.nk --full", 0), ("help", 0), ("test no_such.nk", 3)] {
        let (reader, writer) = std::io::pipe().expect("pipe");
        drop(reader);
        let status = std::process::Command::new(assert_cmd::cargo::cargo_bin!("netkit"))
            .current_dir(root())
            .args(arguments.split(' '))
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .expect("started");
        assert_eq!(status.status.code(), Some(code), "{arguments}: {status:?}");
        assert_eq!(status.stderr.is_empty(), code == 0, "{arguments}: {status:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let output = std::process::Command::new(assert_cmd::cargo::cargo_bin!("netkit"))
        .current_dir(root())
        .args(["inspect", "models/test_mlp.nk"])
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .expect("started");
    assert_eq!(output.status.code(), Some(3));
    assert!(output.stderr.starts_with(b"netkit: standard output: "), "{output:?}");
}

#[test]
fn a_large_file_that_is_no_model_is_not_read() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("sparse.nk");
    let mut file = std::fs::File::create(&path).expect("file");
    file.write_all(b"nope").expect("written");
    file.set_len(1 << 40).expect("sparse");
    netkit("inspect").arg(&path).assert().code(3).stderr(contains("not a .nk model"));
}
