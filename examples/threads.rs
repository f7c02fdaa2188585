//! Four threads run the same model. The weights are shared: they are read where they lie. Each thread has an arena and a
//! network of its own, since a run writes to the network's memory in its arena.

use std::thread;

use netkit::{Error, Model, Network};

const THREADS: usize = 4;
const RUNS: usize = 100;

fn work(model: &Model<'_>) -> Result<usize, Error> {
    let mut arena = [0; 4096];
    let mut network = Network::load(model, &mut arena)?;
    let mut right = 0;
    for _ in 0..RUNS {
        let mut output = [0.0; 2];
        network.run(&[1.0, 2.0], &mut output)?;
        right += usize::from(output == [3.0, 3.0]);
    }
    Ok(right)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bytes = std::fs::read("models/test_mlp.nk")?;
    let model = Model::parse(&bytes)?;
    let right = thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| work(&model))).collect();
        workers.into_iter().map(|worker| worker.join().expect("no panic")).sum::<Result<usize, Error>>()
    })?;
    println!("{right} of {} runs gave 3, 3", THREADS * RUNS);
    Ok(())
}
