//! The roles of messages in OpenAI's format.

/// Roles of messages, including `exit`, which mini-SWE-agent appends at the end.
pub(crate) const ROLES: [&str; 7] =
    ["system", "developer", "user", "assistant", "tool", "function", "exit"];
