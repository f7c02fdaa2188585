//! Samples shared between the processors.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use crate::Error;

/// Gives the index of the next sample until there is none.
pub(crate) type Take<'t> = dyn FnMut() -> Option<usize> + 't;

/// Runs `work` once on each processor. It asks for the index of one sample after another until there is none, and
/// `progress` hears how many have been taken.
pub(crate) fn share<T: Send>(
    samples: usize,
    progress: &mut dyn FnMut(usize),
    work: &(dyn Fn(&mut Take<'_>) -> Result<T, Error> + Sync),
) -> Result<Vec<T>, Error> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(samples).max(1);
    let (next, (sender, receiver)) = (&AtomicUsize::new(0), mpsc::channel());
    thread::scope(|scope| {
        let start = |sender: mpsc::Sender<usize>| {
            scope.spawn(move || {
                let mut take = || {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    // The receiver lives as long as the workers.
                    let _ = sender.send(index);
                    (index < samples).then_some(index)
                };
                let result = work(&mut take);
                if result.is_err() {
                    next.store(samples, Ordering::Relaxed);
                }
                result
            })
        };
        let workers: Vec<_> = (0..workers).map(|_| start(sender.clone())).collect();
        drop(sender);
        receiver.into_iter().for_each(|taken| progress(taken.min(samples)));
        let join = |worker: thread::ScopedJoinHandle<'_, Result<T, Error>>| match worker.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        workers.into_iter().map(join).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_taken_once() {
        let mut most = 0;
        let taken = share(1000, &mut |count| most = most.max(count), &|take| {
            Ok(std::iter::from_fn(take).collect::<Vec<usize>>())
        });
        let mut all = taken.expect("no error").concat();
        all.sort_unstable();
        assert_eq!(all, (0..1000).collect::<Vec<_>>());
        assert_eq!(most, 1000);
    }

    #[test]
    fn an_error_ends_the_work() {
        let failing = share(1 << 40, &mut |_| (), &|take| {
            take();
            Err::<(), _>(Error::Samples("no".into()))
        });
        assert_eq!(failing, Err(Error::Samples("no".into())));
    }
}
