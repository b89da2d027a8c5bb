"""Runs the SQL and shell blocks of docs/fleet.md and the Kubernetes Job: queries.py PLIMSOLL. `run.py` starts it."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import kubernetes_validate
import yaml

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/fleet.md").read_text()
# The sample sessions have no failure, sub-agent or recorded definition, and fit their windows. The fixtures have them.
EMPTY_FOR_SAMPLES = ["Tools that are defined and never used", "Cost of a session with its sub-agents", "Files that failed"]
KUBERNETES = "1.33"


class Checks:
    """Prints the result of every check."""

    def __init__(self):
        self.failed = 0

    def that(self, holds, what, detail=""):
        self.failed += not holds
        print(f"{'ok' if holds else 'FAILED':<7} {what}{'' if holds else f': {detail}'}", flush=True)


def run(command, folder, **options):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def write_tables(program, folder):
    shutil.rmtree(folder / "tables", ignore_errors=True)
    run([program, "table", "logs", "-o", "tables", "--no-state"], folder)


def blocks(language):
    """Yields the code blocks of the page in a language, with the heading above each."""
    heading = block = None
    for line in PAGE.splitlines():
        if block is not None:
            if line == "```":
                yield heading, "\n".join(block)
                block = None
            else:
                block.append(line)
        elif line == f"```{language}":
            block = []
        elif line.startswith("#"):
            heading = line.lstrip("# ")


def connect(folder):
    """Returns a connection with the views of the page."""
    os.chdir(folder)
    connection = duckdb.connect()
    (_, views), *_ = blocks("sql")
    connection.execute(views)
    return connection


def query_all(checks, connection, name, may_be_empty):
    """Runs all queries. Returns the rows of each by its heading, as dictionaries."""
    results = {}
    _, *queries = blocks("sql")
    for heading, query in queries:
        result = connection.execute(query)
        columns = [column[0] for column in result.description]
        results[heading] = [dict(zip(columns, row)) for row in result.fetchall()]
        n = len(results[heading])
        checks.that(n > 0 or heading in may_be_empty, f"{name}: {heading} ({n} rows)", "no rows")
    return results


def is_close(a, b):
    return abs((a or 0) - (b or 0)) < 0.02 * max(1, abs(b or 0)) / 2


def check_usage(checks, program, sessions, results):
    """Compares sums with those of `plimsoll usage`."""
    total = json.loads(run([program, "usage", sessions, "--json", "--no-state"], "."))["total"]
    rows = results["Cost per project and week"]
    for column in ("calls", "input_tokens", "unpriced_calls"):
        found = sum(row[column] for row in rows)
        checks.that(found == total[column], f"{sessions}: {column} as in usage", f"{found}, not {total[column]}")
    for column in ("cost_usd", "cache_miss_usd"):
        found = sum(row[column] or 0 for row in rows)
        checks.that(is_close(found, total[column]), f"{sessions}: {column} as in usage", f"{found}, not {total[column]}")


def content_of(connection):
    """Returns what is in the tables, whatever the parts and the folder of the files are."""
    tables = ("sessions", "calls", "lanes", "compactions", "tools")
    own = "filename, part", "filename, part, path"
    return {table: sorted(map(repr, connection.execute(f"select * exclude ({own[table == 'sessions']}) from {table}_all").fetchall()))
            for table in tables}


def check_commands(checks, program, folder, expected):
    """Runs the commands of the section *Batch queues*."""
    path = {"PATH": f"{os.path.dirname(program)}{os.pathsep}{os.environ['PATH']}"}
    commands = [command for heading, command in blocks("sh") if heading == "Batch queues"]
    checks.that(len(commands) > 0, "commands of batch queues", "the page has none")
    for command in commands:
        shutil.rmtree(folder / "tables", ignore_errors=True)
        run(["sh", "-c", command], folder, env=os.environ | path)
        found = content_of(connect(folder))
        checks.that(found == expected, command[:60].split(" plimsoll")[0], "other rows than with one process")


def check_kubernetes(checks, program, folder, expected):
    """Validates the manifest, and runs the command of the container for each index."""
    documents = list(yaml.safe_load_all((ROOT / "packaging/kubernetes/indexed-job.yaml").read_text()))
    for document in documents:
        try:
            kubernetes_validate.validate(document, KUBERNETES, strict=True)
            error = None
        except kubernetes_validate.ValidationError as invalid:
            error = invalid
        checks.that(error is None, f"{document['kind']} is valid in Kubernetes {KUBERNETES}", error)
    spec = documents[0]["spec"]
    mounts = spec["template"]["spec"]["containers"][0]["volumeMounts"]
    has_temporary = any(mount["mountPath"] == "/tmp" and not mount.get("readOnly") for mount in mounts)
    checks.that(has_temporary, "the container has a temporary folder", "its root is read-only")
    container = spec["template"]["spec"]["containers"][0]
    environment = {entry["name"]: entry["value"] for entry in container["env"]}
    checks.that(environment["SHARDS"] == str(spec["completions"]), "as many shards as completions")
    shutil.rmtree(folder / "tables", ignore_errors=True)
    environment |= {"PATH": f"{os.path.dirname(program)}{os.pathsep}{os.environ['PATH']}"}
    shell, option, command = container["command"]
    for mount, local in (("/sessions", "logs"), ("/tables", "tables")):
        command = command.replace(f" {mount} ", f" {local} ")
    for index in range(spec["completions"]):
        run([shell, option, command], folder, env=environment | {"JOB_COMPLETION_INDEX": str(index)})
    checks.that(content_of(connect(folder)) == expected, "the indexes together write all rows", "other rows than with one process")


def check_names(checks, program):
    """Compares the columns that the page names with those of the program."""
    columns = set(re.findall(r"^\| `(\w+)` \|", run([program, "table", "--columns"], "."), re.MULTILINE))
    section = PAGE.split("## Tables")[1].split("\n## ")[0]
    cells = [cell for line in section.splitlines() if line.startswith("| `") for cell in line.split("|")[1:2] + line.split("|")[3:4]]
    tables = {"sessions", "calls", "messages", "compactions", "lanes", "facts", "tools", "tool_definitions", "failures"}
    named = {word for cell in cells for word in re.findall(r"`([a-z_0-9]+)`", cell)} - tables - {"recorded"}
    checks.that(len(named) > 10 and named <= columns, f"{len(named)} columns that the page names exist", named - columns)


def main():
    program, checks = sys.argv[1], Checks()
    # DuckDB and the commands of the page use relative paths.
    with tempfile.TemporaryDirectory(prefix="plimsoll-fleet-") as temporary:
        folder = Path(temporary).resolve()
        samples, fixtures = folder / "samples", folder / "fixtures"
        for here, sessions in ((samples, "sample_sessions"), (fixtures, "tests/fixtures")):
            shutil.copytree(ROOT / sessions, here / "logs")
            write_tables(program, here)
        check_names(checks, program)
        # Fixtures with the same id are versions of a session for the views, and several sessions for `usage`.
        # Of copies without a time, either may count.
        ambiguous = """
            select path from sessions_all anti join current_sessions using (content_sha256, conversation)
            union select path from sessions_all s join calls_all c using (content_sha256, conversation)
            where s.start_time is null and c.call_identity in
                (select call_identity from calls_all where call_identity is not null group by all having count(*) > 1)"""
        for path, in connect(fixtures).execute(ambiguous).fetchall():
            (fixtures / "logs" / path).unlink(missing_ok=True)
        write_tables(program, fixtures)
        connection = connect(fixtures)
        check_usage(checks, program, "logs", query_all(checks, connection, "fixtures", []))
        connection = connect(samples)
        check_usage(checks, program, "logs", query_all(checks, connection, "sample sessions", EMPTY_FOR_SAMPLES))
        expected = content_of(connection)
        check_commands(checks, program, samples, expected)
        check_kubernetes(checks, program, samples, expected)
    sys.exit(1 if checks.failed else 0)


if __name__ == "__main__":
    main()
