//! Every example of docs/cli.md is run and prints what the page shows.

mod common;

use common::{netkit, root};

/// A command of the page and the lines below it.
struct Example {
    command: String,
    expected: Vec<String>,
    /// Numbers depend on the machine: they are not compared.
    numbers_vary: bool,
}

fn examples(page: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut block = None;
    for line in page.lines() {
        match (block, line.strip_prefix("```"), line.strip_prefix("$ netkit ")) {
            (Some(_), Some(_), _) => block = None,
            (None, Some(language), _) if language.starts_with("console") => block = Some(language != "console"),
            (None, Some(_), _) => block = None,
            (Some(numbers_vary), _, Some(command)) => {
                examples.push(Example { command: command.to_owned(), expected: Vec::new(), numbers_vary });
            }
            (Some(_), _, None) => examples.last_mut().expect("a command first").expected.push(line.to_owned()),
            _ => {}
        }
    }
    examples
}

/// Puts a mark in place of each number.
fn without_numbers(line: &str) -> String {
    let mut text = String::new();
    for c in line.chars() {
        if !c.is_ascii_digit() {
            text.push(c);
        } else if !text.ends_with('#') {
            text.push('#');
        }
    }
    text
}

/// `[..]` stands for any text inside a line.
fn matches(printed: &str, expected: &str) -> bool {
    match expected.split_once("[..]") {
        None => printed == expected,
        Some((start, end)) => {
            printed.len() >= start.len() + end.len() && printed.starts_with(start) && printed.ends_with(end)
        }
    }
}

#[test]
fn examples_print_what_the_page_shows() {
    let page = std::fs::read_to_string(root().join("docs/cli.md")).expect("docs/cli.md");
    let examples = examples(&page);
    assert!(examples.len() >= 8, "{} examples", examples.len());
    for example in examples {
        let output = netkit(&example.command).output().expect("started");
        let printed = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
        let mut printed: Vec<&str> = printed.lines().collect();
        let mut expected: Vec<String> = example.expected;
        if expected.first().is_some_and(|line| line == "[summary]") {
            let model = example.command.split(' ').nth(1).expect("a model");
            let summary = netkit(&format!("inspect {model}")).output().expect("started").stdout;
            let summary = String::from_utf8(summary).expect("UTF-8");
            expected.splice(..1, summary.lines().map(str::to_owned));
        }
        if expected.last().is_some_and(|line| line == "[steps]") {
            expected.pop();
            printed.truncate(expected.len());
        }
        assert_eq!(printed.len(), expected.len(), "netkit {}: {printed:#?}", example.command);
        for (printed, expected) in printed.iter().zip(&expected) {
            let same = if example.numbers_vary {
                without_numbers(printed) == without_numbers(expected)
            } else {
                matches(printed, expected)
            };
            assert!(same, "netkit {}\nprinted:  {printed}\nexpected: {expected}", example.command);
        }
    }
}
