//! Builds that leave out a type of networks: what they refuse and what they can still do. These tests hold for every
//! combination of the features `f32` and `int8`; `scripts/test` runs them for each.

use std::ffi::CStr;
use std::mem::zeroed;
use std::path::Path;
use std::ptr::null_mut;

use netkit::ffi::*;
use netkit::regression::{self, Options};
use netkit::{ErrorKind, MemoryPlan, Model, Network, plan};

/// A file of `models/`, whether its network is int8, and whether this build runs it.
const NETWORKS: [(&str, bool, bool); 2] =
    [("digits_mlp.nk", false, cfg!(feature = "f32")), ("digits_mlp_int8.nk", true, cfg!(feature = "int8"))];

fn read(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(name)).unwrap()
}

/// The sentence that asks for the cargo feature.
fn asks_for(is_int8: bool) -> &'static str {
    if is_int8 { "the cargo feature int8" } else { "the cargo feature f32" }
}

#[test]
fn a_network_runs_or_the_feature_is_named() {
    for (name, is_int8, runs) in NETWORKS {
        let bytes = read(name);
        let model = Model::parse(&bytes).unwrap();
        assert_eq!(model.is_quantized(), is_int8);
        let (_, output) = plan::shapes(&model).unwrap();
        let mut memory = vec![0; 64 * 1024];
        match (MemoryPlan::of(&model), Network::load(&model, &mut memory)) {
            (Ok(plan), Ok(network)) => {
                assert!(runs, "{name}");
                assert_eq!((plan.output, network.output_shape()), (output, output));
            }
            (Err(planned), Err(loaded)) => {
                assert!(!runs, "{name}: {planned}");
                assert_eq!(planned, loaded);
                assert_eq!(loaded.kind, ErrorKind::Unsupported);
                assert!(loaded.to_string().ends_with(asks_for(is_int8)), "{loaded}");
            }
            (planned, loaded) => panic!("{name}: planned {planned:?}, loaded {loaded:?}"),
        }
    }
}

#[test]
fn embedded_cases_pass_where_the_network_runs() {
    for (name, _, runs) in NETWORKS {
        let bytes = read(name);
        let model = Model::parse(&bytes).unwrap();
        let mut report = String::new();
        let options = Options { strict: true, ..Options::default() };
        let summary = regression::run(name, &model, &mut vec![0; 64 * 1024], options, &mut report);
        assert_eq!((summary.passed > 0, summary.failed > 0), (runs, !runs), "{report}");
    }
}

#[test]
fn c_sees_the_status_and_the_sentence() {
    for (name, is_int8, runs) in NETWORKS {
        let (bytes, mut memory) = (read(name), vec![0u8; 64 * 1024]);
        // SAFETY: all-zero handles and structures are valid; every pointer leads to what its function asks for.
        let (described, loaded, sentence) = unsafe {
            let (mut arena, mut model, mut info): (nk_arena_t, nk_model_t, nk_arch_info_t) = zeroed();
            nk_arena_init(&mut arena, memory.as_mut_ptr().cast(), memory.len());
            let described = nk_parse_architecture_memory(bytes.as_ptr(), bytes.len(), &mut info);
            let loaded = nk_model_load_memory(bytes.as_ptr(), bytes.len(), &mut arena, &mut model);
            assert_eq!(nk_arena_used(&arena) > 0, runs, "{name}");
            (described, loaded, CStr::from_ptr(nk_last_error()).to_str().unwrap())
        };
        assert_eq!(described, nk_status_t::NK_OK, "{name}");
        if runs {
            assert_eq!(loaded, nk_status_t::NK_OK, "{name}: {sentence}");
        } else {
            assert_eq!(loaded, nk_status_t::NK_ERR_UNSUPPORTED_NETWORK, "{name}");
            assert!(sentence.ends_with(asks_for(is_int8)), "{sentence}");
        }
    }
}

#[test]
fn operations_on_tensors_need_float_kernels() {
    let mut values = [1.0f32, 2.0];
    // SAFETY: as above.
    let status = unsafe {
        let mut tensor: nk_tensor_t = zeroed();
        nk_tensor_view_2d(values.as_mut_ptr(), 1, 2, &mut tensor);
        nk_ops_relu(&tensor, null_mut());
        nk_ops_mul_scalar(&tensor, 2.0, &mut tensor);
        nk_ops_softmax_axis(&tensor, &mut tensor, 0)
    };
    if cfg!(feature = "f32") {
        assert_eq!((status, values), (nk_status_t::NK_OK, [1.0, 1.0]));
    } else {
        assert_eq!((status, values), (nk_status_t::NK_ERR_UNSUPPORTED_NETWORK, [1.0, 2.0]));
    }
}

#[test]
fn the_build_says_what_it_lacks() {
    // SAFETY: a constant string.
    let info = unsafe { CStr::from_ptr(nk_build_info()) }.to_str().unwrap();
    assert_eq!(info.contains("without float networks"), !cfg!(feature = "f32"), "{info}");
    assert_eq!(info.contains("without int8 networks"), !cfg!(feature = "int8"), "{info}");
}
