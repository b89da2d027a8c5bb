# Completions of plimsoll for fish. The program itself returns the candidates.
function __plimsoll_candidates
    set -l words (commandline -opc)
    $words[1] completions fish -- $words (commandline -ct) 2>/dev/null
end
complete -c plimsoll -f -a '(__plimsoll_candidates)'
