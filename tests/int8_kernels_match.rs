//! Every int8 kernel of every level that this CPU supports gives the bits of the reference kernel, and the reference
//! arithmetic those of models made of big integers.
//!
//! Random cases, always the same ones: the seed is fixed. A failing case is reduced, printed with all its parameters and
//! recorded in `tests/int8_kernels_match.proptest-regressions`.

use std::fmt::Debug;

#[path = "int8_kernels_match/args.rs"]
mod args;
#[path = "int8_kernels_match/cases.rs"]
mod cases;
#[path = "kernels_match/grown.rs"]
mod grown;
mod guarded;
#[path = "int8_kernels_match/models.rs"]
mod models;

use netkit::kernels::int8::{Kernels, compact, table};
use netkit::kernels::{Level, supported_levels};
use proptest::prelude::*;
use proptest::test_runner::{FileFailurePersistence, RngSeed, TestRunner};

use cases::{
    AddCase, AvgPoolCase, ConvCase, DenseCase, DepthwiseCase, GrownConvCase, LookupCase, MaxPoolCase, SoftmaxCase,
};

/// One set of arguments for one kernel.
trait Case: Debug + Sized + 'static {
    /// All sets of arguments that the kernel may get.
    fn all() -> BoxedStrategy<Self>;
    /// Makes the same arguments each time, calls the kernel, returns the whole output.
    fn run(&self, kernels: &Kernels) -> Vec<i8>;
}

fn check<C: Case>(cases: u32) {
    let regressions = "tests/int8_kernels_match.proptest-regressions";
    let config = ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(0x6e6b38),
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(regressions))),
        ..ProptestConfig::default()
    };
    let outcome = TestRunner::new(config).run(&C::all(), |case| {
        let run = |level: Level| guarded::named(level.name(), &case, || case.run(table(level)));
        let reference = run(Level::Reference);
        for level in supported_levels().filter(|&level| level != Level::Reference) {
            let got = run(level);
            prop_assert_eq!(got.len(), reference.len());
            if let Some(at) = (0..got.len()).find(|&at| got[at] != reference[at]) {
                prop_assert!(false, "{}[{at}] = {}, reference {}", level.name(), got[at], reference[at]);
            }
        }
        // Those for processors without vectors, whichever this one is.
        for (name, kernels) in &compact::IN_RUST {
            let got = guarded::named(name, &case, || case.run(kernels));
            prop_assert_eq!(&got, &reference, "{}", name);
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

every_level_matches_the_reference! {
    conv2d: ConvCase, 800;
    dense: DenseCase, 800;
    depthwise_conv2d: DepthwiseCase, 1500;
    max_pool2d: MaxPoolCase, 1500;
    avg_pool2d: AvgPoolCase, 1500;
    add: AddCase, 500;
    softmax: SoftmaxCase, 500;
    lookup: LookupCase, 100;
}

#[test]
fn a_table_belongs_to_the_level_asked_for_or_the_best_below() {
    for level in Level::ALL {
        assert_eq!(table(level).level, level.or_below());
    }
}
