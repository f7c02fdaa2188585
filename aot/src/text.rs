//! Numbers and arrays in C.

use std::fmt::Write;

/// Most characters of a line.
const LINE: usize = 110;

/// An element of an array.
pub(crate) trait Literal: Copy {
    /// Its type in C.
    const TYPE: &'static str;

    /// The value as C writes it.
    fn literal(self) -> String;
}

impl Literal for f32 {
    const TYPE: &'static str = "float";

    /// The shortest number that reads back as the same float.
    fn literal(self) -> String {
        match self {
            _ if self.is_nan() => "NAN".to_owned(),
            f32::INFINITY => "INFINITY".to_owned(),
            f32::NEG_INFINITY => "-INFINITY".to_owned(),
            _ => format!("{self:?}f"),
        }
    }
}

impl Literal for i8 {
    const TYPE: &'static str = "int8_t";

    fn literal(self) -> String {
        self.to_string()
    }
}

impl Literal for i32 {
    const TYPE: &'static str = "int32_t";

    /// The least number has no literal: -2147483648 is a minus and a number that is too large.
    fn literal(self) -> String {
        if self == i32::MIN { "INT32_MIN".to_owned() } else { self.to_string() }
    }
}

impl Literal for u32 {
    const TYPE: &'static str = "uint32_t";

    fn literal(self) -> String {
        format!("0x{self:08x}")
    }
}

/// The elements of an array, line by line, each indented.
pub(crate) fn elements<T: Literal>(values: &[T]) -> String {
    let mut text = String::new();
    let mut column = LINE;
    for value in values {
        let literal = value.literal();
        if column + literal.len() + 2 > LINE {
            text.push_str(if text.is_empty() { "    " } else { "\n    " });
            column = 4;
        } else {
            text.push(' ');
            column += 1;
        }
        // Writing to a string cannot fail.
        let _ = write!(text, "{literal},");
        column += literal.len() + 1;
    }
    text
}

/// A constant array.
pub(crate) fn array<T: Literal>(name: &str, values: &[T]) -> String {
    format!("static const {} {name}[{}] = {{\n{}\n}};\n", T::TYPE, values.len(), elements(values))
}

/// What may stand in a comment and in a string: no end of the comment, no line ends, nothing that is not ASCII.
pub(crate) fn harmless(text: &str) -> String {
    let keep = |c: char| if matches!(c, ' '..='~') && !matches!(c, '*' | '"' | '\\' | '?' | '%') { c } else { '_' };
    text.chars().map(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back_as_they_are() {
        for value in [0.1f32, -0.0, 1e-45, f32::MAX, f32::MIN_POSITIVE, 16_777_216.0] {
            let text = value.literal();
            let number: f32 = text.strip_suffix('f').expect("a float").parse().expect("a number");
            assert_eq!(number.to_bits(), value.to_bits(), "{text}");
            assert!(text.contains(['.', 'e']), "{text}f would be no literal");
        }
        assert_eq!(i32::MIN.literal(), "INT32_MIN");
        assert_eq!(f32::NAN.literal(), "NAN");
    }

    #[test]
    fn lines_are_short() {
        let text = elements(&[i32::MAX; 100]);
        assert!(text.lines().all(|line| line.len() <= LINE && line.starts_with("    ")), "{text}");
        assert_eq!(text.matches("2147483647,").count(), 100);
    }

    #[test]
    fn comments_end_where_they_should() {
        assert_eq!(harmless("a*/\n\"b\\ü??/%d"), "a_/__b____/_d");
    }
}
