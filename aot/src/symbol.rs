//! The name that everything in the C files begins with.

use std::path::Path;

use crate::Error;

/// A name in C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol(String);

impl Symbol {
    /// The name that is asked for.
    pub fn new(name: &str) -> Result<Self, Error> {
        let mut characters = name.chars();
        let begins = characters.next().is_some_and(|first| first == '_' || first.is_ascii_alphabetic());
        if begins && characters.all(|c| c == '_' || c.is_ascii_alphanumeric()) {
            return Ok(Self(name.to_owned()));
        }
        Err(Error::Name(name.to_owned()))
    }

    /// The name of a file without its extension, in lower case, with an underscore for whatever C does not allow and `m_`
    /// in front of a digit.
    pub fn of_file(path: &Path) -> Self {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
        let name: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let needs_letter = name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit());
        Self(if needs_letter { format!("m_{name}") } else { name })
    }

    /// As functions and files have it.
    pub fn lower(&self) -> &str {
        &self.0
    }

    /// As macros have it.
    pub fn upper(&self) -> String {
        self.0.to_ascii_uppercase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_become_names_in_c() {
        for (file, expected) in [
            ("dir/MNIST-cnn.v2.nk", "mnist_cnn_v2"),
            ("2 nets.nk", "m_2_nets"),
            ("größe.nk", "gr__e"),
            (".nk", "_nk"),
            ("", "m_"),
            ("a\nb\"c*.nk", "a_b_c_"),
        ] {
            assert_eq!(Symbol::of_file(Path::new(file)).lower(), expected, "{file:?}");
        }
    }

    #[test]
    fn only_identifiers_are_names() {
        assert_eq!(Symbol::new("Net_2").expect("a name").upper(), "NET_2");
        for name in ["", "2net", "my net", "my-net", "größe", "a\n"] {
            assert!(Symbol::new(name).is_err(), "{name:?}");
        }
    }
}
