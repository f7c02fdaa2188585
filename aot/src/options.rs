//! What is asked for.

/// What becomes of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// C99 that needs nothing else.
    #[default]
    Lowered,
    /// The model's bytes, for the library.
    Embed,
}

/// Whose memory a lowered network computes in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scratch {
    /// An array of its own.
    #[default]
    Static,
    /// The caller hands it over with each run.
    Caller,
}

/// Where the files go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Beside each other.
    #[default]
    Flat,
    /// A library folder of the Arduino IDE, with a sketch that uses it.
    Arduino,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What becomes of the model.
    pub mode: Mode,
    /// Whose memory a lowered network computes in.
    pub scratch: Scratch,
    /// Adds a program that runs the network once, which `NETKIT_AOT_MAIN` switches on.
    pub with_main: bool,
    /// Adds a function that runs the embedded test cases.
    pub with_test: bool,
    /// Where the files go.
    pub layout: Layout,
}
