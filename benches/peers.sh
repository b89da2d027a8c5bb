#!/bin/bash
# Plimsoll beside other programs and libraries on the same bytes, in turns, as ratios: see docs/performance.md.
#
#     benches/peers.sh [FOLDER]      FOLDER keeps what is made (default target/peers); ROUNDS=5, MB=100
#
# With UPDATE_DOCS=1 the table replaces that of docs/performance.md. Needs cargo, python3, jq, and npm for ccusage. What is
# not there is left out and said so.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
work=$(mkdir -p "${1:-$root/target/peers}" && cd "${1:-$root/target/peers}" && pwd)
rounds=${ROUNDS:-5}
mb=${MB:-100}
ccusage_version=20.0.24
agentsview_version=0.46.1

has() { command -v "$1" > /dev/null; }
say() { echo "$*" >&2; }

# --- Both sides, built or installed -----------------------------------------------------------------------------------
plimsoll=${PLIMSOLL:-$root/target/release/plimsoll}
if [ ! -x "$plimsoll" ]; then
    (cd "$root" && cargo build --release)
fi
(cd "$here/peers" && CARGO_TARGET_DIR="$work/cargo" cargo build --release)
peers=$work/cargo/release/peers
# The program itself, not the script of Node that starts it.
ccusage=$work/node/node_modules/@ccusage/ccusage-linux-x64/bin/ccusage
if [ ! -e "$ccusage" ] && has npm; then
    mkdir -p "$work/node"
    (cd "$work/node" && npm install --no-audit --no-fund --silent "ccusage@$ccusage_version" "@ccusage/ccusage-linux-x64@$ccusage_version") || say "ccusage cannot be installed"
fi
is_version() { [ "$1" = "$2" ] || { say "$3 is $1, not $2"; exit 1; }; }
if [ -e "$ccusage" ]; then
    chmod +x "$ccusage"
    is_version "$("$ccusage" --version | tail -1 | grep -oE '[0-9.]+$')" "$ccusage_version" ccusage
fi

agentsview=$work/agentsview/bin/agentsview
if [ ! -x "$agentsview" ]; then
    { python3 -m venv "$work/agentsview" && "$work/agentsview/bin/pip" install -q "agentsview==$agentsview_version"; } || say "agentsview cannot be installed"
fi
if [ -x "$agentsview" ]; then
    is_version "$("$agentsview" --version | grep -oE '[0-9.]+' | head -1)" "$agentsview_version" agentsview
fi

# --- What they are given ----------------------------------------------------------------------------------------------
cd "$work"
mkdir -p corpus
[ -s corpus/prose.txt ] || python3 "$here/peers/mkcorpus.py" >&2
session=$work/session-$mb.jsonl
[ -s "$session" ] || python3 "$here/peers/gen_session.py" "$session" "$mb" 1 >&2
mkdir -p claude/projects/-p
# No symbolic link: ccusage passes over those.
ln -fL "$session" claude/projects/-p/session.jsonl
# Many small ones: the programs list all of a folder.
many=$work/many
if [ ! -e "$many/whole" ]; then
    mkdir -p "$many/projects/-p"
    for nth in $(seq 200); do
        python3 "$here/peers/gen_session.py" "$many/projects/-p/s$nth.jsonl" 0.5 "$nth" >&2
    done
    touch "$many/whole"
fi
# agentsview reads the home folder, and wants files named by their sessions.
home=$work/agentsview-home
if [ ! -e "$home/whole" ]; then
    mkdir -p "$home/.claude/projects/-p"
    for file in "$many"/projects/-p/*.jsonl; do
        ln -f "$file" "$home/.claude/projects/-p/$(head -1 "$file" | jq -r .sessionId).jsonl"
    done
    touch "$home/whole"
fi
cat "$session" > /dev/null

# --- Turns ------------------------------------------------------------------------------------------------------------
declare -A seconds found

# note NAME SECONDS: remembers one measurement.
note() { seconds[$1]="${seconds[$1]:-} $2"; }

# whole NAME COMMAND..: the whole process, its output thrown away.
whole() {
    local name=$1 begun ended
    shift
    begun=$EPOCHREALTIME
    "$@" > /dev/null 2>> "$work/errors"
    ended=$EPOCHREALTIME
    note "$name" "$(awk -v a="$begun" -v b="$ended" 'BEGIN { printf "%.4f", b - a }')"
}

# inside NAME ARGS..: what a process of the peers measures within itself.
inside() {
    local name=$1 out
    shift
    out=$("$peers" "$@")
    note "$name" "${out% *}"
    found[$name]=${out#* }
}

agentsview_first() {
    "$agentsview" sync
    "$agentsview" usage daily --all --offline --json
}

run_all() {
    whole "jq" jq -c 'select(.message.usage)|.message.usage.output_tokens' "$session"
    whole "inspect" "$plimsoll" --no-state inspect "$session"
    whole "inspect chars/4" "$plimsoll" --no-state inspect "$session" --counter chars/4
    whole "sessions" "$plimsoll" --no-state sessions --limit 0 "$many"
    # Once more, to leave what is kept; then what a person sees at the second look.
    XDG_DATA_HOME=$work/state "$plimsoll" sessions --limit 0 "$many" > /dev/null 2>> "$work/errors"
    XDG_DATA_HOME=$work/state whole "sessions again" "$plimsoll" sessions --limit 0 "$many"
    whole "usage" "$plimsoll" --no-state usage --json "$many"
    XDG_DATA_HOME=$work/state "$plimsoll" usage --json "$many" > /dev/null 2>> "$work/errors"
    XDG_DATA_HOME=$work/state whole "usage again" "$plimsoll" usage --json "$many"
    if [ -x "$agentsview" ]; then
        # Its server stays for the second look, as it does for its users.
        rm -rf "$home/.agentsview"
        HOME=$home whole "agentsview" agentsview_first
        HOME=$home whole "agentsview again" "$agentsview" usage daily --all --offline --json
        HOME=$home "$agentsview" daemon stop > /dev/null 2>> "$work/errors"
    fi
    if [ -e "$ccusage" ]; then
        CLAUDE_CONFIG_DIR=$work/claude whole "ccusage" "$ccusage" daily --offline --json
        CLAUDE_CONFIG_DIR=$many whole "ccusage of many" "$ccusage" daily --offline --json
    fi
    for corpus in prose code cjk; do
        for whose in ours tiktoken-rs toktok-rs tiktoken bpe-openai; do
            inside "$corpus $whose" count "$whose" "corpus/$corpus.txt"
        done
    done
    inside "parse simd-json" parse simd-json "$session"
    RAYON_NUM_THREADS=1 inside "session" parse ours "$session"
    inside "session, all cores" parse ours "$session"
}
for round in $(seq "$rounds"); do
    say "round $round of $rounds"
    run_all
done

# --- The table --------------------------------------------------------------------------------------------------------
median() { echo "${seconds[$1]}" | tr ' ' '\n' | sed '/^$/d' | sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }

# row WHAT OURS THEIRS GOAL: how often ours goes into theirs, by time.
row() {
    [ -n "${seconds[$2]:-}" ] && [ -n "${seconds[$3]:-}" ] || return 0
    local ours theirs
    ours=$(median "$2")
    theirs=$(median "$3")
    echo "| $1 | ${ours} s | ${theirs} s | $(ratio "$theirs" "$ours") | $4 |"
}

cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2> /dev/null | head -1)
table=$work/table.md
{
echo "Measured on $(date +%F), $(nproc) cores of ${cpu:-an unknown processor}, median of $rounds rounds in turns; jq $(jq --version | tr -d 'jq-'), ccusage $ccusage_version, agentsview $agentsview_version, simd-json 0.19.0, tiktoken-rs $(sed -n '/^name = "tiktoken-rs"/{n;s/.*"\(.*\)"/\1/p}' "$here/peers/Cargo.lock"), toktok-rs 0.3.0, tiktoken 4.1.2"
echo
echo "| $mb MB of Claude Code, $(wc -l < "$session") lines | ours | theirs | times as fast | goal |"
echo "|---|---|---|---|---|"
row "\`inspect\`, counting exactly, against \`jq\` with one filter" "inspect" "jq" "1"
row "\`inspect\`, counting exactly, against \`ccusage daily\`" "inspect" "ccusage" "0.6"
row "\`inspect --counter chars/4\` against \`ccusage daily\`" "inspect chars/4" "ccusage" "1"
row "\`sessions\` of 200 files of 0.5 MB, nothing kept, against \`ccusage daily\`" "sessions" "ccusage of many" "1"
row "the same at the second look" "sessions again" "ccusage of many" "10"
row "\`usage\` of these files, nothing kept, against \`ccusage daily\`" "usage" "ccusage of many" ""
row "the same at the second look" "usage again" "ccusage of many" "1"
row "\`usage\` of these files, nothing kept, against \`agentsview sync\` and \`usage daily\`" "usage" "agentsview" "1"
row "the same at the second look, against \`agentsview usage daily\` with its server" "usage again" "agentsview again" "1"
row "\`inspect --counter chars/4\` against \`jq\`" "inspect chars/4" "jq" "2"
row "reading it to a session on one thread, against simd-json, which parses lines to values that borrow from them" "session" "parse simd-json" ""
row "the same on all cores" "session, all cores" "parse simd-json" ""
goal=(2.5 5 2)
nth=0
for corpus in prose code cjk; do
    mbs=$(awk -v b="$(wc -c < "corpus/$corpus.txt")" 'BEGIN { printf "%.0f", b / 1e6 }')
    row "counting $mbs MB of $corpus, cold, one thread, against tiktoken-rs" "$corpus ours" "$corpus tiktoken-rs" "${goal[$nth]}"
    for whose in toktok-rs tiktoken bpe-openai; do
        row "the same against $whose" "$corpus ours" "$corpus $whose" ""
    done
    for whose in tiktoken-rs toktok-rs tiktoken bpe-openai; do
        if [ "${found[$corpus $whose]}" != "${found[$corpus ours]}" ]; then
            say "$corpus: ours counts ${found[$corpus ours]} tokens, $whose ${found[$corpus $whose]}"
            exit 1
        fi
    done
    nth=$((nth + 1))
done
} > "$table"
cat "$table"
if [ -n "${UPDATE_DOCS:-}" ]; then
    # The table stands between two marks.
    python3 - "$root/docs/performance.md" "$table" << 'END'
import pathlib, re, sys
page, table = map(pathlib.Path, sys.argv[1:])
marks = re.compile(r"(<!-- benches/peers.sh -->\n).*?(<!-- end -->)", re.S)
text, n = marks.subn(lambda found: found[1] + table.read_text() + found[2], page.read_text())
sys.exit(f"{page} has {n} places for the table") if n != 1 else page.write_text(text)
END
fi
