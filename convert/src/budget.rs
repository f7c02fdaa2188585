//! How much memory reading a model may take.

use crate::error::Error;

/// Granted to every model, however small.
const BASE: usize = 64 << 20;
/// Granted for each byte of the file: elements of float32 take 8 bytes in memory.
const PER_FILE_BYTE: usize = 4;

/// Bytes that may still be allocated. All that grows with what a file says is charged here before it is allocated, so a
/// file of some kilobytes cannot make the process fill the machine.
#[derive(Debug)]
pub(crate) struct Budget {
    left: usize,
}

impl Budget {
    pub(crate) fn for_file(bytes: usize) -> Self {
        let mut budget = Self { left: BASE };
        budget.grow_for_file(bytes);
        budget
    }

    /// Another file belongs to the model.
    pub(crate) fn grow_for_file(&mut self, bytes: usize) {
        self.left = self.left.saturating_add(bytes.saturating_mul(PER_FILE_BYTE));
    }

    /// Takes bytes for `wanted`, which completes "… need more memory".
    pub(crate) fn charge(&mut self, bytes: usize, wanted: impl FnOnce() -> String) -> Result<(), Error> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Error::Memory { wanted: wanted() }),
        }
    }

    /// Takes the bytes of elements in memory.
    pub(crate) fn charge_elements(&mut self, count: usize, wanted: impl FnOnce() -> String) -> Result<(), Error> {
        self.charge(count.saturating_mul(8), wanted)
    }

    /// Gives back what elements took.
    pub(crate) fn release_elements(&mut self, count: usize) {
        self.left = self.left.saturating_add(count.saturating_mul(8));
    }
}
