"""Builds the libraries for Python and Node, each a crate with a package of its own."""

import json
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


def build_addon(out, target, targets, glibc, meta, environment, run):
    """Builds the npm package of the library, and the package with its native part for this platform."""
    command = ["cargo", "build", "--release", "--locked", "-p", "plimsoll-node", "--target", target.triple]
    if target.is_linux:
        command[1] = "zigbuild"
        command[-1] += f".{glibc}"
    run(command, env=dict(environment, MACOSX_DEPLOYMENT_TARGET="11.0"))
    built = {"linux": "libplimsoll_node.so", "darwin": "libplimsoll_node.dylib", "win32": "plimsoll_node.dll"}
    native = (ROOT / "target" / target.triple / "release" / built[target.npm_system]).read_bytes()
    licenses = {name: ((ROOT / name).read_bytes(), 0o644) for name in ["LICENSE-APACHE", "LICENSE-MIT"]}

    package = archives.npm_platform(platform_package(target), target, meta)
    package["main"] = "plimsoll.node"
    files = {"plimsoll.node": (native, 0o644), **licenses}
    name = f"plimsoll-context-{target.npm_system}-{target.npm_processor}-{meta.version}.tgz"
    (out / name).write_bytes(archives.npm_package(package, files, meta))

    package = json.loads((ADDON / "package.json").read_text(encoding="utf-8"))
    package["version"] = meta.version
    package["optionalDependencies"] = {platform_package(other): meta.version for other in targets}
    scripts = sorted(path for pattern in package["files"] for path in ADDON.glob(pattern))
    files = {path.name: (path.read_bytes(), 0o644) for path in scripts}
    data = archives.npm_package(package, {**files, **licenses}, meta)
    (out / f"plimsoll-context-{meta.version}.tgz").write_bytes(data)


def platform_package(target):
    """Returns the name of the package that `native.mjs` loads on a platform."""
    library = "-gnu" if target.is_linux else ""
    return f"@plimsoll/context-{target.npm_system}-{target.npm_processor}{library}"
