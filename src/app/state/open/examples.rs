//! Bundled example sessions.

use flate2::read::GzDecoder;
use std::io::Read as _;

/// A bundled session.
#[derive(Debug)]
pub struct Example {
    /// Its file name in `sample_sessions`.
    pub name: &'static str,
    /// Short description of its content.
    pub story: &'static str,
    /// The file, compressed with gzip.
    compressed: &'static [u8],
}

impl Example {
    /// Returns the content of the file; empty if the program's own file is damaged.
    pub fn content(&self) -> Vec<u8> {
        let mut content = Vec::new();
        let read = GzDecoder::new(self.compressed).read_to_end(&mut content);
        read.map(|_| content).unwrap_or_default()
    }
}

/// All examples; the first one is the default.
pub static EXAMPLES: &[Example] = &[
    Example {
        name: "giant-tool-result.json",
        story: "One large tool result overflows the window",
        compressed: include_bytes!(concat!(env!("OUT_DIR"), "/giant-tool-result.json.gz")),
    },
    Example {
        name: "many-tool-results.jsonl",
        story: "Many medium tool results, which pruning is for",
        compressed: include_bytes!(concat!(env!("OUT_DIR"), "/many-tool-results.jsonl.gz")),
    },
    Example {
        name: "slow-growth.jsonl",
        story: "Slow growth over many turns",
        compressed: include_bytes!(concat!(env!("OUT_DIR"), "/slow-growth.jsonl.gz")),
    },
    Example {
        name: "compacted.jsonl",
        story: "A session that compacted itself",
        compressed: include_bytes!(concat!(env!("OUT_DIR"), "/compacted.jsonl.gz")),
    },
    Example {
        name: "images-and-cjk.json",
        story: "Images and Chinese, Japanese and Korean text",
        compressed: include_bytes!(concat!(env!("OUT_DIR"), "/images-and-cjk.json.gz")),
    },
    Example {
        name: "handoff.json",
        story: "A quick tour: parallel calls, an error, a call that was stopped",
        compressed: include_bytes!(concat!(env!("OUT_DIR"), "/handoff.json.gz")),
    },
];

/// Returns the example with this name.
pub fn by_name(name: &str) -> Option<&'static Example> {
    EXAMPLES.iter().find(|e| e.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn examples_contain_the_sample_sessions() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions");
        for example in EXAMPLES {
            let file = fs::read(folder.join(example.name)).expect("a sample session");
            assert!(example.content() == file, "{}", example.name);
        }
    }
}
