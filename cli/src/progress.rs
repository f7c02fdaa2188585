//! A progress bar for work that takes long and somebody waits for.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Work that is done sooner needs no bar.
const PATIENCE: Duration = Duration::from_secs(2);
/// From one look at the bar to the next.
const REFRESH: Duration = Duration::from_millis(100);
/// Length of the bar in its own units.
const LENGTH: u64 = 1000;

/// The bar on standard error; it clears itself in the end.
pub(crate) struct Progress {
    start: Instant,
    shown: Instant,
    is_terminal: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let start = Instant::now();
        Self { start, shown: start, is_terminal: io::stderr().is_terminal(), bar: None }
    }

    /// Says which part of the work is done, from 0 to 1.
    pub(crate) fn update(&mut self, part: f64, what: &'static str) {
        if !self.is_terminal || self.start.elapsed() < PATIENCE || self.shown.elapsed() < REFRESH {
            return;
        }
        self.shown = Instant::now();
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{msg} {bar:40} {percent:>3} %  {eta} left");
            ProgressBar::new(LENGTH).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        bar.set_message(what);
        bar.set_position((part.clamp(0.0, 1.0) * LENGTH as f64) as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
