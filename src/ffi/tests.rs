//! Embedded test cases
//!
//! A .nk file can carry inputs and the outputs expected for them. Only on hosts.

use core::ffi::{CStr, c_char};
use core::fmt::Write;

use super::limits::NK_MAX_PATH_LEN;
use super::{files, print, raw, suite};
use crate::error::Error;
use crate::format::Model;
use crate::host::{self, HeapBlock};
use crate::regression::{self, Options};

/// Number of test cases by result.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct nk_test_summary {
    /// Cases whose outputs were as expected.
    pub passed: u32,
    /// Cases whose outputs were not; 1 when the file could not be tested at all.
    pub failed: u32,
}

/// Number of test cases by result.
pub type nk_test_summary_t = nk_test_summary;

/// Runs the test cases that a file carries and prints what happens to C stdout.
///
/// A float model passes a case when every output is within the file's tolerance and, where the case has a label, the
/// largest output has that index. An int8 model passes when its largest output has the index of the label or, without
/// one, of the largest expected output: expected outputs may come from a simulation in floats.
///
/// Memory comes from the heap for the duration of the call. Two environment variables count: NETKIT_REGRESSION_VERBOSE
/// asks for the long report (1, which is the default) or the short one (0), and NETKIT_REGRESSION_STRICT=1 also compares
/// every dequantised output of an int8 model, which may differ by the file's tolerance or by one step of the output,
/// whichever is larger.
///
/// - path: a .nk file; tried once more with `../` in front.
///
/// Returns how many cases passed and failed. Threads: any; stdout is shared. Cost: one run for each case. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_run_model_tests(path: *const c_char) -> nk_test_summary_t {
    // SAFETY: `path` is NULL or by the conventions a C string.
    let path = unsafe { raw::path(path) };
    let mut summary = FAILED;
    print::with_stdout(|out| match path {
        Ok(path) => summary = test_file(path, out),
        Err(error) => report_failure(out, "Model parse", "", &error),
    });
    summary
}

/// Runs the test cases of many files, as nk_run_model_tests() does. A folder without models counts as one failure.
///
/// Where the folder `models` holds the suite of netkit, 29 models by name, these are run in the order of the suite and
/// nothing else, so that the counts are those of netkit: 89 cases. Otherwise it is every .nk file in `models`, or in
/// `../models` where there is no such folder, in order of names.
///
/// Returns how many cases of all files passed and failed. Threads: any; stdout is shared. Cost: one run for each case.
/// Since 0.1.0.
#[unsafe(no_mangle)]
pub extern "C" fn nk_run_all_tests() -> nk_test_summary_t {
    run_all().0
}

/// What nk_run_all_tests() does, with a title for the counts.
pub(super) fn run_all() -> (nk_test_summary, &'static str) {
    let (mut total, mut title) = (nk_test_summary { passed: 0, failed: 0 }, TOTALS_TITLE);
    print::with_stdout(|out| {
        if suite::is_complete() {
            title = suite::TOTALS_TITLE;
            run_suite(out, &mut total);
        } else {
            run_folder(out, &mut total);
        }
    });
    (total, title)
}

fn run_suite(out: &mut dyn Write, total: &mut nk_test_summary) {
    banner(out, suite::TITLE);
    for (title, models) in suite::SECTIONS {
        banner(out, title);
        models.iter().for_each(|path| total.add(test_file(path, out)));
    }
}

fn run_folder(out: &mut dyn Write, total: &mut nk_test_summary) {
    banner(out, "TESTS OF ALL MODELS");
    let folder = [c"models", c"../models"].into_iter().find(|folder| host::is_folder(folder));
    let mut found = None;
    while let Some(name) = folder.and_then(|folder| host::next_name(folder, b".nk", found.as_ref())) {
        // A blank line between the reports of two models.
        let _ = writeln!(out);
        total.add(test_in_folder(folder.unwrap_or_default(), &name, out));
        found = Some(name);
    }
    if found.is_none() {
        let _ = writeln!(out, "  There are no .nk files in models/ or ../models/");
        *total = FAILED;
    }
}

impl nk_test_summary {
    fn add(&mut self, other: Self) {
        self.passed = self.passed.saturating_add(other.passed);
        self.failed = self.failed.saturating_add(other.failed);
    }
}

/// Title above the counts of other models than the suite's.
pub(super) const TOTALS_TITLE: &str = "MODEL TEST SUMMARY";

const FAILED: nk_test_summary = nk_test_summary { passed: 0, failed: 1 };

/// A title between two rules.
fn banner(out: &mut dyn Write, title: &str) {
    const RULE: &str = "============================";
    // A stdout that takes no text is the business of the program that closed it.
    let _ = writeln!(out, "\n{RULE}\n {title}\n{RULE}");
}

/// The counts below a title.
pub(super) fn print_totals(out: &mut dyn Write, title: &str, counts: nk_test_summary) {
    banner(out, title);
    let _ = writeln!(out, "Passed: {}\nFailed: {}", counts.passed, counts.failed);
}

fn test_in_folder(folder: &CStr, name: &host::Name, out: &mut dyn Write) -> nk_test_summary {
    let mut path = [0; NK_MAX_PATH_LEN + 16];
    let parts = folder.to_bytes().iter().chain(b"/").chain(name.bytes());
    path.iter_mut().zip(parts).for_each(|(to, &from)| *to = from);
    CStr::from_bytes_until_nul(&path).map_or(FAILED, |path| test_file(path, out))
}

/// Runs the cases of the file at `path`.
fn test_file(path: &CStr, out: &mut dyn Write) -> nk_test_summary {
    let mut buffer = [0; NK_MAX_PATH_LEN];
    let (file, resolved) = files::open_resolved(path, &mut buffer);
    let resolved = files::text_of(resolved.to_bytes());
    file.and_then(|file| run_cases(resolved, file.bytes(), out)).unwrap_or_else(|error| {
        report_failure(out, "Model parse", resolved, &error);
        FAILED
    })
}

/// Runs the cases in memory of their own. An error says that the model itself is wrong.
fn run_cases(path: &str, bytes: &[u8], out: &mut dyn Write) -> Result<nk_test_summary, Error> {
    let model = Model::parse(bytes)?;
    let need = match regression::memory_bytes(&model) {
        Ok(need) => need,
        Err(error) => {
            report_failure(out, "Test load", path, &error);
            return Ok(FAILED);
        }
    };
    let Some(mut memory) = HeapBlock::zeroed(need.max(1)) else {
        report_failure(
            out,
            "Test load",
            path,
            &crate::arena::Arena::new(core::ptr::null_mut(), 0).too_small(need, "the heap is too small"),
        );
        return Ok(FAILED);
    };
    let options = Options { verbose: is_verbose(), strict: is_set(c"NETKIT_REGRESSION_STRICT") == Some(true) };
    let counts = regression::run(path, &model, memory.bytes(), options, out);
    Ok(nk_test_summary { passed: counts.passed, failed: counts.failed })
}

/// `NETKIT_REGRESSION_VERBOSE=1` asks for the long report, `0` for the short one; without it the report is long, except
/// where `GITHUB_ACTIONS` is set.
fn is_verbose() -> bool {
    is_set(c"NETKIT_REGRESSION_VERBOSE").unwrap_or_else(|| host::variable(c"GITHUB_ACTIONS").is_none())
}

/// Whether an environment variable begins with 1 or with 0; `None` when it does neither.
fn is_set(name: &CStr) -> Option<bool> {
    match host::variable(name).and_then(|value| value.to_bytes().first().copied()) {
        Some(b'1') => Some(true),
        Some(b'0') => Some(false),
        _ => None,
    }
}

fn report_failure(out: &mut dyn Write, step: &str, path: &str, error: &Error) {
    // A stdout that takes no text is the business of the program that closed it.
    let _ = writeln!(out, "  {step} failed ({path}): {error}");
}

const _: () = assert!(size_of::<nk_test_summary>() == 8 && align_of::<nk_test_summary>() == 4);
