//! Summary prompts, one file each in `assets/prompts`. Real systems bring their own with their actions.

/// A bundled prompt.
#[derive(Debug)]
pub struct BundledPrompt {
    /// Name in presets: the file name without its extension.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// Every bundled prompt.
pub static PROMPTS: &[BundledPrompt] =
    &[BundledPrompt { name: "summarize", text: include_str!("../assets/prompts/summarize.md") }];

/// Returns the text of a prompt; `None` if it does not exist.
pub fn prompt(name: &str) -> Option<&'static str> {
    let found = PROMPTS.iter().find(|prompt| prompt.name == name);
    found.map(|prompt| prompt.text)
}
