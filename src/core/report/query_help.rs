//! Help about the query language of find, filters and search.

/// Summary of the language.
pub const QUERY_HELP: &str = "words, \"a phrase\", text:WORD, kind:result, role:user, tool:Bash, tokens>2000, \
    call:20-34, turn:3, message:12, is:error; - before a term negates it. A tool result has role:tool, even if the file \
    records it as the user's; role:user -is:injected finds what the user wrote. Quote a text with a colon: \"a:b\"";
