//! Numbers on the command line.

use netkit::format::MAX_CASE_FLOATS;

/// Most values on the command line; longer inputs come from a file.
pub(super) const MOST_ON_COMMAND_LINE: usize = MAX_CASE_FLOATS as usize;

/// Numbers separated by blanks and commas; a number also ends where the next one begins, as in `1-2`; at most
/// `most`.
pub(super) fn parse(text: &str, most: usize) -> Result<Vec<f32>, String> {
    let is_separator = |c: char| c.is_ascii_whitespace() || c == ',';
    let mut rest = text.trim_start_matches(is_separator);
    let mut values = Vec::new();
    while !rest.is_empty() {
        let number = number_prefix(rest);
        let Ok(value) = number.parse() else {
            let junk: String = rest.chars().take(12).collect();
            let at = text.len() - rest.len() + 1;
            return Err(format!("\"{}\" at character {at} is not a number", junk.escape_default()));
        };
        if values.len() == most {
            return Err(format!("more than {most} values; give a file: --input x.npy or --input @x.f32"));
        }
        values.push(value);
        rest = rest[number.len()..].trim_start_matches(is_separator);
    }
    if values.is_empty() { Err("there are none".to_owned()) } else { Ok(values) }
}

/// The longest start of `text` that is a number: sign, then `inf`, `infinity`, `nan` or a decimal with an exponent.
fn number_prefix(text: &str) -> &str {
    let bytes = text.as_bytes();
    let sign = usize::from(text.starts_with(['+', '-']));
    for word in ["infinity", "inf", "nan"] {
        let end = sign + word.len();
        if bytes.get(sign..end).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes())) {
            return &text[..end];
        }
    }
    let digits = |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(sign);
    let mut end = sign + whole;
    let mut fraction = 0;
    if bytes.get(end) == Some(&b'.') {
        fraction = digits(end + 1);
        end += 1 + fraction;
    }
    if whole + fraction == 0 {
        return "";
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let exponent = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if digits(exponent) > 0 {
            end = exponent + digits(exponent);
        }
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<f32>, String> {
        super::parse(text, MOST_ON_COMMAND_LINE)
    }

    #[test]
    fn values_are_separated_by_blanks_and_commas_in_any_mix() {
        assert_eq!(parse("1,2"), Ok(vec![1.0, 2.0]));
        assert_eq!(parse(" ,1 ,, 2\t\n3, "), Ok(vec![1.0, 2.0, 3.0]));
        assert_eq!(parse("1-2+3"), Ok(vec![1.0, -2.0, 3.0]));
        assert_eq!(parse("1.5.5"), Ok(vec![1.5, 0.5]));
    }

    #[test]
    fn numbers_may_have_exponents_signs_and_names() {
        assert_eq!(parse("1e3,-2.5E-1,.5,5.,+1"), Ok(vec![1000.0, -0.25, 0.5, 5.0, 1.0]));
        assert_eq!(parse("inf,-Infinity,1e999"), Ok(vec![f32::INFINITY, f32::NEG_INFINITY, f32::INFINITY]));
        assert!(parse("NaN").is_ok_and(|values| values.len() == 1 && values[0].is_nan()));
    }

    #[test]
    fn junk_is_named_with_its_place() {
        let junk = |text: &str| parse(text).unwrap_err();
        assert_eq!(junk("1,x2"), "\"x2\" at character 3 is not a number");
        assert_eq!(junk("1;2"), "\";2\" at character 2 is not a number");
        assert_eq!(junk("1e"), "\"e\" at character 2 is not a number");
        assert_eq!(junk("-"), "\"-\" at character 1 is not a number");
        assert_eq!(junk("."), "\".\" at character 1 is not a number");
        assert_eq!(junk("0x10"), "\"x10\" at character 2 is not a number");
        assert_eq!(junk("ä"), "\"\\u{e4}\" at character 1 is not a number");
        assert_eq!(junk(" , "), "there are none");
        assert_eq!(junk(""), "there are none");
    }

    #[test]
    fn the_number_of_values_is_limited() {
        assert!(parse(&"0,".repeat(MOST_ON_COMMAND_LINE)).is_ok());
        assert!(parse(&"0,".repeat(MOST_ON_COMMAND_LINE + 1)).is_err_and(|text| text.contains("16384")));
    }
}
