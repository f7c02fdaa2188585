//! Tells the kernels which instructions an Arm microcontroller has: stable Rust says so of no such target.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(arm_instructions, values(none(), \"thumb1\", \"thumb2\", \"dsp\"))");
    let target = std::env::var("TARGET").unwrap_or_default();
    let instructions = match target.split('-').next() {
        Some("thumbv6m" | "thumbv8m.base") => "thumb1",
        Some("thumbv7m") => "thumb2",
        Some("thumbv7em") => "dsp",
        // The DSP extension is an option of these processors: a build without the feature `simd` does without.
        Some("thumbv8m.main") if std::env::var_os("CARGO_FEATURE_SIMD").is_some() => "dsp",
        Some("thumbv8m.main") => "thumb2",
        _ => return,
    };
    println!("cargo::rustc-cfg=arm_instructions");
    println!("cargo::rustc-cfg=arm_instructions=\"{instructions}\"");
}
