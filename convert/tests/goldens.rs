//! Single operations against onnxruntime and ONNX's own test suite: see `goldens/README.md`.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{input, relative_difference, values};
use netkit_convert::error::ErrorKind;
use netkit_convert::interpret::run;
use netkit_convert::onnx::{Options, load};

/// An array in a text file.
struct Array {
    kind: String,
    shape: Vec<usize>,
    values: Vec<f64>,
}

/// A model with its input and what comes out.
#[derive(Default)]
struct Case {
    name: String,
    model: Vec<u8>,
    inputs: Vec<Array>,
    outputs: Vec<Array>,
}

/// The cases of a file: lines such as `case relu`, `model 0807…`, `input float32 [2,3] 1 2 …`.
fn read_cases(path: &Path) -> Vec<Case> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut cases = Vec::new();
    for line in text.lines() {
        let (side, rest) = line.split_once(' ').unwrap();
        if side == "case" {
            cases.push(Case { name: rest.into(), ..Case::default() });
        }
        let case = cases.last_mut().unwrap();
        match side {
            "model" => case.model = bytes_of(rest),
            "input" => case.inputs.push(read_array(rest)),
            "output" => case.outputs.push(read_array(rest)),
            _ => assert_eq!(side, "case"),
        }
    }
    cases
}

fn bytes_of(digits: &str) -> Vec<u8> {
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

fn read_array(line: &str) -> Array {
    let mut words = line.split(' ');
    let (kind, shape) = (words.next().unwrap(), words.next().unwrap());
    let extents = shape.trim_matches(['[', ']']).split(',').filter(|extent| !extent.is_empty());
    Array {
        kind: kind.into(),
        shape: extents.map(|extent| extent.parse().unwrap()).collect(),
        values: words.map(|word| word.parse().unwrap()).collect(),
    }
}

enum Verdict {
    Right,
    Refused(String),
    Wrong(String),
}

fn judge(case: &Case) -> Verdict {
    let graph = match load(&case.model, None, &Options::default()) {
        Ok((graph, _)) => graph,
        Err(error) if error.kind() == ErrorKind::Unsupported => return Verdict::Refused(error.to_string()),
        Err(error) => return Verdict::Wrong(error.to_string()),
    };
    let inputs: Vec<_> =
        case.inputs.iter().enumerate().map(|(index, array)| input(&graph, index, &array.values)).collect();
    let outputs = match run(&graph, &inputs) {
        Ok(outputs) => outputs,
        Err(error) => return Verdict::Wrong(error.to_string()),
    };
    for (found, expected) in outputs.iter().zip(&case.outputs) {
        if found.shape() != expected.shape || found.element_type().to_string() != expected.kind {
            let found = format!("{} {:?}", found.element_type(), found.shape());
            return Verdict::Wrong(format!("{found}, expected {} {:?}", expected.kind, expected.shape));
        }
        let difference = relative_difference(&values(found), &expected.values);
        let tolerance = if expected.kind == "float16" { 2e-3 } else { 1e-5 };
        if difference.is_none_or(|difference| difference > tolerance) {
            return Verdict::Wrong(format!("{:?}, expected {:?}", values(found), expected.values));
        }
    }
    Verdict::Right
}

/// How many cases are right, and what is said about the others.
fn judge_all(folder: &Path) -> (usize, Vec<String>, Vec<String>) {
    let (mut right, mut refused, mut wrong) = (0, Vec::new(), Vec::new());
    for case in ["own.txt", "suite.txt"].iter().flat_map(|file| read_cases(&folder.join(file))) {
        match judge(&case) {
            Verdict::Right => right += 1,
            Verdict::Refused(why) => refused.push(format!("{}: {why}", case.name)),
            Verdict::Wrong(why) => wrong.push(format!("{}: {why}", case.name)),
        }
    }
    (right, refused, wrong)
}

#[test]
fn operations_compute_what_onnxruntime_computes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens");
    let (right, refused, wrong) = judge_all(&folder);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(right > 250, "only {right} cases are there");
}

/// The whole suite, where `make.py --all` has written it: nothing is wrong, and few cases are refused.
#[test]
fn no_case_of_the_onnx_suite_is_computed_wrongly() {
    let Some(folder) = std::env::var_os("NETKIT_GOLDENS").map(PathBuf::from) else { return };
    let (right, refused, wrong) = judge_all(&folder);
    println!("{right} right, {} refused, {} wrong\n{}", refused.len(), wrong.len(), refused.join("\n"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(refused.len() * 10 < right, "{} are refused", refused.len());
}
