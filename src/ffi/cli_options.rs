//! Words of the command line.

use core::ffi::{CStr, c_char, c_int};
use core::fmt::{self, Write};

use super::{files, output};
use crate::error::Error;
use crate::host;

/// Arena of a command without --arena, in bytes.
const DEFAULT_ARENA_BYTES: usize = 64 << 20;

/// What a command comes to.
pub(super) type Outcome<T = ()> = Result<T, Problem>;

/// Why a command line does not do what it should. Whoever makes one has told the user.
#[derive(Clone, Copy, Debug)]
pub(super) struct Problem {
    /// The command line itself makes no sense: the help may solve it.
    pub(super) is_misuse: bool,
}

impl Problem {
    /// Everything was said before.
    pub(super) const TOLD: Self = Self { is_misuse: false };

    /// There is nothing but options.
    pub(super) const NO_COMMAND: Self = Self { is_misuse: true };

    /// Something went wrong.
    pub(super) fn new(text: fmt::Arguments<'_>) -> Self {
        tell(text);
        Self { is_misuse: false }
    }

    /// The command line makes no sense.
    pub(super) fn misuse(text: fmt::Arguments<'_>) -> Self {
        tell(text);
        Self { is_misuse: true }
    }
}

impl<E: Into<Error>> From<E> for Problem {
    fn from(error: E) -> Self {
        Self::new(format_args!("{}", error.into()))
    }
}

/// Tells the log, or without one C stderr.
fn tell(text: fmt::Arguments<'_>) {
    let mut sentence = Sentence { bytes: [0; SENTENCE_BYTES], length: 0 };
    // It cuts what does not fit.
    let _ = sentence.write_fmt(text);
    if !output::log_error(sentence.as_str().as_bytes()) {
        // A stderr that takes no text is the business of the program that closed it.
        let _ = writeln!(host::Stderr, "{text}");
    }
}

const SENTENCE_BYTES: usize = 512;

/// A text of limited length.
struct Sentence {
    bytes: [u8; SENTENCE_BYTES],
    length: usize,
}

impl Sentence {
    fn as_str(&self) -> &str {
        files::text_of(self.bytes.get(..self.length).unwrap_or_default())
    }
}

impl Write for Sentence {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let kept = text.get(..text.floor_char_boundary(SENTENCE_BYTES - self.length)).unwrap_or_default();
        let room = self.bytes.iter_mut().skip(self.length);
        room.zip(kept.as_bytes()).for_each(|(to, &from)| *to = from);
        self.length += kept.len();
        Ok(())
    }
}

/// The words that are left.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'a> {
    words: &'a [*mut c_char],
}

impl<'a> Arguments<'a> {
    /// All words but the name of the program.
    ///
    /// # Safety
    /// `argv` is null or points to `argc` C strings, or fewer and a null pointer, that outlive the result.
    pub(super) unsafe fn new(argc: c_int, argv: *mut *mut c_char) -> Self {
        let count = if argv.is_null() { 0 } else { usize::try_from(argc).unwrap_or(0) };
        // SAFETY: by this function's contract; an array of pointers is aligned.
        let words = if count == 0 { &[] } else { unsafe { core::slice::from_raw_parts(argv.cast_const(), count) } };
        let end = words.iter().position(|word| word.is_null()).unwrap_or(count);
        Self { words: words.get(1..end).unwrap_or(&[]) }
    }

    /// Takes the first word.
    pub(super) fn next(&mut self) -> Option<&'a CStr> {
        let (&first, rest) = self.words.split_first()?;
        self.words = rest;
        // SAFETY: by the contract of `new`, which left the null pointers out.
        Some(unsafe { CStr::from_ptr(first) })
    }

    /// Whether -h or --help is among the words, and not the value of an option.
    pub(super) fn asks_for_help(mut self) -> bool {
        while let Some(word) = self.next() {
            match word.to_bytes() {
                b"-h" | b"--help" => return true,
                b"--input" => _ = self.next(),
                _ => {}
            }
        }
        false
    }

    /// Whether this word is among them.
    pub(super) fn have(mut self, wanted: &CStr) -> bool {
        core::iter::from_fn(|| self.next()).any(|word| word == wanted)
    }

    /// The value of the first option `name VALUE` or `name=VALUE`; `Some(None)` when the value is missing.
    pub(super) fn value_of(mut self, name: &[u8]) -> Option<Option<&'a CStr>> {
        while let Some(word) = self.next() {
            if let Some(value) = value_after(word, name) {
                return Some(value.or_else(|| self.next()));
            }
        }
        None
    }
}

/// `None` for another word, `Some(None)` for the name alone, else what follows `=`.
fn value_after<'a>(word: &'a CStr, name: &[u8]) -> Option<Option<&'a CStr>> {
    let rest = word.to_bytes_with_nul().strip_prefix(name)?;
    match rest {
        [0] => Some(None),
        [b'=', value @ ..] => CStr::from_bytes_with_nul(value).ok().map(Some),
        _ => None,
    }
}

/// Options in front of the command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    pub(super) arena_bytes: usize,
}

impl Options {
    /// Takes the options; the last of several wins.
    pub(super) fn take(arguments: &mut Arguments<'_>) -> Outcome<Self> {
        let mut options = Self { arena_bytes: DEFAULT_ARENA_BYTES };
        loop {
            let mut ahead = *arguments;
            let Some(value) = ahead.next().and_then(|word| value_after(word, b"--arena")) else { return Ok(options) };
            let value = value.or_else(|| ahead.next());
            let value = value.ok_or_else(|| Problem::new(format_args!("Missing value for --arena")))?;
            let size = parse_size(value.to_bytes());
            let text = files::text_of(value.to_bytes());
            options.arena_bytes = size.ok_or_else(|| Problem::new(format_args!("Invalid --arena size: {text}")))?;
            *arguments = ahead;
        }
    }
}

/// A decimal number and a unit of 1024, 1024² or 1024³ bytes, if any; `None` for 0 and for everything else.
fn parse_size(text: &[u8]) -> Option<usize> {
    let text = text.trim_ascii();
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let number: usize = core::str::from_utf8(number).ok()?.parse().ok()?;
    let is = |names: [&[u8]; 2]| names.into_iter().any(|name| unit.trim_ascii_start().eq_ignore_ascii_case(name));
    let factor: usize = match () {
        () if unit.trim_ascii_start().is_empty() => 1,
        () if is([b"k", b"kib"]) => 1 << 10,
        () if is([b"m", b"mib"]) => 1 << 20,
        () if is([b"g", b"gib"]) => 1 << 30,
        () => return None,
    };
    number.checked_mul(factor).filter(|&bytes| bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_a_number_and_a_unit() {
        let cases: [(&str, Option<usize>); 12] = [
            ("1", Some(1)),
            ("65536", Some(65536)),
            (" 64k ", Some(64 << 10)),
            ("4 MiB", Some(4 << 20)),
            ("1G", Some(1 << 30)),
            ("0", None),
            ("", None),
            ("k", None),
            ("-1", None),
            ("4x", None),
            ("4kb", None),
            ("99999999999999999999", None),
        ];
        for (text, wanted) in cases {
            assert_eq!(parse_size(text.as_bytes()), wanted, "{text}");
        }
    }
}
