//! From the tables of a file to a [`Model`]: everything that does not depend on what operators mean is checked here.

use flatbuffers::Vector;

use super::model::{FusedActivation, Model, Operation, Operator, Padding, Quantization, Sliding, Tensor};
use super::{names, schema};
use crate::budget::Budget;
use crate::error::Error;
use crate::tensor::ElementType;

/// Most dimensions of a tensor.
const MAX_RANK: usize = 8;
/// The number that stands for an operation of a name.
const CUSTOM: u32 = 32;

/// Reads a file.
pub fn read(file: &[u8]) -> Result<Model<'_>, Error> {
    let root = schema::root(file).map_err(Error::TfliteFile)?;
    let mut reader = Reader { root, budget: Budget::for_file(file.len()) };
    if root.version() != Some(3) {
        return invalid(format!("version {} of the file format, expected 3", root.version().unwrap_or(0)));
    }
    let graph = match root.subgraphs() {
        Some(graphs) if graphs.len() == 1 => graphs.get(0),
        graphs => {
            let count = graphs.map_or(0, |graphs| graphs.len());
            let advice = "convert a model without control flow";
            return Err(Error::unsupported_model(format!("{count} graphs"), "only one is converted", Some(advice)));
        }
    };
    let tables = graph.tensors().into_iter().flatten();
    let tensors: Vec<Tensor<'_>> =
        tables.enumerate().map(|(index, table)| reader.tensor(index, table)).collect::<Result<_, _>>()?;
    let tables = graph.operators().into_iter().flatten();
    let operators = tables
        .enumerate()
        .map(|(index, table)| reader.operator(index, table, tensors.len()))
        .collect::<Result<_, _>>()?;
    let input = only("input", graph.inputs(), &tensors)?;
    let output = only("output", graph.outputs(), &tensors)?;
    let model = Model { description: root.description().unwrap_or(""), tensors, operators, input, output };
    check_order(&model)?;
    Ok(with_plain_constants(model))
}

/// The model without operators that only give constants another type: whoever reads their result reads the constant.
fn with_plain_constants(mut model: Model<'_>) -> Model<'_> {
    let mut source: Vec<usize> = (0..model.tensors.len()).collect();
    let tensors = &model.tensors;
    model.operators.retain_mut(|operator| {
        operator.inputs.iter_mut().flatten().for_each(|input| *input = source[*input]);
        let constant = operator.input(0).filter(|&input| tensors[input].data.is_some());
        match constant.filter(|_| operator.operation == Operation::Dequantize) {
            Some(constant) => {
                source[operator.outputs[0]] = constant;
                false
            }
            None => true,
        }
    });
    model.output = source[model.output];
    model
}

fn invalid<T>(found: String) -> Result<T, Error> {
    Err(Error::TfliteFile(found))
}

struct Reader<'f> {
    root: schema::Model<'f>,
    budget: Budget,
}

impl<'f> Reader<'f> {
    fn tensor(&mut self, index: usize, table: schema::Tensor<'f>) -> Result<Tensor<'f>, Error> {
        let name = table.name().unwrap_or("");
        let faulty = |found: String| Error::TfliteFile(format!("tensor {index} \"{name}\" has {found}"));
        let extents = table.shape();
        if extents.is_some_and(|extents| extents.len() > MAX_RANK) {
            let count = extents.map_or(0, |all| all.len());
            return Err(faulty(format!("{count} dimensions, at most {MAX_RANK} are read")));
        }
        let extents: Vec<i32> = extents.into_iter().flatten().collect();
        let Some(shape) = extents.iter().map(|&extent| usize::try_from(extent).ok()).collect::<Option<Vec<usize>>>()
        else {
            return Err(faulty(format!("shape {extents:?}")));
        };
        let kind = element_type(table.element_type().unwrap_or(0));
        let elements = shape.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent));
        let Some(elements) = elements.filter(|&elements| elements < i32::MAX as usize) else {
            return Err(faulty(format!("shape {shape:?}: too many elements")));
        };
        let data = self.data(table.buffer().unwrap_or(0)).map_err(&faulty)?;
        self.budget.charge(size_of::<Tensor<'_>>(), || "the tensors".into())?;
        match (data, kind.map(bytes_of)) {
            (Some(data), Some(bytes)) if table.sparsity().is_none() && data.len() != elements * bytes => {
                return Err(faulty(format!("{} bytes of data for shape {shape:?}", data.len())));
            }
            (None, kind) => {
                let bytes = if kind == Some(1) { 1 } else { 8 };
                self.budget.charge(elements * bytes, || format!("the elements of tensor \"{name}\""))?;
            }
            _ => {}
        }
        let kind = kind.filter(|_| table.sparsity().is_none());
        let quant = match table.quantization() {
            Some(quant) => quantization(quant, &shape).map_err(&faulty)?,
            None => None,
        };
        Ok(Tensor { name, kind, shape, quant, data })
    }

    /// Bytes of a buffer; those of buffer 0 and of empty ones are no constants.
    fn data(&self, index: u32) -> Result<Option<&'f [u8]>, String> {
        let buffers = self.root.buffers();
        let Some(buffer) = buffers.filter(|buffers| (index as usize) < buffers.len()) else {
            return if index == 0 { Ok(None) } else { Err(format!("buffer {index}, which is not there")) };
        };
        let buffer = buffer.get(index as usize);
        if buffer.offset().unwrap_or(0) > 1 {
            return Err("its data outside of the tables, which is not read".into());
        }
        Ok(buffer.data().map(|data| data.bytes()).filter(|data| !data.is_empty()))
    }

    fn operator(&mut self, index: usize, table: schema::Operator<'f>, tensors: usize) -> Result<Operator<'f>, Error> {
        let code = table.code().unwrap_or(0);
        let Some(codes) = self.root.operator_codes().filter(|codes| (code as usize) < codes.len()) else {
            return invalid(format!("operator {index} has operation {code} of a list that is shorter"));
        };
        let code = codes.get(code as usize);
        // Old files have the number in a byte, which new ones fill as far as it reaches.
        let number = code.builtin_code().unwrap_or(0).max(code.deprecated_builtin_code().unwrap_or(0).into());
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let name = if number == CUSTOM { code.custom_code().unwrap_or("CUSTOM") } else { names::name(number) };
        let count = |list: Option<Vector<'_, i32>>| list.map_or(0, |list| list.len());
        let listed = count(table.inputs()) + count(table.outputs());
        self.budget.charge(size_of::<Operator<'_>>() + 16 * listed, || "the operators".into())?;
        let known = |tensor: i32| usize::try_from(tensor).ok().filter(|&tensor| tensor < tensors);
        let mut inputs = Vec::with_capacity(count(table.inputs()));
        for tensor in table.inputs().into_iter().flatten() {
            match (tensor, known(tensor)) {
                (-1, _) => inputs.push(None),
                (_, Some(tensor)) => inputs.push(Some(tensor)),
                _ => return invalid(format!("operator {index} {name} reads tensor {tensor} of {tensors}")),
            }
        }
        let outputs = table.outputs().into_iter().flatten().map(known).collect::<Option<Vec<usize>>>();
        let Some(outputs) = outputs.filter(|outputs| !outputs.is_empty()) else {
            return invalid(format!("operator {index} {name} writes no tensor of the {tensors}"));
        };
        Ok(Operator { name, operation: operation(number, table.options()), inputs, outputs })
    }
}

/// The only input or output.
fn only(what: &str, list: Option<Vector<'_, i32>>, tensors: &[Tensor<'_>]) -> Result<usize, Error> {
    let count = list.map_or(0, |list| list.len());
    let Some(list) = list.filter(|list| list.len() == 1) else {
        let reason = format!("a .nk model has one {what}");
        return Err(Error::unsupported_model(format!("{count} {what}s"), &reason, None));
    };
    match usize::try_from(list.get(0)).ok().filter(|&index| index < tensors.len()) {
        Some(index) => Ok(index),
        None => invalid(format!("the {what} is tensor {} of {}", list.get(0), tensors.len())),
    }
}

/// Refuses graphs that read a tensor before it is written, or write one twice.
fn check_order(model: &Model<'_>) -> Result<(), Error> {
    let mut is_known: Vec<bool> = model.tensors.iter().map(|tensor| tensor.data.is_some()).collect();
    if std::mem::replace(&mut is_known[model.input], true) {
        return invalid(format!("the input \"{}\" is a constant", model.tensors[model.input].name));
    }
    for (index, operator) in model.operators.iter().enumerate() {
        let name = |tensor: usize| model.tensors[tensor].name;
        if let Some(&tensor) = operator.inputs.iter().flatten().find(|&&tensor| !is_known[tensor]) {
            let what = format!("operator {index} {} reads \"{}\" before it is written", operator.name, name(tensor));
            return invalid(what);
        }
        for &tensor in &operator.outputs {
            if std::mem::replace(&mut is_known[tensor], true) {
                return invalid(format!("operator {index} {} writes \"{}\" again", operator.name, name(tensor)));
            }
        }
    }
    if is_known[model.output] {
        return Ok(());
    }
    invalid(format!("the output \"{}\" is never written", model.tensors[model.output].name))
}

/// The scales of a tensor, `None` if it is not quantised.
fn quantization<'f>(table: schema::Quantization<'f>, shape: &[usize]) -> Result<Option<Quantization<'f>>, String> {
    let Some(scales) = table.scale().filter(|scales| !scales.is_empty()) else { return Ok(None) };
    let (axis, zero_points) = (table.dimension().unwrap_or(0), table.zero_point());
    if !scales.iter().all(|scale| scale.is_finite() && scale > 0.0) {
        return Err("a scale that is not above 0".into());
    }
    let extent = usize::try_from(axis).ok().and_then(|axis| shape.get(axis).copied());
    if scales.len() > 1 && extent != Some(scales.len()) {
        return Err(format!("{} scales along dimension {axis} of shape {shape:?}", scales.len()));
    }
    if zero_points.is_some_and(|points| ![0, 1, scales.len()].contains(&points.len())) {
        return Err(format!("{} zero points for {} scales", zero_points.map_or(0, |all| all.len()), scales.len()));
    }
    let quant = Quantization { scales, zero_points, axis: axis.max(0) };
    let is_code = |index| quant.zero_point(index).is_some_and(|point| point.unsigned_abs() <= 1 << 15);
    match (0..quant.scales.len()).all(is_code) {
        true => Ok(Some(quant)),
        false => Err("a zero point that is no code".into()),
    }
}

/// Types that are held in memory; the others are refused where they are used.
fn element_type(number: i8) -> Option<ElementType> {
    Some(match number {
        0 => ElementType::F32,
        1 => ElementType::F16,
        2 => ElementType::I32,
        3 => ElementType::U8,
        4 => ElementType::I64,
        6 => ElementType::Bool,
        7 => ElementType::I16,
        9 => ElementType::I8,
        10 => ElementType::F64,
        _ => return None,
    })
}

fn bytes_of(kind: ElementType) -> usize {
    match kind {
        ElementType::F64 | ElementType::I64 | ElementType::U64 => 8,
        ElementType::F32 | ElementType::I32 | ElementType::U32 => 4,
        ElementType::F16 | ElementType::Bf16 | ElementType::I16 | ElementType::U16 => 2,
        ElementType::I8 | ElementType::U8 | ElementType::Bool => 1,
    }
}

/// An operation by its number, with its options.
fn operation(number: u32, options: schema::Options<'_>) -> Operation {
    use schema::Options;
    match (number, options) {
        (0, Options::Add(options)) => Operation::Add(activation(options.activation())),
        (0, Options::Other) => Operation::Add(FusedActivation::None),
        (1, Options::Pool2d(options)) => Operation::AveragePool2d(pool(options)),
        (17, Options::Pool2d(options)) => Operation::MaxPool2d(pool(options)),
        (3, Options::Conv2d(options)) => Operation::Conv2d(Sliding {
            kernel: (0, 0),
            stride: (extent(options.stride_h(), 0), extent(options.stride_w(), 0)),
            dilation: (extent(options.dilation_h(), 1), extent(options.dilation_w(), 1)),
            padding: padding(options.padding()),
            activation: activation(options.activation()),
        }),
        (4, Options::DepthwiseConv2d(options)) => Operation::DepthwiseConv2d(Sliding {
            kernel: (0, 0),
            stride: (extent(options.stride_h(), 0), extent(options.stride_w(), 0)),
            dilation: (extent(options.dilation_h(), 1), extent(options.dilation_w(), 1)),
            padding: padding(options.padding()),
            activation: activation(options.activation()),
        }),
        (6, _) => Operation::Dequantize,
        // Weights in the shuffled format belong to another arithmetic.
        (9, Options::FullyConnected(options)) if options.weights_format().unwrap_or(0) == 0 => {
            Operation::FullyConnected(activation(options.activation()))
        }
        (9, Options::Other) => Operation::FullyConnected(FusedActivation::None),
        (14, _) => Operation::Logistic,
        (19, _) => Operation::Relu(FusedActivation::Relu),
        (21, _) => Operation::Relu(FusedActivation::Relu6),
        (22 | 43 | 70, _) => Operation::Reshape,
        (25, Options::Softmax(options)) => Operation::Softmax(options.beta().unwrap_or(0.0)),
        (28, _) => Operation::Tanh,
        (34, _) => Operation::Pad,
        (40, _) => Operation::Mean,
        (98, Options::LeakyRelu(options)) => Operation::LeakyRelu(options.alpha().unwrap_or(0.0)),
        (114, _) => Operation::Quantize,
        _ => Operation::Unknown,
    }
}

fn pool(options: schema::Pool2dOptions<'_>) -> Sliding {
    Sliding {
        kernel: (extent(options.filter_h(), 0), extent(options.filter_w(), 0)),
        stride: (extent(options.stride_h(), 0), extent(options.stride_w(), 0)),
        dilation: (1, 1),
        padding: padding(options.padding()),
        activation: activation(options.activation()),
    }
}

/// A number of rows or columns; 0, which is refused where it is used, for one below.
fn extent(value: Option<i32>, default: usize) -> usize {
    value.map_or(default, |value| usize::try_from(value).unwrap_or(0))
}

fn padding(number: Option<i8>) -> Padding {
    match number.unwrap_or(0) {
        0 => Padding::Same,
        1 => Padding::Valid,
        _ => Padding::Unknown,
    }
}

fn activation(number: Option<i8>) -> FusedActivation {
    match number.unwrap_or(0) {
        0 => FusedActivation::None,
        1 => FusedActivation::Relu,
        3 => FusedActivation::Relu6,
        _ => FusedActivation::Unknown,
    }
}
