#!/usr/bin/env python3
"""Builds the Python package and tests it with the newest versions of the packages that it has adapters for.

    run_python.py [PYTEST-ARGUMENTS...]          # with the debug build of `cargo test`
    run_python.py --wheel                        # builds the release wheel, tries it in a bare environment and measures it

Needs Python 3.11 or newer with venv, and Rust. Everything is installed into target/live. If Python 3.9 is there too, the
package is also tried with it.
"""

import os
import platform
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests/live/python"
PACKAGE = ROOT / "src/python"
TARGET = ROOT / "target/live"
MODULES = {"Linux": ("lib_native.so", "_native.abi3.so"), "Darwin": ("lib_native.dylib", "_native.abi3.so")}
UV, MATURIN = "uv==0.13.9", "maturin==1.16.0"
# Lines of a module that connects a library.
MAX_ADAPTER_LINES = 60


def run(*command, **options):
    print("+", *command, flush=True)
    subprocess.run([str(part) for part in command], check=True, cwd=options.pop("cwd", ROOT), **options)


def pythons(minor):
    """Returns the interpreters of a minor version of Python 3, or those from 3.11 on for None."""
    versions = Path(os.environ.get("PYENV_ROOT", "/nowhere")) / "versions"
    names = [f"python3.{minor}"] if minor else ["python3.13", "python3.12", sys.executable]
    names += sorted(map(str, versions.glob(f"3.{minor or '1[23]'}.*/bin/python")), reverse=True)
    test = f"import sys, venv; sys.exit(sys.version_info[:2] {f'!= (3, {minor})' if minor else '< (3, 11)'})"
    paths = filter(None, map(shutil.which, names))
    return [path for path in paths if subprocess.run([path, "-c", test], capture_output=True).returncode == 0]


def environment(name, python, *packages, requirements=None):
    """Returns the interpreter of a virtual environment with packages. Creates it if they changed."""
    folder = TARGET / name
    wanted = "\n".join([python, *packages, requirements.read_text(encoding="utf-8") if requirements else ""])
    mark = folder / "installed.txt"
    if not mark.is_file() or mark.read_text(encoding="utf-8") != wanted:
        run(python, "-m", "venv", "--clear", folder)
        run(folder / "bin/python", "-m", "pip", "install", "-q", UV, *packages)
        if requirements:
            run(folder / "bin/uv", "pip", "install", "-q", "--python", folder / "bin/python", "-r", requirements)
        mark.write_text(wanted, encoding="utf-8")
    return folder / "bin/python"


def debug_package():
    """Builds the module with the features of `cargo test`, whose build of the core it shares. Returns a folder to import from."""
    members = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["default-members"]
    names = [tomllib.loads((ROOT / member / "Cargo.toml").read_text(encoding="utf-8"))["package"]["name"] for member in members]
    selected = [argument for name in [*names, "plimsoll-python"] for argument in ("-p", name)]
    run("cargo", "test", "--locked", *selected, "--test", "native")
    folder = TARGET / "package"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(PACKAGE / "plimsoll", folder / "plimsoll", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    built, imported = MODULES[platform.system()]
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    # Cargo copies what only a test needs nowhere else.
    shutil.copy(target / "debug/deps" / built, folder / "plimsoll" / imported)
    return folder


def wheel():
    """Builds the release wheel and tries it in a bare environment."""
    maturin = environment("maturin", pythons(None)[0], MATURIN)
    wheels = TARGET / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    run(maturin, "-m", "maturin", "build", "--release", "--locked", "-m", PACKAGE / "Cargo.toml", "--out", wheels)
    (built,) = wheels.glob("plimsoll_context-*-cp39-abi3-*.whl")
    bare = environment("bare", (pythons(9) or pythons(None))[0])
    run(bare, "-m", "pip", "install", "-q", "--force-reinstall", "--no-index", built)
    run(bare, TESTS / "measure.py")


def main():
    for module in PACKAGE.glob("plimsoll/*.py"):
        lines = len(module.read_text(encoding="utf-8").splitlines())
        if not module.name.startswith("_") and lines > MAX_ADAPTER_LINES:
            sys.exit(f"{module.name} has {lines} lines: an adapter has at most {MAX_ADAPTER_LINES}")
    if sys.argv[1:] == ["--wheel"]:
        return wheel()
    python = environment("python", pythons(None)[0], requirements=TESTS / "requirements.txt")
    package = debug_package()
    variables = {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    for oldest in pythons(9)[:1]:
        run(oldest, TESTS / "measure.py", "--quick", env=variables)
    run(python, "-m", "mypy", "--strict", "plimsoll/__init__.py", "plimsoll/_clients.py", cwd=package)
    run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS, *sys.argv[1:], env=variables)


main()
