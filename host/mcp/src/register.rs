//! The registration of the server with assistants and editors, as each of them reads it.

use std::collections::BTreeMap;

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

    /// The registration of a server under a name: the program, its arguments, and the variables of
    /// its environment.
    #[must_use]
    pub fn register(
        self,
        name: &str,
        command: &str,
        arguments: &[String],
        variables: &BTreeMap<String, String>,
    ) -> Value {
        let mut server = json!({"command": command, "args": arguments});
        if !variables.is_empty() || self == Self::Zed {
            server["env"] = json!(variables);
        }
        if self == Self::Vscode {
            server["type"] = "stdio".into();
        }
        let list = match self {
            Self::Claude | Self::Cursor => "mcpServers",
            Self::Vscode => "servers",
            Self::Zed => "context_servers",
        };
        json!({list: {name: server}})
    }
}
