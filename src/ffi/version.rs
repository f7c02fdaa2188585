//! Version of the linked library
//!
//! A program that loads the library at run time checks with nk_abi_ok() that both were made for each other.

use core::ffi::c_char;

use super::arena::nk_arena;
use super::errors::nk_status_t;
use super::last_error::report;
use super::limits::{NK_ABI_VERSION, NK_VERSION_MAJOR, NK_VERSION_MINOR, NK_VERSION_PATCH};
use super::model::nk_model;
use super::tensor::nk_tensor;
use crate::error::{Error, ErrorKind};

/// Version of the library that is linked, such as `0.1.0`.
///
/// Returns a constant string, never NULL. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub extern "C" fn nk_version_string() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// How the linked library was built: version, ABI, processor, system and what it was built with, for bug reports. For
/// people; programs ask nk_abi_version() and try.
///
/// Returns a constant string such as `netkit 0.1.0, abi 1, x86_64-linux, with files and stdio`, never NULL. Threads: any.
/// Since 0.1.0.
#[unsafe(no_mangle)]
pub extern "C" fn nk_build_info() -> *const c_char {
    BUILD_INFO.as_ptr().cast()
}

const BUILD_BYTES: usize = join(&BUILD_PARTS, &mut []);

const BUILD_INFO: &[u8; BUILD_BYTES] = &{
    let mut bytes = [0; BUILD_BYTES];
    join(&BUILD_PARTS, &mut bytes);
    bytes
};

const BUILD_PARTS: [&str; 11] = [
    concat!("netkit ", env!("CARGO_PKG_VERSION"), ", abi "),
    if NK_ABI_VERSION == 1 { "1" } else { "?" },
    if cfg!(target_arch = "x86_64") {
        ", x86_64"
    } else if cfg!(target_arch = "x86") {
        ", x86"
    } else if cfg!(target_arch = "aarch64") {
        ", aarch64"
    } else if cfg!(target_arch = "arm") {
        ", arm"
    } else if cfg!(any(target_arch = "riscv32", target_arch = "riscv64")) {
        ", riscv"
    } else {
        ", another processor"
    },
    if cfg!(target_os = "linux") {
        "-linux"
    } else if cfg!(target_os = "macos") {
        "-macos"
    } else if cfg!(windows) {
        "-windows"
    } else if cfg!(target_os = "none") {
        "-none"
    } else {
        "-another-system"
    },
    if cfg!(feature = "host") { ", with files and stdio" } else { ", without files and stdio" },
    if cfg!(feature = "f32") { "" } else { ", without float networks" },
    if cfg!(feature = "int8") { "" } else { ", without int8 networks" },
    if cfg!(feature = "blocks") { "" } else { ", without blocks" },
    if cfg!(feature = "yolox") { "" } else { ", without YOLOX" },
    if cfg!(debug_assertions) { ", with assertions" } else { "" },
    "\0",
];

/// Puts the parts one behind the other into `bytes`, if they fit, and tells their length.
const fn join(parts: &[&str], bytes: &mut [u8]) -> usize {
    let (mut length, mut part) = (0, 0);
    while part < parts.len() {
        let (text, mut index) = (parts[part].as_bytes(), 0);
        while index < text.len() {
            if length < bytes.len() {
                bytes[length] = text[index];
            }
            length += 1;
            index += 1;
        }
        part += 1;
    }
    length
}

/// Version of the binary interface that the linked library has; NK_ABI_VERSION is the one of this header.
///
/// Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub extern "C" fn nk_abi_version() -> u32 {
    NK_ABI_VERSION
}

/// Checks that your program was compiled with a header that fits the linked library. The macro nk_abi_ok() at the end
/// of this header calls it with the right arguments.
///
/// - header_abi: NK_ABI_VERSION.
/// - arena_size, model_size, tensor_size: sizeof of nk_arena_t, nk_model_t and nk_tensor_t.
///
/// Returns NK_OK or NK_ERR_VERSION_MISMATCH. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub extern "C" fn nk_check_abi(
    header_abi: u32,
    arena_size: usize,
    model_size: usize,
    tensor_size: usize,
) -> nk_status_t {
    let pairs = [
        ("ABI version of the header", header_abi as usize, NK_ABI_VERSION as usize),
        ("sizeof(nk_arena_t)", arena_size, size_of::<nk_arena>()),
        ("sizeof(nk_model_t)", model_size, size_of::<nk_model>()),
        ("sizeof(nk_tensor_t)", tensor_size, size_of::<nk_tensor>()),
    ];
    let wrong = pairs.into_iter().find(|(_, header, library)| header != library);
    report(wrong.map_or(Ok(()), |(field, header, library)| {
        Err(Error::new(ErrorKind::Version).field(field).found(header as u64).expected(library as u64))
    }))
}

/// The numbers of the header are those of the package.
const _: () = {
    const fn is_number(text: &str, number: u32) -> bool {
        matches!(u32::from_str_radix(text, 10), Ok(parsed) if parsed == number)
    }
    assert!(is_number(env!("CARGO_PKG_VERSION_MAJOR"), NK_VERSION_MAJOR));
    assert!(is_number(env!("CARGO_PKG_VERSION_MINOR"), NK_VERSION_MINOR));
    assert!(is_number(env!("CARGO_PKG_VERSION_PATCH"), NK_VERSION_PATCH));
};
