//! `netkit bench`: how long a model takes.
//!
//! ```text
//! samples.rs   the times of many runs, and what is told of them
//! text.rs      the report for people
//! ```

mod samples;
mod text;

use std::time::{Duration, Instant};

use netkit::plan::LayerFacts;
use netkit::{Error, MemoryPlan, Model, Watcher};
use serde::Serialize;

use crate::args::BenchArgs;
use crate::failure::{Failure, Outcome, display};
use crate::inspect::facts::dims;
use crate::model_file::ModelFile;
use crate::output::Output;
use crate::progress::Progress;
use crate::run::zeroed;
use crate::runner::{Runner, Values};
use samples::{Samples, Statistics};

/// Seconds that are measured when the command line does not say.
const DEFAULT_SECONDS: f64 = 1.0;
/// Most runs whose times are kept.
const MOST_RUNS: usize = 1 << 22;
/// Part of the budget for runs before the first one that counts, which fill caches and wake the processor up.
const WARM_UP: f64 = 0.1;

/// The document of `--json`; times are in nanoseconds.
#[derive(Debug, Serialize)]
struct Report<'a> {
    schema: &'static str,
    path: String,
    name: &'a str,
    /// Level of the kernels that ran.
    kernels: &'static str,
    quantized: bool,
    macs: u64,
    gops: Option<f64>,
    #[serde(flatten)]
    total: Statistics,
    /// With `--per-layer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    layers: Option<Vec<LayerReport>>,
}

#[derive(Debug, Serialize)]
struct LayerReport {
    index: usize,
    kind: &'static str,
    output_shape: Vec<u32>,
    macs: u64,
    /// Layer that computes this one along with itself; null for a layer with work of its own.
    merged_into: Option<usize>,
    median_ns: u64,
    /// Part of the sum over all layers.
    share: f64,
    gops: Option<f64>,
}

/// 10^9 operations a second, a multiply-accumulate counting as two: GFLOP/s of a float model. None without any.
fn gops(macs: u64, ns: u64) -> Option<f64> {
    (macs > 0).then(|| 2.0 * macs as f64 / ns.max(1) as f64)
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
enum Budget {
    Time(Duration),
    Runs(usize),
}

impl Budget {
    fn of(args: &BenchArgs) -> Self {
        match args.runs {
            Some(runs) => Self::Runs(runs as usize),
            None => Self::Time(Duration::from_secs_f64(args.seconds.unwrap_or(DEFAULT_SECONDS))),
        }
    }

    /// The part that is used up.
    fn used(self, runs: usize, start: Instant) -> f64 {
        match self {
            Self::Runs(most) => runs as f64 / most as f64,
            Self::Time(most) => start.elapsed().as_secs_f64() / most.as_secs_f64(),
        }
    }

    fn warm_up(self) -> Self {
        match self {
            Self::Runs(_) => Self::Runs(1),
            Self::Time(time) => Self::Time(time.mul_f64(WARM_UP)),
        }
    }
}

pub(crate) fn execute(args: &BenchArgs, out: &mut Output) -> Result<Outcome, Failure> {
    let file = ModelFile::read(&args.model)?;
    let model = file.parse()?;
    let plan = MemoryPlan::of(&model).map_err(|error| file.failure(&error))?;
    let (total, layers) = measure(&model, &plan, args).map_err(|error| file.failure(&error))?;
    let report = Report {
        schema: "netkit.bench/1",
        path: display(&file.path),
        name: &file.name,
        kernels: netkit::kernels::active_level().name(),
        quantized: model.is_quantized(),
        macs: plan.macs,
        gops: gops(plan.macs, total.median_ns),
        total,
        layers,
    };
    if args.json {
        out.json(&report)?;
    } else {
        text::print(&report, out)?;
    }
    Ok(Outcome::Done)
}

fn measure(
    model: &Model<'_>,
    plan: &MemoryPlan,
    args: &BenchArgs,
) -> Result<(Statistics, Option<Vec<LayerReport>>), Error> {
    let packed_bytes = if args.in_place { 0 } else { plan.packed_bytes };
    let mut region = zeroed(plan.arena_bytes.saturating_add(packed_bytes))?;
    let mut runner = Runner::load(model, plan, &mut region, input(plan)?)?;
    let mut progress = Progress::new();
    let budget = Budget::of(args);
    repeat(budget.warm_up(), &mut progress, "warming up", &mut || runner.run())?;
    let mut samples = Samples::default();
    repeat(budget, &mut progress, "measuring", &mut || {
        let start = Instant::now();
        runner.run()?;
        samples.push(start.elapsed());
        Ok(())
    })?;
    let total = samples.statistics();
    if !args.per_layer {
        return Ok((total, None));
    }
    let mut clocks = Clocks::default();
    repeat(budget, &mut progress, "measuring layers", &mut || runner.run_layers(&mut clocks))?;
    Ok((total, Some(clocks.report())))
}

/// Calls `run` until the budget is used up, at least once.
fn repeat(
    budget: Budget,
    progress: &mut Progress,
    what: &'static str,
    run: &mut dyn FnMut() -> Result<(), Error>,
) -> Result<(), Error> {
    let start = Instant::now();
    for runs in 1..=MOST_RUNS {
        run()?;
        let used = budget.used(runs, start);
        if used >= 1.0 {
            break;
        }
        progress.update(used, what);
    }
    Ok(())
}

/// Values that differ from each other, the same every time: about -1 to 1, or all int8 codes.
fn input(plan: &MemoryPlan) -> Result<Values, Error> {
    let elements = plan.input.elements()?;
    let code = |index: u32| (index.wrapping_mul(0x9E37_79B9) >> 24) as i8;
    Ok(match plan.input_quant {
        Some(_) => Values::Int8((0..elements).map(code).collect()),
        None => Values::Float((0..elements).map(|index| f32::from(code(index)) / 128.0).collect()),
    })
}

/// Takes the time of each layer.
#[derive(Default)]
struct Clocks {
    layers: Vec<(LayerFacts, Samples)>,
    start: Option<Instant>,
}

impl Watcher for Clocks {
    fn before(&mut self, layer: &LayerFacts) -> Result<(), Error> {
        if self.layers.len() == layer.index {
            self.layers.push((*layer, Samples::default()));
        }
        self.start = Some(Instant::now());
        Ok(())
    }

    fn after(&mut self, layer: &LayerFacts, _output: &[u8]) -> Result<(), Error> {
        let elapsed = self.start.take().map_or(Duration::ZERO, |start| start.elapsed());
        if let Some((_, samples)) = self.layers.get_mut(layer.index) {
            samples.push(elapsed);
        }
        Ok(())
    }
}

impl Clocks {
    fn report(mut self) -> Vec<LayerReport> {
        let medians: Vec<u64> = self.layers.iter_mut().map(|(_, samples)| samples.statistics().median_ns).collect();
        let sum = medians.iter().sum::<u64>().max(1);
        let merges = |index: usize| {
            self.layers.get(index).is_some_and(|(layer, _)| layer.result_shape != layer.output).then_some(index)
        };
        let report = |((layer, _), &median_ns): (&(LayerFacts, Samples), &u64)| LayerReport {
            index: layer.index,
            kind: netkit::format::kind_name(layer.kind).unwrap_or("unknown"),
            output_shape: dims(layer.output),
            macs: layer.macs,
            merged_into: layer.index.checked_sub(1).and_then(merges),
            median_ns,
            share: median_ns as f64 / sum as f64,
            gops: gops(layer.macs, median_ns),
        };
        self.layers.iter().zip(&medians).map(report).collect()
    }
}
