#!/usr/bin/env python3
"""Builds every package of this platform into target/packages, from a clean checkout.

    packaging/build.py                          # all packages
    packaging/build.py --only deb,tar           # some of them
    packaging/build.py --binary target/debug/plimsoll --fast    # of a program that is built already, for tests

Needs Python 3.9, Rust and a C compiler. The other tools are Python packages, installed into target/packaging.
"""

import argparse
import gzip
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
import archives
import bindings
import sbom
import system_packages

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / "target/packaging"
# Systems with this glibc start the program: Debian 10, Ubuntu 20.04, RHEL 8 and everything later.
GLIBC = "2.28"
KINDS = ["tar", "deb", "rpm", "arch", "wheel", "npm", "library", "addon", "sbom"]


@dataclass(frozen=True)
class Target:
    """What the parts of this platform are called."""

    triple: str
    npm_system: str
    npm_processor: str
    wheel: str

    @property
    def is_linux(self):
        return self.npm_system == "linux"

    @property
    def is_windows(self):
        return self.npm_system == "win32"


TARGETS = {
    ("Linux", "x86_64"): Target("x86_64-unknown-linux-gnu", "linux", "x64", "manylinux_{glibc}_x86_64"),
    ("Linux", "aarch64"): Target("aarch64-unknown-linux-gnu", "linux", "arm64", "manylinux_{glibc}_aarch64"),
    ("Darwin", "arm64"): Target("aarch64-apple-darwin", "darwin", "arm64", "macosx_11_0_arm64"),
    ("Darwin", "x86_64"): Target("x86_64-apple-darwin", "darwin", "x64", "macosx_11_0_x86_64"),
    ("Windows", "AMD64"): Target("x86_64-pc-windows-msvc", "win32", "x64", "win_amd64"),
}


@dataclass(frozen=True)
class Metadata:
    """What every package says about the program. `Cargo.toml` is the only source."""

    version: str
    description: str
    license: str
    repository: str
    # Seconds since 1970 of the commit: packages of one commit and program are identical.
    time: int
    # Compression of archives, 1 to 9.
    level: int


def metadata(level):
    text = (ROOT / "Cargo.toml").read_text(encoding="utf-8")

    def key(name):
        return re.search(rf'^{name} = "([^"]+)"', text, re.MULTILINE).group(1)

    made = os.environ.get("SOURCE_DATE_EPOCH")
    if made is None:
        log = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)
        made = log.stdout.strip() or time.time()
    return Metadata(key("version"), key("description"), key("license"), key("repository"), int(made), level)


def run(command, **options):
    print("+", " ".join(str(word) for word in command), flush=True)
    subprocess.run([str(word) for word in command], check=True, cwd=options.pop("cwd", ROOT), **options)


def install_tools():
    """Installs the build tools, and returns the environment with them in its path."""
    wanted = (ROOT / "packaging/requirements.txt").read_text(encoding="utf-8")
    programs = TOOLS / ("Scripts" if os.name == "nt" else "bin")
    have = TOOLS / "requirements.txt"
    if not have.exists() or have.read_text(encoding="utf-8") != wanted:
        run([sys.executable, "-m", "venv", "--clear", TOOLS])
        run([programs / "python", "-m", "pip", "install", "-q", "-r", ROOT / "packaging/requirements.txt"])
        have.write_text(wanted, encoding="utf-8")
    return dict(os.environ, PATH=f"{programs}{os.pathsep}{os.environ['PATH']}")


def build_program(target, environment):
    """Compiles the program, on Linux for an old glibc, and returns its path."""
    environment = dict(environment, MACOSX_DEPLOYMENT_TARGET="11.0")
    command = ["cargo", "build", "--release", "--locked", "--bin", "plimsoll", "--target", target.triple]
    if target.is_linux:
        command[1] = "zigbuild"
        command[-1] += f".{GLIBC}"
    run(command, env=environment)
    return ROOT / "target" / target.triple / "release" / ("plimsoll.exe" if target.is_windows else "plimsoll")


def needed_glibc(binary):
    """Returns the newest version of glibc of which a program needs a symbol, such as `2.28`."""
    found = re.findall(rb"GLIBC_2\.(\d+)", binary.read_bytes())
    return f"2.{max(map(int, found), default=17)}"


def installed_files(binary, target, meta):
    """Returns the files of an installation: path below the prefix, content, mode. All are readable by all."""
    work = TOOLS / "stage"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    program = "plimsoll.exe" if target.is_windows else "plimsoll"
    files = {f"bin/{program}": (binary.read_bytes(), 0o755)}

    def add(path, content):
        files[path] = (content, 0o644)

    subprocess.run([binary, "man", work], check=True, stdout=subprocess.DEVNULL)
    for page in sorted(work.glob("*.1")):
        add(f"share/man/man1/{page.name}.gz", gzip.compress(page.read_bytes(), mtime=meta.time))
    for shell, path in [
        ("bash", "share/bash-completion/completions/plimsoll"),
        ("zsh", "share/zsh/site-functions/_plimsoll"),
        ("fish", "share/fish/vendor_completions.d/plimsoll.fish"),
        ("powershell", "share/powershell/plimsoll.ps1"),
    ]:
        add(path, subprocess.run([binary, "completions", shell], check=True, stdout=subprocess.PIPE).stdout)
    for name in ["LICENSE-MIT", "LICENSE-APACHE", "README.md", "docs/CHANGELOG.md"]:
        add(f"share/doc/plimsoll/{Path(name).name}", (ROOT / name).read_bytes())
    if target.is_linux:
        add("share/applications/plimsoll.desktop", (ROOT / "packaging/plimsoll.desktop").read_bytes())
        add("share/mime/packages/plimsoll.xml", (ROOT / "packaging/plimsoll.mime.xml").read_bytes())
        icons = "share/icons/hicolor"
        add(f"{icons}/scalable/apps/plimsoll.svg", (ROOT / "assets/icons/plimsoll.svg").read_bytes())
        for size in [48, 128, 256]:
            icon = (ROOT / f"assets/icons/plimsoll-{size}.png").read_bytes()
            add(f"{icons}/{size}x{size}/apps/plimsoll.png", icon)
    return files


def write_checksums(out):
    """Writes the SHA-256 hash of every package, in the form that `sha256sum --check` reads."""
    lines = []
    for path in sorted(path for path in out.iterdir() if path.is_file() and path.name != "SHA256SUMS"):
        lines.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n")
        print(f"{path.stat().st_size:>11,}  {path.name}")
    (out / "SHA256SUMS").write_text("".join(lines), encoding="utf-8", newline="\n")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "target/packages", help="[default: target/packages]")
    parser.add_argument("--only", type=lambda text: text.split(","), default=KINDS, help=f"of {','.join(KINDS)}")
    parser.add_argument("--binary", type=Path, help="package this program instead of compiling one")
    parser.add_argument("--fast", action="store_true", help="compress less")
    args = parser.parse_args()
    unknown = set(args.only) - set(KINDS)
    if unknown:
        parser.error(f"no package named {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    return args


def main():
    args = arguments()
    key = (platform.system(), platform.machine())
    if key not in TARGETS:
        sys.exit(f"packages are not supported on {' '.join(key)}; use `cargo install --path . --locked`")
    target, meta = TARGETS[key], metadata(1 if args.fast else 9)
    out = args.out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    environment = install_tools()

    binary = args.binary.resolve() if args.binary else build_program(target, environment)
    glibc = needed_glibc(binary) if target.is_linux else None
    files = installed_files(binary, target, meta)
    kinds = [kind for kind in KINDS if kind in args.only]
    if "tar" in kinds:
        archives.write_archive(out, files, target, meta)
    for kind in ["deb", "rpm", "arch"]:
        if kind in kinds and target.is_linux:
            system_packages.write(kind, out, files, platform.machine(), glibc, meta, args.fast, TOOLS, environment)
    if "wheel" in kinds:
        tag = target.wheel.format(glibc=(glibc or "").replace(".", "_"))
        archives.write_wheel(out, files, tag, meta)
    if "npm" in kinds:
        archives.write_npm(out, files, target, TARGETS.values(), meta)
    # The libraries are compiled, so a given program does not ask for them.
    if "library" in kinds and not args.binary and bindings.LIBRARY.exists():
        bindings.build_library(out, target, GLIBC, environment, run)
    if "addon" in kinds and not args.binary and bindings.ADDON.exists():
        bindings.build_addon(out, target, TARGETS.values(), GLIBC, meta, environment, run)
    if "sbom" in kinds:
        bill = sbom.bill_of_materials(ROOT, target.triple, meta.time)
        path = out / f"plimsoll-{meta.version}-{target.triple}.cdx.json"
        path.write_text(json.dumps(bill, indent=1) + "\n", encoding="utf-8", newline="\n")
    write_checksums(out)


if __name__ == "__main__":
    main()
