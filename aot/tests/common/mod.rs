//! What the tests share: models at hand, their C, and a program that runs many of them.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, thread};

use netkit::{MemoryPlan, Model, Network};
use netkit_aot::{Layout, Options, Package, Scratch, Symbol, generate};

/// Folder of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the repository").to_owned()
}

/// The models of the repository, and those beside it of at most so many bytes, unless `NETKIT_OWN_MODELS` is set.
pub fn models(most_bytes: u64) -> Vec<PathBuf> {
    let mut folders = vec![root().join("models")];
    if std::env::var_os("NETKIT_OWN_MODELS").is_none() {
        folders.push(root().join("../shared/models/netkit"));
    }
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let paths = entries.map(|entry| entry.expect("entry").path());
    let is_model = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "nk");
    let mut models: Vec<PathBuf> = paths.filter(is_model).collect();
    models.retain(|path| path.metadata().expect("metadata").len() <= most_bytes);
    models.sort();
    assert!(models.len() > 100, "the models of the repository are missing: run python3 models/generate.py");
    models
}

/// A model whose C is in a folder.
pub struct Lowered {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    pub symbol: Symbol,
    pub is_int8: bool,
    pub has_selftest: bool,
    pub scratch: Scratch,
}

impl Lowered {
    /// Writes the C of a model into a folder.
    pub fn write(path: &Path, folder: &Path, options: &Options) -> Self {
        let bytes = fs::read(path).expect("the model can be read");
        let own = Symbol::of_file(path);
        // Both folders have models of the same name.
        let is_own = !path.starts_with(root().join("../shared"));
        let symbol = if is_own { own } else { Symbol::new(&format!("other_{}", own.lower())).expect("a name") };
        let name = path.file_name().expect("a name").to_string_lossy();
        let model = Model::parse(&bytes).expect("a model");
        let package =
            generate(&model, &name, &symbol, options).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        write(&package, folder);
        let is_int8 = model.is_quantized();
        Self {
            path: path.to_owned(),
            symbol,
            is_int8,
            has_selftest: options.with_test,
            scratch: options.scratch,
            bytes,
        }
    }

    pub fn source(&self) -> String {
        format!("{}_aot.c", self.symbol.lower())
    }
}

/// Writes the files of a package.
pub fn write(package: &Package, folder: &Path) {
    for file in &package.files {
        let path = folder.join(&file.path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be made");
        fs::write(path, &file.text).expect("the file can be written");
    }
}

/// The usual options of these tests.
pub fn with_test() -> Options {
    Options { with_test: true, layout: Layout::Flat, ..Options::default() }
}

/// What every file must compile with.
pub const WARNINGS: &[&str] = &["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"];

/// Compiles files in `folder` to objects, each processor some of them.
pub fn compile(compiler: &str, flags: &[&str], folder: &Path, sources: &[String]) {
    let workers = thread::available_parallelism().map_or(1, usize::from).min(8);
    // Large ones lie beside each other in the list.
    let shares: Vec<Vec<&String>> =
        (0..workers).map(|worker| sources.iter().skip(worker).step_by(workers).collect()).collect();
    thread::scope(|scope| {
        for share in shares.iter().filter(|share| !share.is_empty()) {
            scope.spawn(move || {
                let mut command = Command::new(compiler);
                succeed(command.current_dir(folder).args(flags).arg("-c").args(share), compiler);
            });
        }
    });
}

/// Standard output of a command that must succeed.
pub fn succeed(command: &mut Command, what: &str) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{what} cannot be started: {error}"));
    let text = String::from_utf8_lossy(&output.stderr);
    let first: Vec<&str> = text.lines().take(40).collect();
    assert!(output.status.success(), "{what}: {}\n{}", output.status, first.join("\n"));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Whether a program is on this machine.
pub fn has(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Compiles all networks and a program that runs each of them: `driver NAME` turns inputs on standard input into outputs,
/// `driver NAME test` runs the self-test.
pub fn driver(compiler: &str, flags: &[&str], folder: &Path, networks: &[Lowered]) -> PathBuf {
    let mut includes = String::new();
    let mut table = String::new();
    for network in networks {
        let (lower, upper) = (network.symbol.lower(), network.symbol.upper());
        let is_callers = network.scratch == Scratch::Caller;
        let element = if network.is_int8 { "int8_t" } else { "float" };
        let run = format!("{lower}_aot_run{}", if network.is_int8 { "_int8" } else { "" });
        let scratch =
            if is_callers { format!("static {lower}_aot_scratch_t scratch_{lower};\n") } else { String::new() };
        let argument = if is_callers { format!("&scratch_{lower}") } else { String::new() };
        let comma = if is_callers { ", " } else { "" };
        let test = if network.has_selftest { format!("{lower}_selftest({argument})") } else { "0".to_owned() };
        writeln!(
            includes,
            "#include \"{lower}_aot.h\"\n{scratch}static void run_{lower}(const void *input, void *output) {{\n    \
             {run}({argument}{comma}(const {element} *)input, ({element} *)output);\n}}\n\
             static int test_{lower}(void) {{\n    return {test};\n}}"
        )
        .expect("text");
        writeln!(
            table,
            "    {{\"{lower}\", run_{lower}, test_{lower}, {upper}_AOT_INPUT_ELEMENTS * sizeof({element}), \
             {upper}_AOT_OUTPUT_ELEMENTS * sizeof({element})}},"
        )
        .expect("text");
    }
    let text = include_str!("driver.c").replace("/* includes */", &includes).replace("/* table */", &table);
    fs::write(folder.join("driver.c"), text).expect("the driver can be written");
    let sources: Vec<String> =
        networks.iter().map(Lowered::source).chain(std::iter::once("driver.c".to_owned())).collect();
    compile(compiler, flags, folder, &sources);
    let objects = sources.iter().map(|source| source.replace(".c", ".o"));
    let mut link = Command::new(compiler);
    succeed(link.current_dir(folder).args(flags).args(objects).args(["-o", "driver", "-lm"]), "the linker");
    folder.join("driver")
}

/// Outputs that a driver computes for inputs.
pub fn run_driver(driver: &Path, network: &Lowered, input: &[u8]) -> Vec<u8> {
    let mut command = Command::new(driver);
    command.arg(network.symbol.lower()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the driver starts");
    let mut stdin = child.stdin.take().expect("standard input");
    let output = thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input).expect("the driver reads"));
        child.wait_with_output().expect("the driver ends")
    });
    assert!(output.status.success(), "{}: {}", network.path.display(), output.status);
    output.stdout
}

/// Runs the self-test of a network.
pub fn selftest(driver: &Path, network: &Lowered) {
    let what = format!("self-test of {}", network.path.display());
    succeed(Command::new(driver).args([network.symbol.lower(), "test"]), &what);
}

/// Random inputs, and what the library computes for them.
pub struct Expected {
    pub inputs: Vec<u8>,
    pub floats: Vec<f32>,
    pub codes: Vec<i8>,
}

impl Lowered {
    /// Outputs of the library for inputs that are drawn at random.
    pub fn expected(&self, count: usize, seed: u64) -> Expected {
        // The softmax of a network that was trained for inputs up to 1 multiplies what rounding does to large logits.
        let largest = if self.path.starts_with(root().join("../shared")) { 0.3 } else { 4.0 };
        expected(&self.bytes, count, seed, largest)
    }
}

fn expected(bytes: &[u8], count: usize, seed: u64, largest: f32) -> Expected {
    let model = Model::parse(bytes).expect("a model");
    let plan = MemoryPlan::of(&model).expect("a plan");
    let mut region = vec![0; plan.arena_bytes];
    let mut network = Network::load(&model, &mut region).expect("a network");
    let (inputs, outputs) = (plan.input.elements().expect("input"), plan.output.elements().expect("output"));
    let mut random = fastrand::Rng::with_seed(seed);
    let mut all = Expected { inputs: vec![], floats: vec![], codes: vec![] };
    for round in 0..count {
        if model.is_quantized() {
            let input: Vec<i8> = (0..inputs).map(|_| random.i8(..)).collect();
            let mut output = vec![0; outputs as usize];
            network.run_int8(&input, &mut output).expect("a run");
            all.inputs.extend(input.iter().map(|&code| code as u8));
            all.codes.extend(output);
        } else {
            let range = [1.0, largest, 0.05][round % 3];
            let input: Vec<f32> = (0..inputs).map(|_| (random.f32() * 2.0 - 1.0) * range).collect();
            let mut output = vec![0.0; outputs as usize];
            network.run(&input, &mut output).expect("a run");
            all.inputs.extend(input.iter().flat_map(|value| value.to_ne_bytes()));
            all.floats.extend(output);
        }
    }
    all
}

/// Compares the outputs of a driver with those of the library: int8 to the bit, float within 1e-5 of the value and of the
/// largest output.
pub fn compare(network: &Lowered, expected: &Expected, actual: &[u8]) {
    let name = network.path.display();
    if network.is_int8 {
        let actual: Vec<i8> = actual.iter().map(|&byte| byte as i8).collect();
        assert_eq!(actual, expected.codes, "{name}");
        return;
    }
    let actual: Vec<f32> = actual.as_chunks::<4>().0.iter().map(|&bytes| f32::from_ne_bytes(bytes)).collect();
    assert_eq!(actual.len(), expected.floats.len(), "{name}");
    let largest = expected.floats.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
    for (index, (actual, expected)) in actual.iter().zip(&expected.floats).enumerate() {
        let allowed = 1e-5 * largest.max(expected.abs());
        let is_near = (actual - expected).abs() <= allowed || actual.is_nan() && expected.is_nan();
        assert!(is_near, "{name}: output {index} is {actual}, the library has {expected}, allowed {allowed}");
    }
}
