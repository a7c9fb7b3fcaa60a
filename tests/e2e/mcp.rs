//! The MCP server through the binary: messages as the protocol writes them, over standard streams
//! and HTTP, and the clients of others where they are installed.

mod clarify;
mod client;
mod foreign;
mod http;
mod limits;
mod stdio;

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::host;

/// The two eras of the protocol.
pub(crate) const SESSIONS: &str = "2025-11-25";
pub(crate) const STATELESS: &str = "2026-07-28";

/// A server over that database, by rules.
fn server(database: &Path, flags: &[&str]) -> Command {
    let mut command = host();
    command.args(["mcp", "--llm", "offline", "--db"]).arg(database).args(flags);
    command
}

/// The members that a request of the stateless era carries.
pub(crate) fn meta(capabilities: Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

/// The parameters of a call of a tool.
pub(crate) fn call(tool: &str, arguments: Value) -> Value {
    json!({"name": tool, "arguments": arguments})
}

/// The data that a text quotes.
fn data(result: &Value) -> Value {
    let text = result["content"][0]["text"].as_str().unwrap();
    let (_, data) = text.split_once("<data>").unwrap_or_else(|| panic!("{text}"));
    serde_json::from_str(data.strip_suffix("</data>").unwrap()).unwrap()
}
