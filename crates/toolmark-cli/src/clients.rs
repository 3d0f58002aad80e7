//! The files of other clients on this machine: where they are looked for, and how they are written without losing anything.

use std::path::{Path, PathBuf};

use clap::Args;
use toolmark_config::clients::{Client, Location, Os, Scope, locations};
use toolmark_config::import::Surroundings;

/// Where clients' files are looked for.
#[derive(Debug, Args)]
pub(crate) struct Places {
    /// The home directory [default: that of the user]
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,

    /// The directory of the project
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
}

impl Places {
    fn home(&self) -> Option<PathBuf> {
        self.home.clone().or_else(std::env::home_dir)
    }

    /// Everything that may hold servers, of the user and of the project; the directory of the project is the current one where none
    /// was named.
    pub(crate) fn all(&self, client: Client) -> Vec<Location> {
        let project = self.project.clone().unwrap_or_default();
        locations(client, self.home().as_deref(), Some(&project), Os::here())
    }

    /// What a command that changes a file is about: the files of the project where one was named, else those of the user.
    pub(crate) fn chosen(&self, client: Client) -> Vec<Location> {
        let scope = if self.project.is_some() { Scope::Project } else { Scope::User };
        self.all(client).into_iter().filter(|location| location.scope == scope).collect()
    }

    /// What texts such as `${workspaceFolder}` stand for. Files of the user know no project.
    pub(crate) fn surroundings(&self, scope: Scope) -> Surroundings {
        let project = (scope == Scope::Project || self.project.is_some())
            .then(|| absolute(&self.project.clone().unwrap_or_else(|| PathBuf::from("."))));
        Surroundings { home: self.home().map(|home| absolute(&home)), project, windows: Os::here() == Os::Windows }
    }
}

/// A path that means the same from everywhere.
pub(crate) fn absolute(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // Without the dots that a relative path leaves behind.
    whole.components().collect::<PathBuf>().display().to_string()
}
