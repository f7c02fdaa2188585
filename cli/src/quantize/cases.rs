//! Test cases: samples with the answers of the int8 model.

use netkit::format::write::CasesSpec;
use netkit::format::{Case, MAX_CASE_FLOATS, Values};
use netkit::{MemoryPlan, Model};
use netkit_quantize::evaluate::Sample;

/// Cases in the making.
pub(super) struct Cases {
    cases: Vec<Data>,
    tolerance: f32,
}

struct Data {
    name: String,
    label: i32,
    input: Vec<u8>,
    expected: Vec<u8>,
}

impl Data {
    fn case(&self) -> Case<'_> {
        let (input, expected) = (Values::Int8(&self.input), Values::Float32(&self.expected));
        Case { name: &self.name, label: self.label, input, expected }
    }
}

impl Cases {
    /// The first `count` samples; with labels, the first that the int8 model reads correctly. The error is a sentence.
    pub(super) fn new(
        int8: &[u8],
        samples: &[Sample],
        indices: &[usize],
        labels: Option<&[usize]>,
        count: u8,
    ) -> Result<Self, String> {
        let plan = Model::parse(int8).and_then(|model| MemoryPlan::of(&model)).map_err(|error| error.to_string())?;
        let params = plan.output_quant.ok_or("the model is not quantised")?;
        let most = MAX_CASE_FLOATS as usize;
        if samples.iter().any(|sample| sample.codes.0.len().max(sample.codes.1.len()) > most) {
            return Err(format!("no test case fits: inputs and outputs of cases have at most {most} numbers"));
        }
        let data = |(index, sample): (usize, &Sample)| {
            let label = labels.map(|labels| labels[index]);
            let name = match label {
                Some(class) => format!("sample {}, class {class}", indices[index]),
                None => format!("sample {}", indices[index]),
            };
            let is_right = label.is_none_or(|class| sample.classes.int8 == [class]);
            is_right.then(|| Data {
                name,
                label: label.map_or(-1, |class| class as i32),
                input: sample.codes.0.iter().map(|&code| code as u8).collect(),
                expected: sample.codes.1.iter().flat_map(|&code| params.dequantize(code).to_le_bytes()).collect(),
            })
        };
        let cases: Vec<Data> = samples.iter().enumerate().filter_map(data).take(usize::from(count)).collect();
        if cases.is_empty() {
            return Err("the int8 model reads no sample correctly".to_owned());
        }
        Ok(Self { cases, tolerance: params.scale })
    }

    pub(super) fn len(&self) -> usize {
        self.cases.len()
    }

    /// Calls `write` with the section of the file.
    pub(super) fn with_spec<T>(&self, write: impl FnOnce(CasesSpec<'_>) -> T) -> T {
        let cases: Vec<Case<'_>> = self.cases.iter().map(Data::case).collect();
        write(CasesSpec { tolerance: self.tolerance, cases: &cases })
    }
}
