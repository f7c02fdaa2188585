//! What might go wrong: odd names, models without cases, the most layers, the same text twice.

mod common;

use std::path::Path;
use std::process::Command;

use common::{Lowered, WARNINGS, compare, compile, driver, root, run_driver, succeed, with_test, write};
use netkit::Model;
use netkit::format::records::{ActivationCode, Dense};
use netkit::format::write::{ModelSpec, Sink};
use netkit::format::{DType, Layer, NETWORK_MLP, TensorEntry};
use netkit_aot::{Error, Layout, Mode, Options, Scratch, Symbol, generate};

struct Bytes(Vec<u8>);

impl Sink for Bytes {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

/// An MLP of so many layers of 3 units without test cases.
fn deep_mlp(layers: usize) -> Vec<u8> {
    let layer = Layer::Dense(Dense { units: 3, activation: ActivationCode::TANH, alpha: 0.0 });
    let weights = vec![TensorEntry { rank: 2, dtype: DType::Float32, dims: [3, 3, 0, 0] }; layers];
    let biases = vec![TensorEntry { rank: 1, dtype: DType::Float32, dims: [3, 0, 0, 0] }; layers];
    let payload =
        |count: usize| (0..count).flat_map(|i| ((i % 7) as f32 / 4.0 - 0.7).to_le_bytes()).collect::<Vec<u8>>();
    let spec = ModelSpec {
        version: 3,
        network: NETWORK_MLP,
        input_rank: 2,
        input_shape: [1, 3, 0, 0],
        layers: &vec![layer; layers],
        weights: &weights,
        biases: &biases,
        quant: None,
        weight_payload: &payload(9 * layers),
        bias_payload: &payload(3 * layers),
        cases: None,
    };
    let mut bytes = Bytes(vec![]);
    spec.write(&mut bytes).expect("a model");
    bytes.0
}

/// Its C in a folder.
fn written(bytes: &[u8], name: &str, folder: &Path, options: &Options) -> Lowered {
    let path = folder.join(name);
    std::fs::write(&path, bytes).expect("the model can be written");
    Lowered::write(&path, folder, options)
}

#[test]
fn the_most_layers_that_a_model_may_have_and_no_cases() {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = deep_mlp(100);
    let deep = written(&bytes, "deep.nk", folder.path(), &Options::default());
    let networks = [deep];
    let driver = driver("gcc", WARNINGS, folder.path(), &networks);
    let expected = networks[0].expected(3, 1);
    compare(&networks[0], &expected, &run_driver(&driver, &networks[0], &expected.inputs));

    let model = Model::parse(&bytes).expect("a model");
    let refused = generate(&model, "deep.nk", &networks[0].symbol, &with_test());
    assert!(matches!(refused, Err(Error::NoCases)), "{refused:?}");
}

/// A name that would end a comment, begin a trigraph or a line, is no harm.
#[test]
fn odd_names_are_harmless() {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = std::fs::read(root().join("models/test_mlp.nk")).expect("the model can be read");
    let names = ["a*\" ??-*\n%s@run@.nk", "7 größen.nk", "while.nk", "-o.nk"];
    let networks: Vec<Lowered> = names.map(|name| written(&bytes, name, folder.path(), &with_test())).into();
    let symbols: Vec<&str> = networks.iter().map(|network| network.symbol.lower()).collect();
    assert_eq!(symbols, ["a_________s_run_", "m_7_gr__en", "while", "_o"]);
    let driver = driver("gcc", WARNINGS, folder.path(), &networks);
    networks.iter().for_each(|network| common::selftest(&driver, network));
    let options = Options { mode: Mode::Embed, ..Options::default() };
    for name in names {
        let model = Model::parse(&bytes).expect("a model");
        let package = generate(&model, name, &Symbol::new("net").expect("a name"), &options).expect("C");
        write(&package, folder.path());
        let include = format!("-I{}", root().join("include").display());
        compile("gcc", &[WARNINGS, &[&include]].concat(), folder.path(), &["net_aot.c".to_owned()]);
    }
}

/// The text depends on the model and the options alone.
#[test]
fn the_same_model_gives_the_same_text() {
    let bytes = std::fs::read(root().join("models/digits_cnn_int8.nk")).expect("the model can be read");
    let symbol = Symbol::new("net").expect("a name");
    let options = Options { with_main: true, ..with_test() };
    let generated =
        |bytes: &[u8]| generate(&Model::parse(bytes).expect("a model"), "m.nk", &symbol, &options).expect("C");
    let first = generated(&bytes);
    // Neither does the address matter: this copy of the model is not aligned.
    let shifted: Vec<u8> = [0].into_iter().chain(bytes.iter().copied()).collect();
    assert_eq!(first, generated(&shifted[1..]));
}

/// `main` of a network with memory of its own or of the caller runs the network and the test cases.
#[test]
fn the_main_program_tells_the_output() {
    for scratch in [Scratch::Static, Scratch::Caller] {
        for model in ["digits_mlp.nk", "digits_mlp_int8.nk"] {
            let folder = tempfile::tempdir().expect("a folder");
            let options = Options { scratch, with_main: true, ..with_test() };
            let network = Lowered::write(&root().join("models").join(model), folder.path(), &options);
            let mut gcc = Command::new("gcc");
            gcc.current_dir(folder.path()).args(WARNINGS).args([
                "-DNETKIT_AOT_MAIN",
                "-o",
                "program",
                &network.source(),
            ]);
            succeed(gcc.arg("-lm"), "gcc");
            let text = succeed(&mut Command::new(folder.path().join("program")), model);
            assert_eq!(text.lines().count(), 11, "{text}");
            assert!(text.ends_with("\n0 test cases failed\n"), "{text}");
        }
    }
}

/// The folder is what the Arduino IDE takes as a library: sources in `src`, the sketch in a folder of its name.
#[test]
fn an_arduino_library_compiles() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = Options { layout: Layout::Arduino, ..with_test() };
    let bytes = std::fs::read(root().join("models/digits_cnn_int8.nk")).expect("the model can be read");
    let package = generate(
        &Model::parse(&bytes).expect("a model"),
        "digits.nk",
        &Symbol::new("digits").expect("a name"),
        &options,
    )
    .expect("C");
    let paths: Vec<&str> = package.files.iter().map(|file| file.path.as_str()).collect();
    let expected = ["src/digits_aot.h", "src/digits_aot.c", "library.properties", "examples/run_once/run_once.ino"];
    assert_eq!(paths, expected.map(|path| format!("digits_aot/{path}")));
    write(&package, folder.path());
    let library = folder.path().join("digits_aot");
    compile("gcc", WARNINGS, &library.join("src"), &["digits_aot.c".to_owned()]);
    // What the IDE puts in front of a sketch, as far as this one uses it.
    let core = "struct SerialPort { void begin(long); template <class T> void print(T); template <class T> void \
                println(T, int = 0); void println(const char *); };\nextern SerialPort Serial;\nunsigned long micros();\n";
    let sketch = std::fs::read_to_string(library.join("examples/run_once/run_once.ino")).expect("the sketch");
    std::fs::write(library.join("sketch.cpp"), format!("{core}{sketch}")).expect("written");
    let mut gxx = Command::new("g++");
    succeed(
        gxx.current_dir(&library).args(["-std=c++11", "-Wall", "-Werror", "-Isrc", "-fsyntax-only", "sketch.cpp"]),
        "g++",
    );
}
