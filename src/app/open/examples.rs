//! Bundled example sessions.

/// A bundled session.
#[derive(Debug)]
pub struct Example {
    /// Its file name in `sample_sessions`.
    pub name: &'static str,
    /// Short description of its content.
    pub story: &'static str,
    /// The file.
    pub bytes: &'static [u8],
}

/// All examples; the first one is the default.
pub static EXAMPLES: &[Example] = &[
    Example {
        name: "giant-tool-result.json",
        story: "One large tool result overflows the window",
        bytes: include_bytes!("../../../sample_sessions/giant-tool-result.json"),
    },
    Example {
        name: "many-tool-results.jsonl",
        story: "Many medium tool results, which pruning is for",
        bytes: include_bytes!("../../../sample_sessions/many-tool-results.jsonl"),
    },
    Example {
        name: "slow-growth.jsonl",
        story: "Slow growth over many turns",
        bytes: include_bytes!("../../../sample_sessions/slow-growth.jsonl"),
    },
    Example {
        name: "compacted.jsonl",
        story: "A session that compacted itself",
        bytes: include_bytes!("../../../sample_sessions/compacted.jsonl"),
    },
    Example {
        name: "images-and-cjk.json",
        story: "Images and Chinese, Japanese and Korean text",
        bytes: include_bytes!("../../../sample_sessions/images-and-cjk.json"),
    },
    Example {
        name: "handoff.json",
        story: "A quick tour: parallel calls, an error, a call that was stopped",
        bytes: include_bytes!("../../../sample_sessions/handoff.json"),
    },
];

/// Returns the example with this name.
pub fn by_name(name: &str) -> Option<&'static Example> {
    EXAMPLES.iter().find(|e| e.name == name)
}
