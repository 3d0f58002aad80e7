//! The tools that a provider brings along, and those it only has a fixed shape for and that the host runs.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::item::Raw;

/// A tool whose shape the provider defines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "tool", rename_all = "snake_case")]
pub enum HostedTool {
    /// The provider searches the web.
    WebSearch(WebSearch),
    /// The provider searches files that it holds.
    FileSearch(FileSearch),
    /// The provider runs code; the fields are its settings, such as `container`.
    CodeInterpreter {
        /// The settings as they go over the wire.
        config: Map<String, Value>,
    },
    /// The provider draws; the fields are its settings.
    ImageGeneration {
        /// The settings as they go over the wire.
        config: Map<String, Value>,
    },
    /// The provider calls an MCP server by itself; the fields are its settings, such as `server_label`.
    Mcp {
        /// The settings as they go over the wire.
        config: Map<String, Value>,
    },
    /// The model drives a computer that the host holds.
    Computer(Computer),
    /// The model runs commands: with the host, or in a container of the provider.
    Shell {
        /// Where; with the host if left out.
        environment: Option<Map<String, Value>>,
    },
    /// The older form of running commands with the host.
    LocalShell,
    /// The model changes files with the host.
    ApplyPatch,
    /// The model searches for tools that are loaded late.
    ToolSearch(ToolSearch),
    /// The model writes programs that call tools.
    ProgrammaticToolCalling,
    /// A tool in the words of one provider, sent as it is.
    Other(Raw),
}

/// How the web is searched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WebSearch {
    /// Which sites.
    pub filters: Option<Value>,
    /// Where the user is.
    pub user_location: Option<Value>,
    /// How much is read: `low`, `medium` or `high`; `medium` if left out.
    pub search_context_size: Option<String>,
    /// Whether pages are fetched, or only a cache is read.
    pub external_web_access: Option<bool>,
    /// What kinds of content.
    pub search_content_types: Option<Vec<String>>,
    /// How images are treated.
    pub image_settings: Option<Value>,
}

/// How files are searched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileSearch {
    /// Where.
    pub vector_store_ids: Vec<String>,
    /// How many results, 1 to 50.
    pub max_num_results: Option<u32>,
    /// How they are ranked.
    pub ranking_options: Option<Value>,
    /// Which files.
    pub filters: Option<Value>,
    /// Whether the answer shows what was found.
    pub include_search_results: bool,
}

/// The screen of a computer. Only preview models are told; others ask for a screenshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Computer {
    /// `browser`, `mac`, `windows`, `ubuntu` or `linux`.
    pub environment: Option<String>,
    /// Its width and height.
    pub display: Option<(u32, u32)>,
}

/// How tools are searched for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolSearch {
    /// What the model is told about it.
    pub description: Option<String>,
    /// Who searches: `server` is the only one that works.
    pub execution: Option<String>,
    /// The schema of a search.
    pub parameters: Option<Value>,
}

impl HostedTool {
    /// The name of the kind, which is the wire type of all but the newer computer.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::WebSearch(_) => "web_search",
            Self::FileSearch(_) => "file_search",
            Self::CodeInterpreter { .. } => "code_interpreter",
            Self::ImageGeneration { .. } => "image_generation",
            Self::Mcp { .. } => "mcp",
            Self::Computer(_) => "computer_use_preview",
            Self::Shell { .. } => "shell",
            Self::LocalShell => "local_shell",
            Self::ApplyPatch => "apply_patch",
            Self::ToolSearch(_) => "tool_search",
            Self::ProgrammaticToolCalling => "programmatic_tool_calling",
            Self::Other(raw) => raw.kind(),
        }
    }

    /// True when the provider, not the host, does what the tool does.
    pub(crate) fn is_run_by_provider(&self) -> bool {
        match self {
            Self::CodeInterpreter { .. } | Self::Mcp { .. } | Self::ProgrammaticToolCalling | Self::Other(_) => true,
            Self::Shell { environment } => {
                let kind = environment.as_ref().and_then(|environment| environment.get("type")).and_then(Value::as_str);
                kind.is_some_and(|kind| kind != "local")
            }
            // Searching and drawing change nothing that a second attempt could change twice.
            Self::WebSearch(_) | Self::FileSearch(_) | Self::ImageGeneration { .. } | Self::ToolSearch(_) => false,
            Self::Computer(_) | Self::LocalShell | Self::ApplyPatch => false,
        }
    }
}
