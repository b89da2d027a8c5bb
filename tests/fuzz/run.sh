#!/bin/sh
# tests/fuzz/run.sh [SECONDS [TARGET…]]: fuzzes each target (default: all) for SECONDS (default: 600). Stops at the first crash.
#
# Needs cargo-fuzz (`cargo install cargo-fuzz --locked`) and a C++ compiler; stable Rust suffices. Fixtures and sample
# sessions are the seeds. Inputs are collected in tests/fuzz/corpus, crashes in tests/fuzz/artifacts. Commit neither. Turn a
# crash into a regression test next to the code.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-600}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- detect parse open write_back expression preset play
export RUSTC_BOOTSTRAP=1
[ -f tests/fuzz/Cargo.lock ] || cp Cargo.lock tests/fuzz/Cargo.lock

# Copies files to the corpus, each under a unique name.
copy() {
    for file; do
        case $file in *.expected) continue ;; esac
        cp "$file" "$corpus/seed-$(echo "$file" | tr '/' '-')"
    done
}

# Copies each file once per format. The first byte of an input selects the format, modulo their number.
copy_to_parsers() {
    for file; do
        case $file in *.expected) continue ;; esac
        for which in $(seq 0 39); do
            seed="$corpus/seed-$which-$(echo "$file" | tr '/' '-')"
            # shellcheck disable=SC2059
            { printf "\\$(printf %03o "$which")" && cat "$file"; } >"$seed"
        done
    done
}

for target; do
    corpus=tests/fuzz/corpus/$target
    mkdir -p "$corpus"
    case $target in
    parse) copy_to_parsers tests/fixtures/*/* ;;
    preset) copy src/core/assets/presets/*.toml src/core/assets/*.toml tests/configs/* ;;
    expression) sed -n 's/^\(when\|[a-z_]*\) *= *"\(.*\)"$/\2/p' src/core/assets/presets/*.toml | sort -u |
        split -l 1 -a 4 - "$corpus/seed-" ;;
    play) ;;
    *) copy tests/fixtures/*/* sample_sessions/*.json* ;;
    esac
    case $target in
    expression | preset | play) words=presets.dict ;;
    *) words=sessions.dict ;;
    esac
    cargo fuzz run --fuzz-dir tests/fuzz --sanitizer "${SANITIZER:-none}" "$target" -- \
        -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=10 -max_len=65536 -dict="tests/fuzz/$words" -print_final_stats=1
done
