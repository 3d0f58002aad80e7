//! What the fixture can be told on its command line: who it is, how many tools it has, and which definitions have changed since yesterday.

use std::str::FromStr;

use clap::{Args, ValueEnum};

/// What the fixture offers and how it calls itself.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The name it gives itself
    #[arg(long, default_value = "toolmark-fixture")]
    pub name: String,
    /// Generic tools to add, named `generic_0001` and so on
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub tools: usize,
    /// Lists a tool under another name, as if its server had renamed it
    #[arg(long, value_name = "TOOL=NAME")]
    pub rename: Vec<Pair>,
    /// Gives a tool another description, as if its server had changed it
    #[arg(long, value_name = "TOOL=TEXT")]
    pub describe: Vec<Pair>,
    /// How many items one page of a list holds; everything in one page if left out
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub page_size: Option<u32>,
    /// Which clients it knows
    #[arg(long, value_enum, default_value_t = Era::Both)]
    pub era: Era,
    /// Answer new clients with plain JSON where nothing has to be said before the result; with a stream otherwise
    #[arg(long)]
    pub json: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            name: "toolmark-fixture".to_owned(),
            tools: 0,
            rename: Vec::new(),
            describe: Vec::new(),
            page_size: None,
            era: Era::Both,
            json: false,
        }
    }
}

/// The clients that a server knows: those with sessions, until 2025-11-25, those without, from 2026-07-28 on, or both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Era {
    /// Every client.
    #[default]
    Both,
    /// Only clients that begin with `initialize`.
    Old,
    /// Only clients whose requests stand alone.
    New,
}

/// A tool, and what it is to have instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The tool as it is named without any option.
    pub tool: String,
    /// Its new name, or its new description.
    pub value: String,
}

/// A text that is not `TOOL=VALUE`.
#[derive(Debug, thiserror::Error)]
#[error("expected `TOOL=VALUE`, found `{0}`")]
pub struct ParsePairError(String);

impl FromStr for Pair {
    type Err = ParsePairError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some((tool, value)) if !tool.is_empty() && !value.is_empty() => {
                Ok(Self { tool: tool.to_owned(), value: value.to_owned() })
            }
            _ => Err(ParsePairError(text.to_owned())),
        }
    }
}
