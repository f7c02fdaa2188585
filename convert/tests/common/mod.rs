//! What several test programs need: folders, arrays in files, comparisons.

#![allow(dead_code, reason = "each test program uses some of it")]

pub mod encode;

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use netkit_convert::graph::Graph;
use netkit_convert::tensor::{Elements, Tensor};
use npyz::NpyFile;

/// A folder of models beside the project, `NETKIT_SHARED` or `../shared`; `None` where it is absent.
pub fn shared(folder: &str) -> Option<PathBuf> {
    let root = std::env::var_os("NETKIT_SHARED").map(PathBuf::from);
    let root = root.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"));
    let path = root.join("models").join(folder);
    path.is_dir().then_some(path)
}

/// Files of a folder with an extension, by name.
pub fn files_with_extension(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    paths
}

/// An array as numbers of double precision.
pub fn read_npy(path: &Path) -> (Vec<usize>, Vec<f64>) {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let npy = NpyFile::new(BufReader::new(file)).unwrap();
    let shape = npy.shape().iter().map(|&extent| extent as usize).collect();
    let dtype = npy.dtype().descr();
    let values = match dtype.trim_matches('\'') {
        "<f4" => npy.into_vec::<f32>().unwrap().into_iter().map(f64::from).collect(),
        "<f8" => npy.into_vec::<f64>().unwrap(),
        "<i8" => npy.into_vec::<i64>().unwrap().into_iter().map(|x| x as f64).collect(),
        "<i4" => npy.into_vec::<i32>().unwrap().into_iter().map(f64::from).collect(),
        "|i1" => npy.into_vec::<i8>().unwrap().into_iter().map(f64::from).collect(),
        "|u1" => npy.into_vec::<u8>().unwrap().into_iter().map(f64::from).collect(),
        "|b1" => npy.into_vec::<bool>().unwrap().into_iter().map(f64::from).collect(),
        other => panic!("{}: arrays of type {other} are not read here", path.display()),
    };
    (shape, values)
}

/// A tensor for input `index` of a graph.
pub fn input(graph: &Graph, index: usize, values: &[f64]) -> Tensor {
    let value = graph.value(graph.inputs[index]);
    let (kind, shape) = (value.element_type.unwrap(), value.shape.clone().unwrap());
    match kind.is_float() {
        true => Tensor::real(kind, shape, values.to_vec()),
        false => Tensor::whole(kind, shape, values.iter().map(|&x| x as i64).collect()),
    }
    .unwrap_or_else(|| panic!("{} values for input {:?} {:?}", values.len(), value.name, value.shape))
}

/// All elements in double precision.
pub fn values(tensor: &Tensor) -> Vec<f64> {
    match tensor.elements() {
        Elements::Real(elements) => elements.clone(),
        Elements::Whole(elements) => elements.iter().map(|&x| x as f64).collect(),
    }
}

/// Largest difference relative to the largest magnitude; `None` if what is not finite differs.
pub fn relative_difference(found: &[f64], expected: &[f64]) -> Option<f64> {
    if found.len() != expected.len() {
        return None;
    }
    let scale = expected.iter().filter(|x| x.is_finite()).fold(1e-30, |most: f64, x| most.max(x.abs()));
    found.iter().zip(expected).try_fold(0.0, |most: f64, (&a, &b)| {
        let (a32, b32) = (a as f32, b as f32);
        if a32 == b32 || (a32.is_nan() && b32.is_nan()) {
            return Some(most);
        }
        (a32.is_finite() && b32.is_finite()).then(|| most.max((a - b).abs() / scale))
    })
}
