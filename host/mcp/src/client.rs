//! The client of a call, by which slots are shared.

use std::net::IpAddr;

use http::request::Parts;
use rmcp::RoleServer;
use rmcp::service::RequestContext;

/// The address of the other side, beside the parts of an HTTP request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Remote(pub(crate) IpAddr);

/// The header with the id of a session, in the protocol before 2026-07-28.
pub(crate) const SESSION: &str = "mcp-session-id";
/// The limit on the length of a client's own name, in characters; the rest is ignored.
const NAME: usize = 64;

/// Returns whether clients are told apart: by their sessions, or as the only one at standard
/// streams. Else anyone may claim the name of another.
pub(crate) fn is_told_apart(context: &RequestContext<RoleServer>) -> bool {
    let parts = context.extensions.get::<Parts>();
    parts.is_none_or(|parts| parts.headers.contains_key(SESSION))
}

/// Names the client of a call: its address with its session, or with the name that it gives itself
/// where there are no sessions. Over standard streams there is one client. The name serves only to
/// share slots fairly, since anyone with the token may claim any name.
pub(crate) fn name(context: &RequestContext<RoleServer>) -> String {
    let Some(parts) = context.extensions.get::<Parts>() else {
        return "stdio".to_owned();
    };
    let address = parts.extensions.get::<Remote>().map(|remote| remote.0.to_string());
    let session = parts.headers.get(SESSION).and_then(|id| id.to_str().ok());
    let own = match session {
        Some(id) => id.chars().take(NAME).collect(),
        None => context
            .client_info()
            .map(|client| client.name.chars().take(NAME).collect::<String>())
            .unwrap_or_default(),
    };
    format!("{} {own}", address.unwrap_or_default())
}
