//! The record behind `nk_last_error`: one per thread on Unix hosts, one for the program elsewhere.

use core::ffi::{CStr, c_char};

use super::errors::{nk_error_info, nk_status};
use super::limits::NK_MAX_MESSAGE_LEN;
use super::output;
use crate::error::Error;

/// Facts and text of an error.
///
/// A record without an error is all zero bytes, so that those of many threads take no room in the program's file. Hence
/// the complements of two numbers whose "none" is -1.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Record {
    status: nk_status,
    /// `!layer_index`
    not_layer: i32,
    /// `!byte_offset`
    not_offset: u32,
    needed: usize,
    available: usize,
    text: [u8; NK_MAX_MESSAGE_LEN],
}

impl Record {
    /// No error.
    pub(crate) const EMPTY: Record = Record {
        status: nk_status::NK_OK,
        not_layer: 0,
        not_offset: 0,
        needed: 0,
        available: 0,
        text: [0; NK_MAX_MESSAGE_LEN],
    };

    fn of(error: &Error) -> Record {
        let mut text = Text::new();
        error.tell(&mut |piece| text.append(piece));
        Record {
            status: error.status(),
            not_layer: error.layer().map_or(0, |layer| !i32::from(layer)),
            not_offset: error.offset().map_or(0, |offset| !offset),
            needed: usize::try_from(error.needed()).unwrap_or(usize::MAX),
            available: usize::try_from(error.available()).unwrap_or(usize::MAX),
            text: text.bytes,
        }
    }
}

/// Ends a call that returns a status: keeps the error, or forgets the one before.
pub(super) fn report(result: Result<(), Error>) -> nk_status {
    match result {
        Ok(()) => {
            clear();
            nk_status::NK_OK
        }
        Err(error) => {
            store(&error);
            error.status()
        }
    }
}

/// Keeps `error` for this thread and tells the log. When there is no memory for a record, the status alone has to do.
#[cold]
#[inline(never)]
pub(super) fn store(error: &Error) {
    let (place, record) = (place::get_or_claim(), Record::of(error));
    if !place.is_null() {
        // SAFETY: the record belongs to this thread and no reference to it outlives the functions of this file.
        unsafe { place.write(record) };
    }
    output::log_error(record.text.split(|&byte| byte == 0).next().unwrap_or_default());
}

/// Forgets the error of this thread.
pub(super) fn clear() {
    let record = place::get();
    // SAFETY: as in `store`.
    if !record.is_null() && unsafe { (*record).status } != nk_status::NK_OK {
        // SAFETY: as in `store`.
        unsafe { record.write(Record::EMPTY) };
    }
}

/// The text of the last error; it changes with the next error of this thread.
pub(super) fn text() -> &'static CStr {
    let record = place::get();
    if record.is_null() {
        return c"";
    }
    // SAFETY: the record lives as long as the thread, and its text ends with a zero at the latest in its last byte.
    unsafe { CStr::from_ptr((&raw const (*record).text).cast()) }
}

/// The last error as fields.
pub(super) fn info(struct_size: u32) -> nk_error_info {
    let place = place::get();
    // SAFETY: as in `store`.
    let record = if place.is_null() { Record::EMPTY } else { unsafe { place.read() } };
    nk_error_info {
        struct_size,
        status: record.status,
        layer_index: !record.not_layer,
        byte_offset: !record.not_offset,
        needed: record.needed,
        available: record.available,
        message: record.text.map(|byte| byte as c_char),
    }
}

#[cfg(all(feature = "host", unix))]
mod place {
    use super::Record;

    pub(super) fn get() -> *mut Record {
        crate::host::ThreadRecords::get()
    }

    pub(super) fn get_or_claim() -> *mut Record {
        crate::host::ThreadRecords::get_or_claim()
    }
}

#[cfg(not(all(feature = "host", unix)))]
mod place {
    use core::cell::UnsafeCell;

    use super::Record;

    struct Single(UnsafeCell<Record>);

    // SAFETY: targets without threads of ours have one record; the header tells programs with several threads or with
    // interrupt handlers that call the library to take turns.
    unsafe impl Sync for Single {}

    static SINGLE: Single = Single(UnsafeCell::new(Record::EMPTY));

    pub(super) fn get() -> *mut Record {
        SINGLE.0.get()
    }

    pub(super) fn get_or_claim() -> *mut Record {
        SINGLE.0.get()
    }
}

/// A C string of fixed size that cuts what does not fit, between two characters.
struct Text {
    bytes: [u8; NK_MAX_MESSAGE_LEN],
    length: usize,
}

impl Text {
    const fn new() -> Self {
        Self { bytes: [0; NK_MAX_MESSAGE_LEN], length: 0 }
    }

    fn append(&mut self, text: &str) {
        let room = NK_MAX_MESSAGE_LEN - 1 - self.length;
        let kept = text.as_bytes().get(..text.floor_char_boundary(room)).unwrap_or_default();
        if let Some(place) = self.bytes.get_mut(self.length..) {
            place.iter_mut().zip(kept).for_each(|(to, from)| *to = *from);
            self.length += kept.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn a_text_is_cut_between_characters_and_ends_with_zero() {
        let mut text = Text::new();
        for _ in 0..50 {
            text.append("äöü");
        }
        let kept = CStr::from_bytes_until_nul(&text.bytes).expect("ends with zero").to_str().expect("UTF-8");
        assert_eq!(kept.len(), 126);
    }

    #[test]
    fn every_status_leaves_a_text_and_success_clears_it() {
        let error = Error::new(ErrorKind::Arena).field("arena bytes").found(10).at_least(20);
        assert_eq!(report(Err(error)), nk_status::NK_ERR_ARENA_OVERFLOW);
        assert_eq!(text().to_str(), Ok("arena bytes is 10, expected at least 20"));
        let facts = info(4);
        assert_eq!((facts.needed, facts.available, facts.layer_index, facts.byte_offset), (20, 10, -1, u32::MAX));
        assert_eq!(report(Ok(())), nk_status::NK_OK);
        assert_eq!(text(), c"");
    }

    #[test]
    fn each_thread_has_its_own() {
        assert_eq!(report(Err(Error::new(ErrorKind::Open))), nk_status::NK_ERR_MODEL_OPEN);
        std::thread::scope(|scope| {
            for _ in 0..200 {
                scope.spawn(|| {
                    assert_eq!(text(), c"");
                    report(Err(Error::new(ErrorKind::Magic)));
                    assert!(text().to_bytes().starts_with(b"not a .nk model"));
                });
            }
        });
        assert_eq!(text(), c"cannot open the model file");
    }
}
