//! Damaged files: no panic, and no more memory than the size of a file justifies.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs;
use std::path::Path;

use common::encode::perceptron;
use netkit_convert::interpret::run;
use netkit_convert::onnx::{Options, load};
use netkit_convert::tensor::Tensor;
use proptest::prelude::*;

/// Counts what the current thread has allocated, and the most it ever had.
struct Counting;

thread_local! {
    static NOW: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn count(change: isize) {
    // The counters are gone while a thread ends.
    let _ = NOW.try_with(|now| {
        now.set(now.get() + change);
        let _ = MOST.try_with(|most| most.set(most.get().max(now.get())));
    });
}

// SAFETY: all requests go to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Models of all operations.
fn sources() -> Vec<Vec<u8>> {
    let mut sources = vec![perceptron().bytes(13)];
    for file in ["own.txt", "suite.txt"] {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens").join(file)).unwrap();
        let models = text.lines().filter_map(|line| line.strip_prefix("model "));
        let bytes = |digits: &str| {
            (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
        };
        sources.extend(models.map(bytes));
    }
    sources
}

/// Reads a file and, if that works and the graph is small, executes it.
fn read(bytes: &[u8]) {
    let before = NOW.with(Cell::get);
    MOST.with(|most| most.set(before));
    let outcome = load(bytes, None, &Options::default());
    let most = MOST.with(Cell::get) - before;
    let bound = 4 * bytes.len() + (64 << 20);
    assert!(most <= bound as isize, "{most} bytes for a file of {}", bytes.len());
    let Ok((graph, _)) = outcome else { return };
    let elements = |shape: &Option<Vec<usize>>| shape.iter().flatten().product::<usize>();
    if graph.values.iter().any(|value| elements(&value.shape) > 10_000) {
        return;
    }
    let input = |id| {
        let value = graph.value(id);
        let (kind, shape) = (value.element_type.unwrap(), value.shape.clone().unwrap());
        let count = elements(&value.shape);
        match kind.is_float() {
            true => Tensor::real(kind, shape, vec![1.0; count]).unwrap(),
            false => Tensor::whole(kind, shape, vec![1; count]).unwrap(),
        }
    };
    let inputs: Vec<_> = graph.inputs.iter().map(|&id| input(id)).collect();
    // An error is fine; a panic is not.
    let _ = run(&graph, &inputs);
}

#[derive(Clone, Debug)]
enum Damage {
    Set(usize, u8),
    Insert(usize, u8),
    Remove(usize, usize),
    Copy(usize, usize, usize),
    Truncate(usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = 0usize..1 << 16;
    prop_oneof![
        4 => (at.clone(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        2 => (at.clone(), any::<u8>()).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        1 => (at.clone(), 1usize..8).prop_map(|(at, count)| Damage::Remove(at, count)),
        1 => (at.clone(), at.clone(), 1usize..40).prop_map(|(from, to, count)| Damage::Copy(from, to, count)),
        1 => at.prop_map(Damage::Truncate),
    ]
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    let length = bytes.len();
    if length == 0 {
        return;
    }
    match *damage {
        Damage::Set(at, byte) => bytes[at % length] = byte,
        Damage::Insert(at, byte) => bytes.insert(at % length, byte),
        Damage::Remove(at, count) => drop(bytes.drain(at % length..(at % length + count).min(length))),
        Damage::Copy(from, to, count) => {
            let piece = bytes[from % length..(from % length + count).min(length)].to_vec();
            bytes.splice(to % length..to % length, piece);
        }
        Damage::Truncate(at) => bytes.truncate(at % length),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_neither_panic_nor_fill_memory(
        source in any::<prop::sample::Index>(),
        damages in prop::collection::vec(damage(), 1..6),
    ) {
        thread_local! {
            static SOURCES: Vec<Vec<u8>> = sources();
        }
        let mut bytes = SOURCES.with(|sources| sources[source.index(sources.len())].clone());
        damages.iter().for_each(|damage| apply(&mut bytes, damage));
        read(&bytes);
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read(&bytes);
    }
}

#[test]
fn every_truncation_is_survived() {
    let bytes = perceptron().bytes(13);
    (0..bytes.len()).for_each(|length| read(&bytes[..length]));
}

#[test]
fn many_small_records_stay_within_the_bound() {
    use common::encode::{FLOAT, Message, node, tensor, value};
    let mut model = perceptron();
    model.nodes.extend((0..150_000).map(|index| node("Relu", &["x"], &[&format!("n{index}")])));
    read(&model.bytes(13));
    let mut model = perceptron();
    model.initializers.extend((0..150_000).map(|index| tensor(&format!("n{index}"), FLOAT, &[0])));
    read(&model.bytes(13));
    let mut model = perceptron();
    model.inputs.extend((0..150_000).map(|index| value(&format!("n{index}"), FLOAT, &[])));
    read(&model.bytes(13));
    let mut model = perceptron();
    let names: Vec<_> = (0..500_000).map(|_| "x").collect();
    model.nodes.push(node("Sum", &names, &["z"]));
    read(&model.bytes(13));
    let mut model = perceptron();
    let ints = Message::default().text(1, "perm").packed(8, &vec![0; 9_000_000]).int(20, 7);
    model.nodes.push(node("Relu", &["x"], &["z"]).message(5, &ints));
    read(&model.bytes(13));
    let mut model = perceptron();
    model.initializers.push(tensor("c", 3, &[20_000_000]).packed(5, &vec![0; 20_000_000]));
    read(&model.bytes(13));
    let mut model = perceptron();
    model.initializers.push(tensor("c", 3, &[20_000_000]).bytes(9, &vec![0; 20_000_000]));
    read(&model.bytes(13));
}
