"""Writes .deb, .rpm and Arch packages with nfpm."""

import gzip
import json
import shutil
import subprocess
import time
from pathlib import Path

MAINTAINER = "Plimsoll developers <plimsoll@users.noreply.github.com>"
DESCRIPTION = """
Opens recorded sessions of LLM agents, plots the context of every call
against the context window, and replays compaction policies over the session.
"""
# The window loads these libraries when it opens (`src/app/shell/start_error.rs`); the commands need none of them.
DEPENDS = {
    "deb": [
        "libc6 (>= {glibc})",
        "libgcc-s1",
        "libegl1",
        "libx11-6",
        "libx11-xcb1",
        "libxcursor1",
        "libxi6",
        "libxkbcommon0",
        "libxkbcommon-x11-0",
        "libxrandr2",
    ],
    # Sonames, since the names of packages differ between Fedora and openSUSE.
    "rpm": [
        "libc.so.6(GLIBC_{glibc})(64bit)",
        "libgcc_s.so.1()(64bit)",
        "libEGL.so.1()(64bit)",
        "libX11.so.6()(64bit)",
        "libX11-xcb.so.1()(64bit)",
        "libXcursor.so.1()(64bit)",
        "libXi.so.6()(64bit)",
        "libxkbcommon.so.0()(64bit)",
        "libxkbcommon-x11.so.0()(64bit)",
        "libXrandr.so.2()(64bit)",
    ],
    "archlinux": [
        "gcc-libs",
        "glibc>={glibc}",
        "libglvnd",
        "libx11",
        "libxcursor",
        "libxi",
        "libxkbcommon",
        "libxkbcommon-x11",
        "libxrandr",
    ],
}
# A desktop has them. Without a graphics driver, the window does not open; without a portal, paths are typed.
RECOMMENDS = {
    "deb": ["libgl1-mesa-dri", "libwayland-client0", "libwayland-egl1", "fonts-dejavu-core", "ca-certificates"],
    "rpm": ["mesa-dri-drivers", "libwayland-client.so.0()(64bit)", "libwayland-egl.so.1()(64bit)", "ca-certificates"],
    "archlinux": [],
}
SUGGESTS = {"deb": ["xdg-desktop-portal"], "rpm": ["xdg-desktop-portal"], "archlinux": []}
# Where a distribution expects another path than the prefix has.
MOVED = {
    "deb": {
        "share/zsh/site-functions/_plimsoll": "share/zsh/vendor-completions/_plimsoll",
        "share/doc/plimsoll/LICENSE-MIT": None,
        "share/doc/plimsoll/LICENSE-APACHE": None,
        "share/doc/plimsoll/CHANGELOG.md": None,
    },
    "rpm": {},
    "archlinux": {
        "share/doc/plimsoll/LICENSE-MIT": "share/licenses/plimsoll/LICENSE-MIT",
        "share/doc/plimsoll/LICENSE-APACHE": "share/licenses/plimsoll/LICENSE-APACHE",
    },
}
PROCESSORS = {"x86_64": "amd64", "aarch64": "arm64"}


def write(kind, out, files, processor, glibc, meta, is_fast, work, environment):
    """Writes one package. `kind` is deb, rpm or arch."""
    packager = "archlinux" if kind == "arch" else kind
    stage = work / f"stage-{kind}"
    shutil.rmtree(stage, ignore_errors=True)
    contents = []
    for path, (content, mode) in {**files, **debian_files(kind, meta)}.items():
        moved = MOVED[packager].get(path, path)
        if moved is None or path.startswith("share/powershell/"):
            continue
        source = stage / moved
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_bytes(content)
        file = {"src": str(source), "dst": f"/usr/{moved}", "file_info": {"mode": mode}}
        if kind == "rpm" and "/doc/" in moved:
            file["type"] = "license" if "LICENSE" in moved else "doc"
        contents.append(file)
    if kind == "rpm":
        # rpm removes only the folders that a package owns.
        contents.append({"dst": "/usr/share/doc/plimsoll", "type": "dir", "file_info": {"mode": 0o755}})
    config = {
        "name": "plimsoll",
        "arch": PROCESSORS[processor],
        "version": meta.version,
        "maintainer": MAINTAINER,
        "description": meta.description + DESCRIPTION.rstrip(),
        "homepage": meta.repository,
        "license": meta.license,
        "section": "devel",
        "priority": "optional",
        "mtime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(meta.time)),
        "depends": [name.format(glibc=glibc) for name in DEPENDS[packager]],
        "recommends": RECOMMENDS[packager],
        "suggests": SUGGESTS[packager],
        "contents": contents,
        "deb": {"compression": "gzip" if is_fast else "xz"},
        "archlinux": {"packager": MAINTAINER},
        "rpm": {"compression": "gzip" if is_fast else "xz", "group": "Development/Tools"},
    }
    # JSON is YAML.
    path = stage / "nfpm.yaml"
    path.write_text(json.dumps(config, indent=1), encoding="utf-8")
    subprocess.run(
        ["nfpm", "package", "--config", str(path), "--packager", packager, "--target", f"{out}/"],
        check=True,
        env=environment,
    )


def debian_files(kind, meta):
    """Returns the files of the documentation that Debian asks for."""
    if kind != "deb":
        return {}
    mit = (Path(__file__).resolve().parent.parent / "LICENSE-MIT").read_text(encoding="utf-8").strip()
    notice = "Plimsoll is licensed under the MIT license or the Apache license 2.0, at your option.\n"
    apache = "On Debian systems, the Apache license 2.0 is in /usr/share/common-licenses/Apache-2.0.\n"
    date = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(meta.time))
    entry = f"  * Release {meta.version}.\n"
    changelog = f"plimsoll ({meta.version}) unstable; urgency=medium\n\n{entry}\n -- {MAINTAINER}  {date}\n"
    return {
        "share/doc/plimsoll/copyright": (f"{notice}\n{mit}\n\n{apache}".encode(), 0o644),
        "share/doc/plimsoll/changelog.gz": (gzip.compress(changelog.encode(), mtime=meta.time), 0o644),
    }
