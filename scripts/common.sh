# What scripts share; read with `source`.

# has COMMAND: whether it can be found.
has() { command -v "$1" >/dev/null 2>&1; }

# as_root COMMAND...
as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }

# find_rust_library TRIPLE [CRATES]: sets `sysroot` when the library for a target is not that of the toolchain. Asks rustup if
# `$rustup`, which may fetch it if `$install`, else builds it from its sources. Status 77 when these cannot be had.
find_rust_library() {
    sysroot=
    if $rustup; then
        [ ! -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ] || return 0
        ! $install || ! has rustup || ! rustup target add "$1" || return 0
    fi
    sysroot=$(scripts/rust-std "${2:-std,panic_unwind,test}" "$1")
}
