//! Why there is no C for a model.

/// Why there is no C for a model.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The library cannot run the model either.
    #[error(transparent)]
    Model(#[from] netkit::Error),
    /// The name is no identifier of C.
    #[error("`{0}` is not a name in C: it must be letters, digits and underscores, and not begin with a digit")]
    Name(String),
    /// A self-test is asked for and the model has no test cases.
    #[error("a self-test needs test cases, and the model has none")]
    NoCases,
    /// A test case does not fit the model.
    #[error("test case {name}: {problem}, so that there is no self-test")]
    Case {
        /// Its name.
        name: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// A batch norm that cannot be folded into the weights.
    #[error("layer {layer}: the batch norm makes weights that float32 cannot hold; they are larger than 3.4e38")]
    NormTooLarge {
        /// Its layer.
        layer: u8,
    },
    /// An average over so many codes that their sum may leave 32 bits.
    #[error("layer {layer}: the mean of {taps} int8 values; at most {most} can be added up in 32 bits")]
    PoolTooLarge {
        /// Its layer.
        layer: u8,
        /// Size of the window inside the map.
        taps: u64,
        /// Largest possible.
        most: u64,
    },
    /// A plan that holds what its type of network cannot have.
    #[error("step {index} cannot be a step of this network")]
    Step {
        /// Its index.
        index: usize,
    },
}

impl From<netkit::Fault> for Error {
    fn from(fault: netkit::Fault) -> Self {
        Self::Model(fault.into())
    }
}
