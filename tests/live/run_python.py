#!/usr/bin/env python3
"""Builds the Python package and tests it with the newest versions of the packages that it has adapters for.

    run_python.py [--measure] [PYTEST-ARGUMENTS...]

Needs Python 3.11 or newer with venv, and Rust. Everything is installed into target/live. If Python 3.9 is there too, the
package is also tried with it. `--measure` prints the times and the memory of the release build instead.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests/live/python"
PACKAGE = ROOT / "src/python"
TARGET = ROOT / "target/live"
UV = "uv==0.13.9"
# Lines of the modules that connect a library.
MAX_ADAPTER_LINES = 60


def run(*command, **options):
    print("+", *command, flush=True)
    subprocess.run([str(part) for part in command], check=True, **options)


def pythons(minor):
    """Returns the interpreters of a minor version of Python 3, or of a newer one for None."""
    versions = Path(os.environ.get("PYENV_ROOT", "/nowhere")) / "versions"
    names = [f"python3.{minor}"] if minor else ["python3.13", "python3.12", sys.executable]
    names += sorted(map(str, versions.glob(f"3.{minor or '1[23]'}.*/bin/python")), reverse=True)
    test = f"import sys, venv; sys.exit(sys.version_info[:2] {f'!= (3, {minor})' if minor else '< (3, 11)'})"
    for name in names:
        path = shutil.which(name)
        if path and subprocess.run([path, "-c", test], capture_output=True).returncode == 0:
            yield path


def environment(name, python, *requirements):
    """Returns the interpreter of a virtual environment with packages. Creates it if the packages changed."""
    folder = TARGET / name
    wanted = "\n".join([python, *(Path(part).read_text() if Path(part).is_file() else part for part in requirements)])
    mark = folder / "installed.txt"
    if not mark.is_file() or mark.read_text() != wanted:
        run(python, "-m", "venv", "--clear", folder)
        run(folder / "bin/python", "-m", "pip", "install", "-q", UV)
        files = [argument for part in requirements for argument in (["-r", part] if Path(part).is_file() else [part])]
        if files:
            run(folder / "bin/uv", "pip", "install", "-q", "--python", folder / "bin/python", *files)
        mark.write_text(wanted)
    return folder / "bin/python"


def build(python, profile):
    """Builds the wheel and returns its path."""
    wheels = TARGET / "wheels" / profile
    shutil.rmtree(wheels, ignore_errors=True)
    run(
        python,
        "-m",
        "maturin",
        "build",
        "--locked",
        "--profile",
        profile,
        "--manifest-path",
        PACKAGE / "Cargo.toml",
        "--out",
        wheels,
    )
    (wheel,) = wheels.glob("*.whl")
    if "-cp39-abi3-" not in wheel.name:
        sys.exit(f"{wheel.name} is not for every Python from 3.9 on")
    return wheel


def install(python, wheel):
    uv = Path(python).parent / "uv"
    run(uv, "pip", "install", "-q", "--python", python, "--no-deps", "--reinstall", wheel)


def main():
    arguments = sys.argv[1:]
    measure = "--measure" in arguments
    arguments = [argument for argument in arguments if argument != "--measure"]
    for module in PACKAGE.glob("plimsoll/*.py"):
        lines = len(module.read_text(encoding="utf-8").splitlines())
        if not module.name.startswith("_") and lines > MAX_ADAPTER_LINES:
            sys.exit(f"{module.name} has {lines} lines: an adapter has at most {MAX_ADAPTER_LINES}")
    python = environment("python", next(pythons(None)), str(TESTS / "requirements.txt"))
    wheel = build(python, "release" if measure else "dev")
    install(python, wheel)
    if measure:
        run(python, TESTS / "measure.py", *arguments)
        return
    for oldest in list(pythons(9))[:1]:
        old = environment("python39", oldest)
        install(old, wheel)
        run(old, TESTS / "measure.py", "--quick")
    run(python, "-m", "mypy", "--strict", "plimsoll/__init__.py", "plimsoll/_clients.py", cwd=PACKAGE)
    run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS, *arguments, cwd=TESTS)


main()
