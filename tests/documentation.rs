//! What the pages say about texts and names is what the library says.

use std::ffi::CStr;
use std::path::Path;

use netkit::ffi::nk_status_string;

#[test]
fn troubleshooting_has_every_status_text() {
    let page = read("docs/troubleshooting.md");
    let header = read("include/nk.h");
    for status in 0..=99 {
        let text = status_text(status);
        let row = page.lines().find(|line| line.starts_with(&format!("| `{text}` |")));
        let row = row.unwrap_or_else(|| panic!("docs/troubleshooting.md has no row for `{text}`"));
        let constant = header.lines().find_map(|line| {
            let (name, number) = line.trim().strip_suffix(',')?.split_once(" = ")?;
            let is_status = name.starts_with("NK_ERR_") || name == "NK_OK";
            (is_status && number == status.to_string()).then_some(name)
        });
        assert_eq!(constant.is_none(), text == "unknown", "status {status}");
        if let Some(constant) = constant {
            assert!(row.contains(&format!("| `{constant}` |")), "{row}");
        }
    }
}

#[test]
fn troubleshooting_has_every_kind_of_error() {
    let page = read("docs/troubleshooting.md");
    let source = read("src/error.rs");
    let texts: Vec<&str> = source.split(" => \"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(texts.len() > 20, "{texts:?}");
    let headings: Vec<&str> = page.lines().filter(|line| line.starts_with("### ")).collect();
    for text in texts {
        let quoted = format!("`{text}`");
        assert!(
            headings.iter().any(|line| line.contains(&quoted)),
            "no heading of docs/troubleshooting.md has {quoted}"
        );
    }
}

/// The other way round: the page does not explain sentences that nobody will ever see.
#[test]
fn troubleshooting_quotes_texts_that_exist() {
    let page = read("docs/troubleshooting.md");
    let about_the_library = page.split("## Building and linking").next().unwrap_or_default();
    let sources = all_sources(Path::new("src"));
    for heading in about_the_library.lines().filter_map(|line| line.strip_prefix("### ")) {
        for text in heading.split('`').skip(1).step_by(2).filter(|text| !text.contains("...")) {
            assert!(sources.contains(&format!("\"{text}")), "no sentence of the library is `{text}`");
        }
    }
}

#[test]
fn c_api_page_has_every_function_and_no_other() {
    let page = read("docs/c-api.md");
    let symbols = read("capi/symbols.txt");
    for name in symbols.lines() {
        assert!(page.contains(&format!("| `{name}()` |")), "docs/c-api.md has no {name}: run scripts/c-api-doc");
    }
    for line in page.lines().filter_map(|line| line.strip_prefix("| `nk_")) {
        if let Some((name, _)) = line.split_once("()` |") {
            assert!(symbols.lines().any(|symbol| symbol == format!("nk_{name}")), "nk_{name} is no function");
        }
    }
}

/// Functions that a page names with parentheses are there, links to files lead somewhere.
#[test]
fn pages_name_functions_and_files_that_exist() {
    let symbols = read("capi/symbols.txt") + "nk_abi_ok\n";
    let pages = [
        "c-api",
        "troubleshooting",
        "migrating-from-netkit",
        "migrating-from-tflite-micro",
        "tutorial-pytorch-to-c",
        "tutorial-tflite-to-firmware",
    ];
    for page in pages {
        let text = read(&format!("docs/{page}.md"));
        for (at, _) in text.match_indices("nk_") {
            let name: String = text[at..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            if text[at + name.len()..].starts_with("()") {
                assert!(symbols.lines().any(|symbol| symbol == name), "docs/{page}.md: {name}()");
            }
        }
        for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            let is_here = link.is_empty() || link.starts_with("https:") || root().join("docs").join(link).exists();
            assert!(is_here, "docs/{page}.md links to {link}");
        }
    }
}

#[test]
fn tutorial_shows_the_program_that_it_compiles() {
    let page = read("docs/tutorial-pytorch-to-c.md");
    let shown = page.split("\n```c\n").nth(1).and_then(|rest| rest.split("```").next());
    assert_eq!(shown, Some(read("examples/read_digit.c").as_str()));
}

fn status_text(status: u32) -> String {
    // SAFETY: the function returns a constant C string.
    unsafe { CStr::from_ptr(nk_status_string(status as _)) }.to_string_lossy().into_owned()
}

fn all_sources(folder: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(root().join(folder)).expect("src can be listed") {
        let path = entry.expect("src can be listed").path();
        if path.is_dir() {
            text += &all_sources(&path);
        } else {
            text += &std::fs::read_to_string(path).expect("a source is UTF-8");
        }
    }
    text
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
