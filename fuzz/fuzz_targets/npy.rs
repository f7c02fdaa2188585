//! Any bytes as a NumPy file, for the reader of the command line.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[allow(dead_code, reason = "the command writes arrays too")]
#[path = "../../cli/src/npy.rs"]
mod npy;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(array) = npy::read(bytes) {
        assert_eq!(array.shape.iter().product::<u64>(), array.values.len() as u64);
    }
});
