//! `netkit run`: one input through a model.

use std::io::Write;

use netkit::text::Labelled;
use netkit::{Error, ErrorKind, MemoryPlan, Model, Network};
use serde::{Serialize, Serializer};

use crate::args::RunArgs;
use crate::failure::{Failure, Outcome, display};
use crate::input::{self, ValueFile};
use crate::model_file::ModelFile;
use crate::output::{Output, escaped};

/// The document of `--json`.
#[derive(Debug, Serialize)]
struct Report<'a> {
    schema: &'static str,
    path: String,
    name: &'a str,
    kernels: &'static str,
    input: Tensor<'a>,
    output: Tensor<'a>,
    output_file: Option<String>,
}

/// A tensor for people and for JSON.
#[derive(Debug, Serialize)]
struct Tensor<'a> {
    shape: Vec<u32>,
    #[serde(serialize_with = "serialize_values")]
    values: &'a [f32],
}

pub(crate) fn execute(args: &RunArgs, out: &mut Output) -> Result<Outcome, Failure> {
    let target = args.output.as_deref().map(output_file).transpose()?;
    let file = ModelFile::read(&args.model)?;
    let model = file.parse()?;
    let plan = MemoryPlan::of(&model).map_err(|error| file.failure(&error))?;
    let input = input::read(&args.input, plan.input)?;
    let output = infer(&model, &plan, &input).map_err(|error| file.failure(&error))?;

    let (input, output) = (Tensor::new(plan.input.dims(), &input), Tensor::new(plan.output.dims(), &output));
    if let Some(target) = &target {
        target.write(&output.shape, output.values)?;
    }
    let target = target.as_ref().map(|target| display(target.path()));
    if args.json {
        out.json(&Report {
            schema: "netkit.run/1",
            path: display(&file.path),
            name: &file.name,
            kernels: netkit::kernels::active().level.name(),
            input,
            output,
            output_file: target,
        })?;
    } else if args.quiet {
        if target.is_none() {
            print_values(output.values, out)?;
        }
    } else {
        let mut summary = String::new();
        // Writing to a string cannot fail.
        let _ = netkit::summary::write(&model, &escaped(&file.name), &mut summary);
        writeln!(out, "{summary}\n{}", input.labelled("Input"))?;
        match target {
            None => writeln!(out, "{}", output.labelled("Output"))?,
            Some(path) => writeln!(out, "Output: shape={:?} written to {}", output.shape, escaped(&path))?,
        }
    }
    Ok(Outcome::Done)
}

fn output_file(text: &str) -> Result<ValueFile, Failure> {
    ValueFile::named(text).ok_or_else(|| {
        Failure::Usage(format!(
            "--output {}: the name must end with .npy, or begin with @ for raw float32",
            escaped(text)
        ))
    })
}

/// Loads the model into memory of exactly the planned size and runs it.
fn infer(model: &Model<'_>, plan: &MemoryPlan, input: &[f32]) -> Result<Vec<f32>, Error> {
    let mut output = zeroed(plan.output.elements()? as usize)?;
    let mut region = zeroed(plan.arena_bytes)?;
    Network::load(model, &mut region)?.run(input, &mut output)?;
    Ok(output)
}

/// A vector of zeros; a size that this machine does not have is an error.
pub(crate) fn zeroed<T: Copy + Default>(len: usize) -> Result<Vec<T>, Error> {
    let mut values = Vec::new();
    let bytes = len.saturating_mul(size_of::<T>()) as u64;
    let too_large = Error::new(ErrorKind::Arena).field("memory for the model").found(bytes);
    values.try_reserve_exact(len).map_err(|_| too_large.note("this machine does not have as many bytes"))?;
    values.resize(len, T::default());
    Ok(values)
}

impl<'a> Tensor<'a> {
    fn new((dims, rank): ([u32; 4], u32), values: &'a [f32]) -> Self {
        Self { shape: dims.into_iter().take(rank as usize).collect(), values }
    }

    fn labelled(&'a self, label: &'a str) -> Labelled<'a> {
        Labelled { label, dims: &self.shape, values: self.values, cut: false }
    }
}

/// `a,b,c` with the fewest digits that give the same float32 again.
fn print_values(values: &[f32], out: &mut Output) -> Result<(), Failure> {
    for (index, &value) in values.iter().enumerate() {
        write!(out, "{}{}", if index == 0 { "" } else { "," }, shortest(value))?;
    }
    Ok(writeln!(out)?)
}

/// The fewest digits that give the same float32 again, with an exponent below 1e-4 and from 1e9 on.
fn shortest(value: f32) -> String {
    if value.is_nan() {
        "nan".to_owned()
    } else if value == 0.0 || value.is_infinite() || (1e-4..1e9).contains(&value.abs()) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

/// JSON has no words for NaN and infinities: they become the strings `nan`, `inf` and `-inf`.
fn serialize_values<S: Serializer>(values: &[f32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|&value| JsonFloat(value)))
}

struct JsonFloat(f32);

impl Serialize for JsonFloat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() { serializer.serialize_f32(self.0) } else { serializer.serialize_str(&shortest(self.0)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortest_gives_the_same_float_again() {
        let cases = [
            (3.0, "3"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (16_777_216.0, "16777216"),
            (1e9, "1e9"),
            (1.5e-5, "1.5e-5"),
            (f32::MAX, "3.4028235e38"),
            (f32::from_bits(1), "1e-45"),
            (f32::NEG_INFINITY, "-inf"),
        ];
        for (value, text) in cases {
            assert_eq!(shortest(value), text);
            assert_eq!(text.parse(), Ok(value));
        }
        assert_eq!(shortest(-f32::NAN), "nan");
    }

    #[test]
    fn json_says_nan_and_infinities_as_strings() {
        let tensor = Tensor { shape: vec![4], values: &[0.1, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] };
        let text = serde_json::to_string(&tensor).unwrap();
        assert_eq!(text, r#"{"shape":[4],"values":[0.1,"nan","inf","-inf"]}"#);
    }
}
