//! What flows through the float model for the calibration samples, and through its layers inside.

use netkit::Network;

use crate::distribution::Distribution;
use crate::engine::{EachLayer, Planned, floats};
use crate::error::Error;
use crate::form::FormLayer;
use crate::parallel::{Take, share};
use crate::probe::{Probe, probes};

/// Distributions of one layer.
#[derive(Clone, Debug, Default)]
pub struct LayerValues {
    /// Its result.
    pub output: Distribution,
    /// Results of its convolutions, before activations that are tables in int8. Empty for layers whose only linear has the
    /// layer's result.
    pub inner: Vec<Distribution>,
}

/// Distributions of everything that gets a scale.
#[derive(Clone, Debug, Default)]
pub struct Values {
    /// The model's input.
    pub input: Distribution,
    /// Layers of the form.
    pub layers: Vec<LayerValues>,
}

impl Values {
    fn of(form: &[FormLayer], probes: &[Vec<Probe>]) -> Self {
        let inner = |(layer, probes): (&FormLayer, &Vec<Probe>)| match probes.is_empty() {
            true => LayerValues::default(),
            false => LayerValues { inner: vec![Distribution::default(); layer.linears.len()], ..Default::default() },
        };
        Self { input: Distribution::default(), layers: form.iter().zip(probes).map(inner).collect() }
    }

    fn merge(&mut self, other: &Self) {
        self.input.merge(&other.input);
        for (own, other) in self.layers.iter_mut().zip(&other.layers) {
            own.output.merge(&other.output);
            own.inner.iter_mut().zip(&other.inner).for_each(|(own, other)| own.merge(other));
        }
    }
}

/// Runs the float model on all samples; `progress` hears how many are done.
pub fn calibrate(
    float: &[u8],
    form: &[FormLayer],
    samples: &[Vec<f32>],
    progress: &mut dyn FnMut(usize),
) -> Result<Values, Error> {
    let planned = Planned::parse(float)?;
    check_samples(samples, planned.input_elements()?)?;
    let probes: Vec<Vec<Probe>> = form.iter().map(probes).collect::<Result<_, _>>()?;
    let planned_probes: Vec<Vec<Planned<'_>>> = probes
        .iter()
        .map(|probes| probes.iter().map(|probe| Planned::parse(&probe.bytes)).collect())
        .collect::<Result<_, _>>()?;
    let calibration = Calibration { form, planned, probes: &probes, planned_probes };
    let parts = share(samples.len(), progress, &|take| calibration.work(samples, take))?;
    let mut values = Values::of(form, &probes);
    parts.iter().for_each(|part| values.merge(part));
    Ok(values)
}

/// Refuses samples that the model cannot take.
pub(crate) fn check_samples(samples: &[Vec<f32>], elements: usize) -> Result<(), Error> {
    if samples.is_empty() {
        return Err(Error::Samples("there are no samples".into()));
    }
    match samples.iter().position(|sample| sample.len() != elements) {
        None => Ok(()),
        Some(index) => {
            let found = samples[index].len();
            Err(Error::Samples(format!("sample {index} has {found} values, but the model takes {elements}")))
        }
    }
}

struct Calibration<'c> {
    form: &'c [FormLayer],
    planned: Planned<'c>,
    probes: &'c [Vec<Probe>],
    planned_probes: Vec<Vec<Planned<'c>>>,
}

/// A probe in the library.
struct RunningProbe<'p> {
    network: Network<'p, 'p>,
    output: Vec<f32>,
    linears: &'p [usize],
}

impl Calibration<'_> {
    fn work(&self, samples: &[Vec<f32>], take: &mut Take<'_>) -> Result<Values, Error> {
        let mut values = Values::of(self.form, self.probes);
        let mut region = self.planned.region();
        let mut network = Network::load_planned(&self.planned.model, &self.planned.plan, &mut region)?;
        let mut output = vec![0.0; self.planned.output_elements()?];
        let region_of = |probes: &Vec<Planned<'_>>| probes.iter().map(Planned::region).collect::<Vec<_>>();
        let mut regions: Vec<Vec<Vec<u8>>> = self.planned_probes.iter().map(region_of).collect();
        let mut running = self.load_probes(&mut regions)?;
        while let Some(index) = take() {
            self.sample(index, &samples[index], &mut network, &mut output, &mut running, &mut values)?;
        }
        Ok(values)
    }

    fn load_probes<'p>(&'p self, regions: &'p mut [Vec<Vec<u8>>]) -> Result<Vec<Vec<RunningProbe<'p>>>, Error> {
        let mut layers = Vec::new();
        for ((probes, planned), regions) in self.probes.iter().zip(&self.planned_probes).zip(regions) {
            let mut running = Vec::new();
            for ((probe, planned), region) in probes.iter().zip(planned).zip(regions) {
                let network = Network::load_planned(&planned.model, &planned.plan, region)?;
                let output = vec![0.0; planned.output_elements()?];
                running.push(RunningProbe { network, output, linears: &probe.linears });
            }
            layers.push(running);
        }
        Ok(layers)
    }

    /// Counts what one sample causes.
    fn sample(
        &self,
        index: usize,
        sample: &[f32],
        network: &mut Network<'_, '_>,
        output: &mut [f32],
        probes: &mut [Vec<RunningProbe<'_>>],
        values: &mut Values,
    ) -> Result<(), Error> {
        let mut strange = (!values.input.add(sample)).then(|| "the input".to_owned());
        let mut note = |is_finite: bool, layer: usize| {
            if !is_finite && strange.is_none() {
                strange = Some(format!("the result of layer {layer}"));
            }
        };
        let (mut next, mut input) = (0, sample.to_vec());
        let mut watcher = EachLayer(|facts: &netkit::plan::LayerFacts, bytes: &[u8]| {
            let Some(layer) = self.form.get(next).filter(|layer| layer.source == facts.index) else { return Ok(()) };
            let LayerValues { output, inner } = &mut values.layers[next];
            for probe in &mut probes[next] {
                let mut linears = probe.linears.iter();
                let mut watcher = EachLayer(|_: &netkit::plan::LayerFacts, bytes: &[u8]| {
                    if let Some(&linear) = linears.next() {
                        note(inner[linear].add(&floats(bytes)), layer.source);
                    }
                    Ok(())
                });
                probe.network.run_layers(&mut watcher, &input, &mut probe.output)?;
            }
            input = floats(bytes);
            note(output.add(&input), layer.source);
            next += 1;
            Ok(())
        });
        network.run_layers(&mut watcher, sample, output)?;
        match strange {
            None => Ok(()),
            Some(what) => Err(Error::Samples(format!("{what} is NaN or infinite for sample {index}"))),
        }
    }
}
