//! Checked steps from a pointer of the caller to a value.

use core::ffi::CStr;

use crate::error::{Error, ErrorKind};

/// Largest structure that a newer header may describe; more means that struct_size was never set.
const LARGEST_STRUCT_BYTES: u32 = 4096;

/// Refuses a null pointer with `note`.
pub(super) fn required<T>(pointer: *const T, note: &'static str) -> Result<(), Error> {
    if pointer.is_null() { Err(invalid(note)) } else { Ok(()) }
}

/// The error for an argument that is wrong in a way that `note` tells.
pub(super) const fn invalid(note: &'static str) -> Error {
    Error::new(ErrorKind::Argument).note(note)
}

/// Checks a structure that begins with its own size, and returns that size. `missing` is said when it is null.
///
/// # Safety
/// `structure` is null or points to at least a `u32`.
pub(super) unsafe fn struct_size<T>(structure: *const T, missing: &'static str) -> Result<u32, Error> {
    required(structure, missing)?;
    // SAFETY: not null, and by this function's contract there is a `u32`.
    let given = unsafe { structure.cast::<u32>().read_unaligned() };
    let known = size_of::<T>() as u64;
    if u64::from(given) < known || given > LARGEST_STRUCT_BYTES {
        return Err(Error::new(ErrorKind::Argument).field("struct_size").found(u64::from(given)).expected(known));
    }
    Ok(given)
}

/// The C string at `path`.
///
/// # Safety
/// `path` is null or points to a C string that outlives the result.
pub(super) unsafe fn path<'a>(path: *const core::ffi::c_char) -> Result<&'a CStr, Error> {
    required(path, "path is NULL")?;
    // SAFETY: not null, and by this function's contract a C string.
    Ok(unsafe { CStr::from_ptr(path) })
}

/// The bytes of a model in the caller's memory.
///
/// # Safety
/// `data` is null or points to `size` bytes that outlive the result and do not change meanwhile.
pub(super) unsafe fn blob<'a>(data: *const u8, size: usize) -> Result<&'a [u8], Error> {
    required(data, "data is NULL")?;
    if size == 0 {
        return Err(invalid("size is 0"));
    }
    if size > isize::MAX as usize {
        return Err(invalid("size is larger than any object can be"));
    }
    // SAFETY: not null, a possible size, and by this function's contract valid for it.
    Ok(unsafe { core::slice::from_raw_parts(data, size) })
}

/// A range of addresses that a call reads or writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    start: usize,
    bytes: usize,
}

impl Span {
    /// `count` values from `start`.
    pub(super) fn of<T>(start: *const T, count: usize) -> Self {
        Self { start: start.addr(), bytes: count.saturating_mul(size_of::<T>()) }
    }

    /// The values of a slice.
    pub(super) fn of_slice<T>(values: &[T]) -> Self {
        Self::of(values.as_ptr(), values.len())
    }

    /// Whether the two ranges share a byte.
    pub(super) fn overlaps(self, other: Span) -> bool {
        self.bytes != 0
            && other.bytes != 0
            && self.start < other.start.saturating_add(other.bytes)
            && other.start < self.start.saturating_add(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_overlap_when_they_share_a_byte() {
        let span = |start: usize, bytes| Span { start, bytes };
        assert!(span(10, 5).overlaps(span(14, 1)));
        assert!(span(10, 5).overlaps(span(0, 100)));
        assert!(!span(10, 5).overlaps(span(15, 5)));
        assert!(!span(15, 5).overlaps(span(10, 5)));
        assert!(!span(10, 0).overlaps(span(0, 100)));
        assert!(span(usize::MAX - 1, 100).overlaps(span(usize::MAX - 2, 2)));
    }

    #[test]
    fn a_structure_tells_its_size() {
        #[repr(C)]
        struct Sized8 {
            struct_size: u32,
            value: u32,
        }
        for (size, accepted) in [(0, false), (4, false), (8, true), (16, true), (0xffff_ffff, false)] {
            let sized = Sized8 { struct_size: size, value: 7 };
            // SAFETY: the structure is alive.
            assert_eq!(unsafe { struct_size(&sized, "") }.is_ok(), accepted, "{size}");
            assert_eq!(sized.value, 7);
        }
        // SAFETY: null is allowed.
        assert!(unsafe { struct_size::<Sized8>(core::ptr::null(), "") }.is_err());
    }
}
