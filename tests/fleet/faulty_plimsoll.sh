#!/bin/sh
# Stands in for plimsoll, and fails as marks in the listed files say. The test sets PLIMSOLL, and FAULTS, a folder.
PLIMSOLL=@PLIMSOLL@
FAULTS=@FAULTS@
# The home is the private folder of the batch.
list="$HOME/list.$$"
cat > "$list"
has() { xargs -0 grep -lae "$1" < "$list" > /dev/null 2>&1; }

if has FAULT-WORKER-DIES && [ ! -e "$FAULTS/died" ]; then
    : > "$FAULTS/died"
    kill -KILL $PPID
    exit 1
fi
if has FAULT-CRASH; then
    kill -SEGV $$
fi
if has FAULT-HANG; then
    # A child that outlives its parent.
    sleep 300 &
    exec sleep 300
fi
"$PLIMSOLL" "$@" < "$list"
code=$?
if has FAULT-HALF; then
    while [ $# -gt 1 ] && [ "$1" != -o ]; do shift; done
    for file in "$2"/calls/*/*; do
        head -c 100 "$file" > "$file.cut" && mv "$file.cut" "$file"
    done
    exit 0
fi
exit $code
