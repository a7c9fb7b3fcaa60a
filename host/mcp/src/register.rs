//! The registration of the server with assistants and editors, as each of them reads it.

use serde_json::{Value, json};

/// A program that starts MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Claude Desktop and Claude Code.
    Claude,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    Vscode,
    /// Zed.
    Zed,
}

impl Client {
    /// The file that the registration belongs in.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Self::Claude => {
                "claude_desktop_config.json of Claude Desktop, or .mcp.json of a project"
            }
            Self::Cursor => "~/.cursor/mcp.json, or .cursor/mcp.json of a project",
            Self::Vscode => ".vscode/mcp.json of a project, or mcp.json of the user",
            Self::Zed => "~/.config/zed/settings.json",
        }
    }

    /// The registration of a server under a name: the program and its arguments.
    #[must_use]
    pub fn register(self, name: &str, command: &str, arguments: &[String]) -> Value {
        match self {
            Self::Claude | Self::Cursor => {
                json!({"mcpServers": {name: {"command": command, "args": arguments}}})
            }
            Self::Vscode => {
                json!({"servers": {name: {"type": "stdio", "command": command, "args": arguments}}})
            }
            Self::Zed => {
                let server = json!({"command": command, "args": arguments, "env": {}});
                json!({"context_servers": {name: server}})
            }
        }
    }
}
