#!/usr/bin/env python3
"""Writes tables of the sessions in a folder or on object storage, with `plimsoll table` in the executors of Spark.

    spark-submit fleet_job.py INPUT OUTPUT [options] [-- OPTIONS OF PLIMSOLL TABLE]

INPUT and OUTPUT are folders or URLs of fsspec, such as s3://bucket/sessions. Credentials come from the environment or the role
of the executors; `plimsoll` receives neither. docs/fleet.md describes the tables.

An executor fetches a batch of files into a private temporary folder, runs `plimsoll table` once, and uploads the parts. Their
names are hashes of their contents, so a retry or a second run replaces files by the same files. No file ends the job: one
that cannot be fetched, or that crashes or blocks the program, becomes a row of the table `failures`.
"""

import argparse
import glob
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid

FILE_COLUMNS = "path string, bytes long, identity string"
STATUS_COLUMNS = f"{FILE_COLUMNS}, content_sha256 string, state string, stage string, reason string, retry boolean, part string"
# The smallest session, to check the options before the work.
PROBE = b'{"messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hello"}]}'
# Names of a checksum of the content in the listings of S3 and Google Cloud Storage.
CHECKSUMS = ("ETag", "md5Hash")
# Environment of the program: no credentials.
ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "SystemRoot")
CHUNK = 1 << 20


class ProgramError(Exception):
    """A run of the program without a complete result."""


# Storage


def store_of(url):
    """Returns the file system and the path of a URL."""
    import fsspec

    fs, root = fsspec.core.url_to_fs(url)
    return fs, root.rstrip("/")


def is_local(fs):
    return "file" in ([fs.protocol] if isinstance(fs.protocol, str) else fs.protocol)


def sha256_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def identity_of(fs, path, info):
    """Returns a string that files with the same content share, if that is known without fetching them.

    The checksum of an object that was uploaded in several pieces depends on their sizes, so that copies of it may differ.
    """
    for key in CHECKSUMS:
        if info.get(key):
            return str(info[key]).strip('"')
    if is_local(fs):
        return sha256_of(path)
    changed = info.get("LastModified") or info.get("mtime") or info.get("updated") or ""
    return hashlib.sha256(f"{path}:{info['size']}:{changed}".encode()).hexdigest()


def put(fs, local, target):
    """Uploads a file so that readers see all of it or nothing."""
    if not is_local(fs):
        fs.put_file(local, target)
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    # Process ids are the same in several containers.
    temporary = f"{target}.{uuid.uuid4().hex}.tmp"
    shutil.copyfile(local, temporary)
    os.replace(temporary, target)


def list_files(options, entries):
    """Yields the files of the entries of INPUT, as a table."""
    import pandas

    fs, root = store_of(options.input)
    for frame in entries:
        rows = []
        for entry in frame["entry"].map(json.loads):
            found = {entry["name"]: entry} if entry["type"] == "file" else fs.find(entry["name"], detail=True)
            for path, info in found.items():
                # Objects of this kind stand for folders.
                if path.endswith("/"):
                    continue
                try:
                    identity = identity_of(fs, path, info)
                except OSError:
                    # The fetch fails as well, with a reason.
                    identity = path
                rows.append((path.removeprefix(f"{root}/"), info["size"], identity))
        yield pandas.DataFrame(rows, columns=["path", "bytes", "identity"])


def known_files(options, conditions, status_files):
    """Yields the identities of the files that an earlier job finished under the same conditions."""
    import pandas

    fs, _ = store_of(options.output)
    for frame in status_files:
        known = set()
        for path in frame["path"]:
            for line in fs.cat_file(path).splitlines():
                status = json.loads(line)
                if not status["retry"]:
                    known.add(status["identity"])
        yield pandas.DataFrame({"identity": sorted(known)})


# The program


def program_of(options):
    """Returns the program: the given one, that of the Python environment, or the one in PATH."""
    beside = os.path.join(os.path.dirname(sys.executable), "plimsoll")
    return options.plimsoll or (beside if os.path.exists(beside) else "plimsoll")


def run_program(options, names, contents, source, output, seconds):
    """Runs the program over files of the folder `source`. Returns the manifests of what it wrote.

    Raises a ProgramError if it crashes, takes too long, or leaves an incomplete result.
    """
    environment = {key: os.environ[key] for key in ENVIRONMENT if key in os.environ}
    # Copies of databases go to the temporary folder, which is removed even if the program is killed.
    environment |= {"HOME": os.path.dirname(output), "TMPDIR": os.path.dirname(output), "RAYON_NUM_THREADS": str(options.threads)}
    command = [program_of(options), "table", "--files-from", "-", "-o", output, "--no-state"]
    command += ["--timeout-per-file", str(options.timeout_per_file), *options.table_options]
    log = output + ".log"
    with open(log, "wb") as errors:
        process = subprocess.Popen(command, cwd=source, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=errors, start_new_session=True)
        try:
            process.communicate(b"".join(os.fsencode(name) + b"\0" for name in names), timeout=seconds)
        except subprocess.TimeoutExpired:
            raise ProgramError(f"no result after {seconds:.0f} s") from None
        finally:
            # Also its children.
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
    if process.returncode < 0:
        raise ProgramError(f"ended by signal {-process.returncode}")
    try:
        # If no file could be read, the exit code is 2, and the result is complete.
        return manifests_of(output, contents)
    except ProgramError:
        if process.returncode > 0:
            raise ProgramError(f"exit code {process.returncode}") from None
        raise


def manifests_of(output, contents):
    """Returns the manifests of a run. Raises a ProgramError if a file is missing or cut off, or an input is not in them."""
    folder = os.path.join(output, "_manifest")
    manifests, known = [], set()
    try:
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                manifest = json.load(file)
            for written in manifest["files"]:
                path = os.path.join(output, written["path"])
                with open(path, "rb") as file:
                    file.seek(max(written["bytes"] - 4, 0))
                    is_whole = file.read() == b"PAR1"
                if not is_whole:
                    raise ProgramError("incomplete output")
            known.update(manifest["inputs"])
            manifests.append(manifest)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ProgramError("incomplete output") from error
    if known != set(contents):
        raise ProgramError("incomplete output")
    return manifests


def probe(options):
    """Runs the program over a small session.

    Returns the hash of the conditions, such as version, policies and prices, and an error if there is none.
    """
    with tempfile.TemporaryDirectory(prefix="plimsoll-") as folder:
        output = os.path.join(folder, "out")
        with open(os.path.join(folder, "probe.json"), "wb") as file:
            file.write(PROBE)
        try:
            content = hashlib.sha256(PROBE).hexdigest()
            manifests = run_program(options, ["probe.json"], [content], folder, output, 60 + options.timeout_per_file)
            return manifests[0]["conditions_sha256"], None
        except (ProgramError, OSError) as error:
            log = ""
            if os.path.exists(output + ".log"):
                with open(output + ".log", encoding="utf-8", errors="replace") as file:
                    log = file.read()
            return None, f"cannot run plimsoll table: {error}\n{log}"


# A batch


def batches_of(frames, max_files, max_bytes):
    """Yields the files of a sorted table in lists of a limited size. Files with the same identity are in one list."""
    batch, size = [], 0
    for frame in frames:
        for path, length, identity in frame[["path", "bytes", "identity"]].itertuples(index=False):
            is_full = len(batch) >= max_files or (batch and size + length > max_bytes)
            if is_full and batch[-1]["identity"] != identity:
                yield batch
                batch, size = [], 0
            batch.append({"path": path, "bytes": int(length), "identity": identity})
            size += length
    if batch:
        yield batch


def is_usable(name):
    """Returns whether the key of an object can be the path of a file."""
    parts = name.split("/")
    return "\0" not in name and all(part not in ("", ".", "..") and len(os.fsencode(part)) < 256 for part in parts)


def obstacle_of(name):
    """Returns why the program cannot read this file alone, or None."""
    lower = name.lower()
    if lower.endswith((".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst")):
        return "an archive; unpack it first"
    if lower.endswith(("-wal", "-shm")):
        return "a part of a database that was open; copy the database when its program has ended"
    return None


class Batch:
    """The files that one run of the program reads."""

    def __init__(self, options, conditions, files, folder):
        self.options, self.conditions, self.folder = options, conditions, folder
        self.source = os.path.join(folder, "in")
        self.outputs = 0
        self.statuses = {file["path"]: file | dict.fromkeys(("content_sha256", "stage", "reason", "part")) for file in files}
        for status in self.statuses.values():
            status |= {"state": "ok", "retry": False}
        # Paths by content: the files that the program reads.
        self.paths = {}
        self.seconds_per_file = options.timeout_per_batch / len(files)
        self.fs, self.root = store_of(options.output)

    def run(self):
        """Fetches and reads the files, and uploads what was written. Returns a status per file."""
        self.fetch()
        self.read(sorted(self.paths))
        # A copy of a file is read again with it.
        for status in self.statuses.values():
            if status["state"] == "duplicate":
                status["retry"] = self.statuses[self.paths[status["content_sha256"]]]["retry"]
        self.write_failures()
        self.write_statuses()
        return list(self.statuses.values())

    def fail(self, path, stage, reason, retry):
        self.statuses[path] |= {"state": "failed", "stage": stage, "reason": reason, "retry": retry}

    def fetch(self):
        fs, root = store_of(self.options.input)
        for path, status in self.statuses.items():
            if not is_usable(path):
                self.fail(path, "fetch", "its name is not a path", False)
                continue
            if obstacle := obstacle_of(path):
                self.fail(path, "fetch", obstacle, False)
                continue
            local = os.path.join(self.source, path)
            try:
                os.makedirs(os.path.dirname(local), exist_ok=True)
                fs.get_file(f"{root}/{path}", local)
                content = sha256_of(local)
            # Libraries of storage raise errors of any type. Their messages may contain signed URLs.
            except Exception as error:
                self.fail(path, "fetch", type(error).__name__, True)
                continue
            status["content_sha256"] = content
            if self.paths.setdefault(content, path) != path:
                status["state"] = "duplicate"
                os.remove(local)

    def read(self, contents):
        """Runs the program. If it fails, runs it over both halves, until single files fail."""
        if not contents:
            return
        self.outputs += 1
        output = os.path.join(self.folder, f"out{self.outputs}")
        # The program itself gives up a file that takes too long.
        seconds = 1.5 * self.options.timeout_per_file + self.seconds_per_file * len(contents)
        try:
            names = [self.paths[content] for content in contents]
            manifests = run_program(self.options, names, contents, self.source, output, seconds)
        except (ProgramError, OSError) as error:
            shutil.rmtree(output, ignore_errors=True)
            if len(contents) > 1:
                middle = len(contents) // 2
                self.read(contents[:middle])
                self.read(contents[middle:])
            else:
                reason = str(error) if isinstance(error, ProgramError) else type(error).__name__
                self.fail(self.paths[contents[0]], "program", reason, True)
            return
        self.note(output, manifests)
        self.upload(output, manifests)
        shutil.rmtree(output)

    def note(self, output, manifests):
        """Records the part of each file, and the failures that the program reports."""
        import pyarrow.parquet

        by_path = {}
        for manifest in manifests:
            for content in manifest["inputs"]:
                self.statuses[self.paths[content]]["part"] = manifest["part"]
                by_path[self.paths[content]] = content in manifest["timed_out"]
            for written in manifest["files"]:
                if written["path"].startswith("failures/"):
                    # The folder of the day is no column here.
                    with open(os.path.join(output, written["path"]), "rb") as file:
                        rows = pyarrow.parquet.ParquetFile(file).read().to_pylist()
                    for row in rows:
                        if row["conversation"] is None and row["path"] in by_path:
                            self.fail(row["path"], row["stage"], row["reason"], by_path[row["path"]])

    def upload(self, output, manifests):
        # Files without rows, the same of every batch: a table without rows can be queried, too.
        for path in glob.glob("*/day=unknown/empty.parquet", root_dir=output):
            put(self.fs, os.path.join(output, path), f"{self.root}/{path}")
        for manifest in manifests:
            # The manifest is last: a reader that finds it finds the files.
            for path in [*(written["path"] for written in manifest["files"]), f"_manifest/{manifest['part']}.json"]:
                put(self.fs, os.path.join(output, path), f"{self.root}/{path}")

    def write_failures(self):
        """Writes the failures that the program could not write itself."""
        import pyarrow.parquet

        failed = [status for status in self.statuses.values() if status["stage"] in ("fetch", "program")]
        # Named by the files: the result of a later job with the same files replaces it.
        target = f"{self.root}/failures/day=unknown/{self.name()}.parquet"
        if not failed:
            if self.fs.exists(target):
                self.fs.rm(target)
            return
        rows = [{"content_sha256": bytes.fromhex(status["content_sha256"]) if status["content_sha256"] else None,
                 "path": status["path"], "conversation": None, "stage": status["stage"], "reason": status["reason"]}
                for status in sorted(failed, key=lambda status: status["path"])]
        local = os.path.join(self.folder, "failures.parquet")
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, failure_schema()), local, compression="lz4")
        put(self.fs, local, target)

    def name(self):
        """Returns a name that batches of the same files under the same conditions share."""
        inputs = "".join(sorted(f"{status['path']}\0{status['identity']}\0" for status in self.statuses.values()))
        return hashlib.sha256(f"{self.conditions}\0{inputs}".encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def write_statuses(self):
        """Writes a line per file, for `--resume`."""
        lines = "".join(json.dumps(status) + "\n" for status in sorted(self.statuses.values(), key=lambda status: status["path"]))
        local = os.path.join(self.folder, "status.jsonl")
        with open(local, "w", encoding="utf-8") as file:
            file.write(lines)
        put(self.fs, local, f"{self.root}/_status/{self.conditions[:16]}-{self.name()}.jsonl")


def failure_schema():
    """Returns the columns of the table `failures`."""
    import pyarrow

    return pyarrow.schema([
        ("content_sha256", pyarrow.binary(32)), pyarrow.field("path", pyarrow.string(), nullable=False),
        ("conversation", pyarrow.int32()), pyarrow.field("stage", pyarrow.string(), nullable=False),
        pyarrow.field("reason", pyarrow.string(), nullable=False)])


def read_batches(options, conditions, frames):
    """Yields the statuses of the files of a partition."""
    import pandas
    from pyspark import TaskContext

    options.threads = TaskContext.get().cpus()
    for files in batches_of(frames, options.batch_files, options.batch_bytes):
        with tempfile.TemporaryDirectory(prefix="plimsoll-") as folder:
            statuses = Batch(options, conditions, files, folder).run()
        columns = [column.split()[0] for column in STATUS_COLUMNS.split(", ")]
        yield pandas.DataFrame(statuses, columns=columns)


# The job


def arguments():
    own, table_options = sys.argv[1:], []
    if "--" in own:
        own, table_options = own[:own.index("--")], own[own.index("--") + 1:]
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip(), description=__doc__.split("\n\n")[0])
    parser.add_argument("input", metavar="INPUT")
    parser.add_argument("output", metavar="OUTPUT")
    parser.add_argument("--plimsoll", metavar="PROGRAM", help="program in the executors [default: that of the Python environment, else plimsoll]")
    parser.add_argument("--batch-files", type=int, default=2000, metavar="N", help="most files of a batch [default: 2000]")
    parser.add_argument("--batch-bytes", type=int, default=1 << 30, metavar="N", help="most bytes of a batch, which need room on the executor's disk [default: 1 GiB]")
    parser.add_argument("--timeout-per-file", type=float, default=60, metavar="SECONDS", help="as in plimsoll table [default: 60]")
    parser.add_argument("--timeout-per-batch", type=float, default=600, metavar="SECONDS", help="time for a whole batch, besides that of one file [default: 600]")
    parser.add_argument("--resume", action="store_true", help="skip files that an earlier job finished under the same conditions")
    parser.add_argument("--strict", action="store_true", help="exit code 1 if a file failed")
    options = parser.parse_args(own)
    taken = [option for option in ("--columns", "--files-from", "--format", "--json", "--output", "-o", "--resume", "--shard", "--strict")
             if any(word == option or word.startswith(option + "=") for word in table_options)]
    if taken:
        parser.error(f"not supported after --: {', '.join(taken)}")
    options.table_options, options.threads = table_options, 1
    # Executors have another working folder.
    for name in ("input", "output"):
        if "://" not in getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    return options


def listing(spark, options):
    """Returns a table of the files. Executors search the folders that INPUT contains."""
    fs, root = store_of(options.input)
    entries = [entry for entry in fs.ls(root, detail=True) if entry["name"].rstrip("/") != root]
    if not entries:
        raise SystemExit(f"{options.input} contains no file")
    entries = sorted((json.dumps(entry, default=str),) for entry in entries)
    parallelism = min(len(entries), 4 * spark.sparkContext.defaultParallelism)
    entries = spark.createDataFrame(entries, "entry string").repartition(parallelism)
    return entries.mapInPandas(lambda frames: list_files(options, frames), FILE_COLUMNS)


def without_known(spark, options, conditions, files):
    """Removes the files that an earlier job finished."""
    fs, root = store_of(options.output)
    status_files = [(path,) for path in sorted(fs.glob(f"{root}/_status/{conditions[:16]}-*.jsonl"))]
    if not status_files:
        return files
    known = spark.createDataFrame(status_files, "path string")
    known = known.mapInPandas(lambda frames: known_files(options, conditions, frames), "identity string")
    return files.join(known, "identity", "left_anti").select("path", "bytes", "identity")


def run_job(spark, options):
    """Returns the number of files, and the numbers by state."""
    # In an executor, because the driver may lack the program.
    conditions, error = spark.sparkContext.parallelize([0], 1).map(lambda _: probe(options)).first()
    if error:
        raise SystemExit(error)
    files = listing(spark, options)
    if options.resume:
        files = without_known(spark, options, conditions, files)
    files = files.persist()
    count, size = files.selectExpr("count(*)", "coalesce(sum(bytes), 0)").first()
    if count == 0:
        return 0, {}
    partitions = max(-(-count // options.batch_files), -(-size // options.batch_bytes))
    # Copies meet in one batch, in the same order in every run.
    work = files.repartition(partitions, "identity").sortWithinPartitions("identity", "path")
    # One action: each further one would do the work again.
    states = work.mapInPandas(lambda frames: read_batches(options, conditions, frames), STATUS_COLUMNS)
    return count, {row["state"]: row["count"] for row in states.groupBy("state").count().collect()}


def main():
    options = arguments()
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName("plimsoll table").getOrCreate()
    try:
        count, states = run_job(spark, options)
    finally:
        spark.stop()
    ok, duplicates, failed = (states.get(state, 0) for state in ("ok", "duplicate", "failed"))
    print(f"{count} files: {ok} ok, {duplicates} duplicates, {failed} failed")
    return 1 if options.strict and failed else 0


if __name__ == "__main__":
    sys.exit(main())
