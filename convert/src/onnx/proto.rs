//! The messages of an ONNX file, as far as they are used. Text and data are borrowed from the file.
//!
//! Field numbers are those of `onnx.proto`. Messages nest to a fixed depth here: graphs inside attributes are not
//! entered.

use crate::budget::Budget;
use crate::error::Error;
use crate::onnx::wire::{Message, Slice};

/// Memory that a node, a value or an attribute takes at most, apart from lists and texts.
const RECORD_BYTES: usize = 512;

/// `ModelProto`.
#[derive(Debug, Default)]
pub(crate) struct Model<'a> {
    pub(crate) ir_version: i64,
    pub(crate) producer: &'a str,
    /// Domain and version of each operator set.
    pub(crate) opsets: Vec<(&'a str, i64)>,
    pub(crate) graph: Option<Graph<'a>>,
    /// Names of functions that the model defines.
    pub(crate) functions: Vec<&'a str>,
}

/// `GraphProto`.
#[derive(Debug, Default)]
pub(crate) struct Graph<'a> {
    pub(crate) name: &'a str,
    pub(crate) nodes: Vec<Node<'a>>,
    pub(crate) initializers: Vec<TensorData<'a>>,
    pub(crate) inputs: Vec<ValueInfo<'a>>,
    pub(crate) outputs: Vec<ValueInfo<'a>>,
    pub(crate) sparse_initializers: usize,
}

/// `NodeProto`.
#[derive(Debug, Default)]
pub(crate) struct Node<'a> {
    pub(crate) name: &'a str,
    pub(crate) op: &'a str,
    pub(crate) domain: &'a str,
    pub(crate) inputs: Vec<&'a str>,
    pub(crate) outputs: Vec<&'a str>,
    pub(crate) attributes: Vec<Slice<'a>>,
}

/// `ValueInfoProto` of a tensor.
#[derive(Debug, Default)]
pub(crate) struct ValueInfo<'a> {
    pub(crate) name: &'a str,
    pub(crate) kind: ValueType<'a>,
}

/// `TypeProto`.
#[derive(Debug, Default)]
pub(crate) enum ValueType<'a> {
    #[default]
    Absent,
    /// Element type, and dimensions if they are told.
    Tensor(i64, Option<Vec<Dimension<'a>>>),
    /// A sequence, map, sparse tensor or optional value.
    Other(&'static str),
}

/// `TensorShapeProto.Dimension`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Dimension<'a> {
    Unknown,
    Extent(i64),
    Symbol(&'a str),
}

/// `TensorProto`, except for elements in typed fields, which are read from `message` later.
#[derive(Debug, Default)]
pub(crate) struct TensorData<'a> {
    pub(crate) name: &'a str,
    pub(crate) dims: Vec<i64>,
    pub(crate) data_type: i64,
    pub(crate) raw: Option<Slice<'a>>,
    pub(crate) external: Vec<(&'a str, &'a str)>,
    pub(crate) is_external: bool,
    pub(crate) is_segmented: bool,
    pub(crate) message: Slice<'a>,
}

impl<'a> Model<'a> {
    pub(crate) fn read(bytes: &'a [u8], budget: &mut Budget) -> Result<Self, Error> {
        let mut model = Self::default();
        let mut message = Message::new(Slice { bytes, offset: 0 });
        while let Some(field) = message.next_field()? {
            match field.number {
                1 => model.ir_version = field.int("ir_version")?,
                2 => model.producer = field.text("producer_name")?,
                7 if model.graph.is_some() => {
                    return Err(Error::Malformed { offset: field.offset, found: "a second graph begins".into() });
                }
                7 => model.graph = Some(Graph::read(field.bytes("graph")?, budget)?),
                8 => {
                    budget.charge(RECORD_BYTES, || "the operator sets".into())?;
                    model.opsets.push(operator_set(field.bytes("opset_import")?)?);
                }
                25 => {
                    budget.charge(RECORD_BYTES, || "the functions".into())?;
                    model.functions.push(function_name(field.bytes("functions")?)?);
                }
                _ => {}
            }
        }
        Ok(model)
    }
}

fn operator_set(slice: Slice<'_>) -> Result<(&str, i64), Error> {
    let (mut domain, mut version) = ("", 0);
    let mut message = Message::new(slice);
    while let Some(field) = message.next_field()? {
        match field.number {
            1 => domain = field.text("opset_import.domain")?,
            2 => version = field.int("opset_import.version")?,
            _ => {}
        }
    }
    Ok((domain, version))
}

fn function_name(slice: Slice<'_>) -> Result<&str, Error> {
    let mut name = "";
    let mut message = Message::new(slice);
    while let Some(field) = message.next_field()? {
        if field.number == 1 {
            name = field.text("function.name")?;
        }
    }
    Ok(name)
}

impl<'a> Graph<'a> {
    fn read(slice: Slice<'a>, budget: &mut Budget) -> Result<Self, Error> {
        let mut graph = Self::default();
        let mut message = Message::new(slice);
        while let Some(field) = message.next_field()? {
            if matches!(field.number, 1 | 5 | 11 | 12) {
                budget.charge(RECORD_BYTES, || "the nodes and values of the graph".into())?;
            }
            match field.number {
                1 => graph.nodes.push(Node::read(field.bytes("node")?, budget)?),
                2 => graph.name = field.text("graph.name")?,
                5 => graph.initializers.push(TensorData::read(field.bytes("initializer")?, budget)?),
                11 => graph.inputs.push(ValueInfo::read(field.bytes("input")?, budget)?),
                12 => graph.outputs.push(ValueInfo::read(field.bytes("output")?, budget)?),
                15 => graph.sparse_initializers += 1,
                _ => {}
            }
        }
        Ok(graph)
    }
}

impl<'a> Node<'a> {
    fn read(slice: Slice<'a>, budget: &mut Budget) -> Result<Self, Error> {
        let mut node = Self::default();
        let mut message = Message::new(slice);
        while let Some(field) = message.next_field()? {
            match field.number {
                1 | 2 => budget.charge(RECORD_BYTES / 2, || "the names of values".into())?,
                5 => budget.charge(RECORD_BYTES, || "the attributes of nodes".into())?,
                _ => {}
            }
            match field.number {
                1 => node.inputs.push(field.text("node.input")?),
                2 => node.outputs.push(field.text("node.output")?),
                3 => node.name = field.text("node.name")?,
                4 => node.op = field.text("node.op_type")?,
                5 => node.attributes.push(field.bytes("node.attribute")?),
                7 => node.domain = field.text("node.domain")?,
                _ => {}
            }
        }
        Ok(node)
    }
}

impl<'a> ValueInfo<'a> {
    fn read(slice: Slice<'a>, budget: &mut Budget) -> Result<Self, Error> {
        let mut info = Self::default();
        let mut message = Message::new(slice);
        while let Some(field) = message.next_field()? {
            match field.number {
                1 => info.name = field.text("value_info.name")?,
                2 => info.kind = ValueType::read(field.bytes("value_info.type")?, budget)?,
                _ => {}
            }
        }
        Ok(info)
    }
}

impl<'a> ValueType<'a> {
    fn read(slice: Slice<'a>, budget: &mut Budget) -> Result<Self, Error> {
        let mut kind = Self::Absent;
        let mut message = Message::new(slice);
        while let Some(field) = message.next_field()? {
            match field.number {
                1 => kind = Self::read_tensor(field.bytes("type.tensor_type")?, budget)?,
                4 => kind = Self::Other("sequence"),
                5 => kind = Self::Other("map"),
                8 => kind = Self::Other("sparse tensor"),
                9 => kind = Self::Other("optional value"),
                _ => {}
            }
        }
        Ok(kind)
    }

    fn read_tensor(slice: Slice<'a>, budget: &mut Budget) -> Result<Self, Error> {
        let (mut element_type, mut dims) = (0, None);
        let mut message = Message::new(slice);
        while let Some(field) = message.next_field()? {
            match field.number {
                1 => element_type = field.int("tensor_type.elem_type")?,
                2 => dims = Some(dimensions(field.bytes("tensor_type.shape")?, budget)?),
                _ => {}
            }
        }
        Ok(Self::Tensor(element_type, dims))
    }
}

fn dimensions<'a>(slice: Slice<'a>, budget: &mut Budget) -> Result<Vec<Dimension<'a>>, Error> {
    let mut dims = Vec::new();
    let mut message = Message::new(slice);
    while let Some(field) = message.next_field()? {
        if field.number == 1 {
            budget.charge(64, || "the dimensions of values".into())?;
            dims.push(Dimension::read(field.bytes("shape.dim")?)?);
        }
    }
    Ok(dims)
}

impl<'a> Dimension<'a> {
    fn read(slice: Slice<'a>) -> Result<Self, Error> {
        let mut dimension = Self::Unknown;
        let mut message = Message::new(slice);
        while let Some(field) = message.next_field()? {
            match field.number {
                1 => dimension = Self::Extent(field.int("dim_value")?),
                2 => dimension = Self::Symbol(field.text("dim_param")?),
                _ => {}
            }
        }
        // Some exporters write "?" for all dimensions that they do not know; these need not be the same.
        Ok(match dimension {
            Self::Symbol(name) if !name.contains(char::is_alphanumeric) => Self::Unknown,
            dimension => dimension,
        })
    }
}

impl<'a> TensorData<'a> {
    pub(crate) fn read(slice: Slice<'a>, budget: &mut Budget) -> Result<Self, Error> {
        let mut tensor = Self { message: slice, ..Self::default() };
        let mut message = Message::new(slice);
        while let Some(field) = message.next_field()? {
            match field.number {
                1 => field.each_int("tensor.dims", |dim| {
                    budget.charge(16, || "the dimensions of tensors".into())?;
                    tensor.dims.push(dim);
                    Ok(())
                })?,
                2 => tensor.data_type = field.int("tensor.data_type")?,
                3 => tensor.is_segmented = true,
                8 => tensor.name = field.text("tensor.name")?,
                9 => tensor.raw = Some(field.bytes("tensor.raw_data")?),
                13 => {
                    budget.charge(64, || "the places of external data".into())?;
                    tensor.external.push(key_and_value(field.bytes("tensor.external_data")?)?);
                }
                14 => tensor.is_external = field.int("tensor.data_location")? == 1,
                _ => {}
            }
        }
        Ok(tensor)
    }
}

fn key_and_value(slice: Slice<'_>) -> Result<(&str, &str), Error> {
    let (mut key, mut value) = ("", "");
    let mut message = Message::new(slice);
    while let Some(field) = message.next_field()? {
        match field.number {
            1 => key = field.text("external_data.key")?,
            2 => value = field.text("external_data.value")?,
            _ => {}
        }
    }
    Ok((key, value))
}
