//! int8 against float: each layer's results, and the class that comes out. Both models run in the library.

use netkit::format::quant::QuantParams;
use netkit::plan::LayerFacts;
use netkit::{Error as EngineError, Network};

use crate::calibrate::check_samples;
use crate::engine::{EachLayer, Planned, floats};
use crate::error::Error;
use crate::form::FormLayer;
use crate::parallel::{Take, share};

/// How close int8 values are to float values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Closeness {
    /// Sum of the squares of the float values.
    pub signal: f64,
    /// Sum of the squares of the differences.
    pub noise: f64,
    /// Number of values.
    pub count: u64,
    /// Float values that lie outside of what int8 covers.
    pub clipped: u64,
}

impl Closeness {
    /// Signal-to-quantisation-noise ratio in decibels; `None` without signal or without noise.
    pub fn decibels(&self) -> Option<f64> {
        (self.signal > 0.0 && self.noise > 0.0).then(|| 10.0 * (self.signal / self.noise).log10())
    }

    /// Root of the mean squared difference, relative to that of the values.
    pub fn relative_error(&self) -> f64 {
        if self.noise == 0.0 { 0.0 } else { (self.noise / self.signal).sqrt() }
    }

    /// Share of clipped values.
    pub fn clipped_share(&self) -> f64 {
        self.clipped as f64 / self.count.max(1) as f64
    }

    fn of(float: &[f32], int8: &[i8], params: QuantParams) -> Self {
        // Rounding to an end is no clipping.
        let reach = 0.501 * params.scale;
        let (low, high) = (params.dequantize(i8::MIN) - reach, params.dequantize(i8::MAX) + reach);
        let mut closeness = Self { count: float.len() as u64, ..Self::default() };
        for (&float, &code) in float.iter().zip(int8) {
            closeness.signal += f64::from(float).powi(2);
            closeness.noise += f64::from(float - params.dequantize(code)).powi(2);
            closeness.clipped += u64::from(float < low || float > high);
        }
        closeness
    }

    fn add(&mut self, other: &Self) {
        self.signal += other.signal;
        self.noise += other.noise;
        self.count += other.count;
        self.clipped += other.clipped;
    }
}

/// The classes of one sample, a row of outputs each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// Of the float model.
    pub float: Vec<usize>,
    /// Of the int8 model.
    pub int8: Vec<usize>,
}

/// One sample in both models.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Layers of the int8 model; `None` where a layer is computed along with the next.
    pub layers: Vec<Option<Closeness>>,
    /// The largest output of each row.
    pub classes: Classes,
    /// Codes of the input and of the output.
    pub codes: (Vec<i8>, Vec<i8>),
}

/// Runs both models on samples; `progress` hears how many are done. Samples come out in their order.
pub fn evaluate(
    float: &[u8],
    int8: &[u8],
    form: &[FormLayer],
    samples: &[Vec<f32>],
    progress: &mut dyn FnMut(usize),
) -> Result<Vec<Sample>, Error> {
    let pair = Pair { float: Planned::parse(float)?, int8: Planned::parse(int8)?, form };
    check_samples(samples, pair.float.input_elements()?)?;
    let parts = share(samples.len(), progress, &|take| pair.work(samples, take))?;
    let mut results = vec![Sample::default(); samples.len()];
    for (index, sample) in parts.into_iter().flatten() {
        results[index] = sample;
    }
    Ok(results)
}

/// Closeness of each layer over samples.
pub fn layers(samples: &[Sample]) -> Vec<Option<Closeness>> {
    let mut sums = samples.first().map_or_else(Vec::new, |sample| sample.layers.clone());
    for sample in samples.iter().skip(1) {
        for (sum, layer) in sums.iter_mut().zip(&sample.layers) {
            if let (Some(sum), Some(layer)) = (sum, layer) {
                sum.add(layer);
            }
        }
    }
    sums
}

/// Both models in the library.
struct Pair<'p> {
    float: Planned<'p>,
    int8: Planned<'p>,
    form: &'p [FormLayer],
}

impl Pair<'_> {
    fn work(&self, samples: &[Vec<f32>], take: &mut Take<'_>) -> Result<Vec<(usize, Sample)>, Error> {
        let (mut float_region, mut int8_region) = (self.float.region(), self.int8.region());
        let mut float = Network::load_planned(&self.float.model, &self.float.plan, &mut float_region)?;
        let mut int8 = Network::load_planned(&self.int8.model, &self.int8.plan, &mut int8_region)?;
        let mut results = Vec::new();
        while let Some(index) = take() {
            results.push((index, self.sample(&samples[index], &mut float, &mut int8)?));
        }
        Ok(results)
    }

    fn sample(&self, input: &[f32], float: &mut Network<'_, '_>, int8: &mut Network<'_, '_>) -> Result<Sample, Error> {
        let mut expected: Vec<Vec<f32>> = Vec::new();
        let mut keep = EachLayer(|facts: &LayerFacts, bytes: &[u8]| {
            if self.form.get(expected.len()).is_some_and(|layer| layer.source == facts.index) {
                expected.push(floats(bytes));
            }
            Ok(())
        });
        let mut float_output = vec![0.0; self.float.output_elements()?];
        float.run_layers(&mut keep, input, &mut float_output)?;
        let params = self.int8.plan.input_quant.unwrap_or(UNUSED);
        let codes: Vec<i8> = input.iter().map(|&value| params.quantize(value)).collect();
        let mut layers = Vec::new();
        let mut compare = EachLayer(|facts: &LayerFacts, bytes: &[u8]| {
            layers.push(compare_layer(facts, &expected[facts.index], bytes)?);
            Ok(())
        });
        let mut output = vec![0; self.int8.output_elements()?];
        int8.run_layers_int8(&mut compare, &codes, &mut output)?;
        let row = self.float.plan.output.c as usize;
        let as_floats: Vec<f32> = output.iter().map(|&code| f32::from(code)).collect();
        let classes = Classes { float: largest(&float_output, row), int8: largest(&as_floats, row) };
        Ok(Sample { layers, classes, codes: (codes, output) })
    }
}

/// Takes the place of parameters that every int8 model has.
const UNUSED: QuantParams = QuantParams { scale: 1.0, zero_point: 0 };

fn compare_layer(facts: &LayerFacts, float: &[f32], bytes: &[u8]) -> Result<Option<Closeness>, EngineError> {
    if facts.result_shape != facts.output {
        return Ok(None);
    }
    let codes: Vec<i8> = bytes.iter().map(|&byte| byte as i8).collect();
    Ok(Some(Closeness::of(float, &codes, facts.output_quant.unwrap_or(UNUSED))))
}

/// The first of the largest values of each row.
fn largest(values: &[f32], row: usize) -> Vec<usize> {
    let of_row = |row: &[f32]| {
        let first_largest = |best: usize, index: usize| if row[index] > row[best] { index } else { best };
        (0..row.len()).fold(0, first_largest)
    };
    values.chunks(row.max(1)).map(of_row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_the_difference_and_clipping_lies_beyond_the_last_code() {
        let params = QuantParams { scale: 0.5, zero_point: 0 };
        let closeness = Closeness::of(&[1.0, -2.0, 63.7, 64.5], &[2, -3, 127, 127], params);
        assert_eq!((closeness.count, closeness.clipped), (4, 1));
        let noise = 0.25 + f64::from(0.2f32).powi(2) + 1.0;
        assert!((closeness.noise - noise).abs() < 1e-5, "{closeness:?}");
        assert_eq!(closeness.signal, 5.0 + f64::from(63.7f32).powi(2) + 64.5 * 64.5);
    }

    #[test]
    fn ten_times_the_noise_is_ten_decibels_less() {
        let of = |noise| Closeness { signal: 1.0, noise, count: 1, clipped: 0 };
        assert_eq!(of(0.001).decibels(), Some(30.0));
        assert_eq!(of(0.0).decibels(), None);
        assert_eq!(of(0.0004).relative_error(), 0.02);
    }

    #[test]
    fn the_first_largest_wins_in_each_row() {
        assert_eq!(largest(&[1.0, 3.0, 3.0, 5.0, 4.0, 5.0], 3), [1, 0]);
    }
}
