//! A model as what C is made of: the steps of its plan, tables and weights.

use bytemuck::AnyBitPattern;
use netkit::Model;
use netkit::plan::steps::{FLAG_NORM, Operand, Place, Step};
use netkit::plan::{CodePlan, LayerFacts, shapes};
use netkit::tensor::Shape;

use crate::Error;

/// The plan of a model with all that its steps refer to.
pub(crate) struct Program<'m> {
    pub(crate) model: Model<'m>,
    pub(crate) input: Shape,
    pub(crate) output: Shape,
    pub(crate) steps: Vec<Step>,
    pub(crate) layers: Vec<LayerFacts>,
    tables: Vec<u8>,
    floats: Vec<f32>,
    codes: Vec<i8>,
    biases: Vec<i32>,
}

impl<'m> Program<'m> {
    pub(crate) fn new(model: &Model<'m>) -> Result<Self, Error> {
        model.check_payload()?;
        let plan = CodePlan::of(model)?;
        let mut steps = vec![Step::default(); plan.steps()];
        let mut tables = vec![0; plan.table_bytes()];
        plan.write(model, &mut steps, &mut tables)?;
        let mut layers = Vec::new();
        plan.for_each_layer(model, &mut |layer| {
            layers.push(*layer);
            Ok(())
        })?;
        let (input, output) = shapes(model)?;
        let mut program =
            Self { model: *model, input, output, steps, layers, tables, floats: vec![], codes: vec![], biases: vec![] };
        let payload = model.payload();
        if model.is_quantized() {
            let (codes, biases) = payload.split_at(model.header().weights_bytes as usize);
            program.codes = codes.iter().map(|&byte| byte as i8).collect();
            program.biases = words(biases).map(i32::from_le_bytes).collect();
        } else {
            program.floats = words(payload).map(f32::from_le_bytes).collect();
        }
        Ok(program)
    }

    pub(crate) fn is_int8(&self) -> bool {
        self.model.is_quantized()
    }

    /// Type of an activation in C.
    pub(crate) fn element(&self) -> &'static str {
        if self.is_int8() { "int8_t" } else { "float" }
    }

    /// Bytes of an activation.
    pub(crate) fn element_bytes(&self) -> usize {
        if self.is_int8() { 1 } else { 4 }
    }

    /// Activations that the steps use, in elements.
    pub(crate) fn arena_elements(&self) -> usize {
        let operands = self.steps.iter().flat_map(|step| [step.input, step.output, step.scratch]);
        let in_arena = operands.filter(|operand| operand.place() == Place::Arena);
        in_arena.map(|operand| operand.range().end).max().unwrap_or(0)
    }

    /// Filters of a float step, each in one piece, and their biases, with the batch norm multiplied in.
    pub(crate) fn float_filters(&self, index: usize) -> Result<(Vec<Vec<f32>>, Vec<f32>), Error> {
        let step = self.step(index)?;
        let mut filters = rows(step.filters(&self.floats).ok_or(Error::Step { index })?, step);
        let mut bias = self.floats(index, step.bias)?.to_vec();
        if step.flags & FLAG_NORM != 0 {
            let (scale, shift) = (self.floats(index, step.norm_scale)?, self.floats(index, step.norm_shift)?);
            for (((filter, bias), &scale), &shift) in filters.iter_mut().zip(&mut bias).zip(scale).zip(shift) {
                filter.iter_mut().for_each(|weight| *weight *= scale);
                *bias = (f64::from(*bias) * f64::from(scale) + f64::from(shift)) as f32;
            }
        }
        let fits = filters.iter().flatten().chain(&bias).all(|value| value.is_finite());
        if fits { Ok((filters, bias)) } else { Err(Error::NormTooLarge { layer: step.layer }) }
    }

    /// One float for each output channel of a step, from this element of the payload on.
    pub(crate) fn floats(&self, index: usize, first: u32) -> Result<&[f32], Error> {
        part(&self.floats, first, self.step(index)?.window.out_c).ok_or(Error::Step { index })
    }

    /// Filters of an int8 step, each in one piece, and their biases.
    pub(crate) fn int8_filters(&self, index: usize) -> Result<(Vec<Vec<i8>>, &[i32]), Error> {
        let step = self.step(index)?;
        let filters = rows(step.filters(&self.codes).ok_or(Error::Step { index })?, step);
        Ok((filters, part(&self.biases, step.bias, step.window.out_c).ok_or(Error::Step { index })?))
    }

    /// Multipliers and shifts of an int8 step.
    pub(crate) fn requantization(&self, index: usize) -> Result<(Vec<i32>, Vec<i8>), Error> {
        let channels = self.step(index)?.window.out_c as usize;
        let (multipliers, shifts) = self.table(index, 5 * channels)?.split_at(4 * channels);
        let multipliers = words(multipliers).map(i32::from_ne_bytes).collect();
        Ok((multipliers, shifts.iter().map(|&byte| byte as i8).collect()))
    }

    /// The table of an int8 step as a structure.
    pub(crate) fn structure<T: AnyBitPattern>(&self, index: usize) -> Result<T, Error> {
        Ok(bytemuck::pod_read_unaligned(self.table(index, size_of::<T>())?))
    }

    /// The table of an int8 step.
    pub(crate) fn table(&self, index: usize, bytes: usize) -> Result<&[u8], Error> {
        let first = self.step(index)?.quant.table;
        part(&self.tables, first, bytes as u32).ok_or(Error::Step { index })
    }

    pub(crate) fn step(&self, index: usize) -> Result<&Step, Error> {
        self.steps.get(index).ok_or(Error::Step { index })
    }
}

/// An operand in C.
pub(crate) fn pointer(operand: &Operand) -> String {
    let place = match operand.place() {
        Place::Input => "input",
        Place::Output => "output",
        Place::Arena => "arena",
    };
    if operand.first == 0 { place.to_owned() } else { format!("{place} + {}", operand.first) }
}

/// The weights of each output channel without the gaps between rows.
fn rows<T: Copy>(filters: netkit::kernels::Filters<'_, T>, step: &Step) -> Vec<Vec<T>> {
    let row = |filter: usize, row: usize| {
        let first = filter * filters.pitch.filter + row * filters.pitch.row;
        filters.weights[first..first + filters.row_elems].iter().copied()
    };
    let filter = |filter| (0..filters.rows).flat_map(|index| row(filter, index)).collect();
    (0..step.window.out_c as usize).map(filter).collect()
}

fn words(bytes: &[u8]) -> impl Iterator<Item = [u8; 4]> {
    bytes.as_chunks::<4>().0.iter().copied()
}

fn part<T>(data: &[T], first: u32, count: u32) -> Option<&[T]> {
    data.get(first as usize..)?.get(..count as usize)
}
