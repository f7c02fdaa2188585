//! Attributes of nodes.

use std::sync::Arc;

use crate::error::Error;
use crate::graph::Attribute;
use crate::onnx::proto::TensorData;
use crate::onnx::tensor_data::TensorReader;
use crate::onnx::wire::{Message, Slice};

/// Everything an `AttributeProto` can hold; only the field of its type counts.
#[derive(Default)]
struct Contents<'a> {
    name: &'a str,
    kind: Option<i64>,
    int: Option<i64>,
    float: Option<f32>,
    text: Option<Slice<'a>>,
    tensor: Option<TensorData<'a>>,
    ints: Vec<i64>,
    floats: Vec<f32>,
    texts: Vec<String>,
    is_reference: bool,
}

/// Reads a name and its value; `node` is what errors call the node.
pub(crate) fn read_attribute(
    slice: Slice<'_>,
    node: &str,
    tensors: &mut TensorReader<'_, '_>,
) -> Result<(String, Attribute), Error> {
    let contents = Contents::read(slice, tensors)?;
    let name = contents.name.to_string();
    let place = format!("attribute \"{name}\" of node \"{node}\"");
    if name.is_empty() {
        return Err(Error::Invalid(format!("node \"{node}\" has an attribute without a name")));
    }
    if contents.is_reference {
        return Err(Error::Invalid(format!("{place} refers to an attribute of a function, but stands outside of one")));
    }
    let attribute = match contents.kind.unwrap_or_else(|| contents.likely_kind()) {
        1 => Attribute::Float(contents.float.unwrap_or(0.0)),
        2 => Attribute::Int(contents.int.unwrap_or(0)),
        3 => Attribute::Text(text(contents.text.unwrap_or_default().bytes)),
        4 => {
            let data = contents.tensor.ok_or_else(|| Error::Invalid(format!("{place} holds no tensor")))?;
            Attribute::Tensor(Arc::new(tensors.read(&data, &format!("{node}.{name}"))?))
        }
        5 => Attribute::Other("a graph"),
        6 => Attribute::Floats(contents.floats),
        7 => Attribute::Ints(contents.ints),
        8 => Attribute::Texts(contents.texts),
        9 => Attribute::Other("several tensors"),
        10 => Attribute::Other("several graphs"),
        11 => Attribute::Other("a sparse tensor"),
        12 => Attribute::Other("several sparse tensors"),
        13 | 14 => Attribute::Other("a type"),
        kind => return Err(Error::Invalid(format!("{place} has the unknown type {kind}"))),
    };
    Ok((name, attribute))
}

impl<'a> Contents<'a> {
    fn read(slice: Slice<'a>, tensors: &mut TensorReader<'_, '_>) -> Result<Self, Error> {
        let mut contents = Self::default();
        let budget = &mut *tensors.budget;
        let lists = || "the lists in attributes".to_string();
        let mut message = Message::new(slice);
        while let Some(field) = message.next_field()? {
            match field.number {
                1 => contents.name = field.text("attribute.name")?,
                2 => contents.float = Some(field.float("attribute.f")?),
                3 => contents.int = Some(field.int("attribute.i")?),
                4 => contents.text = Some(field.bytes("attribute.s")?),
                5 => contents.tensor = Some(TensorData::read(field.bytes("attribute.t")?, budget)?),
                7 => field.each_fixed("attribute.floats", |bytes| {
                    budget.charge(8, lists)?;
                    contents.floats.push(f32::from_le_bytes(bytes));
                    Ok(())
                })?,
                8 => field.each_int("attribute.ints", |int| {
                    budget.charge(16, lists)?;
                    contents.ints.push(int);
                    Ok(())
                })?,
                9 => {
                    let bytes = field.bytes("attribute.strings")?.bytes;
                    budget.charge(64 + 3 * bytes.len(), lists)?;
                    contents.texts.push(text(bytes));
                }
                20 => contents.kind = Some(field.int("attribute.type")?).filter(|kind| *kind != 0),
                21 => contents.is_reference = true,
                _ => {}
            }
        }
        let text_bytes = contents.text.map_or(0, |slice| slice.bytes.len());
        budget.charge(3 * (text_bytes + contents.name.len()), || "the texts in attributes".to_string())?;
        Ok(contents)
    }

    /// Very old files leave the type out: it is that of the one field that is there.
    fn likely_kind(&self) -> i64 {
        match self {
            Self { float: Some(_), .. } => 1,
            Self { int: Some(_), .. } => 2,
            Self { text: Some(_), .. } => 3,
            Self { tensor: Some(_), .. } => 4,
            Self { floats, .. } if !floats.is_empty() => 6,
            Self { texts, .. } if !texts.is_empty() => 8,
            _ => 7,
        }
    }
}

/// Texts of attributes may hold any bytes; those that matter here are ASCII.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
