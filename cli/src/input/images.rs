//! PNG images.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use netkit::tensor::Shape;
use png::{BitDepth, ColorType, Decoder, Transformations};

use crate::failure::Failure;

/// Brings pixels to 0 to 1.
pub(super) const SCALE: f32 = 1.0 / 255.0;
/// How much larger a pixel of 16 bits is than one of 8 bits.
const DEEP: f32 = 257.0;

/// Pixels from 0 to 255, row by row, the channels of a pixel side by side. Images of 16 bits have fractions.
pub(super) fn read(path: &Path, shape: Shape) -> Result<Vec<f32>, Failure> {
    let fault = |error: &dyn std::fmt::Display| Failure::file(path, format_args!("cannot read the image: {error}"));
    let file = File::open(path).map_err(|error| fault(&error))?;
    let mut decoder = Decoder::new(BufReader::new(file));
    // Palettes become colors, transparent colors an alpha channel, pixels of less than 8 bits grow to 8.
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(|error| fault(&error))?;
    let (color, depth) = reader.output_color_type();
    let (height, width) = (reader.info().height, reader.info().width);
    // Before memory is taken for the pixels.
    check_size(path, (height, width), color, shape)?;
    let too_large = || fault(&"it is too large");
    let mut bytes = vec![0; reader.output_buffer_size().ok_or_else(too_large)?];
    let frame = reader.next_frame(&mut bytes).map_err(|error| fault(&error))?;
    bytes.truncate(frame.buffer_size());
    let values: Vec<f32> = if depth == BitDepth::Sixteen {
        bytes.as_chunks().0.iter().map(|&word| f32::from(u16::from_be_bytes(word)) / DEEP).collect()
    } else {
        bytes.into_iter().map(f32::from).collect()
    };
    match color {
        ColorType::GrayscaleAlpha => opaque::<2>(path, &values),
        ColorType::Rgba => opaque::<4>(path, &values),
        _ => Ok(values),
    }
}

/// The pixels without their last channel, which must say that nothing shines through.
fn opaque<const CHANNELS: usize>(path: &Path, values: &[f32]) -> Result<Vec<f32>, Failure> {
    let pixels = values.as_chunks::<CHANNELS>().0;
    if pixels.iter().any(|pixel| pixel[CHANNELS - 1] != 255.0) {
        let failure = Failure::file(path, "the image has transparent pixels, which models do not know");
        return Err(failure.with_hint("give it a background"));
    }
    Ok(pixels.iter().flat_map(|pixel| &pixel[..CHANNELS - 1]).copied().collect())
}

fn check_size(path: &Path, (height, width): (u32, u32), color: ColorType, shape: Shape) -> Result<(), Failure> {
    let is_grey = matches!(color, ColorType::Grayscale | ColorType::GrayscaleAlpha);
    let (name, channels) = if is_grey { ("grey", 1) } else { ("RGB", 3) };
    if shape.is_rows {
        let values = u64::from(height) * u64::from(width) * channels;
        if shape.h == 1 && values == u64::from(shape.c) {
            return Ok(());
        }
        let wanted = format!("the model takes [{}, {}]", shape.h, shape.c);
        let message = format!("{height} x {width} {name} pixels are {values} values, but {wanted}");
        return Err(Failure::file(path, message));
    }
    if (height, width) != (shape.h, shape.w) {
        let wanted = format!("the model takes {} x {} (height x width)", shape.h, shape.w);
        let failure = Failure::file(path, format_args!("{height} x {width} pixels, but {wanted}"));
        return Err(failure.with_hint("scale or crop the image first"));
    }
    if channels == u64::from(shape.c) {
        return Ok(());
    }
    let failure = Failure::file(path, format_args!("{channels} channels ({name}), but the model takes {}", shape.c));
    Err(match shape.c {
        1 => failure.with_hint("convert the image to grey first"),
        3 => failure.with_hint("convert the image to RGB first"),
        _ => failure,
    })
}
