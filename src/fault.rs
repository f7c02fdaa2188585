//! Errors of code that knows no place in the file: small, because they are handed up through many functions.
//!
//! Everything about them that is known beforehand is one constant, [`Text`]; what is carried is its address and two numbers.
//! Whoever knows the layer and the offset turns a [`Fault`] into an [`Error`].

use crate::error::{Error, ErrorKind, Told};

/// What an error says besides its numbers. In three words of 32 bits, because there are many: field and note are one string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    words: &'static str,
    kind: ErrorKind,
    told: Told,
    field_bytes: u8,
}

impl Text {
    /// The field that is wrong, of so many bytes, and what to do or why; which amounts are told, and in what relation.
    pub(crate) const fn new(kind: ErrorKind, told: Told, words: &'static str, field_bytes: usize) -> Self {
        assert!(field_bytes <= u8::MAX as usize);
        Self { words, kind, told, field_bytes: field_bytes as u8 }
    }

    /// Field and note.
    #[cfg(not(feature = "f32"))]
    pub(crate) const fn words(&self) -> &'static str {
        self.words
    }

    /// The error without numbers.
    pub const fn fault(&'static self) -> Fault {
        self.told(0, 0)
    }

    /// The error with its numbers: what was found and what was expected.
    pub const fn told(&'static self, found: usize, expected: usize) -> Fault {
        Fault { text: self, found, expected }
    }

    /// The error with its numbers and its place, an offset in the file.
    #[cold]
    #[inline(never)]
    pub fn told_at(&'static self, found: usize, expected: usize, offset: usize) -> Error {
        self.told(found, expected).error().at(offset)
    }
}

/// A [`Text`] that is a constant: `text!(Layer: at_least, field "stride", note "why")`. What the amounts are is `found`,
/// `expected`, `at_least` or `at_most`. All but the kind may be left out.
macro_rules! text {
    ($kind:ident $(: $told:ident)? $(, field $field:literal)? $(, note $note:literal)?) => {
        const {
            &$crate::fault::Text::new(
                $crate::error::ErrorKind::$kind,
                $crate::error::Told::NOTHING$(.$told())?,
                concat!($($field,)? $($note)?),
                concat!($($field)?).len(),
            )
        }
    };
}
pub(crate) use text;

/// An error without its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    text: &'static Text,
    found: usize,
    expected: usize,
}

impl Fault {
    /// The error in full.
    #[cold]
    #[inline(never)]
    pub fn error(&self) -> Error {
        let Text { words, kind, told, field_bytes } = *self.text;
        let (field, note) = words.split_at_checked(field_bytes.into()).unwrap_or_default();
        Error::new(kind).field(field).note(note).with_amounts(told, self.found, self.expected)
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        fault.error()
    }
}

const _: () = assert!(size_of::<Result<u32, Fault>>() == 3 * size_of::<usize>());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_says_what_the_error_says() {
        let error = Error::new(ErrorKind::Layer).field("x");
        let cases = [
            (text!(Layer).fault(), Error::new(ErrorKind::Layer)),
            (text!(Layer, note "why").fault(), Error::new(ErrorKind::Layer).note("why")),
            (text!(Layer, field "x", note "why").fault(), error.note("why")),
            (text!(Layer: found, field "x").told(3, 0), error.found(3)),
            (text!(Layer: expected, field "x").told(9, 4), error.found(9).expected(4)),
            (text!(Layer: at_least, field "x").told(0, 1), error.found(0).at_least(1)),
            (text!(Layer: at_most, field "x").told(9, 4), error.found(9).at_most(4)),
        ];
        for (fault, error) in cases {
            assert_eq!(fault.error(), error);
        }
    }
}
