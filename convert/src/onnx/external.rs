//! Elements of tensors that lie in files beside the model.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path};

use crate::budget::Budget;
use crate::error::Error;
use crate::onnx::proto::TensorData;

/// Files that belong to the model.
pub(crate) struct ExternalFiles<'d> {
    folder: Option<&'d Path>,
    /// Open files and their lengths by location.
    open: BTreeMap<String, (File, u64)>,
}

impl<'d> ExternalFiles<'d> {
    /// Files in and below `folder`, or none.
    pub(crate) fn new(folder: Option<&'d Path>) -> Self {
        Self { folder, open: BTreeMap::new() }
    }

    /// The bytes of a tensor, which has to have `expected` of them.
    pub(crate) fn read(
        &mut self,
        data: &TensorData<'_>,
        name: &str,
        expected: Option<usize>,
        budget: &mut Budget,
    ) -> Result<Vec<u8>, Error> {
        let fail = |found: String| Error::ExternalData { tensor: name.into(), found };
        let entry = |key: &str| data.external.iter().find(|(found, _)| *found == key).map(|(_, value)| *value);
        let number = |key: &str| match entry(key) {
            None => Ok(None),
            Some(text) => {
                text.parse::<u64>().map(Some).map_err(|_| fail(format!("{key} \"{text}\" is not a number of bytes")))
            }
        };
        let location = entry("location").ok_or_else(|| fail("no location is given".into()))?;
        let offset = number("offset")?.unwrap_or(0);
        let length = number("length")?;
        let (file, size) = self.file(location, budget).map_err(fail)?;
        let rest = size.checked_sub(offset);
        let length = length.or(rest).unwrap_or(0);
        if rest.is_none_or(|rest| length > rest) {
            return Err(fail(format!("bytes {offset}+{length} of \"{location}\", which has {size} bytes")));
        }
        let length = usize::try_from(length).ok().filter(|length| Some(*length) == expected);
        let length = length.ok_or_else(|| {
            let expected =
                expected.map_or("more bytes than there can be".into(), |expected| format!("{expected} bytes"));
            fail(format!("the shape needs {expected}, which is not what \"{location}\" holds"))
        })?;
        budget.charge(length, || format!("the bytes of tensor \"{name}\""))?;
        let mut bytes = vec![0; length];
        let outcome = file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(&mut bytes));
        outcome.map_err(|error| fail(format!("\"{location}\" cannot be read: {error}")))?;
        Ok(bytes)
    }

    fn file(&mut self, location: &str, budget: &mut Budget) -> Result<(&mut File, u64), String> {
        let folder = self.folder.ok_or("the model was not read from a file, so there is no folder beside it")?;
        if !self.open.contains_key(location) {
            let path = Path::new(location);
            let is_below = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            if location.is_empty() || location.contains('\\') || !is_below {
                return Err(format!("\"{location}\" is not a path below the folder of the model"));
            }
            let path = folder.join(path);
            let describe = |error| format!("{} cannot be opened: {error}", path.display());
            let inside = path.canonicalize().and_then(|path| Ok(path.starts_with(folder.canonicalize()?)));
            if !inside.map_err(describe)? {
                return Err(format!("\"{location}\" leads out of the folder of the model"));
            }
            let file = File::open(&path).map_err(describe)?;
            let metadata = file.metadata().map_err(describe)?;
            if !metadata.is_file() {
                return Err(format!("{} is not a file", path.display()));
            }
            budget.grow_for_file(usize::try_from(metadata.len()).unwrap_or(usize::MAX));
            self.open.insert(location.into(), (file, metadata.len()));
        }
        let (file, size) = self.open.get_mut(location).ok_or("the file was not opened")?;
        Ok((file, *size))
    }
}
