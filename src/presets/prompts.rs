//! Prompts that ask for summaries, a file each in `assets/prompts`. Real systems bring their own with their actions.

/// A bundled prompt.
#[derive(Debug)]
pub struct Prompt {
    /// Name in presets: the file's, without its ending.
    pub name: &'static str,
    /// What it says.
    pub text: &'static str,
}

/// Every bundled prompt.
pub static PROMPTS: &[Prompt] = &[Prompt {
    name: "summarize",
    text: include_str!("../../assets/prompts/summarize.md"),
}];

/// The text of a prompt; none if there is no such prompt.
pub fn prompt(name: &str) -> Option<&'static str> {
    let found = PROMPTS.iter().find(|prompt| prompt.name == name);
    found.map(|prompt| prompt.text)
}
