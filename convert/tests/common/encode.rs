//! Writes small ONNX files, valid and invalid ones.

#![allow(dead_code, reason = "each test program uses some of it")]

/// A message of protocol buffers that grows field by field.
#[derive(Clone, Debug, Default)]
pub struct Message(pub Vec<u8>);

impl Message {
    fn varint(mut self, mut value: u64) -> Self {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
        self
    }

    pub fn int(self, field: u64, value: i64) -> Self {
        self.varint(field << 3).varint(value as u64)
    }

    pub fn float(self, field: u64, value: f32) -> Self {
        self.varint(field << 3 | 5).raw(&value.to_le_bytes())
    }

    pub fn bytes(self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2).varint(bytes.len() as u64).raw(bytes)
    }

    pub fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    pub fn message(self, field: u64, message: &Message) -> Self {
        self.bytes(field, &message.0)
    }

    /// Several integers in one field.
    pub fn packed(self, field: u64, values: &[i64]) -> Self {
        let packed = values.iter().fold(Self::default(), |packed, &value| packed.varint(value as u64));
        self.message(field, &packed)
    }

    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }
}

pub const FLOAT: i64 = 1;
pub const INT64: i64 = 7;

/// A tensor without elements yet.
pub fn tensor(name: &str, kind: i64, dims: &[i64]) -> Message {
    Message::default().packed(1, dims).int(2, kind).text(8, name)
}

pub fn floats(name: &str, dims: &[i64], values: &[f32]) -> Message {
    let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    tensor(name, FLOAT, dims).bytes(9, &raw)
}

pub fn int64s(name: &str, values: &[i64]) -> Message {
    tensor(name, INT64, &[values.len() as i64]).packed(7, values)
}

/// A dimension of an input: a number or a name; an empty name is an unnamed one.
pub enum Dim {
    Is(i64),
    Named(&'static str),
}

pub fn value(name: &str, kind: i64, dims: &[Dim]) -> Message {
    let shape = dims.iter().fold(Message::default(), |shape, dim| {
        let dim = match dim {
            Dim::Is(extent) => Message::default().int(1, *extent),
            Dim::Named("") => Message::default(),
            Dim::Named(name) => Message::default().text(2, name),
        };
        shape.message(1, &dim)
    });
    let tensor = Message::default().int(1, kind).message(2, &shape);
    Message::default().text(1, name).message(2, &Message::default().message(1, &tensor))
}

pub fn node(op: &str, inputs: &[&str], outputs: &[&str]) -> Message {
    let node = inputs.iter().fold(Message::default(), |node, input| node.text(1, input));
    outputs.iter().fold(node, |node, output| node.text(2, output)).text(4, op)
}

pub fn int_attribute(name: &str, value: i64) -> Message {
    Message::default().text(1, name).int(3, value).int(20, 2)
}

pub fn ints_attribute(name: &str, values: &[i64]) -> Message {
    Message::default().text(1, name).packed(8, values).int(20, 7)
}

/// A graph from its parts.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub nodes: Vec<Message>,
    pub initializers: Vec<Message>,
    pub inputs: Vec<Message>,
    pub outputs: Vec<Message>,
}

impl Model {
    pub fn graph(&self) -> Message {
        let parts = [(1, &self.nodes), (5, &self.initializers), (11, &self.inputs), (12, &self.outputs)];
        let fields = parts.iter().flat_map(|(field, messages)| messages.iter().map(move |message| (*field, message)));
        fields.fold(Message::default().text(2, "graph"), |graph, (field, message)| graph.message(field, message))
    }

    pub fn bytes(&self, opset: i64) -> Vec<u8> {
        let set = Message::default().int(2, opset);
        Message::default().int(1, 8).text(2, "test").message(7, &self.graph()).message(8, &set).0
    }
}

/// `y = relu(x * w + b)` with three features in and two out.
pub fn perceptron() -> Model {
    Model {
        nodes: vec![
            node("MatMul", &["x", "w"], &["product"]),
            node("Add", &["product", "b"], &["sum"]),
            node("Relu", &["sum"], &["y"]),
        ],
        initializers: vec![floats("w", &[3, 2], &[0.5, -1.0, 2.0, 0.25, -0.75, 1.5]), floats("b", &[2], &[0.1, -0.2])],
        inputs: vec![value("x", FLOAT, &[Dim::Named("batch"), Dim::Is(3)])],
        outputs: vec![value("y", FLOAT, &[Dim::Named("batch"), Dim::Is(2)])],
    }
}
