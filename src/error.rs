//! One error type for the whole library: what is wrong, where in the file, what was found and what was expected.

use core::fmt;

/// What went wrong. Each kind belongs to exactly one `nk_status` of the C API, see [`ErrorKind::status`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The file could not be opened.
    Open,
    /// The file could not be read or mapped.
    FileRead,
    /// The first four bytes are not `NKIT`.
    Magic,
    /// Format version other than 3 and 4.
    Version,
    /// A header field has a value that no model can have.
    Header,
    /// A section or record ends before its last byte.
    Truncated,
    /// The file is longer or shorter than its header says.
    FileSize,
    /// A count is above the limit of the format.
    Limit,
    /// A layer record has a kind byte other than 1 to 14.
    LayerKind,
    /// A tensor catalog entry contradicts itself or the header.
    Catalog,
    /// The QUAN section is missing, short or has impossible values.
    Quant,
    /// A weight or bias is NaN or infinite.
    Payload,
    /// The TCAS section is missing, short or has impossible values.
    Cases,
    /// A layer's configuration is impossible for its input.
    Layer,
    /// A layer's tensors do not have the sizes that its configuration asks for.
    Weights,
    /// A size does not fit the address arithmetic of this library.
    SizeOverflow,
    /// A valid model that this build cannot run.
    Unsupported,
    /// The arena has too little room left.
    Arena,
    /// A caller's argument is wrong.
    Argument,
    /// A caller's output buffer is too small.
    Buffer,
    /// The model handle holds no loaded model.
    NotLoaded,
    /// The network was built by hand and is not finished.
    NotInitialized,
    /// A layer hook of the caller stopped the run.
    Stopped,
}

impl ErrorKind {
    /// What went wrong, in a few words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Open => "cannot open the model file",
            Self::FileRead => "cannot read the model file",
            Self::Magic => "not a .nk model: the first four bytes are not NKIT",
            Self::Version => "unsupported .nk format version",
            Self::Header => "invalid header",
            Self::Truncated => "the file ends too early",
            Self::FileSize => "the file size does not match the header",
            Self::Limit => "a limit of the format is exceeded",
            Self::LayerKind => "unknown layer kind",
            Self::Catalog => "invalid tensor catalog entry",
            Self::Quant => "invalid quantization section",
            Self::Payload => "invalid payload",
            Self::Cases => "invalid test section",
            Self::Layer => "invalid layer configuration",
            Self::Weights => "tensor does not fit its layer",
            Self::SizeOverflow => "size too large",
            Self::Unsupported => "unsupported network",
            Self::Arena => "arena too small",
            Self::Argument => "invalid argument",
            Self::Buffer => "output buffer too small",
            Self::NotLoaded => "no model is loaded in this handle",
            Self::NotInitialized => "not initialized",
            Self::Stopped => "stopped by the layer hook",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl core::error::Error for ErrorKind {}

/// Which amounts an error tells: the expected one by a relation, and the one that was found. In one byte, because errors are
/// packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told(u8);

impl Told {
    pub(crate) const NOTHING: Self = Self(0);
    const EXACTLY: u8 = 1;
    const AT_LEAST: u8 = 2;
    const AT_MOST: u8 = 3;
    const FOUND: u8 = 4;

    const fn with_relation(self, relation: u8) -> Self {
        Self(self.0 & Self::FOUND | relation)
    }

    /// The value that was found.
    pub(crate) const fn found(self) -> Self {
        Self(self.0 | Self::FOUND)
    }

    /// That, and the only right one.
    pub(crate) const fn expected(self) -> Self {
        self.found().with_relation(Self::EXACTLY)
    }

    /// That, and the least right one.
    pub(crate) const fn at_least(self) -> Self {
        self.found().with_relation(Self::AT_LEAST)
    }

    /// That, and the largest right one.
    pub(crate) const fn at_most(self) -> Self {
        self.found().with_relation(Self::AT_MOST)
    }

    const fn has_found(self) -> bool {
        self.0 & Self::FOUND != 0
    }

    /// What stands in front of the expected amount, if there is one.
    const fn relation(self) -> Option<&'static str> {
        match self.0 & !Self::FOUND {
            Self::EXACTLY => Some(""),
            Self::AT_LEAST => Some("at least "),
            Self::AT_MOST => Some("at most "),
            _ => None,
        }
    }
}

/// No layer and no offset: above every index and every place in a file.
const NO_LAYER: u8 = u8::MAX;
const NO_OFFSET: u32 = u32::MAX;

/// A value of an error, as large as an address can tell: processors of 32 bits have no use for more, and pay for it in each of the
/// many places that make an error.
pub(crate) const fn amount(value: u64) -> usize {
    if value <= usize::MAX as u64 { value as usize } else { usize::MAX }
}

/// An error with the place it was found at.
///
/// `Display` gives one sentence for the person who must act; it is kept under 128 bytes for every error this library
/// makes, because the C API's message buffer has that size.
///
/// Errors are handed up through many functions, so they are packed: that is a good part of the size of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// What went wrong.
    pub kind: ErrorKind,
    /// Index of the layer in the model, or `NO_LAYER`.
    layer: u8,
    /// Kind byte of that layer, for its name in the text; 0 when unknown.
    layer_kind: u8,
    told: Told,
    /// Offset in the file in bytes, or `NO_OFFSET`.
    offset: u32,
    /// Value that was found.
    found: usize,
    /// Value that was expected; its relation to `found` is in `told`.
    expected: usize,
    /// Field or quantity that is wrong, in the words of the format.
    field: &'static str,
    /// What to do or why, when field and values do not say it all.
    note: &'static str,
}

impl Error {
    /// An error of this kind without further facts.
    pub const fn new(kind: ErrorKind) -> Self {
        Self {
            kind,
            layer: NO_LAYER,
            layer_kind: 0,
            told: Told::NOTHING,
            offset: NO_OFFSET,
            found: 0,
            expected: 0,
            field: "",
            note: "",
        }
    }

    /// Names the field that is wrong.
    pub const fn field(mut self, field: &'static str) -> Self {
        self.field = field;
        self
    }

    /// States the value that was found.
    pub const fn found(mut self, value: u64) -> Self {
        (self.told, self.found) = (self.told.found(), amount(value));
        self
    }

    /// States the only right value.
    pub const fn expected(mut self, value: u64) -> Self {
        (self.told, self.expected) = (self.told.with_relation(Told::EXACTLY), amount(value));
        self
    }

    /// States the least right value.
    pub const fn at_least(mut self, value: u64) -> Self {
        (self.told, self.expected) = (self.told.with_relation(Told::AT_LEAST), amount(value));
        self
    }

    /// States the largest right value.
    pub const fn at_most(mut self, value: u64) -> Self {
        (self.told, self.expected) = (self.told.with_relation(Told::AT_MOST), amount(value));
        self
    }

    /// States the amounts, and which of them are told.
    pub(crate) const fn with_amounts(self, told: Told, found: usize, expected: usize) -> Self {
        Self { told, found, expected, ..self }
    }

    /// Adds what to do or why.
    pub const fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }

    /// States the place in the file, unless a deeper one is already known.
    pub fn at(mut self, offset: usize) -> Self {
        if self.offset == NO_OFFSET {
            self.offset = u32::try_from(offset).unwrap_or(NO_OFFSET);
        }
        self
    }

    /// Forgets the place in the file.
    pub(crate) const fn anywhere(mut self) -> Self {
        self.offset = NO_OFFSET;
        self
    }

    /// States the kind byte of the layer, whose index is not known here.
    pub(crate) fn in_kind(mut self, kind: u8) -> Self {
        self.layer_kind = kind;
        self
    }

    /// States the layer, unless it is already known.
    pub fn in_layer(mut self, index: usize, kind: u8) -> Self {
        if self.layer == NO_LAYER {
            self.layer = u8::try_from(index).unwrap_or(NO_LAYER);
            self.layer_kind = kind;
        }
        self
    }

    /// Index of the layer in the model, from 0.
    pub fn layer(&self) -> Option<u8> {
        (self.layer != NO_LAYER).then_some(self.layer)
    }

    /// Kind byte of that layer; 0 when unknown.
    pub const fn layer_kind(&self) -> u8 {
        self.layer_kind
    }

    /// Offset in the file, in bytes.
    pub fn offset(&self) -> Option<u32> {
        (self.offset != NO_OFFSET).then_some(self.offset)
    }

    /// Bytes, elements or entries that would have been right; 0 when the error is not about an amount.
    pub const fn needed(&self) -> u64 {
        self.expected as u64
    }

    /// Bytes, elements or entries that were there; 0 when the error is not about an amount.
    pub const fn available(&self) -> u64 {
        self.found as u64
    }
}

impl Error {
    /// Hands out the sentence in pieces. Strings and numbers go out as they are: a program that needs no other formatting
    /// should not have to carry the machinery for it.
    pub(crate) fn tell(&self, out: &mut dyn FnMut(&str)) {
        if let Some(layer) = self.layer() {
            tell_all(out, &["layer "], Some(layer.into()));
            if let Some(name) = crate::format::kind_name(self.layer_kind) {
                tell_all(out, &[" (", name, ")"], None);
            }
            out(if self.offset == NO_OFFSET { ": " } else { ", " });
        }
        if let Some(offset) = self.offset() {
            tell_all(out, &["byte "], Some(offset as usize));
            out(": ");
        }
        match (self.field, self.told.has_found(), self.note) {
            ("", _, "") => out(self.kind.text()),
            ("", _, note) => return out(note),
            (field, false, "") => tell_all(out, &[field, ": ", self.kind.text()], None),
            (field, false, note) => return tell_all(out, &[field, ": ", note], None),
            (field, true, _) => tell_all(out, &[field, " is "], Some(self.found)),
        }
        if let Some(relation) = self.told.relation() {
            tell_all(out, &[", expected ", relation], Some(self.expected));
        }
        if !self.note.is_empty() {
            tell_all(out, &["; ", self.note], None);
        }
    }
}

/// Tells texts, and a number behind them.
fn tell_all(out: &mut dyn FnMut(&str), texts: &[&str], number: Option<usize>) {
    for text in texts {
        out(text);
    }
    let Some(mut number) = number else { return };
    // Digits from the last on: 20 are those of 64 bits.
    let mut digits = [0; 20];
    let mut count = 0;
    for digit in &mut digits {
        (*digit, number) = (number % 10, number / 10);
        count += 1;
        if number == 0 {
            break;
        }
    }
    for &digit in digits.iter().take(count).rev() {
        out("0123456789".get(digit..=digit).unwrap_or_default());
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut result = Ok(());
        self.tell(&mut |text| {
            if result.is_ok() {
                result = f.write_str(text);
            }
        });
        result
    }
}

impl core::error::Error for Error {}

const _: () = assert!(size_of::<Error>() <= 8 + 6 * size_of::<usize>());

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn numbers_are_written_whole() {
        for number in [0, 9, 10, 99, 100, 12_345, usize::MAX - 1, usize::MAX] {
            let error = Error::new(ErrorKind::Arena).field("bytes").found(number as u64).at_most(u64::MAX);
            assert_eq!(error.to_string(), std::format!("bytes is {number}, expected at most {}", usize::MAX));
        }
    }
}
