//! Whole networks, float and int8, at every level that this CPU supports: `net/<model>/<level>`. Throughput counts a
//! multiply-add as two operations, so that Gelem/s is GFLOP/s, or GOP/s.
//!
//! Models of `../shared/models` are measured where that folder is present, else the digit classifiers of the repository.
//! `cargo bench --bench networks -- mnist_cnn` runs the models with that name.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use netkit::kernels::{self, Level};
use netkit::{MemoryPlan, Model, Network};

/// Float models; the int8 form of each has `_int8` at the end of its name.
const SHARED: [&str; 5] = [
    "netkit/mnist_mlp",
    "netkit/mnist_cnn",
    "netkit/mnist_cnn_dw",
    "netkit/mobilenetv4_small",
    "large/mobilenetv4_conv_small_224",
];
const OWN: [&str; 3] = ["digits_mlp", "digits_cnn", "digits_cnn_dw"];

fn models() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = |folder: &Path, names: &[&str]| -> Vec<PathBuf> {
        let forms = names.iter().flat_map(|name| [format!("{name}.nk"), format!("{name}_int8.nk")]);
        forms.map(|name| folder.join(name)).filter(|path| path.exists()).collect()
    };
    let shared = files(&root.join("../shared/models"), &SHARED);
    if shared.is_empty() { files(&root.join("models"), &OWN) } else { shared }
}

fn networks(c: &mut Criterion) {
    // From the best level down, because a cap never raises the level.
    let levels: Vec<Level> = kernels::supported_levels().filter(|&level| level != Level::Reference).collect();
    for level in levels.into_iter().rev() {
        kernels::cap_level(level);
        for path in models() {
            run(c, &path, level);
        }
    }
}

fn run(c: &mut Criterion, path: &Path, level: Level) {
    let bytes = std::fs::read(path).expect("read");
    let model = Model::parse(&bytes).expect("parse");
    let plan = MemoryPlan::of(&model).expect("plan");
    let mut arena = vec![0; plan.arena_bytes];
    let mut network = Network::load(&model, &mut arena).expect("load");
    let inputs = plan.input.elements().expect("input");
    let outputs = plan.output.elements().expect("output") as usize;
    let name = path.file_stem().expect("name").to_string_lossy();
    let mut group = c.benchmark_group(format!("net/{name}"));
    group.throughput(Throughput::Elements(2 * plan.macs)).sample_size(20).measurement_time(Duration::from_secs(3));
    let bits = (0..inputs).map(|i| i.wrapping_mul(2_654_435_761));
    if plan.input_quant.is_some() {
        let input: Vec<i8> = bits.map(|bits| (bits >> 24) as i8).collect();
        let mut output = vec![0; outputs];
        group.bench_function(level.name(), |b| b.iter(|| network.run_int8(black_box(&input), &mut output)));
    } else {
        let input: Vec<f32> = bits.map(|bits| (bits >> 8) as f32 / (1 << 24) as f32).collect();
        let mut output = vec![0.0; outputs];
        group.bench_function(level.name(), |b| b.iter(|| network.run(black_box(&input), &mut output)));
    }
    group.finish();
}

criterion_group!(benches, networks);
criterion_main!(benches);
