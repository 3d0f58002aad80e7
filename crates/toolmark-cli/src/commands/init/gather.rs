//! All servers of all clients, under names that differ: the same server of two clients is one pack, another one of the same name gets
//! the client's name behind its own.

use toolmark_config::clients::{Client, Location, Scope};
use toolmark_config::import::{ImportedPack, Names, Required, SwitchedOff, import_among, switched_off};
use toolmark_config::render::{Secrets, holds_secrets, render};
use toolmark_config::sections::Pack;
use toolmark_config::wrap::is_toolmark;
use toolmark_core::names::PackName;
use toolmark_core::problem::Problem;

use crate::clients::Places;
use crate::failure::Failure;
use crate::{input, output};

/// What was found.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) packs: Vec<Found>,
    pub(super) required: Vec<Required>,
    pub(super) notes: Vec<String>,
    pub(super) problems: Vec<Problem>,
    /// The variables of all files.
    names: Names,
}

/// One server and the files in which it stands.
pub(super) struct Found {
    pub(super) name: PackName,
    pub(super) key: String,
    pub(super) from: Vec<String>,
    pack: Pack,
}

/// Reads the files of every client. What cannot be read is noted, and the rest goes on.
pub(super) fn gather(places: &Places) -> Gathered {
    let mut gathered = Gathered::default();
    for client in Client::ALL {
        for location in places.all(*client) {
            if location.path.is_file() {
                gathered.read(&location, places);
            }
        }
    }
    gathered
}

/// What Claude Code does not use of a project's own file; it keeps that in the file of the user.
fn off(location: &Location, places: &Places) -> SwitchedOff {
    if location.client != Client::ClaudeCode || location.scope != Scope::Project {
        return SwitchedOff::default();
    }
    let all = places.all(Client::ClaudeCode);
    let of_user = all.iter().find(|other| other.scope == Scope::User && other.path.is_file());
    let document = of_user.and_then(|of_user| input::document(&of_user.path).ok());
    document.map(|document| switched_off(document.text(), &places.surroundings(Scope::Project))).unwrap_or_default()
}

impl Gathered {
    fn read(&mut self, location: &Location, places: &Places) {
        let document = match input::document(&location.path) {
            Ok(document) => document,
            Err(Failure::Refused(_, report)) => return self.problems.push(Problem::refused(*report, None)),
            Err(Failure::Problems(problems)) => return self.problems.extend(problems),
            Err(Failure::Output(_)) => return,
        };
        let label = output::safe(document.label());
        // Claude Code keeps the servers of single projects in the file of the user; those of this project are meant too.
        let scope = if location.client == Client::ClaudeCode { Scope::Project } else { location.scope };
        let surroundings = places.surroundings(scope);
        let imported = import_among(location.client, document.text(), &label, &surroundings, &mut self.names);
        let imported = match imported {
            Ok(imported) => imported,
            Err(error) => return self.problems.extend(error.problems().iter().cloned()),
        };
        let off = off(location, places);
        for mut found in imported.packs {
            found.pack.enabled &= !off.holds(&found.key);
            if is_toolmark(&found.key, &found.pack) {
                self.notes.push(format!("{label} already goes through Toolmark"));
            } else {
                self.add(location.client, &label, found);
            }
        }
        for required in imported.required {
            if !self.required.iter().any(|known| known.variable == required.variable) {
                self.required.push(required);
            }
        }
        self.notes.extend(imported.notes.into_iter().map(|note| format!("{}: {}", note.place, note.text)));
        self.problems.extend(imported.problems);
    }

    fn add(&mut self, client: Client, label: &str, found: ImportedPack) {
        let ImportedPack { name, key, pack, .. } = found;
        let file = format!("{} ({label})", client.title());
        let same = self.packs.iter_mut().find(|known| known.key == key && known.pack == pack);
        if let Some(same) = same {
            return same.from.push(file);
        }
        let free = self.free(&name, client);
        if free != name {
            let key = output::safe(&key);
            self.notes
                .push(format!("`{key}` of {file} is another server than the pack `{name}`, so it is named `{free}`"));
        }
        self.packs.push(Found { name: free, key, from: vec![file], pack });
    }

    /// The name itself, or with the client behind it, or with a number behind that.
    fn free(&self, name: &PackName, client: Client) -> PackName {
        let taken = |name: &PackName| self.packs.iter().any(|known| known.name == *name);
        let long = [name.to_string(), format!("{name}-{client}")];
        let numbered = (2..1000).map(|number| format!("{name}-{client}-{number}"));
        let mut names = long.into_iter().chain(numbered).filter_map(|text| PackName::slug(&text).ok());
        names.find(|name| !taken(name)).unwrap_or_else(|| name.clone())
    }

    pub(super) fn holds_secrets(&self) -> bool {
        self.packs.iter().any(|found| holds_secrets(&found.name, &found.pack))
    }

    /// The whole configuration.
    pub(super) fn text(&self, secrets: Secrets) -> String {
        let mut text = String::from(
            "# Written by `toolmark init`. What can stand here is in docs/configuration.md.\nversion = 1\n",
        );
        for found in &self.packs {
            text.push('\n');
            for file in &found.from {
                text.push_str(&format!("# `{}` of {file}\n", output::safe(&found.key)));
            }
            text.push_str(&render(&found.name, &found.pack, secrets));
        }
        text
    }
}
