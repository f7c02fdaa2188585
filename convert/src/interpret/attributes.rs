//! Attributes of a node, read strictly: what an operator does not know is an error, and so is a value of the wrong
//! type.

use std::cell::RefCell;

use crate::graph::{Attribute, Node};
use crate::tensor::Tensor;

use super::call::Fault;

/// Attributes of one node. Operators read all that their operator set has, then call [`Attributes::finish`].
pub(crate) struct Attributes<'a> {
    node: &'a Node,
    opset: i64,
    known: RefCell<Vec<&'static str>>,
}

impl<'a> Attributes<'a> {
    pub(crate) fn new(node: &'a Node, opset: i64) -> Self {
        Self { node, opset, known: RefCell::default() }
    }

    fn get(&self, name: &'static str) -> Option<&'a Attribute> {
        self.known.borrow_mut().push(name);
        self.node.attributes.get(name)
    }

    pub(crate) fn optional_int(&self, name: &'static str) -> Result<Option<i64>, Fault> {
        match self.get(name) {
            None => Ok(None),
            Some(Attribute::Int(value)) => Ok(Some(*value)),
            Some(other) => Err(wrong_type(name, "an integer", other)),
        }
    }

    pub(crate) fn int(&self, name: &'static str, default: i64) -> Result<i64, Fault> {
        Ok(self.optional_int(name)?.unwrap_or(default))
    }

    pub(crate) fn required_int(&self, name: &'static str) -> Result<i64, Fault> {
        self.optional_int(name)?.ok_or_else(|| missing(name))
    }

    /// An integer that is 0 or 1.
    pub(crate) fn flag(&self, name: &'static str, default: bool) -> Result<bool, Fault> {
        match self.int(name, i64::from(default))? {
            0 => Ok(false),
            1 => Ok(true),
            value => Err(Fault::Invalid(format!("attribute {name}={value}, expected 0 or 1"))),
        }
    }

    pub(crate) fn float(&self, name: &'static str, default: f32) -> Result<f64, Fault> {
        match self.get(name) {
            None => Ok(f64::from(default)),
            Some(Attribute::Float(value)) => Ok(f64::from(*value)),
            Some(other) => Err(wrong_type(name, "a real number", other)),
        }
    }

    /// One of some words.
    pub(crate) fn choice(
        &self,
        name: &'static str,
        default: &'static str,
        choices: &[&'static str],
    ) -> Result<&'static str, Fault> {
        let value = match self.get(name) {
            None => default,
            Some(Attribute::Text(value)) => value.as_str(),
            Some(other) => return Err(wrong_type(name, "a word", other)),
        };
        let found = choices.iter().find(|choice| **choice == value).copied();
        found.ok_or_else(|| Fault::Invalid(format!("attribute {name}=\"{value}\", expected {}", choices.join(", "))))
    }

    pub(crate) fn ints(&self, name: &'static str) -> Result<Option<&'a [i64]>, Fault> {
        match self.get(name) {
            None => Ok(None),
            Some(Attribute::Ints(values)) => Ok(Some(values)),
            Some(other) => Err(wrong_type(name, "a list of integers", other)),
        }
    }

    pub(crate) fn required_ints(&self, name: &'static str) -> Result<&'a [i64], Fault> {
        self.ints(name)?.ok_or_else(|| missing(name))
    }

    pub(crate) fn floats(&self, name: &'static str) -> Result<Option<&'a [f32]>, Fault> {
        match self.get(name) {
            None => Ok(None),
            Some(Attribute::Floats(values)) => Ok(Some(values)),
            Some(other) => Err(wrong_type(name, "a list of real numbers", other)),
        }
    }

    pub(crate) fn tensor(&self, name: &'static str) -> Result<Option<&'a Tensor>, Fault> {
        match self.get(name) {
            None => Ok(None),
            Some(Attribute::Tensor(tensor)) => Ok(Some(tensor)),
            Some(other) => Err(wrong_type(name, "a tensor", other)),
        }
    }

    /// Attributes without influence on results that are read here, such as a momentum.
    pub(crate) fn ignore(&self, names: &[&'static str]) {
        self.known.borrow_mut().extend(names);
    }

    /// Complains about attributes that nobody asked for.
    pub(crate) fn finish(self) -> Result<(), Fault> {
        let known = self.known.borrow();
        match self.node.attributes.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some((name, value)) => Err(Fault::unsupported(
                format!("attribute {name}={}", describe(value)),
                format!("{} has no such attribute in operator set {}", self.node.op, self.opset),
            )),
        }
    }
}

fn missing(name: &str) -> Fault {
    Fault::Invalid(format!("attribute {name} is missing"))
}

fn wrong_type(name: &str, expected: &str, found: &Attribute) -> Fault {
    Fault::Invalid(format!("attribute {name}={}, expected {expected}", describe(found)))
}

/// An attribute for messages.
fn describe(attribute: &Attribute) -> String {
    match attribute {
        Attribute::Int(value) => value.to_string(),
        Attribute::Float(value) => value.to_string(),
        Attribute::Text(value) => format!("\"{value}\""),
        Attribute::Ints(values) => format!("{values:?}"),
        Attribute::Floats(values) => format!("{values:?}"),
        Attribute::Texts(values) => format!("{values:?}"),
        Attribute::Tensor(tensor) => format!("a tensor of shape {:?}", tensor.shape()),
        Attribute::Other(what) => (*what).into(),
    }
}
