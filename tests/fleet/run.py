#!/usr/bin/env python3
"""Tests the tables of many sessions outside of the program: queries, batch queues and Spark.

    run.py PLIMSOLL [queries|spark]...    # both if none is given

`queries` runs every SQL and shell block of docs/fleet.md, and the Kubernetes Job, over the sample sessions. `spark` runs
packaging/spark/fleet_job.py in `local[2,4]` with an S3 server on loopback and injected faults; it needs Java 17 or newer.
Packages are installed into target/fleet.
"""

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/fleet"
PARTS = {"queries": "requirements.txt", "spark": "spark_requirements.txt"}


def python_with(part):
    """Returns a Python with the packages of a part, after an installation if needed."""
    requirements, folder = HERE / PARTS[part], ROOT / "target/fleet" / part
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    installed = folder / "installed.txt"
    if not installed.exists() or installed.read_text() != requirements.read_text():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", requirements], check=True)
        shutil.copy(requirements, installed)
    return python


def java_version():
    """Returns the major version of Java; None if it is missing."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin/java") if home else shutil.which("java")
    if not java:
        return None
    printed = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    found = re.search(r'version "(\d+)', printed)
    return int(found[1]) if found else None


def main():
    program, parts = os.path.realpath(sys.argv[1]), sys.argv[2:] or list(PARTS)
    failed = False
    for part in parts:
        if part == "spark" and (java_version() or 0) < 17:
            print("SKIPPED: Spark needs Java 17 or newer (apt-get install default-jre-headless)", flush=True)
            continue
        failed |= subprocess.run([python_with(part), HERE / f"{part}.py", program]).returncode != 0
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
