//! What the user may decide about a model while it is read.

use crate::error::Error;

/// Decisions about what the file leaves open.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Shapes of inputs; without a name that of the only input.
    pub input_shapes: Vec<(Option<String>, Vec<usize>)>,
    /// Extents of symbolic dimensions by their names.
    pub dimensions: Vec<(String, usize)>,
    /// Values to be computed instead of the outputs of the file.
    pub outputs: Vec<String>,
}

impl Options {
    /// Adds a shape such as `image=1,3,224,224`, or `1,3,224,224` for the only input.
    pub fn add_input_shape(&mut self, text: &str) -> Result<(), Error> {
        let (name, extents) = match text.rsplit_once('=') {
            Some((name, extents)) => (Some(name.to_string()), extents),
            None => (None, text),
        };
        let shape: Option<Vec<usize>> = extents.split(',').map(extent).collect();
        let shape = shape.ok_or_else(|| {
            Error::Usage(format!("input shape \"{text}\": expected NAME=EXTENTS such as image=1,3,224,224"))
        })?;
        self.input_shapes.push((name, shape));
        Ok(())
    }

    /// Adds a dimension such as `height=224`.
    pub fn add_dimension(&mut self, text: &str) -> Result<(), Error> {
        let parts = text.rsplit_once('=').and_then(|(name, value)| Some((name, extent(value)?)));
        let (name, value) = parts
            .ok_or_else(|| Error::Usage(format!("dimension \"{text}\": expected NAME=EXTENT such as height=224")))?;
        self.dimensions.push((name.to_string(), value));
        Ok(())
    }
}

fn extent(text: &str) -> Option<usize> {
    text.trim().parse().ok().filter(|extent| *extent > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_and_dimensions_are_read() {
        let mut options = Options::default();
        options.add_input_shape("a=b:0=1, 3,8,9").unwrap();
        options.add_input_shape("7").unwrap();
        options.add_dimension("batch=2").unwrap();
        assert_eq!(options.input_shapes, [(Some("a=b:0".into()), vec![1, 3, 8, 9]), (None, vec![7])]);
        assert_eq!(options.dimensions, [("batch".into(), 2)]);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "x=", "x=1,,2", "x=0", "x=1,-3", "x=a"] {
            assert!(Options::default().add_input_shape(text).is_err(), "{text}");
        }
        for text in ["h", "h=", "h=0", "h=x"] {
            assert!(Options::default().add_dimension(text).is_err(), "{text}");
        }
    }
}
