//! What calls are judged in: tools, the configuration where there is one, the lock where there is one.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use toolmark_config::Config;
use toolmark_core::behavior::{Behavior, KnownBehavior};
use toolmark_core::catalog::Catalog;
use toolmark_core::gate::Preset;
use toolmark_core::lock::Lock;
use toolmark_core::pins::Pins;
use toolmark_core::tool::Tool;
use toolmark_gateway::assemble::{self, Strictness, Surroundings};
use toolmark_gateway::labels::Labels;
use toolmark_runtime::Workspace;

use crate::failure::Failure;
use crate::{input, output, place};

/// The configuration of a project.
pub(crate) const CONFIG: &str = "toolmark.toml";

/// A configuration and where it stands.
pub(crate) struct Written {
    pub(crate) config: Config,
    pub(crate) path: Option<PathBuf>,
    /// Of the text that was read.
    pub(crate) digest: [u8; 32],
}

impl Written {
    /// The file that was named, or `toolmark.toml` where there is one, or nothing but defaults.
    pub(crate) fn find(path: Option<&Path>) -> Result<Self, Failure> {
        let path = match path {
            Some(path) => path.to_owned(),
            None if Path::new(CONFIG).is_file() => {
                output::note("reading toolmark.toml");
                PathBuf::from(CONFIG)
            }
            None => return Ok(Self { config: Config::default(), path: None, digest: [0; 32] }),
        };
        Self::read(path)
    }

    /// The file at a path.
    pub(crate) fn read(path: PathBuf) -> Result<Self, Failure> {
        let document = input::document(&path)?;
        let config = Config::read(document.text(), &output::safe(&path.display().to_string()))
            .map_err(|error| Failure::Problems(error.problems().to_vec()))?;
        Ok(Self { config, path: Some(path), digest: Sha256::digest(document.text()).into() })
    }

    /// Where its lock is, if there is one.
    pub(crate) fn lock_path(&self) -> PathBuf {
        self.directory().join(input::LOCK)
    }

    /// What was approved: the lock beside the configuration.
    pub(crate) fn lock(&self) -> Result<Option<Lock>, Failure> {
        let path = self.lock_path();
        if self.path.is_none() || !path.is_file() {
            return Ok(None);
        }
        input::lock(&path).map(Some)
    }

    /// What the operator says a tool does.
    pub(crate) fn said(&self, tool: &Tool) -> Option<Behavior> {
        let (_, pack) = self.config.packs.iter().find(|(name, _)| Some(name.as_str()) == tool.pack())?;
        pack.tools.get(tool.raw())?.behavior
    }

    /// What people call things, files of translations included.
    pub(crate) fn labels(&self) -> Result<Labels, Failure> {
        Labels::read(&self.config, self.directory()).map_err(Failure::Problems)
    }

    /// What is known of a tool, the operator's word included.
    pub(crate) fn known(&self, tool: &Tool) -> KnownBehavior {
        KnownBehavior::of(tool.definition(), self.said(tool))
    }

    /// The directory that its paths start from.
    pub(crate) fn directory(&self) -> &Path {
        self.path.as_deref().and_then(Path::parent).unwrap_or(Path::new(""))
    }

    /// Judges calls of these tools by it.
    pub(crate) fn workspace(
        mut self,
        catalog: Catalog,
        lock: Option<&Path>,
        preset: Option<Preset>,
    ) -> Result<Workspace, Failure> {
        if let Some(preset) = preset {
            self.config.policy.preset = preset;
        }
        let lock = input::lock_if_any(lock)?;
        let environment = |name: &str| std::env::var(name).ok();
        let (directory, baselines) = (self.directory(), place::baselines(&self)?);
        let surroundings = Surroundings { directory, environment: &environment, baselines: &baselines, effects: None };
        assemble::workspace(&self.config, catalog, Pins::new(lock), &surroundings, Strictness::Checking)
            .map_err(|error| Failure::Problems(error.problems().to_vec()))
    }
}
