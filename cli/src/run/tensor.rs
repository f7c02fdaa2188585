//! Inputs and outputs for people, files and JSON.

use std::io::Write;

use netkit::format::quant::QuantParams;
use netkit::tensor::Shape;
use netkit::text::{Dims, General, Labelled};
use serde::{Serialize, Serializer};

use crate::failure::Failure;
use crate::input::ValueFile;
use crate::inspect::facts::dims;
use crate::output::Output;

/// The inputs or the outputs of all runs, one after another.
pub(super) struct Tensors {
    /// Shape of one.
    shape: Shape,
    /// How many there are; `None` for one that no axis counts.
    batch: Option<usize>,
    values: Vec<f32>,
    /// In int8 models the codes that stand for the values.
    int8: Option<(Vec<i8>, QuantParams)>,
}

impl Tensors {
    pub(super) fn new(shape: Shape, batch: Option<usize>, values: Vec<f32>) -> Self {
        Self { shape, batch, values, int8: None }
    }

    pub(super) fn with_codes(self, codes: Vec<i8>, params: QuantParams) -> Self {
        Self { int8: Some((codes, params)), ..self }
    }

    pub(super) fn is_batch(&self) -> bool {
        self.batch.is_some()
    }

    /// Number of values of one.
    pub(super) fn elements(&self) -> usize {
        self.values.len() / self.batch.unwrap_or(1).max(1)
    }

    /// The shape of all together. A row grows downwards, everything else gets an axis in front.
    pub(super) fn whole_shape(&self) -> Vec<u32> {
        let mut shape = dims(self.shape);
        if let Some(count) = self.batch {
            if self.shape.is_rows && self.shape.h == 1 {
                shape.remove(0);
            }
            shape.insert(0, count as u32);
        }
        shape
    }

    /// Writes the codes if `raw` is set, else the real numbers.
    pub(super) fn write(&self, target: &ValueFile, raw: bool) -> Result<(), Failure> {
        match &self.int8 {
            Some((codes, _)) if raw => target.write_int8(&self.whole_shape(), codes),
            _ => target.write(&self.whole_shape(), &self.values),
        }
    }

    /// Each for itself.
    pub(super) fn split(&self) -> impl Iterator<Item = Tensor> {
        let elements = self.elements();
        self.values.chunks(elements).enumerate().map(move |(index, values)| Tensor {
            shape: dims(self.shape),
            values: values.to_vec(),
            int8: self.int8.as_ref().map(|(codes, params)| Codes {
                values: codes[index * elements..][..elements].to_vec(),
                scale: params.scale,
                zero_point: params.zero_point,
            }),
        })
    }
}

/// A tensor: real numbers, and in int8 models the codes that stand for them.
#[derive(Debug, Serialize)]
pub(super) struct Tensor {
    pub(super) shape: Vec<u32>,
    #[serde(serialize_with = "serialize_values")]
    pub(super) values: Vec<f32>,
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

impl Tensor {
    /// One line for the real numbers and one for the codes; only the latter if `raw` is set.
    pub(super) fn print(&self, label: &str, raw: bool, out: &mut Output) -> Result<(), Failure> {
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
    pub(super) fn print_values(&self, raw: bool, out: &mut Output) -> Result<(), Failure> {
        let text = match &self.int8 {
            Some(codes) if raw => joined(&codes.values, ","),
            _ => joined(self.values.iter().map(|&value| shortest(value)), ","),
        };
        Ok(writeln!(out, "{text}")?)
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
fn serialize_values<S: Serializer>(values: &[f32], serializer: S) -> Result<S::Ok, S::Error> {
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

    #[test]
    fn a_batch_of_rows_grows_and_all_else_gets_an_axis() {
        let whole = |shape, batch| Tensors::new(shape, batch, Vec::new()).whole_shape();
        assert_eq!(whole(Shape::rows(1, 5), Some(7)), [7, 5]);
        assert_eq!(whole(Shape::rows(3, 5), Some(7)), [7, 3, 5]);
        assert_eq!(whole(Shape::map(1, 4, 2), Some(7)), [7, 1, 4, 2]);
        assert_eq!(whole(Shape::rows(1, 5), None), [1, 5]);
        assert_eq!(whole(Shape::map(1, 4, 2), None), [1, 4, 2]);
    }
}
