//! A model that was read, ready to be lowered and to be executed.

use super::import::{self, Ends};
use super::interpret::{self, Data};
use super::model::{Model, Params};
use super::pads;
use crate::error::Error;
use crate::graph::Graph;
use crate::lower::{self, Lowered, Options};
use crate::refusal::Refusal;
use crate::tensor::ElementType;

/// A model with the tensors between which it is converted.
#[derive(Clone, Debug)]
pub struct Source<'f> {
    /// The model.
    pub model: Model<'f>,
    /// Names of its operators and tensors.
    pub outline: Graph,
    ends: Ends,
}

impl<'f> Source<'f> {
    /// Reads a file.
    pub fn read(file: &'f [u8]) -> Result<Self, Error> {
        let model = super::read(file)?;
        let ends = Ends::of(&model);
        Ok(Self { outline: import::outline(&model, ends), ends, model })
    }

    /// Whether it computes with int8 codes.
    pub fn is_int8(&self) -> bool {
        self.model.tensors[self.ends.input].kind == Some(ElementType::I8)
    }

    /// Elements of the input.
    pub fn input_elements(&self) -> usize {
        self.model.tensors[self.ends.input].elements()
    }

    /// Elements of the output.
    pub fn output_elements(&self) -> usize {
        self.model.tensors[self.ends.output].elements()
    }

    /// Scale and zero point of the codes that an int8 model takes.
    pub fn input_params(&self) -> Option<Params> {
        self.model.tensors[self.ends.input].params().filter(|_| self.is_int8())
    }

    /// Scale and zero point of the codes that an int8 model gives.
    pub fn output_params(&self) -> Option<Params> {
        self.model.tensors[self.ends.output].params().filter(|_| self.is_int8())
    }

    /// Lowers the model, or tells everything that stands in the way.
    pub fn lower(&self, options: Options) -> Result<Lowered, Vec<Refusal>> {
        let imported = import::import(&self.model, self.ends)?;
        if !self.is_int8() {
            return lower::lower_float(imported, &self.outline, options);
        }
        lower::lower_int8(imported, &self.outline, |ir| {
            pads::expand(ir);
            import::label(ir);
        })
    }

    /// What the model computes; int8 models take and give codes.
    pub fn run(&self, input: &[f32]) -> Result<Vec<f64>, Error> {
        let input = match self.is_int8() {
            true => Data::Int8(input.iter().map(|&code| code as i8).collect()),
            false => Data::Real(input.iter().map(|&x| f64::from(x)).collect()),
        };
        Ok(match interpret::run(&self.model, self.ends.input, input, self.ends.output)? {
            Data::Int8(codes) => codes.into_iter().map(f64::from).collect(),
            Data::Real(reals) => reals,
        })
    }
}
