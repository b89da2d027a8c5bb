"""Runs the programs of a JSON object {name: code} from standard input; prints {name: error or null}."""

import json
import os
import sys
import warnings

# Nothing here may wait for the network.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["OPENHANDS_SUPPRESS_BANNER"] = "1"
os.environ["OTEL_SDK_DISABLED"] = "true"
os.environ["LANGSMITH_TRACING"] = "false"
warnings.simplefilter("ignore")


def run(name: str, code: str) -> str | None:
    if name.startswith("anthropic"):
        from anthropic.types.beta import BetaContextManagementConfigParam
        from pydantic import TypeAdapter

        body = json.loads(code)
        adapter = TypeAdapter(BetaContextManagementConfigParam)
        # Edits are validated when they are read.
        list(adapter.validate_python(body["context_management"])["edits"])
        return None
    exec(compile(code, name, "exec"), {"__name__": name})
    return None


def main() -> None:
    # Packages print banners and warnings.
    output, sys.stdout = sys.stdout, sys.stderr
    results = {}
    for name, code in json.load(sys.stdin).items():
        try:
            results[name] = run(name, code)
        except Exception as error:
            results[name] = f"{type(error).__name__}: {error}"
    json.dump(results, output)
    output.flush()
    # Background threads of packages are not waited for.
    os._exit(0)


main()
