//! What an operator wrote: `toolmark.toml`, and the files of other MCP clients. Reads text, starts nothing, knows no environment of its own.
//!
//! [`Config::read`] turns text into typed settings, or into every problem of the text at once, each with its place. Variables such as
//! `${TOKEN}` stay as they are until [`Config::expand`] is given an environment; a variable that is missing is an error.
//!
//! ```
//! use toolmark_config::{Config, Connection};
//!
//! let text = r#"
//!     [packs.github]
//!     url = "https://mcp.example.com/mcp"
//!     headers = { Authorization = "Bearer ${GITHUB_TOKEN}" }
//! "#;
//! let config = Config::read(text, "toolmark.toml")?;
//! let expanded = config.expand(&|name| (name == "GITHUB_TOKEN").then(|| "t0p".to_owned()))?;
//! let (name, connection) = &expanded.connections[0];
//! let Connection::Http(http) = connection else { panic!() };
//! assert_eq!((name.as_str(), http.headers[0].1.expose()), ("github", "Bearer t0p"));
//! assert!(config.expand(&|_| None).unwrap_err().to_string().contains("`GITHUB_TOKEN` of the pack `github` is not set"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod clients;
mod config;
pub mod env_file;
mod expand;
pub mod import;
pub mod locale;
mod read;
pub mod render;
mod schema;
pub mod sections;
mod tree;
pub mod values;
pub mod wrap;

pub use config::Config;
pub use expand::{Connection, ExpandConfigError, Expanded, Http, Missing, Stdio, UpstreamAuth};
pub use read::ReadConfigError;
pub use schema::schema;
