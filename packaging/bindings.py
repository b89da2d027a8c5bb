"""Builds the libraries for Python and Node, each a crate with a package of its own."""

import json
import shutil
from pathlib import Path

import archives

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "src/python"
ADDON = ROOT / "src/node"


def build_library(out, target, glibc, environment, run):
    """Builds the wheel of the library with maturin, one for every version of Python from 3.9 on."""
    command = ["maturin", "build", "--release", "--locked", "--manifest-path", LIBRARY / "Cargo.toml", "--out", out]
    if target.is_linux:
        command += ["--zig", "--compatibility", f"manylinux_{glibc.replace('.', '_')}"]
    run(command, env=dict(environment, MACOSX_DEPLOYMENT_TARGET="11.0"))
