"""Writes tarballs, zip files, wheels and npm packages. Packages of the same files are identical, byte for byte."""

import base64
import gzip
import hashlib
import io
import json
import tarfile
import time
import zipfile
from pathlib import Path

WHEEL_NAME = "plimsoll-context-cli"
NPM_STARTER = Path(__file__).resolve().parent / "npm/plimsoll.js"


def tarball(files, prefix, meta):
    """Returns a gzip-compressed tar archive of files: path, content, mode."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path, (content, mode) in sorted(files.items()):
            entry = tarfile.TarInfo(prefix + path)
            entry.size, entry.mode, entry.mtime = len(content), mode, meta.time
            tar.addfile(entry, io.BytesIO(content))
    return gzip.compress(raw.getvalue(), meta.level, mtime=meta.time)


def zip_file(files, prefix, meta):
    """Returns a zip archive of files: path, content, mode."""
    raw = io.BytesIO()
    date = max(time.gmtime(meta.time)[:6], (1980, 1, 1, 0, 0, 0))
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED, compresslevel=meta.level) as archive:
        for path, (content, mode) in files.items():
            entry = zipfile.ZipInfo(prefix + path, date)
            entry.create_system, entry.external_attr = 3, (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content, compresslevel=meta.level)
    return raw.getvalue()


def write_archive(out, files, target, meta):
    """Writes the archive that is unpacked into a prefix, such as ~/.local."""
    name = f"plimsoll-{meta.version}-{target.triple}"
    if target.is_windows:
        (out / f"{name}.zip").write_bytes(zip_file(files, f"{name}/", meta))
    else:
        (out / f"{name}.tar.gz").write_bytes(tarball(files, f"{name}/", meta))


def write_wheel(out, files, tag, meta):
    """Writes a wheel with the program, manual pages and completions. No Python runs when the program starts."""
    name = WHEEL_NAME.replace("-", "_")
    base = f"{name}-{meta.version}"
    info = f"{base}.dist-info"
    is_data = ("share/man/", "share/bash-completion/", "share/zsh/", "share/fish/")
    content = {
        f"{base}.data/scripts/{Path(path).name}" if path.startswith("bin/") else f"{base}.data/data/{path}": file
        for path, file in files.items()
        if path.startswith(("bin/", *is_data))
    }
    licenses = {path: file for path, file in files.items() if "/LICENSE-" in path}
    license_lines = "".join(f"License-File: {Path(path).name}\n" for path in licenses)
    fields = (
        f"Metadata-Version: 2.4\nName: {WHEEL_NAME}\nVersion: {meta.version}\nSummary: {meta.description}\n"
        f"License-Expression: {meta.license}\n{license_lines}Project-URL: Repository, {meta.repository}\n"
        "Requires-Python: >=3.7\nDescription-Content-Type: text/markdown\n\n"
        f"{meta.description}.\n\nThis package is the command line and the window, a program without Python.\n"
    )
    content[f"{info}/METADATA"] = (fields.encode(), 0o644)
    wheel = f"Wheel-Version: 1.0\nGenerator: plimsoll\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n"
    content[f"{info}/WHEEL"] = (wheel.encode(), 0o644)
    for path, file in licenses.items():
        content[f"{info}/licenses/{Path(path).name}"] = file
    record = ""
    for path, (data, _mode) in content.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    content[f"{info}/RECORD"] = (f"{record}{info}/RECORD,,\n".encode(), 0o644)
    (out / f"{base}-py3-none-{tag}.whl").write_bytes(zip_file(content, "", meta))


def npm_package(package, files, meta):
    """Returns an npm package of these fields and files."""
    text = json.dumps(package, indent=2) + "\n"
    return tarball({**files, "package.json": (text.encode(), 0o644)}, "package/", meta)


def npm_fields(name, meta):
    """Returns the fields that every npm package has."""
    return {
        "name": name,
        "version": meta.version,
        "description": meta.description,
        "license": meta.license,
        "repository": {"type": "git", "url": f"git+{meta.repository}.git"},
    }


def npm_platform(name, target, meta):
    """Returns the fields of an npm package for one platform."""
    package = npm_fields(name, meta)
    package.update({"os": [target.npm_system], "cpu": [target.npm_processor], "preferUnplugged": True})
    if target.is_linux:
        package["libc"] = ["glibc"]
    return package


def write_npm(out, files, target, targets, meta):
    """Writes the package of this platform, and the starter that depends on the packages of all platforms."""
    suffix = f"{target.npm_system}-{target.npm_processor}"
    program = {path: file for path, file in files.items() if path.startswith("bin/")}
    licenses = {Path(path).name: file for path, file in files.items() if "/LICENSE-" in path}
    package = npm_platform(f"@plimsoll/{suffix}", target, meta)
    data = npm_package(package, {**program, **licenses}, meta)
    (out / f"plimsoll-{suffix}-{meta.version}.tgz").write_bytes(data)

    starter = npm_fields("plimsoll", meta)
    starter["bin"] = {"plimsoll": "bin/plimsoll.js"}
    starter["engines"] = {"node": ">=18"}
    others = sorted(f"@plimsoll/{other.npm_system}-{other.npm_processor}" for other in targets)
    starter["optionalDependencies"] = {name: meta.version for name in others}
    scripts = {"bin/plimsoll.js": (NPM_STARTER.read_bytes(), 0o755)}
    scripts.update({Path(path).name: file for path, file in files.items() if path.endswith("README.md")})
    (out / f"plimsoll-{meta.version}.tgz").write_bytes(npm_package(starter, {**scripts, **licenses}, meta))
