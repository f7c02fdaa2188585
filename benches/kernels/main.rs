//! Every kernel, float and int8, on the shapes of two networks, a digit classifier (28x28) and an image classifier
//! (224x224), at every level that this CPU supports: `<kernel> <shape> <type>/<level>`.
//!
//! `cargo bench --bench kernels -- conv2d` runs the kernels with that name, `-- int8` those of one type. Throughput counts a
//! multiply-add as two operations, so that Gelem/s is GFLOP/s, or GOP/s; kernels without products count their elements.
//!
//! ```text
//! setup.rs     groups by level, random elements, windows
//! <kernel>.rs  the shapes of a kernel, and how it is called in both types
//! ```

mod activate;
mod add;
mod conv2d;
mod dense;
mod depthwise_conv2d;
mod norms;
mod pool2d;
mod setup;

use criterion::{criterion_group, criterion_main};

criterion_group!(
    benches,
    conv2d::bench,
    dense::bench,
    depthwise_conv2d::bench,
    pool2d::bench,
    norms::bench,
    activate::bench,
    add::bench
);
criterion_main!(benches);
