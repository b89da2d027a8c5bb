"""A software bill of materials in the form of CycloneDX 1.6, from `cargo metadata`."""

import json
import re
import subprocess
import time


def bill_of_materials(root, target, seconds):
    """Lists the crates that are compiled into the program of a target, or run while it is built."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    found = json.loads(subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE).stdout)
    packages = {package["id"]: package for package in found["packages"]}
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    program = found["resolve"]["root"]
    needed = {}
    todo = [program]
    while todo:
        package = todo.pop()
        if package in needed:
            continue
        # Dependencies of tests and benchmarks are of the kind `dev`.
        edges = nodes[package]["deps"]
        is_used = [any(kind["kind"] in (None, "build") for kind in edge["dep_kinds"]) for edge in edges]
        needed[package] = sorted({edge["pkg"] for edge, used in zip(edges, is_used) if used})
        todo.extend(needed[package])
    hashes = checksums(root)
    components = [component(packages[package], hashes) for package in needed if package != program]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)),
            "component": {**component(packages[program], hashes), "type": "application"},
            "properties": [{"name": "plimsoll:target", "value": target}],
        },
        "components": sorted(components, key=lambda part: part["bom-ref"]),
        "dependencies": [
            {"ref": reference(packages[package]), "dependsOn": [reference(packages[other]) for other in others]}
            for package, others in sorted(needed.items())
        ],
    }


def checksums(root):
    """Returns the SHA-256 hashes of Cargo.lock by name and version."""
    text = (root / "Cargo.lock").read_text(encoding="utf-8")
    entry = re.compile(r'name = "(.+)"\nversion = "(.+)"\nsource = ".+"\nchecksum = "(.+)"')
    return {(name, version): checksum for name, version, checksum in entry.findall(text)}


def reference(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, hashes):
    part = {
        "type": "library",
        "bom-ref": reference(package),
        "name": package["name"],
        "version": package["version"],
        "purl": reference(package),
    }
    if package.get("license"):
        part["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    checksum = hashes.get((package["name"], package["version"]))
    if checksum:
        part["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return part
