//! The protocol of netkit_worker.c for engines with a Rust interface.

use std::io::{BufRead, Write, stdin, stdout};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Runs shorter than this are timed in batches.
const BATCH_NS: u64 = 100_000;

/// The values of an input file, whose suffix says their type.
pub enum Input {
    Float(Vec<f32>),
    Int8(Vec<i8>),
    Uint8(Vec<u8>),
}

/// The command line `MODEL INPUT SHAPE`.
pub struct Arguments {
    pub model: PathBuf,
    pub input: Input,
    pub shape: Vec<usize>,
}

impl Arguments {
    pub fn read() -> Result<Self> {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let [model, input, shape] = &words[..] else { bail!("expected MODEL INPUT SHAPE") };
        let shape =
            shape.split('x').map(str::parse).collect::<Result<_, _>>().context("SHAPE is not like 1x3x224x224")?;
        let bytes = std::fs::read(input).with_context(|| format!("cannot read {input}"))?;
        let input = match input.rsplit('.').next() {
            Some("f32") => Input::Float(bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()),
            Some("i8") => Input::Int8(bytes.into_iter().map(u8::cast_signed).collect()),
            Some("u8") => Input::Uint8(bytes),
            _ => bail!("{input}: expected a name that ends with .f32, .i8 or .u8"),
        };
        Ok(Self { model: model.into(), input, shape })
    }
}

/// Says how long loading since `start` and the first run took, then answers what stdin asks.
pub fn serve(
    start: Instant,
    mut run: impl FnMut() -> Result<Vec<f32>>,
    mut forward: impl FnMut() -> Result<()>,
) -> Result<()> {
    let load = start.elapsed();
    let begin = Instant::now();
    forward()?;
    println!("ready {} {} {}", load.as_nanos(), begin.elapsed().as_nanos(), peak_kilobytes()?);
    for line in stdin().lock().lines() {
        let line = line?;
        match line.split_once(' ').unwrap_or((&line, "")) {
            ("run", milliseconds) => println!("{}", median_ns(&mut forward, milliseconds.parse()?)?),
            ("output", _) => println!("{}", run()?.iter().map(f32::to_string).collect::<Vec<_>>().join(" ")),
            _ => bail!("not understood: {line}"),
        }
        stdout().flush()?;
    }
    Ok(())
}

fn median_ns(forward: &mut impl FnMut() -> Result<()>, milliseconds: u64) -> Result<u64> {
    let end = Instant::now() + Duration::from_millis(milliseconds);
    forward()?;
    let start = cpu_ns();
    forward()?;
    let runs = BATCH_NS / (cpu_ns() - start).max(1) + 1;
    let mut times = Vec::new();
    while times.is_empty() || Instant::now() < end {
        let start = cpu_ns();
        for _ in 0..runs {
            forward()?;
        }
        times.push((cpu_ns() - start) / runs);
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

fn cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to the structure and nowhere else.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn peak_kilobytes() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
