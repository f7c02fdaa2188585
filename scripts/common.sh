# What scripts share; read with `source`.

# has COMMAND: whether it can be found.
has() { command -v "$1" >/dev/null 2>&1; }

# as_root COMMAND...
as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }
