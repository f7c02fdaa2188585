//! What the C programs exercise: every function of `include/nk.h`, each status that its comment promises and no other,
//! NULL for each pointer, an empty handle for each handle. What the programs do is watched while they run, see
//! `c_coverage/recorder.h`; that each answer is the right one, they check themselves.
#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

mod c_header;
mod c_library;
#[path = "c_coverage/promises.rs"]
mod promises;
#[path = "c_coverage/record.rs"]
mod record;

use c_header::{Function, Parameter};
use promises::{Statuses, promised};
use record::Notes;

/// The functions of the header, and the notes on those that were called.
fn recorded() -> &'static (Vec<Function>, BTreeMap<String, Notes>) {
    static RECORDED: OnceLock<(Vec<Function>, BTreeMap<String, Notes>)> = OnceLock::new();
    RECORDED.get_or_init(|| {
        let functions = c_header::functions();
        let notes = record::run_programs(&functions);
        (functions, notes)
    })
}

/// Collects what `check` finds wrong with the functions that were called.
fn for_each_function(check: impl Fn(&Function, &Notes) -> Vec<String>) {
    let (functions, notes) = recorded();
    let called = functions.iter().filter_map(|function| Some((function, notes.get(&function.name)?)));
    let faults: Vec<_> = called.flat_map(|(function, notes)| check(function, notes)).collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

impl Parameter {
    /// The address of a handle.
    fn is_handle(&self) -> bool {
        let pointee = self.pointee().unwrap_or_default();
        ["nk_arena_t", "nk_model_t", "nk_mlp_t", "nk_cnn_t"].contains(&pointee.trim_start_matches("const "))
    }

    /// The address of a structure or a number that only a call that succeeds writes to.
    fn is_single_output(&self) -> bool {
        let pointee = self.pointee().unwrap_or("const");
        let is_one = pointee.starts_with("nk_") || ["uint32_t", "size_t"].contains(&pointee);
        is_one && !self.about.starts_with("cleared")
    }

    /// The address of a handle whose old bytes do not matter.
    fn is_handle_to_fill(&self) -> bool {
        self.is_handle() && ["becomes the handle", "the handle to fill in"].iter().any(|text| self.about.contains(text))
    }
}

#[test]
fn every_function_is_called() {
    let (functions, notes) = recorded();
    let exported =
        std::fs::read_to_string(c_library::root().join("capi/symbols.txt")).expect("capi/symbols.txt is there");
    let declared: BTreeSet<&str> = functions.iter().map(|function| function.name.as_str()).collect();
    assert_eq!(
        declared,
        exported.lines().collect(),
        "functions of include/nk.h (left) and of capi/symbols.txt (right)"
    );
    let missing: Vec<_> =
        functions.iter().map(|function| &function.name).filter(|&name| !notes.contains_key(name)).collect();
    assert!(missing.is_empty(), "no program in c_tests calls {missing:?}");
}

#[test]
fn every_status_that_is_promised_is_seen_and_no_other() {
    let (functions, _) = recorded();
    for_each_function(|function, notes| {
        if function.result != "nk_status_t" {
            return Vec::new();
        }
        let promised = promised(function, functions);
        let (unseen, unsaid) = (promised.without(notes.statuses), notes.statuses.without(promised));
        let mut faults = Vec::new();
        if !unseen.is_empty() {
            faults.push(format!("{}: no C test sees {unseen:?}, which its comment promises", function.name));
        }
        if !unsaid.is_empty() {
            faults.push(format!("{}: its comment does not tell of {unsaid:?}", function.name));
        }
        faults
    });
}

#[test]
fn every_pointer_is_null_in_some_call() {
    for_each_function(|function, notes| {
        let pointers = function.parameters.iter().filter(|parameter| parameter.is_pointer());
        let at_pointers = pointers.zip(&notes.at_pointers);
        let missing = at_pointers.filter(|(parameter, (null, _))| {
            let may_be_null = parameter.about.contains("may be NULL");
            null.is_empty() || may_be_null && null.without(Statuses::OK) == *null
        });
        missing
            .map(|(parameter, _)| format!("{}: no C test with {} NULL alone", function.name, parameter.name))
            .collect()
    });
}

#[test]
fn every_handle_is_empty_in_some_call() {
    for_each_function(|function, notes| {
        let pointers = function.parameters.iter().filter(|parameter| parameter.is_pointer());
        let handles = pointers.zip(&notes.at_pointers).filter(|(parameter, _)| parameter.is_handle());
        let missing = handles.filter(|(parameter, (_, empty))| !parameter.is_handle_to_fill() && empty.is_empty());
        missing.map(|(parameter, _)| format!("{}: no C test with zeros as {}", function.name, parameter.name)).collect()
    });
}

#[test]
fn every_call_keeps_the_conventions() {
    for_each_function(|_, notes| notes.broken.clone());
}
