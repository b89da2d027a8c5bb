//! What is said of options: the shared ones, and what each expects behind it.

use crate::tokens::COUNTERS;

/// What every verb's help ends with.
pub(in crate::cli) fn shared_help() -> String {
    let counters: Vec<_> = COUNTERS.iter().map(|c| c.name).collect();
    format!(
        "\
Options everywhere, before the verb or after it:
  --window N           context window by hand (200000, 200k, 1M)
  --output-reserve N   room kept for the answer
  --counter NAME       what counts tokens, one of
                       {}
  --conversation N     which conversation of a file that holds several, from 1; the first unless told (sweep, gate: all)
  --restart STEP       the agent's program was started again before this call; again for more
  --error STEP=ERROR   the provider answers this call with an error first: a known one by its name, or its words in full
  --pin N,N-M          messages, from 1, that no strategy takes (real systems know no pins); again for more
  --clear N,N-M        messages whose content goes at the end, whatever the policy does; again for more
  --drop N,N-M         messages that go at the end, each with the calls and results that belong to it; again for more
  --json               the result as JSON
  --no-state           keep no recent files or window layout
  --help, --version

FILE may be - for standard input. Exit codes: 0 done, 1 a check failed, 2 bad input or use.
",
        counters.join(", ")
    )
}

/// What is to stand behind an option, for those who gave nothing.
pub(super) fn expected(option: &str) -> &'static str {
    match option {
        "--window" | "--output-reserve" => "a number of tokens such as 200000, 200k or 1M",
        "--counter" => "the name of a counter such as o200k_base",
        "--conversation" | "--at" | "--restart" => "a whole number from 1",
        "--pin" | "--clear" | "--drop" => "numbers of messages such as 3,8-12",
        "--error" => "STEP=NAME such as 12=rate_limit, or STEP=WORDS",
        "--policy" => "the name of a preset such as truncate, or a FILE.toml",
        "--set" => "KNOB=NUMBER such as keep_recent=20",
        "--schedule" => "now or replay",
        "--format" => "the name of a format such as openai_chat",
        "--summarizer" => "digest or text:THE SUMMARY",
        "--size" => "WIDTHxHEIGHT such as 1440x900",
        "--theme" => "dark or light",
        "--prices" => "the name of a TOML file with [[price]] rows",
        "--price-as" => "the name of a model such as claude-sonnet-4-5",
        "--cache-time" => "usual or long",
        "--max-peak" => "a share of usable such as 0.9 or 90%",
        "--max-cost" => "dollars, or +10% for so much above the baseline",
        "--max-at-risk" => "a number, or +10% for so much above the baseline",
        "--max-overflows" => "a whole number from 0",
        "--tolerance" => "percent such as 2",
        "--vary" => "KNOB=MIN..MAX such as keep_recent=5..80, or KNOB=A,B,C",
        "--points" => "how many settings to try, such as 300",
        "--weight" => "a number from 0 (cost alone) to 1 (risk alone)",
        "--curve" => "the name of a new file that ends in .png, .svg or .csv",
        _ => "the name of a new file",
    }
}
