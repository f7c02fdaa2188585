//! The part of a C file that the steps of a model decide.

use std::fmt::Write;

use crate::Error;
use crate::kernels::{FLOAT, INT8, Kernel, Used};
use crate::program::Program;
use crate::text::{self, Literal};

/// Constants, calls, and what they need.
pub(crate) struct Source {
    all: &'static [Kernel],
    pub(crate) used: Used,
    /// Definitions of constants.
    pub(crate) constants: String,
    /// Statements of the function that runs the network.
    pub(crate) calls: String,
    /// Bytes of the constants of each layer.
    pub(crate) flash: Vec<u64>,
    layer: usize,
}

impl Source {
    pub(crate) fn new(program: &Program<'_>) -> Self {
        Self {
            all: if program.is_int8() { INT8 } else { FLOAT },
            used: Used::default(),
            constants: String::new(),
            calls: String::new(),
            flash: vec![0; program.layers.len()],
            layer: 0,
        }
    }

    /// What follows belongs to this layer.
    pub(crate) fn enter(&mut self, layer: u8) {
        self.layer = usize::from(layer);
    }

    /// The kernels from which those in use are taken.
    pub(crate) fn all(&self) -> &'static [Kernel] {
        self.all
    }

    /// Uses a kernel.
    pub(crate) fn need(&mut self, kernel: &str) {
        self.used.add(self.all, kernel);
    }

    /// A constant array; its name is given back.
    pub(crate) fn array<T: Literal>(&mut self, name: String, values: &[T]) -> String {
        self.constants.push_str(&text::array(&name, values));
        if let Some(bytes) = self.flash.get_mut(self.layer) {
            *bytes += size_of_val(values) as u64;
        }
        name
    }

    /// A constant structure; its address is given back.
    pub(crate) fn structure(&mut self, kind: &str, name: String, fields: &[(&str, String)]) -> String {
        let fields: Vec<String> = fields.iter().map(|(field, value)| format!("    .{field} = {value},\n")).collect();
        // Writing to a string cannot fail.
        let _ = write!(self.constants, "static const {kind} {name} = {{\n{}}};\n\n", fields.concat());
        format!("&{name}")
    }

    /// A statement.
    pub(crate) fn call(&mut self, function: &str, arguments: &[&str]) -> Result<(), Error> {
        let _ = writeln!(self.calls, "    {function}({});", arguments.join(", "));
        Ok(())
    }
}

/// A structure inside another one.
pub(crate) fn fields(fields: &[(&str, String)]) -> String {
    let fields: Vec<String> = fields.iter().map(|(field, value)| format!(".{field} = {value}")).collect();
    format!("{{{}}}", fields.join(", "))
}
