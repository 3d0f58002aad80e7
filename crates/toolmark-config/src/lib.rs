//! What an operator wrote: `toolmark.toml`, and the files of other MCP clients. Reads text, starts nothing, knows no environment of its own.
