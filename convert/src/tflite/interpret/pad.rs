//! PAD of height and width.

use super::{Call, Data};

/// int8: the code of 0 around the map.
pub fn run(call: &Call<'_, '_>) -> Option<Data> {
    let amounts = call.tensor(1)?.int32()?;
    let [0, 0, top, _, left, _, 0, 0] = amounts[..] else { return None };
    let ([_, height, width, channels], [_, _, out_width, _]) = (&call.tensor(0)?.shape[..], &call.output().shape[..])
    else {
        return None;
    };
    let (top, left) = (usize::try_from(top).ok()?, usize::try_from(left).ok()?);
    let place = |row: usize| ((row + top) * out_width + left) * channels;
    let line = width * channels;
    fn fill<T: Copy>(x: &[T], y: &mut [T], line: usize, rows: usize, place: impl Fn(usize) -> usize) -> Option<()> {
        for row in 0..rows {
            y.get_mut(place(row)..place(row) + line)?.copy_from_slice(x.get(row * line..(row + 1) * line)?);
        }
        Some(())
    }
    let elements = call.output().elements();
    match call.value(0)? {
        Data::Real(x) => {
            let mut y = vec![0.0; elements];
            fill(x, &mut y, line, *height, place)?;
            Some(Data::Real(y))
        }
        Data::Int8(x) => {
            let mut y = vec![call.output().params()?.zero_point as i8; elements];
            fill(x, &mut y, line, *height, place)?;
            Some(Data::Int8(y))
        }
    }
}
