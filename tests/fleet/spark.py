"""Runs packaging/spark/fleet_job.py with faults: spark.py PLIMSOLL. `run.py` starts it.

The sessions are on an S3 server on loopback. The faults are those of faulty_plimsoll.sh, and files that no program can read.
"""

import hashlib
import io
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pyarrow.parquet
import s3fs
from moto.server import ThreadedMotoServer

ROOT = Path(__file__).resolve().parents[2]
JOB = ROOT / "packaging/spark/fleet_job.py"
SAMPLES = sorted((ROOT / "sample_sessions").iterdir())
# Columns that are unique within a table, besides the content and the conversation.
KEYS = {"sessions": [], "calls": ["call"], "messages": ["message"], "lanes": ["lane"], "facts": ["lane", "kind"], "tools": ["tool_name"]}
CONFIGURATION = {
    "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1", "spark.driver.memory": "1g",
    "spark.log.level": "ERROR", "spark.ui.enabled": "false",
}


def chat(*texts):
    """Returns a session with a message for each text."""
    roles = ("user", "assistant")
    return json.dumps({"messages": [{"role": roles[i % 2], "content": text} for i, text in enumerate(texts)]}).encode()


def sessions():
    """Returns the objects, by key, and the expected failures: stage and a part of the reason."""
    good = {f"team{i % 2}/{path.name}": path.read_bytes() for i, path in enumerate(SAMPLES)}
    for i in range(8):
        good[f"chats/2026/{i}.json"] = chat("Hello", f"This is answer {i}.")
    good["chats/with a space, and ünïcode.json"] = chat("Hello", "The name is strange.")
    good["chats/worker-dies.json"] = chat("Hello", "FAULT-WORKER-DIES")
    good["top.json"] = chat("Hello", "No folder.")
    copies = {"copies/again.json": good["chats/2026/3.json"], "zz-copy.json": good["chats/2026/3.json"]}
    first = SAMPLES[0].read_bytes()
    bad = {
        "bad/noise.jsonl": (bytes(range(256)) * 8, "read", ""),
        "bad/broken-line.jsonl": (first[:len(first) // 2].split(b"\n", 1)[0][:-20] + b"\n", "read", ""),
        "bad/empty.json": (b"", "read", ""),
        "bad/crash.json": (chat("Hello", "FAULT-CRASH"), "program", "signal 11"),
        "bad/hang.json": (chat("Hello", "FAULT-HANG"), "program", "no result after"),
        "bad/half.json": (chat("Hello", "FAULT-HALF"), "program", "incomplete output"),
        f"bad/{'x' * 300}.json": (chat("Hello", "No file has such a long name."), "fetch", "not a path"),
    }
    objects = good | copies | {key: content for key, (content, _, _) in bad.items()}
    return objects, {key: (stage, reason) for key, (_, stage, reason) in bad.items()}


class Test:
    def __init__(self, program, folder, server):
        self.folder, self.failed = folder, 0
        host, port = server.get_host_and_port()
        self.environment = os.environ | {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1", "PYSPARK_PYTHON": sys.executable, "TMPDIR": str(folder / "temporary"),
        }
        (folder / "temporary").mkdir()
        os.environ.update(self.environment)
        self.fs = s3fs.S3FileSystem(use_listings_cache=False)
        text = (ROOT / "tests/fleet/faulty_plimsoll.sh").read_text()
        self.program = folder / "plimsoll"
        self.program.write_text(text.replace("@PLIMSOLL@", program).replace("@FAULTS@", str(folder)))
        self.program.chmod(0o755)

    def check(self, holds, what, detail=""):
        self.failed += not holds
        print(f"{'ok' if holds else 'FAILED':<7} {what}{'' if holds else f': {detail}'}", flush=True)

    def job(self, *options):
        """Runs the job. Returns its last line."""
        submit = Path(sys.executable).with_name("spark-submit")
        command = [str(submit), "--master", "local[2,4]"]
        for key, value in CONFIGURATION.items():
            command += ["--conf", f"{key}={value}"]
        command += [str(JOB), "s3://sessions/logs", "s3://tables/fleet", "--plimsoll", str(self.program), "--batch-files", "12",
                    "--timeout-per-file", "4", "--timeout-per-batch", "20", *options]
        begun = time.monotonic()
        done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True)
        lines = done.stdout.strip().splitlines()
        print(f"        {time.monotonic() - begun:.0f} s: {lines[-1] if lines else ''}", flush=True)
        self.check(done.returncode == 0, "the job ends with 0", done.stderr[-3000:])
        return lines[-1] if lines else ""

    def objects(self):
        """Returns the hash of each object that the job wrote."""
        return {path: hashlib.sha256(self.fs.cat_file(path)).hexdigest() for path in self.fs.find("tables")}

    def rows(self, table):
        rows = []
        for path in self.fs.glob(f"tables/fleet/{table}/*/*.parquet"):
            rows += pyarrow.parquet.ParquetFile(io.BytesIO(self.fs.cat_file(path))).read().to_pylist()
        return rows

    def statuses(self):
        lines = [line for path in self.fs.glob("tables/fleet/_status/*") for line in self.fs.cat_file(path).splitlines()]
        return {status["path"]: status for status in map(json.loads, lines)}

    def check_result(self, objects, failures):
        """Compares tables and statuses with the objects."""
        contents = {hashlib.sha256(content).digest() for key, content in objects.items() if key not in failures}
        for table, columns in KEYS.items():
            keys = Counter(tuple(row[column] for column in ["content_sha256", "conversation", *columns]) for row in self.rows(table))
            twice = [key for key, n in keys.items() if n > 1]
            self.check(keys and not twice, f"{table}: {len(keys)} rows, none twice", twice[:3])
            self.check({key[0] for key in keys} <= contents, f"{table}: no other content")
        read = {row["content_sha256"] for row in self.rows("sessions")}
        self.check(read == contents, f"all {len(contents)} good contents have rows", len(contents - read))
        rows = {row["path"]: row for row in self.rows("failures")}
        self.check(set(rows) == set(failures) and len(self.rows("failures")) == len(rows), f"{len(failures)} failures", set(rows) ^ set(failures))
        for key, (stage, reason) in failures.items():
            row = rows.get(key, {"stage": None, "reason": ""})
            self.check(row["stage"] == stage and reason in row["reason"], f"{key}: {row['stage']}: {row['reason']}", (stage, reason))
        states = self.statuses()
        self.check(set(states) == set(objects), "a status for each object", set(states) ^ set(objects))
        duplicates = {key for key, status in states.items() if status["state"] == "duplicate"}
        self.check(len(duplicates) == 2, "copies are read once", duplicates)

    def check_failures_table(self):
        """Compares the columns of the failures that the job writes with those of the program."""
        schemas = set()
        for path in self.fs.glob("tables/fleet/failures/*/*.parquet"):
            schema = pyarrow.parquet.ParquetFile(io.BytesIO(self.fs.cat_file(path))).schema_arrow
            schemas.add(tuple((field.name, str(field.type), field.nullable) for field in schema))
        self.check(len(schemas) == 1, "the job and the program write the same columns of failures", schemas)


def main():
    program = sys.argv[1]
    objects, failures = sessions()
    with tempfile.TemporaryDirectory(prefix="plimsoll-spark-") as temporary:
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
        test = Test(program, Path(temporary).resolve(), server)
        for bucket in ("sessions", "tables"):
            test.fs.mkdir(bucket)
        for key, content in objects.items():
            test.fs.pipe_file(f"sessions/logs/{key}", content)
        test.job()
        test.check((test.folder / "died").exists(), "a worker died")
        test.check_result(objects, failures)
        test.check_failures_table()
        first = test.objects()
        left = list((test.folder / "temporary").glob("plimsoll-*"))
        # The worker that died could not remove its folder.
        test.check(len(left) <= 1, "no temporary folder is left", left)

        test.job()
        second = test.objects()
        test.check(first == second, f"the second run writes the same {len(first)} objects", set(first.items()) ^ set(second.items()))

        test.fs.pipe_file("sessions/logs/chats/new.json", chat("Hello", "This one is new."))
        last = test.job("--resume")
        # The new file, and the three whose failure may be temporary.
        test.check(last.startswith("4 files: 1 ok"), "--resume reads new files, and those that the program did not finish", last)
        changed = {path: digest for path, digest in test.objects().items() if first.get(path) not in (None, digest)}
        test.check(not changed, "--resume changes no object", changed)
        server.stop()
    sys.exit(1 if test.failed else 0)


if __name__ == "__main__":
    main()
