//! Tests: what handles and arenas live through, with the models of the repository.

use core::ffi::CStr;
use core::mem::MaybeUninit;
use std::vec;
use std::vec::Vec;

use super::nk_status::*;
use super::*;

const MLP: &CStr = c"models/test_mlp.nk";
const CNN: &CStr = c"models/cnn_4x4_single.nk";
const INT8: &CStr = c"models/digits_mlp_int8.nk";

/// Handles full of bytes that mean nothing, as C leaves them on its stack.
fn garbage<T: Copy>() -> T {
    let mut handle = MaybeUninit::<T>::uninit();
    // SAFETY: handles are arrays of bytes; any bytes are a handle.
    unsafe {
        handle.as_mut_ptr().cast::<u8>().write_bytes(0xa5, size_of::<T>());
        handle.assume_init()
    }
}

struct Fixture {
    arena: nk_arena,
    _memory: Vec<u8>,
}

impl Fixture {
    fn new(bytes: usize) -> Self {
        let mut fixture = Self { arena: garbage(), _memory: vec![0xff; bytes] };
        // SAFETY: the memory lives as long as the arena.
        unsafe { nk_arena_init(&mut fixture.arena, fixture._memory.as_mut_ptr().cast(), bytes) };
        fixture
    }

    fn load(&mut self, path: &CStr, model: &mut nk_model) -> nk_status {
        // SAFETY: valid handles and a C string.
        unsafe { nk_load(path.as_ptr(), &mut self.arena, model) }
    }

    fn load_memory(&mut self, bytes: &[u8], model: &mut nk_model) -> nk_status {
        // SAFETY: valid handles; every test keeps the bytes as long as it uses the model.
        unsafe { nk_load_memory(bytes.as_ptr(), bytes.len(), &mut self.arena, model) }
    }

    /// Runs test_mlp.nk on 1, 2.
    fn run(&mut self, model: &nk_model) -> Result<[f32; 2], nk_status> {
        let (input, mut output, mut count) = ([1.0, 2.0], [0.0; 2], 0);
        // SAFETY: valid handles and buffers.
        let status =
            unsafe { nk_forward(model, &mut self.arena, input.as_ptr(), 2, output.as_mut_ptr(), 2, &mut count) };
        if status == NK_OK { Ok(output) } else { Err(status) }
    }

    fn used(&self) -> usize {
        // SAFETY: a valid handle.
        unsafe { nk_arena_used(&self.arena) }
    }

    fn reset(&mut self) {
        // SAFETY: a valid handle whose memory is alive.
        unsafe { nk_arena_reset(&mut self.arena) }
    }
}

#[test]
fn handles_that_never_were_initialised_are_refused() {
    let (mut arena, mut model) = (garbage::<nk_arena>(), garbage::<nk_model>());
    let (mut output, mut count) = ([0.0f32; 2], 77);
    // SAFETY: handles may hold any bytes; the buffers are valid.
    unsafe {
        assert_eq!(nk_arena_capacity(&arena), 0);
        assert!(nk_arena_alloc(&mut arena, 1, 1).is_null());
        assert_eq!(nk_model_input_count(&model), 0);
        assert_eq!(nk_model_kind(&model), nk_network_kind::NK_NETWORK_UNKNOWN);
        let input = output.as_ptr();
        let status = nk_forward(&model, &mut arena, input, 2, output.as_mut_ptr(), 2, &mut count);
        assert_eq!((status, count), (NK_ERR_MODEL_NOT_LOADED, 77));
        assert_eq!(nk_load(MLP.as_ptr(), &mut arena, &mut model), NK_ERR_ARENA_OVERFLOW);
        nk_unload(&mut model);
        nk_arena_reset(&mut arena);
        nk_arena_destroy_heap(&mut arena);
    }
}

#[test]
fn models_from_files_end_one_by_one_or_all_at_once() {
    let mut place = Fixture::new(64 * 1024);
    let [mut first, mut second, mut third] = [garbage::<nk_model>(); 3];
    assert_eq!(place.load(MLP, &mut first), NK_OK);
    assert_eq!(place.load(CNN, &mut second), NK_OK);
    assert_eq!(place.load(MLP, &mut third), NK_OK);
    let copy = second;
    // SAFETY: valid handles whose arena is alive.
    unsafe {
        nk_unload(&mut second);
        nk_unload(&mut second);
        assert_eq!(nk_model_input_count(&second), 0);
        assert_eq!(nk_model_input_count(&copy), 16);
    }
    assert_eq!(place.run(&copy), Err(NK_ERR_MODEL_NOT_LOADED));
    assert_eq!(place.run(&first), Ok([3.0, 3.0]));
    assert_eq!(place.run(&third), Ok([3.0, 3.0]));
    place.reset();
    for model in [&first, &third] {
        assert_eq!(place.run(model), Err(NK_ERR_MODEL_NOT_LOADED));
        // SAFETY: a valid handle.
        assert_eq!(unsafe { nk_model_input_count(model) }, 2);
    }
    assert_eq!(place.load(MLP, &mut first), NK_OK);
    assert_eq!(place.run(&first), Ok([3.0, 3.0]));
}

#[test]
fn a_handle_does_not_run_a_network_that_took_its_place() {
    let (mlp, cnn) = (std::fs::read("models/test_mlp.nk").unwrap(), std::fs::read("models/cnn_4x4_single.nk").unwrap());
    let mut place = Fixture::new(64 * 1024);
    let [mut old, mut new] = [garbage::<nk_model>(); 2];
    assert_eq!(place.load_memory(&mlp, &mut old), NK_OK);
    place.reset();
    assert_eq!(place.load_memory(&cnn, &mut new), NK_OK);
    assert_eq!(place.run(&old), Err(NK_ERR_MODEL_NOT_LOADED));
}

#[test]
fn a_failed_load_leaves_the_arena_and_a_parse_failure_the_handle() {
    let bytes = std::fs::read("models/test_mlp.nk").unwrap();
    let mut place = Fixture::new(64 * 1024);
    let mut model = garbage::<nk_model>();
    assert_eq!(place.load_memory(&bytes, &mut model), NK_OK);
    let used = place.used();
    for (path, status) in
        [(c"models", NK_ERR_MODEL_OPEN), (c"", NK_ERR_MODEL_OPEN), (c"Cargo.toml", NK_ERR_MODEL_PARSE)]
    {
        assert_eq!(place.load(path, &mut model), status, "{path:?}");
    }
    assert_eq!(place.load_memory(&bytes[..100], &mut model), NK_ERR_MODEL_READ);
    assert_eq!((place.run(&model), place.used()), (Ok([3.0, 3.0]), used));

    // SAFETY: valid handles; the rest of the arena is taken.
    unsafe { nk_arena_alloc(&mut place.arena, nk_arena_remaining(&place.arena), 1) };
    let used = place.used();
    assert_eq!(place.load_memory(&bytes, &mut model), NK_ERR_ARENA_OVERFLOW);
    assert_eq!((place.run(&model), place.used()), (Err(NK_ERR_MODEL_NOT_LOADED), used));
}

#[test]
fn input_and_output_may_overlap_when_the_arena_has_room() {
    let mut place = Fixture::new(64 * 1024);
    let mut model = garbage::<nk_model>();
    assert_eq!(place.load(MLP, &mut model), NK_OK);
    let used = place.used();
    let mut full = Fixture::new(0).arena;
    for shift in 0..3 {
        let (mut buffer, mut count) = ([1.0f32, 2.0, 0.0, 0.0], 0u32);
        let start = buffer.as_mut_ptr();
        // SAFETY: the buffer has room for two floats from `shift` on; valid handles.
        let (with_room, without) = unsafe {
            let without = nk_forward(&model, &mut full, start, 2, start.add(shift), 2, &mut count);
            buffer = [1.0, 2.0, 0.0, 0.0];
            (nk_forward(&model, &mut place.arena, start, 2, start.add(shift), 2, &mut count), without)
        };
        assert_eq!(with_room, NK_OK);
        assert_eq!(buffer.get(shift..shift + 2), Some(&[3.0, 3.0][..]), "{shift}");
        assert_eq!(without, if shift < 2 { NK_ERR_ARENA_OVERFLOW } else { NK_OK });
    }
    assert_eq!(place.used(), used);
}

#[test]
fn copies_of_a_handle_share_the_softmax_setting_until_the_arena_ends() {
    let mut place = Fixture::new(64 * 1024);
    let [mut model, mut other, mut plain] = [garbage::<nk_model>(); 3];
    assert_eq!(place.load(INT8, &mut model), NK_OK);
    assert_eq!(place.load(INT8, &mut other), NK_OK);
    assert_eq!(place.load(MLP, &mut plain), NK_OK);
    let mut copy = model;
    // SAFETY: valid handles whose arena is alive.
    let omits = |model: &nk_model| unsafe { nk_model_omit_final_softmax(model) };
    // SAFETY: as above.
    unsafe {
        nk_model_set_omit_final_softmax(&mut copy, true);
        nk_model_set_omit_final_softmax(&mut plain, true);
    }
    assert_eq!([&model, &copy, &other, &plain].map(omits), [true, true, false, false]);
    let scale = |model: &nk_model| {
        let mut quant = nk_quant_params { scale: 0.0, zero_point: 0 };
        // SAFETY: as above.
        let status = unsafe { nk_model_output_quant(model, &mut quant) };
        (status == NK_OK).then_some(quant.scale)
    };
    assert!(scale(&model) != scale(&other) && scale(&other) == Some(1.0 / 256.0) && scale(&plain).is_none());
    place.reset();
    assert!(!omits(&model));
    assert_eq!(scale(&model), Some(1.0 / 256.0));
}
