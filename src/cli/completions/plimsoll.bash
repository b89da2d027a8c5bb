# Completions of plimsoll for bash. The program itself returns the candidates.
_plimsoll() {
    local candidate
    COMPREPLY=()
    compopt -o nosort -o nospace 2>/dev/null
    while IFS= read -r candidate; do
        case "$candidate" in
            # A folder or a setting is continued; a file name is quoted.
            */ | *=) COMPREPLY+=("$(printf '%q' "$candidate")") ;;
            *) COMPREPLY+=("$(printf '%q' "$candidate") ") ;;
        esac
    done < <("${COMP_WORDS[0]}" completions bash -- "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
}
complete -F _plimsoll plimsoll
