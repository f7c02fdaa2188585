//! The commands of the command line.

use core::ffi::CStr;

use bytemuck::Pod;

use super::cli_options::{Arguments, Options, Outcome, Problem};
use super::limits::{NK_MAX_CASE_FLOATS, NK_MAX_PATH_LEN};
use super::tests::{TOTALS_TITLE, nk_run_model_tests, print_totals, run_all};
use super::{files, handle, print};
use crate::error::{Error, ErrorKind};
use crate::format::{Model, NETWORK_MLP};
use crate::host::{self, HeapBlock};
use crate::network::Network;
use crate::plan::MemoryPlan;
use crate::run::Element;
use crate::summary;
use crate::tensor::Shape;
use crate::text::Labelled;

/// `test [MODEL]`
pub(super) fn test(arguments: &mut Arguments<'_>) -> Outcome {
    let (counts, title) = match arguments.next() {
        None => run_all(),
        // SAFETY: a C string.
        Some(path) => (unsafe { nk_run_model_tests(path.as_ptr()) }, TOTALS_TITLE),
    };
    print::with_stdout(|out| print_totals(out, title, counts));
    if counts.failed == 0 { Ok(()) } else { Err(Problem::TOLD) }
}

/// `inspect MODEL [--full]`
pub(super) fn inspect(options: &Options, arguments: &mut Arguments<'_>) -> Outcome {
    let path = arguments.next().ok_or_else(no_path)?;
    let is_full = arguments.have(c"--full");
    with_model(path, |model, name| {
        if !is_full {
            print_summary(model, name, "");
            return Ok(());
        }
        let mut arena = arena_of(options)?;
        let plan = plan_of(model)?;
        if model.is_quantized() {
            run_once::<i8>(model, arena.bytes(), |_| (), |_, _| Ok(()))?;
        } else {
            run_once::<f32>(model, arena.bytes(), |_| (), |_, _| Ok(()))?;
        }
        print_summary(model, name, "\n");
        print_arena(options.arena_bytes, &plan);
        Ok(())
    })
}

/// What the model takes. Other programs read the second and third line.
fn print_arena(capacity: usize, plan: &MemoryPlan) {
    let used = plan.arena_bytes;
    let rest = capacity.saturating_sub(used);
    // A stdout that takes no text is the business of the program that closed it.
    print::with_stdout(|out| {
        _ = write!(
            out,
            "Arena ({capacity} bytes capacity):\n  after load:           {used} bytes\n  \
             after forward (zero): {used} bytes\n  remaining:            {rest} bytes\n  \
             flash payload:        {} bytes (not in arena)\n",
            plan.flash_bytes
        );
    });
}

/// `run MODEL --input VALUES`
pub(super) fn run(options: &Options, arguments: &mut Arguments<'_>) -> Outcome {
    let path = arguments.next().ok_or_else(no_path)?;
    let text = arguments.value_of(b"--input").flatten();
    let text = text.ok_or_else(|| Problem::new(format_args!("Missing required --input <a,b,c,...>")))?;
    with_model(path, |model, name| {
        let plan = plan_of(model)?;
        let mut block = heap(NK_MAX_CASE_FLOATS * size_of::<f32>())?;
        let values = parse_values(text, block.bytes())?;
        let (count, wanted) = (values.len(), plan.input.elements()? as usize);
        if count != wanted {
            return Err(Problem::new(format_args!("Input has {count} values but model expects {wanted}")));
        }
        let mut arena = arena_of(options)?;
        print_summary(model, name, "\n");
        let show = |output: &[f32], shape| {
            print_tensor("Input", plan.input, values);
            print_tensor("Output", shape, output);
            Ok(())
        };
        let (Some(input_quant), Some(output_quant)) = (plan.input_quant, plan.output_quant) else {
            return run_once(model, arena.bytes(), |input: &mut [f32]| input.copy_from_slice(values), show);
        };
        let fill = |codes: &mut [i8]| {
            codes.iter_mut().zip(values).for_each(|(code, &value)| *code = input_quant.quantize(value));
        };
        run_once(model, arena.bytes(), fill, |codes: &[i8], shape| {
            let mut block = heap(size_of_val(codes) * size_of::<f32>())?;
            let output = as_values(block.bytes());
            output.iter_mut().zip(codes).for_each(|(value, &code)| *value = output_quant.dequantize(code));
            show(output, shape)
        })
    })
}

/// Opens and parses a model, and gives `action` its name.
fn with_model(path: &CStr, action: impl FnOnce(&Model<'_>, &str) -> Outcome) -> Outcome {
    let mut buffer = [0; NK_MAX_PATH_LEN];
    let (file, resolved) = files::open_resolved(path, &mut buffer);
    let resolved = files::text_of(resolved.to_bytes());
    let wrong = |error: Error| Problem::new(format_args!("Failed to parse {resolved}: {error}"));
    let file = file.map_err(wrong)?;
    let model = Model::parse(file.bytes()).map_err(wrong)?;
    handle::Facts::of(&model).map_err(wrong)?;
    action(&model, summary::stem(resolved))
}

/// Loads the model, fills in the input, which is zero, runs it and shows the output.
fn run_once<T: Element>(
    model: &Model<'_>,
    arena: &mut [u8],
    fill: impl FnOnce(&mut [T]),
    show: impl FnOnce(&[T], Shape) -> Outcome,
) -> Outcome {
    let mut network = Network::load(model, arena).map_err(|error| cannot_load(model, error))?;
    let (inputs, outputs) = (network.input_shape().elements()? as usize, network.output_shape().elements()? as usize);
    let (mut input, mut output) = (heap(inputs * size_of::<T>())?, heap(outputs * size_of::<T>())?);
    let (input, output) = (as_values(input.bytes()), as_values(output.bytes()));
    fill(input);
    network.run_values(input, output)?;
    show(output, network.output_shape())
}

fn no_path() -> Problem {
    Problem::misuse(format_args!("Missing model path"))
}

fn plan_of(model: &Model<'_>) -> Outcome<MemoryPlan> {
    handle::plan(model).map_err(|error| cannot_load(model, error))
}

fn cannot_load(model: &Model<'_>, error: Error) -> Problem {
    let kind = if model.header().network == NETWORK_MLP { "MLP" } else { "CNN" };
    Problem::new(format_args!("Failed to load {kind}: {error}"))
}

/// The arena of a command.
fn arena_of(options: &Options) -> Outcome<HeapBlock> {
    let bytes = options.arena_bytes;
    let no_block = || Problem::new(format_args!("Failed to initialize arena: the heap has no {bytes} bytes"));
    HeapBlock::zeroed(bytes).ok_or_else(no_block)
}

fn heap(bytes: usize) -> Outcome<HeapBlock> {
    let no_block = Error::new(ErrorKind::Arena).note("the heap has no room for it");
    Ok(HeapBlock::zeroed(bytes).ok_or(no_block)?)
}

/// A block of the heap as values.
fn as_values<T: Pod>(bytes: &mut [u8]) -> &mut [T] {
    // The heap aligns for any type.
    bytemuck::try_cast_slice_mut(bytes).unwrap_or_default()
}

/// Numbers as C writes them, with any mix of commas and blanks between them.
fn parse_values<'b>(text: &CStr, block: &'b mut [u8]) -> Outcome<&'b [f32]> {
    let values: &mut [f32] = as_values(block);
    let (mut rest, mut count) = (text, 0);
    loop {
        let bytes = rest.to_bytes_with_nul();
        let separators = bytes.iter().take_while(|&&byte| byte == b',' || byte.is_ascii_whitespace()).count();
        rest = skip(rest, separators);
        if rest.is_empty() && count > 0 {
            return Ok(values.get(..count).unwrap_or_default());
        }
        let (Some((value, length)), Some(slot)) = (host::leading_float(rest), values.get_mut(count)) else {
            let text = files::text_of(text.to_bytes());
            return Err(Problem::new(format_args!("Invalid --input values: {text}")));
        };
        *slot = value;
        count += 1;
        rest = skip(rest, length);
    }
}

/// The string without its first bytes.
fn skip(text: &CStr, bytes: usize) -> &CStr {
    text.to_bytes_with_nul().get(bytes..).and_then(|rest| CStr::from_bytes_with_nul(rest).ok()).unwrap_or_default()
}

fn print_summary(model: &Model<'_>, name: &str, end: &str) {
    // A stdout that takes no text is the business of the program that closed it.
    print::with_stdout(|out| _ = summary::write(model, name, out).and_then(|()| out.write_str(end)));
}

fn print_tensor(label: &str, shape: Shape, values: &[f32]) {
    let (dims, rank) = shape.dims();
    let dims = dims.get(..rank as usize).unwrap_or_default();
    print::with_stdout(|out| _ = writeln!(out, "{}", Labelled { label, dims, values, cut: false }));
}
