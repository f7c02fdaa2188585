//! `netkit run`: one input through a model.

use std::io::Write;

use netkit::format::quant::QuantParams;
use netkit::tensor::Shape;
use netkit::text::{Dims, General, Labelled};
use netkit::{Error, ErrorKind, MemoryPlan, Model, Network};
use serde::{Serialize, Serializer};

use crate::args::RunArgs;
use crate::codes;
use crate::failure::{Failure, Outcome, display, warn};
use crate::input::{self, Kind, ValueFile};
use crate::model_file::ModelFile;
use crate::output::{Output, escaped};
use crate::top::{self, Top};

/// The document of `--json`.
#[derive(Debug, Serialize)]
struct Report<'a> {
    schema: &'static str,
    path: String,
    name: &'a str,
    kernels: &'static str,
    input: Tensor,
    output: Tensor,
    output_file: Option<String>,
    /// With `--top`.
    #[serde(skip_serializing_if = "Option::is_none")]
    top: Option<Vec<Top>>,
}

/// A tensor for people and for JSON: real numbers, and in int8 models the codes that stand for them.
#[derive(Debug, Serialize)]
struct Tensor {
    shape: Vec<u32>,
    #[serde(serialize_with = "serialize_values")]
    values: Vec<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    int8: Option<Codes>,
}

/// int8 values and what they stand for: `real = scale * (value - zero_point)`.
#[derive(Debug, Serialize)]
struct Codes {
    values: Vec<i8>,
    scale: f32,
    zero_point: i32,
}

pub(crate) fn execute(args: &RunArgs, out: &mut Output) -> Result<Outcome, Failure> {
    let target = args.output.as_deref().map(output_file).transpose()?;
    let file = ModelFile::read(&args.model)?;
    let model = file.parse()?;
    let plan = MemoryPlan::of(&model).map_err(|error| file.failure(&error))?;
    let (input, output) = match (plan.input_quant, plan.output_quant) {
        (Some(input), Some(output)) => run_int8(&file, &model, &plan, args, (input, output))?,
        _ => run_float(&file, &model, &plan, args)?,
    };
    if let Some(target) = &target {
        output.write(target, args.raw)?;
    }
    let target = target.as_ref().map(|target| display(target.path()));
    let top = match args.top {
        Some(count) => Some(top::largest(&output.values, count as usize, args.labels.as_deref())?),
        None => None,
    };
    if args.json {
        out.json(&Report {
            schema: "netkit.run/1",
            path: display(&file.path),
            name: &file.name,
            kernels: netkit::kernels::active_level().name(),
            input,
            output,
            output_file: target,
            top,
        })?;
    } else if args.quiet {
        if let Some(top) = &top {
            top::print_quiet(top, out)?;
        } else if target.is_none() {
            output.print_values(args.raw, out)?;
        }
    } else {
        let mut summary = String::new();
        // Writing to a string cannot fail.
        let _ = netkit::summary::write(&model, &escaped(&file.name), &mut summary);
        writeln!(out, "{summary}")?;
        input.print("Input", args.raw, out)?;
        match (target, &top) {
            (None, None) => output.print("Output", args.raw, out)?,
            (None, Some(_)) => writeln!(out, "Output: shape={:?}", output.shape)?,
            (Some(path), _) => writeln!(out, "Output: shape={:?} written to {}", output.shape, escaped(&path))?,
        }
        if let Some(top) = &top {
            top::print(top, out)?;
        }
    }
    Ok(Outcome::Done)
}

fn run_float(
    file: &ModelFile,
    model: &Model<'_>,
    plan: &MemoryPlan,
    args: &RunArgs,
) -> Result<(Tensor, Tensor), Failure> {
    if args.raw {
        let failure = Failure::file(&file.path, "this is a float32 model; --raw is for int8 models");
        return Err(failure.with_hint("leave out --raw"));
    }
    let input = input::read(&args.input, plan.input, Kind::Real, &args.prepare)?;
    let output =
        infer(model, plan, |network, output| network.run(&input, output)).map_err(|error| file.failure(&error))?;
    Ok((Tensor::new(plan.input, input), Tensor::new(plan.output, output)))
}

/// Runs an int8 model on real numbers or on codes.
fn run_int8(
    file: &ModelFile,
    model: &Model<'_>,
    plan: &MemoryPlan,
    args: &RunArgs,
    (input_params, output_params): (QuantParams, QuantParams),
) -> Result<(Tensor, Tensor), Failure> {
    let (values, codes, doubts) = if args.raw {
        let codes: Vec<i8> = input::read(&args.input, plan.input, Kind::Int8, &args.prepare)?
            .into_iter()
            .map(|value| value as i8)
            .collect();
        let doubts = codes::narrow(&codes).into_iter().collect();
        (codes::dequantize(&codes, input_params), codes, doubts)
    } else {
        let values = input::read(&args.input, plan.input, Kind::Quantised, &args.prepare)?;
        let codes = codes::quantize(&values, input_params);
        let doubts = codes::doubts(&values, &codes, input_params);
        (values, codes, doubts)
    };
    for doubt in doubts {
        warn(&file.path, &doubt);
    }
    let output =
        infer(model, plan, |network, output| network.run_int8(&codes, output)).map_err(|error| file.failure(&error))?;
    let real = codes::dequantize(&output, output_params);
    let input = Tensor::new(plan.input, values).with_codes(codes, input_params);
    Ok((input, Tensor::new(plan.output, real).with_codes(output, output_params)))
}

fn output_file(text: &str) -> Result<ValueFile, Failure> {
    ValueFile::named(text).ok_or_else(|| {
        Failure::Usage(format!(
            "--output {}: the name must end with .npy, or begin with @ for raw values",
            escaped(text)
        ))
    })
}

/// Loads the model into memory of exactly the planned size and runs it.
fn infer<T: Copy + Default>(
    model: &Model<'_>,
    plan: &MemoryPlan,
    run: impl FnOnce(&mut Network<'_, '_>, &mut [T]) -> Result<(), Error>,
) -> Result<Vec<T>, Error> {
    let mut output = zeroed(plan.output.elements()? as usize)?;
    let mut region = zeroed(plan.arena_bytes)?;
    run(&mut Network::load(model, &mut region)?, &mut output)?;
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

impl Tensor {
    fn new(shape: Shape, values: Vec<f32>) -> Self {
        let (dims, rank) = shape.dims();
        Self { shape: dims.into_iter().take(rank as usize).collect(), values, int8: None }
    }

    fn with_codes(self, values: Vec<i8>, params: QuantParams) -> Self {
        Self { int8: Some(Codes { values, scale: params.scale, zero_point: params.zero_point }), ..self }
    }

    /// One line for the real numbers and one for the codes; only the latter if `raw` is set.
    fn print(&self, label: &str, raw: bool, out: &mut Output) -> Result<(), Failure> {
        if !raw {
            writeln!(out, "{}", Labelled { label, dims: &self.shape, values: &self.values, cut: false })?;
        }
        let Some(codes) = &self.int8 else { return Ok(()) };
        let (shape, scale, zero_point) = (Dims(&self.shape), General(codes.scale), codes.zero_point);
        let values = joined(&codes.values, ", ");
        Ok(writeln!(out, "{label} int8: shape={shape} scale={scale} zero_point={zero_point} values=[{values}]")?)
    }

    /// `a,b,c` in one line: codes if `raw` is set, else real numbers with the fewest digits that give the same float32
    /// again.
    fn print_values(&self, raw: bool, out: &mut Output) -> Result<(), Failure> {
        let text = match &self.int8 {
            Some(codes) if raw => joined(&codes.values, ","),
            _ => joined(self.values.iter().map(|&value| shortest(value)), ","),
        };
        Ok(writeln!(out, "{text}")?)
    }

    /// Writes the codes if `raw` is set, else the real numbers.
    fn write(&self, target: &ValueFile, raw: bool) -> Result<(), Failure> {
        match &self.int8 {
            Some(codes) if raw => target.write_int8(&self.shape, &codes.values),
            _ => target.write(&self.shape, &self.values),
        }
    }
}

fn joined<T: ToString>(values: impl IntoIterator<Item = T>, separator: &str) -> String {
    values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join(separator)
}

/// The fewest digits that give the same float32 again, with an exponent below 1e-4 and from 1e9 on.
pub(crate) fn shortest(value: f32) -> String {
    if value.is_nan() {
        "nan".to_owned()
    } else if value == 0.0 || value.is_infinite() || (1e-4..1e9).contains(&value.abs()) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

/// JSON has no words for NaN and infinities: they become the strings `nan`, `inf` and `-inf`.
pub(crate) fn serialize_values<S: Serializer>(values: &[f32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|&value| JsonFloat(value)))
}

pub(crate) struct JsonFloat(pub(crate) f32);

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
        let values = vec![0.1, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
        let tensor = Tensor { shape: vec![4], values, int8: None };
        let text = serde_json::to_string(&tensor).unwrap();
        assert_eq!(text, r#"{"shape":[4],"values":[0.1,"nan","inf","-inf"]}"#);
    }
}
