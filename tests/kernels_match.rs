//! Every kernel of every level that this CPU supports, and of processors without vectors, gives the results of the reference
//! kernel.
//!
//! Random cases, always the same ones: the seed is fixed. A failing case is reduced, printed with all its parameters
//! and recorded in `tests/kernels_match.proptest-regressions`; that file is committed with the fix, and its cases run
//! before all others from then on. Bounds are those of `docs/kernels.md`.

use std::fmt::Debug;

#[path = "kernels_match/args.rs"]
mod args;
#[path = "kernels_match/elementwise.rs"]
mod elementwise;
#[path = "kernels_match/grown.rs"]
mod grown;
mod guarded;
#[path = "kernels_match/special.rs"]
mod special;
#[path = "kernels_match/windows.rs"]
mod windows;
#[cfg(all(feature = "simd", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[path = "kernels_match/winograd.rs"]
mod winograd;

use netkit::kernels::{Kernels, Level, compact, supported_levels, table};
use proptest::prelude::*;
use proptest::test_runner::{FileFailurePersistence, RngSeed, TestRunner};

use args::SENTINEL;
use elementwise::{ActivateCase, AddCase, BatchNormCase, GrnCase, LayerNormCase, SoftmaxCase, UpsampleCase};
use windows::{AvgPoolCase, ConvCase, DenseCase, DepthwiseCase, GrownConvCase, MaxPoolCase};

/// One set of arguments for one kernel.
trait Case: Debug + Sized + 'static {
    /// All sets of arguments that the kernel may get.
    fn all() -> BoxedStrategy<Self>;
    /// Makes the same arguments each time, calls the kernel, returns the whole output with what lies between its columns.
    fn run(&self, kernels: &Kernels) -> Vec<f32>;
    /// How far the result may be from the reference.
    fn bound(&self) -> Bound;
}

#[derive(Clone, Copy)]
enum Bound {
    /// Bit-identical.
    Exact,
    /// `sqrt(terms) * (1e-5 + 1e-5 |reference|)` for a sum of so many terms.
    Sum(usize),
}

impl Bound {
    fn admits(self, got: f32, reference: f32) -> bool {
        match self {
            _ if reference == SENTINEL || !reference.is_finite() => same(got, reference),
            Bound::Exact => same(got, reference),
            Bound::Sum(terms) => {
                (got - reference).abs() <= (terms.max(1) as f32).sqrt() * (1e-5 + 1e-5 * reference.abs())
            }
        }
    }
}

/// Equal in every bit, except that all NaN are alike.
fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

fn check<C: Case>(cases: u32) {
    let config = ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(0x6e6b),
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/kernels_match.proptest-regressions"))),
        ..ProptestConfig::default()
    };
    let outcome = TestRunner::new(config).run(&C::all(), |case| {
        let run = |name, kernels| guarded::named(name, &case, || case.run(kernels));
        let reference = run(Level::Reference.name(), table(Level::Reference));
        let levels = supported_levels().filter(|&level| level != Level::Reference);
        let tables = levels.map(|level| (level.name(), table(level))).chain([("compact", &compact::KERNELS)]);
        for (name, kernels) in tables {
            let got = run(name, kernels);
            prop_assert_eq!(got.len(), reference.len());
            for (at, (&got, &reference)) in got.iter().zip(&reference).enumerate() {
                prop_assert!(case.bound().admits(got, reference), "{name}[{at}] = {got}, reference {reference}");
            }
        }
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

/// One test per kernel of the table: its arguments, and how many sets of them.
macro_rules! every_level_matches_the_reference {
    ($($kernel:ident: $case:ty, $cases:literal;)*) => {
        $(#[test] fn $kernel() { check::<$case>($cases) })*

        /// Does not compile when a kernel of the table has no test here.
        #[test]
        fn the_list_is_complete() {
            let Kernels { level: _, $($kernel: _),* } = *table(Level::Reference);
        }
    };
}

#[test]
fn what_is_zero_around_a_kernel_may_be_left_out() {
    check::<GrownConvCase>(400);
}

#[cfg(all(feature = "simd", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[test]
fn convolutions_with_fewer_products() {
    check::<winograd::WinogradCase>(100);
}

every_level_matches_the_reference! {
    conv2d: ConvCase, 400;
    dense: DenseCase, 400;
    depthwise_conv2d: DepthwiseCase, 600;
    max_pool2d: MaxPoolCase, 1500;
    avg_pool2d: AvgPoolCase, 1000;
    batch_norm2d: BatchNormCase, 100;
    layernorm2d: LayerNormCase, 200;
    grn: GrnCase, 200;
    softmax: SoftmaxCase, 200;
    activate: ActivateCase, 300;
    add: AddCase, 100;
    add_upsampled2x: UpsampleCase, 100;
}
