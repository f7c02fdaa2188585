//! The largest outputs, with their names.

use std::cmp::Ordering;
use std::io::Write;
use std::path::Path;

use netkit::text::General;
use serde::{Serialize, Serializer};

use crate::failure::Failure;
use crate::output::{Output, escaped};
use crate::run::{JsonFloat, shortest};

/// One of the largest outputs.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Top {
    index: usize,
    #[serde(serialize_with = "serialize_value")]
    value: f32,
    label: Option<String>,
}

fn serialize_value<S: Serializer>(value: &f32, serializer: S) -> Result<S::Ok, S::Error> {
    JsonFloat(*value).serialize(serializer)
}

/// The `count` largest of `values`, the first of equal ones first, NaN last; `labels` are the names of all.
pub(crate) fn largest(values: &[f32], count: usize, labels: Option<&[String]>) -> Vec<Top> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| falling(values[a], values[b]));
    order.truncate(count);
    let label = |index: usize| labels.map(|labels| labels[index].clone());
    order.into_iter().map(|index| Top { index, value: values[index], label: label(index) }).collect()
}

fn falling(a: f32, b: f32) -> Ordering {
    b.partial_cmp(&a).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// The names of the outputs, one on each line.
pub(crate) fn read_labels(path: &Path, outputs: usize) -> Result<Vec<String>, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::file(path, format_args!("cannot read the labels: {error}")))?;
    let names: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
    if names.len() == outputs {
        return Ok(names);
    }
    let failure = Failure::file(path, format_args!("{} labels, but the model has {outputs} outputs", names.len()));
    Err(failure.with_hint("the file has one label on each line, in the order of the outputs"))
}

pub(crate) fn print(top: &[Top], out: &mut Output) -> Result<(), Failure> {
    writeln!(out, "\nLargest outputs:")?;
    let row = |(rank, top): (usize, &Top)| {
        let label = top.label.as_deref().map_or(String::new(), |label| escaped(label).into_owned());
        vec![(rank + 1).to_string(), General(top.value).to_string(), top.index.to_string(), label]
    };
    out.table(&["", "value", "index", "label"], top.iter().enumerate().map(row).collect())
}

/// One line for each: the number of the input in a batch, index, value and label with a tab between them.
pub(crate) fn print_quiet(top: &[Top], input: Option<usize>, out: &mut Output) -> Result<(), Failure> {
    for top in top {
        if let Some(input) = input {
            write!(out, "{input}\t")?;
        }
        write!(out, "{}\t{}", top.index, shortest(top.value))?;
        match &top.label {
            Some(label) => writeln!(out, "\t{}", escaped(label))?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_come_first_and_nan_last() {
        let top = largest(&[f32::NAN, 1.0, 3.0, f32::NEG_INFINITY, 3.0], 9, None);
        assert_eq!(top.iter().map(|top| top.index).collect::<Vec<_>>(), [2, 4, 1, 3, 0]);
        assert_eq!(largest(&[1.0, 2.0], 1, None).len(), 1);
    }
}
