//! Errors of code that knows no place in the file: small, because they are handed up through many functions.
//!
//! Everything about them that is known beforehand is one constant, [`Text`]; what is carried is its address and two numbers.
//! Whoever knows the layer and the offset turns a [`Fault`] into an [`Error`].

use crate::error::{Error, ErrorKind, Told};

/// What an error says besides its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    kind: ErrorKind,
    told: Told,
    field: &'static str,
    note: &'static str,
}

impl Text {
    /// Nothing but the kind.
    pub const fn of(kind: ErrorKind) -> Self {
        Self { kind, told: Told::NOTHING, field: "", note: "" }
    }

    /// Names the field that is wrong.
    pub const fn field(self, field: &'static str) -> Self {
        Self { field, ..self }
    }

    /// Adds what to do or why.
    pub const fn note(self, note: &'static str) -> Self {
        Self { note, ..self }
    }

    /// Tells the value that was found.
    pub const fn found(self) -> Self {
        Self { told: self.told.with_found(), ..self }
    }

    /// Tells the value that was found, and the only right one.
    pub const fn expected(self) -> Self {
        Self { told: self.told.with_found().with_relation(Told::EXACTLY), ..self }
    }

    /// Tells the value that was found, and the least right one.
    pub const fn at_least(self) -> Self {
        Self { told: self.told.with_found().with_relation(Told::AT_LEAST), ..self }
    }

    /// Tells the value that was found, and the largest right one.
    pub const fn at_most(self) -> Self {
        Self { told: self.told.with_found().with_relation(Told::AT_MOST), ..self }
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

/// A [`Text`] that is a constant: `text!(Layer, field "stride", at_least)`, with the methods that make it after the kind.
macro_rules! text {
    ($kind:ident $(, $part:ident $($words:expr)?)*) => {
        const { &$crate::fault::Text::of($crate::error::ErrorKind::$kind)$(.$part($($words)?))* }
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
        let Text { kind, told, field, note } = *self.text;
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
            (text!(Layer, field "x", note "why").fault(), error.note("why")),
            (text!(Layer, field "x", found).told(3, 0), error.found(3)),
            (text!(Layer, field "x", expected).told(9, 4), error.found(9).expected(4)),
            (text!(Layer, field "x", at_least).told(0, 1), error.found(0).at_least(1)),
            (text!(Layer, field "x", at_most).told(9, 4), error.found(9).at_most(4)),
        ];
        for (fault, error) in cases {
            assert_eq!(fault.error(), error);
        }
    }
}
