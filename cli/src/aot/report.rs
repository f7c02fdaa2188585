//! What `netkit aot` tells: the files, and what the network costs on the target.

use std::io::Write;

use netkit::format::kind_name;
use netkit_aot::Package;
use serde::Serialize;

use crate::args::{AotArgs, AotMode};
use crate::failure::{Failure, display};
use crate::output::{Output, escaped};

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    schema: &'static str,
    model: String,
    mode: &'static str,
    files: Vec<File>,
    flash_bytes: u64,
    ram_bytes: u64,
    input_bytes: u64,
    output_bytes: u64,
    macs: u64,
    layers: Vec<Layer>,
}

#[derive(Debug, Serialize)]
struct File {
    path: String,
    bytes: usize,
}

#[derive(Debug, Serialize)]
struct Layer {
    index: usize,
    kind: &'static str,
    flash_bytes: u64,
    macs: u64,
}

impl Report {
    pub(crate) fn new(args: &AotArgs, package: &Package) -> Self {
        let cost = &package.cost;
        let files = package.files.iter();
        let layers = cost.layers.iter().enumerate();
        Self {
            schema: "netkit.aot/1",
            model: display(&args.model),
            mode: match args.mode {
                AotMode::Lowered => "lowered",
                AotMode::Embed => "embed",
            },
            files: files
                .map(|file| File { path: display(&args.output.join(&file.path)), bytes: file.text.len() })
                .collect(),
            flash_bytes: cost.flash_bytes,
            ram_bytes: cost.ram_bytes,
            input_bytes: cost.input_bytes,
            output_bytes: cost.output_bytes,
            macs: cost.layers.iter().map(|layer| layer.macs).sum(),
            layers: layers
                .map(|(index, layer)| Layer {
                    index,
                    kind: kind_name(layer.kind).unwrap_or("unknown"),
                    flash_bytes: layer.flash_bytes,
                    macs: layer.macs,
                })
                .collect(),
        }
    }

    pub(crate) fn print(&self, out: &mut Output) -> Result<(), Failure> {
        writeln!(out, "Files:")?;
        let file = |file: &File| vec![escaped(&file.path).into_owned(), file.bytes.to_string()];
        out.table(&["path", "bytes"], self.files.iter().map(file).collect())?;
        writeln!(out, "\nLayers ({}):", self.layers.len())?;
        let layer = |layer: &Layer| {
            let numbers = [layer.flash_bytes.to_string(), layer.macs.to_string()];
            [vec![format!("[{}]", layer.index), layer.kind.to_owned()], numbers.to_vec()].concat()
        };
        out.table(&["", "kind", "flash bytes", "MACs"], self.layers.iter().map(layer).collect())?;
        writeln!(out, "\nOn the target, without code:")?;
        let (flash, ram) = match self.mode {
            "embed" => ("the model", "arena"),
            _ => ("weights and tables", "activations"),
        };
        writeln!(out, "  flash:   {} bytes ({flash})", self.flash_bytes)?;
        writeln!(out, "  RAM:     {} bytes ({ram})", self.ram_bytes)?;
        writeln!(out, "  input:   {} bytes", self.input_bytes)?;
        writeln!(out, "  output:  {} bytes", self.output_bytes)?;
        writeln!(out, "  MACs:    {}", self.macs)?;
        Ok(())
    }
}
