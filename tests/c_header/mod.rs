//! The functions that `include/nk.h` declares, and what it says about them.
#![allow(dead_code, reason = "each test binary uses its own part")]

/// A function of the C interface.
#[derive(Debug)]
pub struct Function {
    pub name: String,
    pub result: String,
    pub parameters: Vec<Parameter>,
    /// The comment in front of it, one blank between words.
    pub about: String,
}

#[derive(Clone, Debug)]
pub struct Parameter {
    pub name: String,
    /// Such as `const float *`.
    pub kind: String,
    /// What the function's comment says under the parameter's name; empty when it stands in no list.
    pub about: String,
}

impl Parameter {
    /// An address, of data or of a function.
    pub fn is_pointer(&self) -> bool {
        self.kind.ends_with('*') || self.kind.ends_with("_fn")
    }

    /// The type that it points to, such as `const nk_arena_t`.
    pub fn pointee(&self) -> Option<&str> {
        self.kind.strip_suffix('*').map(str::trim_end)
    }
}

/// Every function of the header, whatever macros it depends on. A short name has the comments of the long one.
pub fn functions() -> Vec<Function> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("include/nk.h");
    let header = std::fs::read_to_string(path).expect("include/nk.h is there");
    let mut functions: Vec<Function> = Vec::new();
    let mut rest = header.as_str();
    while let Some((comment, code)) = rest.split_once("/*").and_then(|(_, rest)| rest.split_once("*/")) {
        let declaration = code.split("/*").next().unwrap_or_default();
        if let Some(mut found) = comment.strip_prefix('*').and_then(|comment| function(declaration, comment)) {
            let is_short_name = |of: &&Function| found.about.starts_with(&format!("Short name of {}().", of.name));
            if let Some(long) = functions.iter().find(is_short_name) {
                found.parameters.clone_from(&long.parameters);
                found.about.clone_from(&long.about);
            }
            functions.push(found);
        }
        rest = code;
    }
    functions
}

/// The function that a piece of code begins with.
fn function(code: &str, comment: &str) -> Option<Function> {
    let statement = spaced(code.split(';').next()?);
    let (head, parameters) = statement.strip_suffix(')')?.split_once('(')?;
    let (result, name) = split_name(head);
    if !name.starts_with("nk_") || head.starts_with("typedef ") {
        return None;
    }
    let notes = notes(comment);
    let parameter = |text: &str| {
        let (kind, name) = split_name(text.trim());
        let note = notes.iter().find(|(names, _)| names.iter().any(|known| known == name));
        Parameter {
            name: name.into(),
            kind: kind.into(),
            about: note.map(|(_, text)| text.clone()).unwrap_or_default(),
        }
    };
    Some(Function {
        name: name.into(),
        result: result.into(),
        parameters: parameters.split(',').filter(|&text| text != "void").map(parameter).collect(),
        about: spaced(comment),
    })
}

/// `int *` and `x` of `int *x`.
fn split_name(declaration: &str) -> (&str, &str) {
    let start = declaration.rfind([' ', '*']).map_or(0, |at| at + 1);
    (declaration[..start].trim_end(), &declaration[start..])
}

/// The list of parameters in a comment: names and what is said about them.
fn notes(comment: &str) -> Vec<(Vec<String>, String)> {
    let mut notes: Vec<(Vec<String>, String)> = Vec::new();
    let mut is_open = false;
    for line in comment.lines().map(|line| line.trim().trim_start_matches('*')) {
        if let Some((names, text)) = line.strip_prefix(" - ").and_then(|item| item.split_once(':')) {
            notes.push((names.split(", ").map(str::to_owned).collect(), text.trim().to_owned()));
            is_open = true;
        } else if let (true, Some(more), Some((_, text))) = (is_open, line.strip_prefix("   "), notes.last_mut()) {
            text.push(' ');
            text.push_str(more.trim());
        } else {
            is_open = false;
        }
    }
    notes
}

/// The words of a comment or of code, without the stars in front of lines.
fn spaced(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|&line| line != "*");
    let words = lines.flat_map(|line| line.strip_prefix("* ").unwrap_or(line).split_whitespace());
    words.collect::<Vec<_>>().join(" ")
}
