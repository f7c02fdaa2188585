//! What to do about the layer with the most noise.

use netkit_quantize::assemble::Options;
use netkit_quantize::distribution::Distribution;
use netkit_quantize::range::Method;

use super::layers::Row;

/// Noise is 1.8 % of the signal: what a few layers of 8 bits cost.
const FINE_DECIBELS: f64 = 35.0;
/// Noise is 5.6 % of the signal.
const FAIR_DECIBELS: f64 = 25.0;
/// More clipped values than this cost more than finer steps give.
const MUCH_CLIPPED: f64 = 1e-3;
/// Few samples show few extremes.
const FEW_SAMPLES: usize = 32;
/// Share of the values that may be outliers.
const OUTLIERS: f64 = 1e-3;
/// Outliers are this often as far out as the other values.
const FAR: f64 = 2.0;

/// A sentence.
pub(super) fn advice(row: &Row, values: &Distribution, options: Options, samples: usize) -> String {
    let decibels = row.sqnr_db.unwrap_or(f64::INFINITY);
    let reach = |(low, high): (f64, f64)| high.max(-low);
    let whole = reach((f64::from(values.low()), f64::from(values.high())));
    let has_outliers = whole > FAR * reach(values.central(OUTLIERS));
    if decibels >= FINE_DECIBELS {
        return "nothing to do".to_owned();
    }
    if row.clipped.unwrap_or(0.0) > MUCH_CLIPPED && options.method != Method::MinMax {
        return "many of its values are clipped: try --method minmax".to_owned();
    }
    if !options.per_channel {
        return "one weight scale for all channels costs most: leave out --per-tensor".to_owned();
    }
    if samples < FEW_SAMPLES {
        return format!("{samples} samples show few extremes: calibrate with {FEW_SAMPLES} or more");
    }
    if has_outliers && options.method == Method::MinMax {
        return "a few of its values reach far beyond the others: try --method mse or percentile=99.9".to_owned();
    }
    if decibels >= FAIR_DECIBELS {
        return "usual for a deep network; compare the classes below".to_owned();
    }
    "its steps are coarse for its values: check that samples are prepared as in training; else train with quantisation \
     in mind, or keep the model in float"
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(sqnr_db: f64, clipped: f64) -> Row {
        Row {
            layer: 0,
            kind: "dense",
            part: None,
            range: [-1.0, 1.0],
            scale: 0.01,
            zero_point: 0,
            clipped: Some(clipped),
            sqnr_db: Some(sqnr_db),
            is_merged: false,
            has_weights: true,
        }
    }

    #[test]
    fn the_most_likely_reason_is_named() {
        let mut even = Distribution::default();
        assert!(even.add(&(0..1000).map(|value| value as f32).collect::<Vec<_>>()));
        let mut outlier = even.clone();
        assert!(outlier.add(&[1e5]));
        let options = Options { method: Method::MinMax, per_channel: true };
        assert_eq!(advice(&row(40.0, 0.0), &even, options, 100), "nothing to do");
        assert!(advice(&row(20.0, 0.1), &even, Options { method: Method::Mse, ..options }, 100).contains("minmax"));
        assert!(
            advice(&row(20.0, 0.0), &even, Options { per_channel: false, ..options }, 100).contains("--per-tensor")
        );
        assert!(advice(&row(20.0, 0.0), &even, options, 3).contains("3 samples"));
        assert!(advice(&row(20.0, 0.0), &outlier, options, 100).contains("mse"));
        assert!(advice(&row(30.0, 0.0), &even, options, 100).contains("usual"));
        assert!(advice(&row(10.0, 0.0), &even, options, 100).contains("coarse"));
    }
}
