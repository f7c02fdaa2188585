//! The C files of `kernels/`, and which of them need which others.

use std::collections::BTreeSet;

/// A piece of C: types and functions.
pub(crate) struct Kernel {
    name: &'static str,
    text: &'static str,
    /// Pieces in front of it.
    needs: &'static [&'static str],
    /// Headers beyond stddef.h and stdint.h.
    headers: &'static [&'static str],
}

macro_rules! kernel {
    ($folder:literal / $name:literal, [$($need:literal),*], [$($header:literal),*]) => {
        Kernel {
            name: $name,
            text: include_str!(concat!("kernels/", $folder, $name, ".c")),
            needs: &[$($need),*],
            headers: &[$($header),*],
        }
    };
}

/// Those of float networks; each stands behind those that it needs. The epilogue also needs `nk_activate`, which the network
/// decides.
pub(crate) static FLOAT: &[Kernel] = &[
    kernel!("" / "window", [], []),
    kernel!("" / "copy", [], ["string.h"]),
    kernel!("float/activation/" / "relu", [], []),
    kernel!("float/activation/" / "relu6", [], []),
    kernel!("float/activation/" / "leaky_relu", [], []),
    kernel!("float/activation/" / "sigmoid", [], ["math.h"]),
    kernel!("float/activation/" / "silu", [], ["math.h"]),
    kernel!("float/activation/" / "gelu", [], ["math.h"]),
    kernel!("float/activation/" / "tanh", [], ["math.h"]),
    kernel!("float/" / "taps", [], []),
    kernel!("float/" / "tile", ["taps"], []),
    kernel!("float/" / "tile_pair", ["taps"], []),
    kernel!("float/" / "dot", ["taps"], []),
    kernel!("float/" / "epilogue", [], []),
    kernel!("float/" / "dense", ["tile", "tile_pair", "dot", "epilogue"], ["string.h"]),
    kernel!("float/" / "conv2d", ["window", "tile", "tile_pair", "dot", "epilogue"], ["string.h"]),
    kernel!("float/" / "depthwise_conv2d", ["window", "epilogue"], ["string.h"]),
    kernel!("float/" / "max_pool2d", ["window"], ["float.h"]),
    kernel!("float/" / "avg_pool2d", ["window"], []),
    kernel!("float/" / "batch_norm2d", [], []),
    kernel!("float/" / "layernorm2d", [], ["math.h"]),
    kernel!("float/" / "grn", [], ["math.h"]),
    kernel!("float/" / "softmax", [], ["math.h"]),
    kernel!("float/" / "add", [], []),
    kernel!("float/" / "add_upsampled2x", [], []),
];

/// Those of int8 networks.
pub(crate) static INT8: &[Kernel] = &[
    kernel!("" / "window", [], []),
    kernel!("" / "copy", [], ["string.h"]),
    kernel!("int8/" / "requantize", [], []),
    kernel!("int8/" / "channels", ["requantize"], []),
    kernel!("int8/" / "taps", [], []),
    kernel!("int8/" / "tile", ["taps"], []),
    kernel!("int8/" / "tile_at_edge", ["taps"], []),
    kernel!("int8/" / "dot", ["taps"], []),
    kernel!("int8/" / "place", ["window"], []),
    kernel!("int8/" / "dense", ["tile", "dot", "channels"], []),
    kernel!("int8/" / "conv2d", ["place", "tile", "tile_at_edge", "dot", "channels"], []),
    kernel!("int8/" / "depthwise_conv2d", ["place", "channels"], []),
    kernel!("int8/" / "max_pool2d", ["window"], []),
    kernel!("int8/" / "avg_pool2d", ["window"], []),
    kernel!("int8/" / "add", ["requantize"], []),
    kernel!("int8/" / "lookup", [], []),
    kernel!("int8/" / "softmax", ["requantize"], []),
];

/// Which pieces a network uses.
#[derive(Debug, Default)]
pub(crate) struct Used(BTreeSet<&'static str>);

impl Used {
    /// Adds a piece of `all` and those that it needs.
    pub(crate) fn add(&mut self, all: &'static [Kernel], name: &str) {
        let kernel = all.iter().find(|kernel| kernel.name == name).unwrap_or_else(|| panic!("no kernel {name}"));
        if self.0.insert(kernel.name) {
            kernel.needs.iter().for_each(|need| self.add(all, need));
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// Texts in an order that C accepts, and `extra` in front of the piece that needs it.
    pub(crate) fn text(&self, all: &'static [Kernel], extra: (&str, &str)) -> String {
        let used = all.iter().filter(|kernel| self.has(kernel.name));
        used.map(|kernel| {
            let before = if kernel.name == extra.0 { extra.1 } else { "" };
            format!("{before}{}\n", kernel.text)
        })
        .collect()
    }

    /// The headers that the pieces include.
    pub(crate) fn headers(&self, all: &'static [Kernel]) -> BTreeSet<&'static str> {
        all.iter().filter(|kernel| self.has(kernel.name)).flat_map(|kernel| kernel.headers).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn int8_networks_have_no_float_arithmetic() {
        for kernel in INT8 {
            assert!(!["float", "double", "math.h"].iter().any(|word| kernel.text.contains(word)), "{}", kernel.name);
            assert!(!kernel.headers.contains(&"math.h"), "{}", kernel.name);
        }
    }

    #[test]
    fn pieces_stand_behind_those_that_they_need() {
        for all in [FLOAT, INT8] {
            for (index, kernel) in all.iter().enumerate() {
                for need in kernel.needs {
                    assert!(all[..index].iter().any(|earlier| earlier.name == *need), "{} needs {need}", kernel.name);
                }
            }
        }
    }
}
