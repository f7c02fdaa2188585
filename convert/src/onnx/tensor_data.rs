//! Tensors of a file become tensors in memory, whichever of the many ways their elements are stored.

use crate::error::Error;
use crate::interpret::{MAX_ELEMENTS, is_within_limits};
use crate::onnx::external::ExternalFiles;
use crate::onnx::half::{bf16_to_f64, f16_to_f64};
use crate::onnx::proto::TensorData;
use crate::onnx::wire::{Field, Message};
use crate::refusal::Refusal;
use crate::tensor::{ElementType, Tensor, checked_elements};

use crate::budget::Budget;

/// The element type with a number of `TensorProto.DataType`; the name of the type if it is one that is not handled.
pub(crate) fn element_type(number: i64) -> Result<ElementType, &'static str> {
    Ok(match number {
        1 => ElementType::F32,
        2 => ElementType::U8,
        3 => ElementType::I8,
        4 => ElementType::U16,
        5 => ElementType::I16,
        6 => ElementType::I32,
        7 => ElementType::I64,
        9 => ElementType::Bool,
        10 => ElementType::F16,
        11 => ElementType::F64,
        12 => ElementType::U32,
        13 => ElementType::U64,
        16 => ElementType::Bf16,
        8 => return Err("string"),
        14 => return Err("complex64"),
        15 => return Err("complex128"),
        17 => return Err("float8e4m3fn"),
        18 => return Err("float8e4m3fnuz"),
        19 => return Err("float8e5m2"),
        20 => return Err("float8e5m2fnuz"),
        21 => return Err("uint4"),
        22 => return Err("int4"),
        23 => return Err("float4e2m1"),
        24 => return Err("float8e8m0"),
        25 => return Err("uint2"),
        26 => return Err("int2"),
        _ => return Err("an unknown type"),
    })
}

/// Elements of one tensor while they are read.
enum Target {
    Real(Vec<f64>),
    Whole(Vec<i64>),
}

/// Reads tensors.
pub(crate) struct TensorReader<'b, 'd> {
    pub(crate) budget: &'b mut Budget,
    pub(crate) files: &'b mut ExternalFiles<'d>,
}

impl TensorReader<'_, '_> {
    /// The tensor; `name` is what errors call it.
    pub(crate) fn read(&mut self, data: &TensorData<'_>, name: &str) -> Result<Tensor, Error> {
        let kind = element_type(data.data_type).map_err(|kind| unsupported_type(name, kind))?;
        if data.is_segmented {
            return Err(Error::Invalid(format!("tensor \"{name}\" is stored in segments, which ONNX does not use")));
        }
        let shape = extents(data, name)?;
        let Some(count) = checked_elements(&shape).filter(|_| is_within_limits(&shape)) else {
            let reason = format!("tensors are limited to {MAX_ELEMENTS} elements");
            return Err(unsupported(name, format!("the shape {shape:?}"), &reason));
        };
        let elements = if data.is_external {
            let expected = count.checked_mul(size_of(kind));
            let bytes = self.files.read(data, name, expected, self.budget)?;
            self.raw(&bytes, kind, name, count)?
        } else if let Some(raw) = data.raw {
            self.raw(raw.bytes, kind, name, count)?
        } else {
            self.typed(data, kind, name, count)?
        };
        let tensor = match elements {
            Target::Real(elements) => Tensor::real(kind, shape, elements),
            Target::Whole(elements) => Tensor::whole(kind, shape, elements),
        };
        tensor.ok_or_else(|| Error::Invalid(format!("the elements of tensor \"{name}\" do not fill its shape")))
    }

    fn raw(&mut self, bytes: &[u8], kind: ElementType, name: &str, count: usize) -> Result<Target, Error> {
        if Some(bytes.len()) != count.checked_mul(size_of(kind)) {
            return Err(Error::Invalid(format!(
                "tensor \"{name}\" has {count} elements of type {kind}, but {} bytes of data",
                bytes.len()
            )));
        }
        self.charge(count, name)?;
        Ok(match kind {
            ElementType::F16 => real(bytes, |b| f16_to_f64(u16::from_le_bytes(b))),
            ElementType::Bf16 => real(bytes, |b| bf16_to_f64(u16::from_le_bytes(b))),
            ElementType::F32 => real(bytes, |b| f64::from(f32::from_le_bytes(b))),
            ElementType::F64 => real(bytes, f64::from_le_bytes),
            ElementType::I8 => whole(bytes, |b| i64::from(i8::from_le_bytes(b))),
            ElementType::I16 => whole(bytes, |b| i64::from(i16::from_le_bytes(b))),
            ElementType::I32 => whole(bytes, |b| i64::from(i32::from_le_bytes(b))),
            ElementType::I64 => whole(bytes, i64::from_le_bytes),
            ElementType::U8 => whole(bytes, |b: [u8; 1]| i64::from(b[0])),
            ElementType::Bool => whole(bytes, |b: [u8; 1]| i64::from(b[0] != 0)),
            ElementType::U16 => whole(bytes, |b| i64::from(u16::from_le_bytes(b))),
            ElementType::U32 => whole(bytes, |b| i64::from(u32::from_le_bytes(b))),
            ElementType::U64 => {
                let (chunks, _) = bytes.as_chunks::<8>();
                let elements = chunks.iter().map(|b| small_enough(u64::from_le_bytes(*b), name));
                Target::Whole(elements.collect::<Result<_, _>>()?)
            }
        })
    }

    /// Elements from `float_data`, `int32_data`, `int64_data`, `double_data` or `uint64_data`, as the type demands.
    fn typed(&mut self, data: &TensorData<'_>, kind: ElementType, name: &str, count: usize) -> Result<Target, Error> {
        // Each element takes at least a byte of the file, so an absurd shape reserves nothing absurd.
        let most = count.min(data.message.bytes.len());
        self.charge(most, name)?;
        let mut target = match kind.is_float() {
            true => Target::Real(Vec::with_capacity(most)),
            false => Target::Whole(Vec::with_capacity(most)),
        };
        let mut message = Message::new(data.message);
        while let Some(field) = message.next_field()? {
            match &mut target {
                Target::Real(elements) => read_reals(field, kind, &mut |element| push(elements, element, most, name))?,
                Target::Whole(elements) => {
                    read_wholes(field, kind, name, &mut |element| push(elements, element, most, name))?;
                }
            }
        }
        Ok(target)
    }

    fn charge(&mut self, count: usize, name: &str) -> Result<(), Error> {
        self.budget.charge_elements(count, || format!("the elements of tensor \"{name}\""))
    }
}

fn read_reals(
    field: Field<'_>,
    kind: ElementType,
    push: &mut dyn FnMut(f64) -> Result<(), Error>,
) -> Result<(), Error> {
    match (field.number, kind) {
        (4, ElementType::F32) => field.each_fixed("float_data", |b| push(f64::from(f32::from_le_bytes(b)))),
        (10, ElementType::F64) => field.each_fixed("double_data", |b| push(f64::from_le_bytes(b))),
        (5, ElementType::F16) => field.each_int("int32_data", |bits| push(f16_to_f64(bits as u16))),
        (5, ElementType::Bf16) => field.each_int("int32_data", |bits| push(bf16_to_f64(bits as u16))),
        _ => Ok(()),
    }
}

fn read_wholes(
    field: Field<'_>,
    kind: ElementType,
    name: &str,
    push: &mut dyn FnMut(i64) -> Result<(), Error>,
) -> Result<(), Error> {
    let range = whole_range(kind);
    let push_checked = |element: i64| match range.contains(&element) {
        true => push(element),
        false => Err(Error::Invalid(format!("tensor \"{name}\" of type {kind} has an element {element}"))),
    };
    match (field.number, kind) {
        (7, ElementType::I64) => field.each_int("int64_data", push_checked),
        (11, ElementType::U32) => field.each_int("uint64_data", push_checked),
        (11, ElementType::U64) => field.each_int("uint64_data", |element| push(small_enough(element as u64, name)?)),
        (5, ElementType::Bool) => field.each_int("int32_data", |element| push(i64::from(element != 0))),
        (5, ElementType::I8 | ElementType::I16 | ElementType::I32 | ElementType::U8 | ElementType::U16) => {
            field.each_int("int32_data", push_checked)
        }
        _ => Ok(()),
    }
}

/// Values that an integer type can have; of uint64 those that are handled.
pub(crate) fn whole_range(kind: ElementType) -> std::ops::RangeInclusive<i64> {
    match kind {
        ElementType::I8 => i64::from(i8::MIN)..=i64::from(i8::MAX),
        ElementType::I16 => i64::from(i16::MIN)..=i64::from(i16::MAX),
        ElementType::I32 => i64::from(i32::MIN)..=i64::from(i32::MAX),
        ElementType::U8 => 0..=i64::from(u8::MAX),
        ElementType::U16 => 0..=i64::from(u16::MAX),
        ElementType::U32 => 0..=i64::from(u32::MAX),
        ElementType::Bool => 0..=1,
        ElementType::U64 => 0..=i64::MAX,
        _ => i64::MIN..=i64::MAX,
    }
}

fn push<T>(elements: &mut Vec<T>, element: T, most: usize, name: &str) -> Result<(), Error> {
    if elements.len() == most {
        return Err(Error::Invalid(format!("tensor \"{name}\" has more than the {most} elements of its shape")));
    }
    elements.push(element);
    Ok(())
}

fn extents(data: &TensorData<'_>, name: &str) -> Result<Vec<usize>, Error> {
    let extent = |&dim: &i64| {
        usize::try_from(dim).map_err(|_| Error::Invalid(format!("tensor \"{name}\" has the dimension {dim}")))
    };
    data.dims.iter().map(extent).collect()
}

fn small_enough(element: u64, name: &str) -> Result<i64, Error> {
    i64::try_from(element).map_err(|_| unsupported_type(name, &format!("uint64 with an element {element} above 2^63")))
}

fn real<const N: usize>(bytes: &[u8], convert: impl Fn([u8; N]) -> f64) -> Target {
    Target::Real(bytes.as_chunks::<N>().0.iter().map(|chunk| convert(*chunk)).collect())
}

fn whole<const N: usize>(bytes: &[u8], convert: impl Fn([u8; N]) -> i64) -> Target {
    Target::Whole(bytes.as_chunks::<N>().0.iter().map(|chunk| convert(*chunk)).collect())
}

/// Bytes of an element in raw data.
fn size_of(kind: ElementType) -> usize {
    match kind {
        ElementType::I8 | ElementType::U8 | ElementType::Bool => 1,
        ElementType::F16 | ElementType::Bf16 | ElementType::I16 | ElementType::U16 => 2,
        ElementType::F32 | ElementType::I32 | ElementType::U32 => 4,
        ElementType::F64 | ElementType::I64 | ElementType::U64 => 8,
    }
}

fn unsupported_type(name: &str, kind: &str) -> Error {
    let reason = "only real numbers of 16 bits and more and integers of 8 bits and more are handled";
    unsupported(name, format!("elements of type {kind}"), reason)
}

fn unsupported(name: &str, found: String, reason: &str) -> Error {
    let (node, op, reason) = (name.into(), "tensor".into(), reason.into());
    Error::Unsupported(vec![Refusal { node, op, found, reason, advice: None }])
}
