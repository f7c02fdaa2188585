//! Number and tensor formats of the texts that people read.

use core::fmt;

/// A float as C's `%g` prints it: six significant digits, no trailing zeros, an exponent below 1e-4 and from 1e6 on.
#[derive(Clone, Copy, Debug)]
pub struct General(pub f32);

impl fmt::Display for General {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = f64::from(self.0);
        if !value.is_finite() || value == 0.0 {
            return fixed(f, value);
        }
        let mut digits = Digits::default();
        fmt::Write::write_fmt(&mut digits, format_args!("{value:.5e}"))?;
        let (mantissa, exponent) = digits.as_str().split_once('e').ok_or(fmt::Error)?;
        let exponent: i32 = exponent.parse().map_err(|_| fmt::Error)?;
        if (-4..6).contains(&exponent) {
            let mut text = Digits::default();
            let decimals = (5 - exponent) as usize;
            fmt::Write::write_fmt(&mut text, format_args!("{value:.decimals$}"))?;
            return f.write_str(trim(text.as_str()));
        }
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(f, "{}e{sign}{:02}", trim(mantissa), exponent.unsigned_abs())
    }
}

/// Without the zeros at the end of a decimal fraction.
fn trim(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

fn fixed(f: &mut fmt::Formatter<'_>, value: f64) -> fmt::Result {
    match value {
        v if v.is_nan() => f.write_str("nan"),
        v if v == f64::INFINITY => f.write_str("inf"),
        v if v == f64::NEG_INFINITY => f.write_str("-inf"),
        v if v.is_sign_negative() => f.write_str("-0"),
        _ => f.write_str("0"),
    }
}

/// Room for one formatted number.
#[derive(Default)]
struct Digits {
    bytes: [u8; 32],
    len: usize,
}

impl Digits {
    fn as_str(&self) -> &str {
        self.bytes.get(..self.len).and_then(|bytes| core::str::from_utf8(bytes).ok()).unwrap_or("")
    }
}

impl fmt::Write for Digits {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.len..self.len + text.len()).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.len += text.len();
        Ok(())
    }
}

/// A float with four decimals, as tensors are printed.
#[derive(Clone, Copy, Debug)]
pub struct Decimal4(pub f32);

impl fmt::Display for Decimal4 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_finite() { write!(f, "{:.4}", self.0) } else { fixed(f, f64::from(self.0)) }
    }
}

/// `[a, b, c]`.
#[derive(Clone, Copy, Debug)]
pub struct Dims<'a>(pub &'a [u32]);

impl fmt::Display for Dims<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (index, dim) in self.0.iter().enumerate() {
            write!(f, "{}{dim}", if index == 0 { "" } else { ", " })?;
        }
        f.write_str("]")
    }
}

/// `LABEL: shape=[...] values=[...]`, cut after [`MAX_PRINTED`] values when `cut` is set.
#[derive(Clone, Copy, Debug)]
pub struct Labelled<'a> {
    /// Text before the colon.
    pub label: &'a str,
    /// Extents.
    pub dims: &'a [u32],
    /// Values in memory order.
    pub values: &'a [f32],
    /// Leaves out all but the first values of a long tensor.
    pub cut: bool,
}

/// Values that a cut [`Labelled`] tensor shows.
pub const MAX_PRINTED: usize = 256;

impl fmt::Display for Labelled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: shape={} values=[", self.label, Dims(self.dims))?;
        if self.values.is_empty() {
            return f.write_str("empty]");
        }
        let shown = if self.cut { MAX_PRINTED } else { self.values.len() };
        for (index, &value) in self.values.iter().take(shown).enumerate() {
            write!(f, "{}{}", if index == 0 { "" } else { ", " }, Decimal4(value))?;
        }
        if self.values.len() > shown {
            write!(f, ", ... ({} total)", self.values.len())?;
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn general_prints_like_percent_g() {
        let cases = [
            (1e-6, "1e-06"),
            (1e-5, "1e-05"),
            (2.0, "2"),
            (2.5, "2.5"),
            (0.0001, "0.0001"),
            (0.08, "0.08"),
            (123456.0, "123456"),
            (1234567.0, "1.23457e+06"),
            (-0.25, "-0.25"),
            (0.0, "0"),
            (3.4e38, "3.4e+38"),
            (999999.9, "1e+06"),
            (f32::INFINITY, "inf"),
            (f32::NAN, "nan"),
        ];
        for (value, text) in cases {
            assert_eq!(General(value).to_string(), text);
        }
    }

    #[test]
    fn labelled_prints_shape_and_four_decimals() {
        let tensor = Labelled { label: "Input", dims: &[1, 2], values: &[1.0, -2.5], cut: true };
        assert_eq!(tensor.to_string(), "Input: shape=[1, 2] values=[1.0000, -2.5000]");
        let empty = Labelled { label: "Tensor", dims: &[2, 2], values: &[], cut: true };
        assert_eq!(empty.to_string(), "Tensor: shape=[2, 2] values=[empty]");
        let long = [0.0; 300];
        let cut = Labelled { label: "Input", dims: &[300], values: &long, cut: true }.to_string();
        assert!(cut.ends_with("0.0000, ... (300 total)]"), "{cut}");
    }
}
