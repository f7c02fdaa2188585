//! A library folder of the Arduino IDE: it compiles everything in `src`, and shows the sketch among its examples.

use crate::lowered::{header_name, run_name};
use crate::package::File;
use crate::program::Program;
use crate::symbol::Symbol;
use crate::template::fill;
use crate::text;

/// The files of a network and those around them.
pub(crate) fn library(files: Vec<File>, symbol: &Symbol, file_name: &str, program: &Program<'_>) -> Vec<File> {
    let folder = format!("{}_aot", symbol.lower());
    let values = [
        ("name", folder.clone()),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("file", text::harmless(file_name)),
        ("header", header_name(symbol)),
        ("element", program.element().to_owned()),
        ("SYMBOL", symbol.upper()),
        ("run", run_name(symbol, program.is_int8())),
        ("digits", if program.is_int8() { "" } else { ", 6" }.to_owned()),
    ];
    let around = [
        ("library.properties".to_owned(), include_str!("templates/library.properties")),
        ("examples/run_once/run_once.ino".to_owned(), include_str!("templates/sketch.ino")),
    ];
    let around = around.map(|(path, template)| File { path, text: fill(template, &values) });
    let own = files.into_iter().map(|file| File { path: format!("src/{}", file.path), ..file });
    own.chain(around).map(|file| File { path: format!("{folder}/{}", file.path), ..file }).collect()
}
