//! The Rust examples print what the same examples print in C and C++; `examples/CMakeLists.txt` has those.

use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn rust_examples_print_what_the_others_print() {
    let expected = [
        ("quick_start", "3, 3\n"),
        ("two_models", "mlp: 3, 3\ncnn: 4, 4, 4, 4\n"),
        ("int8", "digit 1, 100 %\n"),
        ("threads", "400 of 400 runs gave 3, 3\n"),
        ("embedded_model", "3, 3\n"),
    ];
    for (name, output) in expected {
        assert_eq!(run(name), output, "{name}");
    }
    let printed = run("static_arena");
    assert!(printed.starts_with("needs ") && printed.ends_with(" bytes, has 1024\n3, 3\n"), "{printed}");
}

#[test]
fn every_rust_example_has_one_in_c_and_one_in_cpp() {
    let examples = root().join("examples");
    for entry in std::fs::read_dir(&examples).expect("examples can be listed") {
        let path = entry.expect("examples can be listed").path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            for extension in ["c", "cpp"] {
                assert!(path.with_extension(extension).exists(), "{} has no .{extension}", path.display());
            }
        }
    }
}

/// What an example prints. `cargo test` builds all of them beside this test; a test alone lets cargo do it.
fn run(name: &str) -> String {
    let mut command = match built(name) {
        Some(program) => Command::new(program),
        None => {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.args(["run", "--quiet", "--example", name]);
            cargo
        }
    };
    let output = command.current_dir(root()).output().expect("it starts");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn built(name: &str) -> Option<PathBuf> {
    let test = std::env::current_exe().ok()?;
    let program = test.parent()?.parent()?.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    program.exists().then_some(program)
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
