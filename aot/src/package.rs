//! What comes out.

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Path below the folder that is asked for, with `/` between its parts.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// What a layer costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerCost {
    /// Its kind byte.
    pub kind: u8,
    /// Bytes of its constants: weights, biases, tables.
    pub flash_bytes: u64,
    /// Multiply-accumulate operations.
    pub macs: u64,
}

/// What the network costs on the target, without its code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Bytes of constants.
    pub flash_bytes: u64,
    /// Bytes of memory for activations, input and output not counted.
    pub ram_bytes: u64,
    /// Bytes of the input.
    pub input_bytes: u64,
    /// Bytes of the output.
    pub output_bytes: u64,
    /// Layer by layer.
    pub layers: Vec<LayerCost>,
}

/// The files, and what they cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// The files.
    pub files: Vec<File>,
    /// What they cost.
    pub cost: Cost,
}
