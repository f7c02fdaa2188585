//! `include/nk.h` is generated from `src/ffi` and committed. This test generates it again and compares;
//! `NETKIT_BLESS=1 cargo test --test header` writes it.

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// One section of the header: a file of `src/ffi`.
struct Section {
    file: &'static str,
    /// Macro of `netkit_config.h` without which the section is not there.
    condition: Option<&'static str>,
}

const fn section(file: &'static str) -> Section {
    Section { file, condition: None }
}

const fn section_if(file: &'static str, condition: &'static str) -> Section {
    Section { file, condition: Some(condition) }
}

/// The sections in the order of the book.
const SECTIONS: &[Section] = &[
    section("limits.rs"),
    section("errors.rs"),
    section("version.rs"),
    section("arena.rs"),
    section("arena_extras.rs"),
    section_if("heap_arena.rs", "NETKIT_ARENA_HEAP"),
    section("inspect.rs"),
    section("model.rs"),
    section("dtype.rs"),
    section("tensor.rs"),
    section("ops.rs"),
    section("conv.rs"),
    section("model_info.rs"),
    section("int8.rs"),
    section("mlp.rs"),
    section("cnn/network.rs"),
    section("cnn/layers.rs"),
    section("cnn/blocks.rs"),
    section("cnn/yolox.rs"),
    section("typed_load.rs"),
    section("scratch.rs"),
    section("layers.rs"),
    section("hooks.rs"),
    section("output.rs"),
    section_if("tests.rs", "NETKIT_DESKTOP"),
    section_if("cli.rs", "NETKIT_DESKTOP"),
];

const RULE: &str = "========================================================================";

#[test]
fn the_committed_header_is_the_generated_one() {
    let path = root().join("include/nk.h");
    let generated = generate();
    if std::env::var_os("NETKIT_BLESS").is_some() {
        std::fs::write(&path, &generated).expect("include/nk.h can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let line = committed.lines().zip(generated.lines()).position(|(old, new)| old != new).map_or(0, |at| at + 1);
    assert!(
        committed == generated,
        "include/nk.h differs from src/ffi in line {line}: NETKIT_BLESS=1 cargo test --test header writes it anew"
    );
}

#[test]
fn every_exported_function_is_declared_once() {
    let header = generate();
    for name in exported_functions() {
        let prototypes = header.lines().filter(|line| is_prototype_of(line, &name)).count();
        assert_eq!(prototypes, 1, "{name} is declared {prototypes} times");
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn generate() -> String {
    let config = cbindgen::Config::from_root_or_default(root());
    let mut header = String::new();
    header.push_str(&block_comment(&module_text("mod.rs")));
    header.push_str("#ifndef NK_H\n#define NK_H\n");
    header.push_str(config.after_includes.as_deref().unwrap_or_default());
    header.push_str("\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
    for section in SECTIONS {
        header.push_str(&generate_section(section, &config));
    }
    header.push('\n');
    header.push_str(config.trailer.as_deref().unwrap_or_default());
    header.push_str("\n#ifdef __cplusplus\n} /* extern \"C\" */\n#endif\n\n#endif /* NK_H */\n");
    header
}

fn generate_section(section: &Section, config: &cbindgen::Config) -> String {
    let config = cbindgen::Config { after_includes: None, trailer: None, ..config.clone() };
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(ffi().join(section.file))
        .generate()
        .unwrap_or_else(|error| panic!("cbindgen cannot read {}: {error}", section.file));
    let mut code = Vec::new();
    bindings.write(&mut code);
    let code = String::from_utf8(code).expect("cbindgen writes UTF-8");

    let mut text = String::from("\n");
    if let Some(condition) = section.condition {
        let _ = writeln!(text, "#ifdef {condition}");
    }
    text.push_str(&section_comment(&module_text(section.file)));
    text.push('\n');
    text.push_str(&with_short_comments(code.trim()));
    text.push('\n');
    if let Some(condition) = section.condition {
        let _ = writeln!(text, "#endif /* {condition} */");
    }
    text
}

fn ffi() -> PathBuf {
    root().join("src/ffi")
}

/// The `//!` text of a file. A fenced block of code becomes an indented one.
fn module_text(file: &str) -> Vec<String> {
    let source = read(&ffi().join(file));
    let mut lines = Vec::new();
    let mut is_code = false;
    for line in source.lines().map_while(|line| line.strip_prefix("//!")) {
        let line = line.strip_prefix(' ').unwrap_or(line);
        if line.starts_with("```") {
            is_code = !is_code;
        } else if is_code && !line.is_empty() {
            lines.push(format!("    {line}"));
        } else {
            lines.push(line.to_owned());
        }
    }
    lines
}

fn block_comment(lines: &[String]) -> String {
    let body: String = lines.iter().map(|line| format!(" * {line}").trim_end().to_owned() + "\n").collect();
    format!("/*\n{body} */\n")
}

/// Puts comments of one line on one line.
fn with_short_comments(code: &str) -> String {
    let lines: Vec<&str> = code.lines().collect();
    let mut text = String::new();
    let mut rest = lines.as_slice();
    while let Some((&line, after)) = rest.split_first() {
        rest = after;
        let short = match after {
            [only, end, ..] if line.trim() == "/**" && end.trim() == "*/" => only.trim().strip_prefix("* "),
            _ => None,
        };
        if let Some(short) = short {
            rest = after.get(2..).unwrap_or_default();
            let _ = writeln!(text, "{}/** {short} */", line.trim_end_matches("/**"));
        } else {
            text.push_str(line);
            text.push('\n');
        }
    }
    text.trim_end().to_owned()
}

/// The first line between two rules, the rest below.
fn section_comment(lines: &[String]) -> String {
    let Some((title, rest)) = lines.split_first() else { return String::new() };
    let rest = rest.iter().skip_while(|line| line.is_empty());
    let body: String = rest.map(|line| format!(" * {line}").trim_end().to_owned() + "\n").collect();
    if body.is_empty() {
        format!("/* {RULE}\n * {title}\n * {RULE} */\n")
    } else {
        format!("/* {RULE}\n * {title}\n * {RULE}\n{body} */\n")
    }
}

/// Names of all functions with `#[unsafe(no_mangle)]` in `src/ffi`.
fn exported_functions() -> Vec<String> {
    let mut names = Vec::new();
    for path in sources_in(&ffi()) {
        let source = read(&path);
        for after in source.split("#[unsafe(no_mangle)]").skip(1) {
            let name = after.split("fn ").nth(1).and_then(|rest| rest.split('(').next());
            names.push(name.expect("a function follows").to_owned());
        }
    }
    names.sort();
    names
}

/// The files of a folder and of those in it.
fn sources_in(folder: &Path) -> Vec<PathBuf> {
    let mut sources = Vec::new();
    for entry in std::fs::read_dir(folder).expect("src/ffi is there") {
        let path = entry.expect("src/ffi can be listed").path();
        if path.is_dir() { sources.extend(sources_in(&path)) } else { sources.push(path) }
    }
    sources
}

fn is_prototype_of(line: &str, name: &str) -> bool {
    let is_code = !line.trim_start().starts_with(['*', '/', '#', '(']);
    is_code && line.split([' ', '*']).any(|word| word.strip_prefix(name).is_some_and(|rest| rest.starts_with('(')))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
