//! What the tests of the command share.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::io::Write;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use npyz::WriterBuilder;
use png::{BitDepth, ColorType};

/// Folder of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the repository").to_owned()
}

/// `netkit` with these arguments (split at blanks), in the folder of the repository and an environment without wishes.
pub fn netkit(arguments: &str) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("netkit"));
    command.current_dir(root()).args(arguments.split_whitespace());
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "GITHUB_ACTIONS", "NETKIT_REGRESSION_VERBOSE"] {
        command.env_remove(variable);
    }
    command
}

/// Standard output of a command that succeeds.
pub fn stdout(arguments: &str) -> String {
    let output = netkit(arguments).assert().success().stderr("").get_output().stdout.clone();
    String::from_utf8(output).expect("UTF-8")
}

/// The JSON document that a command prints.
pub fn json(arguments: &str) -> serde_json::Value {
    serde_json::from_str(&stdout(arguments)).expect("one JSON document")
}

/// The bytes of a model of the repository.
pub fn model(name: &str) -> Vec<u8> {
    std::fs::read(root().join("models").join(name)).expect("model")
}

/// A folder for files, and the path of one in it.
pub fn temporary(name: &str, bytes: &[u8]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("temporary file");
    let path = path.to_str().expect("UTF-8").to_owned();
    (folder, path)
}

/// An .npy file that an independent implementation wrote.
pub fn npy<T: npyz::AutoSerialize + Copy>(shape: &[u64], order: npyz::Order, values: &[T]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let options = npyz::WriteOptions::new().default_dtype().shape(shape).order(order);
    let mut writer = options.writer(&mut bytes).begin_nd().expect("header");
    writer.extend(values.iter().copied()).expect("values");
    writer.finish().expect("end");
    bytes
}

/// An .npz archive of arrays.
pub fn npz(arrays: &[(&str, Vec<u8>)], method: zip::CompressionMethod) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        archive.start_file(format!("{name}.npy"), options).expect("a member");
        archive.write_all(bytes).expect("written");
    }
    archive.finish().expect("an archive").into_inner()
}

/// A PNG image.
pub fn image(width: u32, height: u32, color: ColorType, depth: BitDepth, bytes: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    if color == ColorType::Indexed {
        encoder.set_palette(vec![0, 0, 0, 255, 128, 64]);
    }
    encoder.write_header().expect("a header").write_image_data(bytes).expect("pixels");
    file
}

/// The `.nk` files of the repository.
pub fn models() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("models")).expect("models");
    let paths = entries.map(|entry| entry.expect("entry").path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "nk")).collect()
}

/// The Network Summary of `models/test_mlp.nk`, as the format's specification shows it.
pub const SUMMARY: &str = "\
=====================================================
Network Summary
=====================================================

Name        : test_mlp
Type        : MLP
Version     : 3

Input Shape : [1, 2]

Layers (2)
-----------------------------------------------------
  [0] Dense units=2 activation=relu
  [1] Dense units=2 activation=none
-----------------------------------------------------
Input elements : 2
Output elements: 2
Weight floats  : 12
=====================================================
";
