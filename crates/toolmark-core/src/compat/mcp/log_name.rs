//! The name of an MCP server as it may stand in a log: URLs lose what could be a secret.

use super::url::{NotAUrl, split};
use crate::compat::python::{is_space, lower};

/// What stands for a URL that cannot be read, and so cannot be trusted to hold no secret.
const INVALID: &str = "<invalid-url>";

/// The transports that put their name in front of a URL.
const TRANSPORTS: [&str; 3] = ["sse: ", "streamable_http: ", "streamable-http: "];

/// The name of a server without user, password, query and fragment. A name that holds no web address stays as it is.
///
/// ```
/// # use toolmark_core::compat::mcp::server_log_name;
/// assert_eq!(server_log_name("sse: https://me:secret@H.example/mcp?key=1"), "sse: https://h.example/mcp");
/// assert_eq!(server_log_name("stdio: npx server"), "stdio: npx server");
/// ```
#[must_use]
pub fn server_log_name(name: &str) -> String {
    let (transport, address) =
        TRANSPORTS.iter().find_map(|transport| Some((*transport, name.strip_prefix(transport)?))).unwrap_or(("", name));
    match shown(address) {
        Ok(Some(shown)) => format!("{transport}{shown}"),
        Ok(None) => name.to_owned(),
        Err(Refused::Host) => format!("{transport}{INVALID}"),
        // A name that cannot even be split is only taken for a URL if it looks like one.
        Err(Refused::Split) if !transport.is_empty() || looks_like_web(address) => format!("{transport}{INVALID}"),
        Err(Refused::Split) => name.to_owned(),
    }
}

enum Refused {
    Split,
    Host,
}

/// The address without its secrets; none when it is no web address.
fn shown(address: &str) -> Result<Option<String>, Refused> {
    let parts = split(address).map_err(|NotAUrl| Refused::Split)?;
    if !matches!(parts.scheme.as_str(), "http" | "https") {
        return Ok(None);
    }
    let (host, port) = parts.host_and_port().map_err(|NotAUrl| Refused::Host)?;
    if host.is_empty() || host.contains(is_space) {
        return Err(Refused::Host);
    }
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    Ok(Some(format!("{}://{host}{port}{}", parts.scheme, parts.path)))
}

fn looks_like_web(address: &str) -> bool {
    let address = lower(address);
    address.starts_with("http://") || address.starts_with("https://")
}
