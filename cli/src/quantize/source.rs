//! The float model.

use std::path::Path;

use netkit_convert::network::Port;

use crate::convert;
use crate::failure::Failure;
use crate::model_file::ModelFile;
use crate::progress::Progress;

/// A float `.nk` model.
pub(super) struct Source {
    pub(super) bytes: Vec<u8>,
    /// How the input lies in the model that it was converted from.
    pub(super) input: Option<Port>,
}

impl Source {
    /// Reads a `.nk` file, or converts an `.onnx` file.
    pub(super) fn read(path: &Path, progress: &mut Progress) -> Result<Self, Failure> {
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("onnx")) {
            let (bytes, input) = convert::float_model(path, progress)?;
            return Ok(Self { bytes, input: Some(input) });
        }
        let file = ModelFile::read(path)?;
        file.parse()?;
        Ok(Self { bytes: file.bytes().to_vec(), input: None })
    }
}
