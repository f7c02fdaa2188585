//! What is done with input values before the model gets them.

use netkit::tensor::Shape;

use crate::args::{Layout, PrepareArgs};
use crate::failure::Failure;

/// Refuses what does not fit the model's input.
pub(super) fn check(args: &PrepareArgs, shape: Shape) -> Result<(), Failure> {
    if args.layout() == Layout::Nchw && shape.is_rows {
        let message = "--layout nchw is for models that take [height, width, channels]; this one takes rows";
        return Err(Failure::Usage(message.to_owned()));
    }
    for (name, values) in [("mean", &args.mean), ("std", &args.std)] {
        if values.len() > 1 && values.len() != shape.c as usize {
            let (found, channels) = (values.len(), shape.c);
            return Err(Failure::Usage(format!(
                "--{name} has {found} values; give one, or one for each of the {channels} channels"
            )));
        }
    }
    match args.std.iter().find(|&&value| value == 0.0) {
        Some(_) => Err(Failure::Usage("--std must not be 0".to_owned())),
        None => Ok(()),
    }
}

/// From `[channels, height, width]` to `[height, width, channels]`.
pub(crate) fn channels_last(values: &[f32], shape: Shape) -> Vec<f32> {
    let (pixels, channels) = (shape.h as usize * shape.w as usize, shape.c as usize);
    (0..pixels * channels).map(|index| values[index % channels * pixels + index / channels]).collect()
}

/// `(value * scale - mean) / std`, mean and std for each channel. `scale` counts when the arguments name none.
pub(super) fn normalize(values: &mut [f32], channels: usize, args: &PrepareArgs, scale: f32) {
    let scale = args.scale.unwrap_or(scale);
    if scale == 1.0 && args.mean.is_empty() && args.std.is_empty() {
        return;
    }
    let of = |list: &[f32], channel: usize, otherwise: f32| match list {
        [] => otherwise,
        [one] => *one,
        list => list[channel],
    };
    for pixel in values.chunks_mut(channels) {
        for (channel, value) in pixel.iter_mut().enumerate() {
            *value = (*value * scale - of(&args.mean, channel, 0.0)) / of(&args.std, channel, 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_move_to_the_end() {
        let shape = Shape::map(1, 3, 2);
        assert_eq!(channels_last(&[1.0, 2.0, 3.0, 10.0, 20.0, 30.0], shape), [1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
    }

    #[test]
    fn each_channel_has_its_mean_and_deviation() {
        let args = PrepareArgs { scale: Some(2.0), mean: vec![1.0, 2.0], std: vec![0.5], layout: None };
        let mut values = [1.0, 1.0, 2.0, 3.0];
        normalize(&mut values, 2, &args, 1.0);
        assert_eq!(values, [2.0, 0.0, 6.0, 8.0]);
    }
}
