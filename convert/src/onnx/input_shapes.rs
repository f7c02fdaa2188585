//! Shapes of inputs: those of the file, with numbers for what the file leaves open.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::interpret::{MAX_ELEMENTS, is_within_limits};
use crate::onnx::options::Options;
use crate::onnx::proto::Dimension;
use crate::refusal::Refusal;

/// An input as the file declares it.
pub(crate) struct Declared<'a> {
    pub(crate) name: &'a str,
    /// `None` if the file does not even tell the number of dimensions.
    pub(crate) dims: Option<&'a [Dimension<'a>]>,
}

/// The shape of each input, if it is known. Sentences about what was assumed go to `assumptions`.
pub(crate) fn resolve(
    inputs: &[Declared<'_>],
    options: &Options,
    assumptions: &mut Vec<String>,
    refusals: &mut Vec<Refusal>,
) -> Result<Vec<Option<Vec<usize>>>, Error> {
    let given = given_shapes(inputs, options)?;
    let mut symbols = given_symbols(inputs, options)?;
    bind_symbols(inputs, &given, &mut symbols)?;
    assume_batches(inputs, &given, &mut symbols, assumptions);
    let mut shapes = vec![None; inputs.len()];
    for ((input, given), known) in inputs.iter().zip(&given).zip(&mut shapes) {
        match (given, input.dims) {
            (Some(shape), _) => *known = Some(shape.to_vec()),
            (None, None) => refusals.push(refusal(input, "no shape", Vec::new())),
            (None, Some(dims)) => match known_extents(dims, &symbols) {
                Ok(shape) => {
                    if dims.first().is_some_and(|dim| matches!(dim, Dimension::Unknown | Dimension::Extent(..1))) {
                        assumptions
                            .push(format!("input \"{}\": the unnamed leading dimension is taken as 1", input.name));
                    }
                    *known = Some(shape);
                }
                Err(open) => refusals.push(refusal(input, &format!("the shape [{}]", describe(dims)), open)),
            },
        }
    }
    for (input, shape) in inputs.iter().zip(&shapes) {
        if let Some(shape) = shape.as_ref().filter(|shape| !is_within_limits(shape)) {
            let reason = format!("tensors are limited to {MAX_ELEMENTS} elements");
            let (node, op, found) = (input.name.into(), "input".into(), format!("the shape {shape:?}"));
            return Err(Error::Unsupported(vec![Refusal { node, op, found, reason, advice: None }]));
        }
    }
    Ok(shapes)
}

/// For each input the shape that the options give it.
fn given_shapes<'o>(inputs: &[Declared<'_>], options: &'o Options) -> Result<Vec<Option<&'o [usize]>>, Error> {
    let mut given = vec![None; inputs.len()];
    for (name, shape) in &options.input_shapes {
        let position = match name {
            Some(name) => inputs.iter().position(|input| input.name == name),
            None if inputs.len() == 1 => Some(0),
            None => None,
        };
        let names = || inputs.iter().map(|input| format!("\"{}\"", input.name)).collect::<Vec<_>>().join(", ");
        let position = position.ok_or_else(|| match name {
            Some(name) => Error::Usage(format!("--input-shape: no input is named \"{name}\"; there are {}", names())),
            None => Error::Usage(format!("--input-shape needs a name, NAME=1,3,224,224: the inputs are {}", names())),
        })?;
        if let Some(dims) = inputs[position].dims
            && dims.len() != shape.len()
        {
            return Err(Error::Usage(format!(
                "--input-shape: input \"{}\" has {} dimensions [{}], but {} are given",
                inputs[position].name,
                dims.len(),
                describe(dims),
                shape.len()
            )));
        }
        given[position] = Some(shape.as_slice());
    }
    Ok(given)
}

fn given_symbols<'a>(inputs: &[Declared<'a>], options: &Options) -> Result<BTreeMap<&'a str, usize>, Error> {
    let mut symbols = BTreeMap::new();
    for (name, extent) in &options.dimensions {
        let found = dims_of(inputs).find_map(|dim| match dim {
            Dimension::Symbol(symbol) if symbol == name => Some(symbol),
            _ => None,
        });
        let symbol = found.ok_or_else(|| Error::Usage(format!("--dim: no input has a dimension named \"{name}\"")))?;
        symbols.insert(symbol, *extent);
    }
    Ok(symbols)
}

fn dims_of<'i, 'a>(inputs: &'i [Declared<'a>]) -> impl Iterator<Item = Dimension<'a>> + use<'i, 'a> {
    inputs.iter().flat_map(|input| input.dims.unwrap_or_default().iter().copied())
}

/// A shape given for one input tells the symbols that it shares with others.
fn bind_symbols<'a>(
    inputs: &[Declared<'a>],
    given: &[Option<&[usize]>],
    symbols: &mut BTreeMap<&'a str, usize>,
) -> Result<(), Error> {
    for (input, given) in inputs.iter().zip(given) {
        let (Some(given), Some(dims)) = (given, input.dims) else { continue };
        for (axis, (dim, &extent)) in dims.iter().zip(*given).enumerate() {
            match dim {
                Dimension::Symbol(symbol) if *symbols.entry(symbol).or_insert(extent) != extent => {
                    return Err(Error::Usage(format!(
                        "dimension \"{symbol}\" is given as {} and {extent}",
                        symbols[symbol]
                    )));
                }
                // Another batch is fine: all shapes behind it are inferred anew.
                Dimension::Extent(fixed @ 1..) if axis > 0 && *fixed != extent as i64 => {
                    return Err(Error::Usage(format!(
                        "--input-shape: input \"{}\" has the fixed shape [{}]",
                        input.name,
                        describe(dims)
                    )));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// A leading dimension that is still open is the batch: 1.
fn assume_batches<'a>(
    inputs: &[Declared<'a>],
    given: &[Option<&[usize]>],
    symbols: &mut BTreeMap<&'a str, usize>,
    assumptions: &mut Vec<String>,
) {
    for (input, _) in inputs.iter().zip(given).filter(|(_, given)| given.is_none()) {
        if let Some(Dimension::Symbol(symbol)) = input.dims.and_then(|dims| dims.first())
            && !symbols.contains_key(symbol)
        {
            symbols.insert(symbol, 1);
            assumptions.push(format!("input \"{}\": the leading dimension \"{symbol}\" is taken as 1", input.name));
        }
    }
}

/// The shape, or descriptions of the dimensions that are open.
fn known_extents(dims: &[Dimension<'_>], symbols: &BTreeMap<&str, usize>) -> Result<Vec<usize>, Vec<String>> {
    let mut shape = Vec::new();
    let mut open = Vec::new();
    for (axis, dim) in dims.iter().enumerate() {
        match dim {
            Dimension::Extent(extent @ 1..) => shape.push(*extent as usize),
            Dimension::Symbol(symbol) if symbols.contains_key(symbol) => shape.push(symbols[symbol]),
            Dimension::Symbol(symbol) => open.push((*symbol).to_string()),
            _ if axis == 0 => shape.push(1),
            _ => open.push(format!("?{axis}")),
        }
    }
    if open.is_empty() { Ok(shape) } else { Err(open) }
}

fn describe(dims: &[Dimension<'_>]) -> String {
    let text = |dim: &Dimension<'_>| match dim {
        Dimension::Extent(extent) => extent.to_string(),
        Dimension::Symbol(symbol) => (*symbol).to_string(),
        Dimension::Unknown => "?".into(),
    };
    dims.iter().map(text).collect::<Vec<_>>().join(",")
}

/// An extent for examples.
const EXAMPLE: i64 = 224;

fn refusal(input: &Declared<'_>, found: &str, open: Vec<String>) -> Refusal {
    let example = |(axis, dim): (usize, &Dimension<'_>)| match dim {
        Dimension::Extent(extent @ 1..) => extent.to_string(),
        _ if axis == 0 => "1".into(),
        _ => EXAMPLE.to_string(),
    };
    let example = match input.dims {
        Some(dims) => dims.iter().enumerate().map(example).collect::<Vec<_>>().join(","),
        None => format!("1,3,{EXAMPLE},{EXAMPLE}"),
    };
    let named = open.iter().filter(|name| !name.starts_with('?'));
    let by_name: String = named.map(|name| format!(" --dim {name}={EXAMPLE}")).collect();
    let by_name = if by_name.is_empty() { by_name } else { format!(" or{by_name}") };
    Refusal {
        node: input.name.into(),
        op: "input".into(),
        found: found.into(),
        reason: match open.is_empty() {
            true => "a .nk model has a fixed input".into(),
            false => format!("a .nk model has a fixed input, but these dimensions are open: {}", open.join(", ")),
        },
        advice: Some(format!("give them, for example --input-shape {}={example}{by_name}", input.name)),
    }
}
