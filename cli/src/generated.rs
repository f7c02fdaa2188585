//! `packaging/command` holds the man pages and shell completions of this command line, committed so that installing
//! them needs no build. This test makes them again and compares; `NETKIT_BLESS=1 cargo test -p netkit-cli generated`
//! writes them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use clap_complete::aot::{Bash, Fish, Generator, Zsh};

use crate::args::Args;

#[test]
fn man_pages_and_completions_are_those_of_the_command_line() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/command");
    let files = man_pages().into_iter().chain(completions()).collect::<BTreeMap<_, _>>();
    if std::env::var_os("NETKIT_BLESS").is_some() {
        let _ = fs::remove_dir_all(&folder);
        for (name, text) in &files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("packaging is writable");
            fs::write(path, text).expect("packaging is writable");
        }
    }
    let names: Vec<_> = files.keys().collect();
    assert_eq!(names, committed(&folder).iter().collect::<Vec<_>>(), "other files; see the top of this file");
    for (name, text) in &files {
        let committed = fs::read_to_string(folder.join(name)).expect("a text");
        assert_eq!(text, &committed, "packaging/command/{} is outdated; see the top of this file", name.display());
    }
}

/// `netkit.1`, and a page for each subcommand that people use.
fn man_pages() -> Vec<(PathBuf, String)> {
    let mut command = Args::command().disable_help_subcommand(true);
    command.build();
    let subcommands: Vec<_> = command.get_subcommands().filter(|sub| !sub.is_hide_set()).cloned().collect();
    [command].into_iter().chain(subcommands).map(man_page).collect()
}

fn man_page(command: Command) -> (PathBuf, String) {
    let page = clap_mangen::Man::new(command);
    let mut bytes = Vec::new();
    page.render(&mut bytes).expect("a vector takes everything");
    (Path::new("man").join(page.get_filename()), text(bytes))
}

fn completions() -> [(PathBuf, String); 3] {
    [
        (PathBuf::from("completions/netkit.bash"), completion(Bash)),
        (PathBuf::from("completions/_netkit"), completion(Zsh)),
        (PathBuf::from("completions/netkit.fish"), completion(Fish)),
    ]
}

fn completion(shell: impl Generator) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "netkit", &mut script);
    text(script)
}

/// Without blanks at the ends of lines.
fn text(bytes: Vec<u8>) -> String {
    let text = String::from_utf8(bytes).expect("UTF-8");
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The files below `folder`, sorted, relative to it.
fn committed(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = ["completions", "man"]
        .iter()
        .filter_map(|part| fs::read_dir(folder.join(part)).ok().map(|entries| (part, entries)))
        .flat_map(|(part, entries)| {
            entries.map(move |entry| Path::new(part).join(entry.expect("a folder can be listed").file_name()))
        })
        .collect();
    files.sort();
    files
}
