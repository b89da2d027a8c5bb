#compdef plimsoll
# Completions of plimsoll for zsh. The program itself returns the candidates.
_plimsoll() {
    local -a open open_shown closed closed_shown
    local line candidate shown
    for line in "${(@f)$("${words[1]}" completions zsh -- "${(@)words[1,CURRENT]}" 2>/dev/null)}"; do
        [[ -n "$line" ]] || continue
        candidate="${line%%$'\t'*}"
        shown="$candidate"
        [[ "$line" == *$'\t'* ]] && shown="$candidate  -- ${line#*$'\t'}"
        # A folder or a setting is continued.
        if [[ "$candidate" == */ || "$candidate" == *= ]]; then
            open+=("$candidate")
            open_shown+=("$shown")
        else
            closed+=("$candidate")
            closed_shown+=("$shown")
        fi
    done
    (( $#open )) && compadd -l -S '' -d open_shown -a open
    (( $#closed )) && compadd -l -d closed_shown -a closed
}
if [[ "${funcstack[1]}" == _plimsoll ]]; then
    _plimsoll "$@"
else
    compdef _plimsoll plimsoll
fi
