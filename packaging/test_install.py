#!/usr/bin/env python3
"""Installs the packages of target/packages as a user would, on systems that have nothing, and removes them again.

    packaging/test_install.py                       # everything that target/packages has
    packaging/test_install.py --only deb,wheel      # some of it
    packaging/test_install.py --suite bullseye      # another release of Debian

The .deb goes into a bare Debian (debootstrap, root only): two commands, then the window opens on a virtual display, a double
click opens a session, and after the removal the system is what it was before. Prints the times. `--limit 20` fails if the first
picture takes longer than that, which depends on the mirror and on what else the machine does.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

sys.dont_write_bytecode = True
import bare_debian
import display

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "sample_sessions/compacted.jsonl"
PROGRAM = "plimsoll.exe" if os.name == "nt" else "plimsoll"
NPM_SYSTEM = "win32" if os.name == "nt" else sys.platform
KINDS = ["deb", "tar", "wheel", "npm", "library", "addon"]
# Seconds until a window that does not open is a failure.
PATIENCE = 60


class Failed(Exception):
    """What a user would have seen."""


class Skipped(Exception):
    """Why a package is not tested here."""


def check(holds, text):
    if not holds:
        raise Failed(text)


def output_of(command, **options):
    """Returns the standard output of a command that must succeed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    check(done.returncode == 0, f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def processor_seconds():
    """Returns the computing time of the ended commands: unlike the time of day, without that of other work on the machine."""
    used = os.times()
    return used.children_user + used.children_system


def package(folder, pattern):
    """Returns the only package of a kind."""
    found = sorted(folder.glob(pattern))
    check(len(found) == 1, f"{len(found)} packages {pattern} in {folder}; build them with packaging/build.py")
    return found[0]


def check_modes(entries, where):
    """Checks that all can read the files of a package, and that only its owner can write them."""
    wrong = [f"{name} ({mode:o})" for name, mode in entries if mode & 0o777 not in (0o644, 0o755)]
    check(not wrong, f"{where}: not readable by all: {', '.join(wrong)}")


def test_deb(folder, work, args):
    """Installs the .deb into a bare Debian."""
    deb = package(folder, "*.deb")
    with bare_debian.BareDebian(ROOT / "target/packaging", work / "debian", args.suite) as debian:
        install_and_remove(deb, debian, work, args)


def install_and_remove(deb, debian, work, args):
    """Does what a user does with the package in a bare Debian."""
    version = deb.name.split("_")[1]
    shutil.copy(deb, debian.root / "root")
    before, packages = debian.files(), debian.packages()
    with display.VirtualDisplay(work, debian.root) as screen:
        start, work_before = time.monotonic(), processor_seconds()
        debian.run(["apt-get", "update", "-q"])
        updated = time.monotonic() - start
        log = debian.run(["apt-get", "install", "-y", "-q", f"./{deb.name}"], cwd="/root")
        installed = time.monotonic() - start
        print(f"deb: {log.count('Setting up ')} packages installed")
        check(version in debian.run(["plimsoll", "--version"]), "the installed program has another version")
        debian.add_user(SAMPLE)

        # The first picture: a window with a session.
        window = debian.start(["plimsoll", f"/home/me/{SAMPLE.name}"], screen)
        colors = screen.wait_for_picture(lambda: debian.has_opened(SAMPLE), PATIENCE)
        seconds = time.monotonic() - start
        busy = processor_seconds() - work_before
        print(f"deb: apt and dpkg computed for {busy:.1f} s")
        print(f"deb: lists after {updated:.1f} s, installed after {installed:.1f} s, window with {colors} colors after {seconds:.1f} s")
        check(args.limit is None or seconds <= args.limit, f"the first picture took {seconds:.1f} s")
        debian.stop(window, screen)
        debian.forget()

        # What a file manager does at a double click.
        debian.run(["apt-get", "install", "-y", "-q", "--no-install-recommends", *bare_debian.DESKTOP])
        session = f"/home/me/{SAMPLE.name}"
        info = debian.run(["gio", "info", "-a", "standard::content-type", session], user="me")
        mime = info.split("standard::content-type:")[1].strip()
        programs = debian.run(["gio", "mime", mime], user="me")
        check("plimsoll.desktop" in programs.splitlines()[0], f"{mime} opens with another program: {programs}")
        window = debian.start(["gio", "open", session], screen)
        screen.wait_for_picture(lambda: debian.has_opened(SAMPLE), PATIENCE)
        print(f"deb: a double click on a file of type {mime} opens the window")
        debian.stop(window, screen)

    page = debian.run(["sh", "-c", "zcat /usr/share/man/man1/plimsoll-replay.1.gz"])
    check(".TH" in page, "no manual page")
    debian.run(["apt-get", "purge", "-y", "-q", "plimsoll", *bare_debian.DESKTOP])
    debian.run(["apt-get", "autoremove", "--purge", "-y", "-q"])
    # apt keeps what another package recommends: certificates, which apt recommends itself.
    kept = sorted(debian.packages() - packages)
    check("plimsoll" not in kept, "the package is still there")
    debian.run(["apt-get", "purge", "-y", "-q", *kept])
    left = sorted(debian.files() - before)
    check(not left, f"the removal leaves {', '.join(left[:20])}")
    print(f"deb: the removal leaves nothing; apt keeps {', '.join(kept) or 'nothing'} for other packages")


def test_tar(folder, work, _args):
    """Unpacks the archive into a prefix."""
    path = package(folder, "plimsoll-*.zip" if os.name == "nt" else "plimsoll-*-*-*.tar.gz")
    if os.name == "nt":
        with zipfile.ZipFile(path) as archive:
            archive.extractall(work)
    else:
        with tarfile.open(path) as tar:
            check_modes([(entry.name, entry.mode) for entry in tar.getmembers()], path.name)
        output_of(["tar", "xzf", path, "-C", work])
    prefix = next(work.glob("plimsoll-*"))
    program = prefix / "bin" / PROGRAM
    version = output_of([program, "--version"]).strip()
    output_of([program, SAMPLE, "--screenshot", work / "picture.png"])
    check((work / "picture.png").stat().st_size > 10_000, "the picture is empty")
    print(f"tar: {version}, {sum(1 for path in prefix.rglob('*') if path.is_file())} files; it draws a session")


def test_wheel(folder, work, _args):
    """Installs the wheel of the program into a bare virtual environment."""
    wheel = package(folder, "plimsoll_context_cli-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        check_modes([(entry.filename, entry.external_attr >> 16) for entry in archive.infolist()], wheel.name)
    start = time.monotonic()
    programs = make_environment(work)
    pip = [programs / "python", "-m", "pip", "--disable-pip-version-check"]
    output_of([*pip, "install", "-q", "--no-index", wheel])
    version = output_of([programs / PROGRAM, "--version"]).strip()
    print(f"wheel: {version} in a new virtual environment after {time.monotonic() - start:.1f} s")
    check((work / "venv/share/man/man1/plimsoll.1.gz").exists(), "no manual page")
    output_of([*pip, "uninstall", "-q", "-y", "plimsoll-context-cli"])
    left = [str(path) for path in (work / "venv").rglob("*plimsoll*") if not path.is_dir()]
    check(not left, f"the removal leaves {', '.join(left)}")


def test_npm(folder, work, _args):
    """Runs the packed npm packages with npx."""
    npx, npm, node = (shutil.which(name) for name in ["npx", "npm", "node"])
    if not (npx and npm and node):
        raise Skipped("npx is not installed")
    starter = package(folder, "plimsoll-[0-9]*.tgz")
    program = package(folder, f"plimsoll-{NPM_SYSTEM}-*.tgz")
    npx = [npx, "--yes", "--cache", work / "npm", "-p", program, "-p", starter, "plimsoll"]
    start = time.monotonic()
    version = output_of([*npx, "--version"], cwd=work).strip()
    print(f"npm: {version} with npx after {time.monotonic() - start:.1f} s")
    missing = subprocess.run([str(word) for word in [*npx, "inspect", "missing.json"]], cwd=work, capture_output=True)
    check(missing.returncode == 2, f"the exit code is {missing.returncode} instead of 2")
    # Without the package of the platform, one line names it.
    output_of([npm, "install", "--no-save", "--omit=optional", "--no-audit", "--cache", work / "npm", starter], cwd=work)
    command = [node, "node_modules/plimsoll/bin/plimsoll.js", "--version"]
    alone = subprocess.run(command, cwd=work, capture_output=True, text=True)
    check(alone.returncode == 2 and "@plimsoll/" in alone.stderr, f"without a program: {alone.stderr}")


def test_library(folder, work, _args):
    """Imports the Python library in a bare virtual environment."""
    wheels = sorted(folder.glob("plimsoll_context-*.whl"))
    if not wheels:
        raise Skipped("it was not built")
    programs = make_environment(work)
    output_of([programs / "python", "-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-deps", *wheels])
    code = "import plimsoll; print(plimsoll.Manager('truncate', window=100_000).step([{'role': 'user', 'content': 'Hi'}]))"
    shown = output_of([programs / "python", "-c", code])
    print(f"library: {wheels[0].name}, a step gives {shown.strip()[:60]}")


def test_addon(folder, work, _args):
    """Imports the npm library in a bare folder."""
    found = sorted(folder.glob("plimsoll-context-*.tgz"))
    npm, node = shutil.which("npm"), shutil.which("node")
    if not found or not (npm and node):
        raise Skipped("it was not built, or npm is not installed")
    output_of([npm, "install", "--no-save", "--omit=peer", "--no-audit", "--cache", work / "npm", *found], cwd=work)
    code = "import('@plimsoll/context').then(({ Manager }) => new Manager('truncate', { window: 100000 }))"
    output_of([node, "-e", code], cwd=work)
    print(f"addon: {' and '.join(path.name for path in found)}")


def make_environment(work):
    """Makes a virtual environment and returns the folder of its programs."""
    output_of([sys.executable, "-m", "venv", work / "venv"])
    return work / "venv" / ("Scripts" if os.name == "nt" else "bin")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", type=Path, nargs="?", default=ROOT / "target/packages")
    parser.add_argument("--only", type=lambda text: text.split(","), default=KINDS, help=f"of {','.join(KINDS)}")
    parser.add_argument("--suite", default="bookworm", help="release of Debian [default: bookworm]")
    parser.add_argument("--limit", type=float, help="maximum number of seconds until the first picture")
    args = parser.parse_args()
    tests = {
        "deb": test_deb,
        "tar": test_tar,
        "wheel": test_wheel,
        "npm": test_npm,
        "library": test_library,
        "addon": test_addon,
    }
    if "deb" in args.only:
        bare_debian.enter_own_mounts()
    passed = skipped = 0
    for kind in args.only:
        with tempfile.TemporaryDirectory(prefix="plimsoll-") as work:
            try:
                tests[kind](args.packages.resolve(), Path(work), args)
                passed += 1
            except Skipped as reason:
                print(f"{kind}: SKIPPED: {reason}")
                skipped += 1
            except Failed as failure:
                sys.exit(f"{kind}: FAILED: {failure}")
    print(f"packages: {passed} passed, 0 failed, {skipped} skipped")


if __name__ == "__main__":
    main()
