//! Names of tools that an MCP server provides.

/// Returns the MCP server in the name of a tool: `filesystem` for `mcp__filesystem__read_file`.
pub(crate) fn server_of_tool(tool: &str) -> Option<&str> {
    let (server, tool) = tool.strip_prefix("mcp__")?.split_once("__")?;
    (!server.is_empty() && !tool.is_empty()).then_some(server)
}

#[cfg(test)]
mod tests {
    use super::server_of_tool;

    #[test]
    fn finds_the_server_in_the_name_of_a_tool() {
        assert_eq!(server_of_tool("mcp__filesystem__read_file"), Some("filesystem"));
        assert_eq!(server_of_tool("mcp__my_server__a__b"), Some("my_server"));
        for name in ["Read", "mcp__", "mcp__server", "mcp____read", "mcp__server__"] {
            assert_eq!(server_of_tool(name), None, "{name}");
        }
    }
}
