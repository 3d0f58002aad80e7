//! Does a path leave the place that a tool is meant for, or reach what must stay secret? Reads the text of a path, never a disk.

mod normal;
mod secret;
mod system;

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect, Reading};
use toolmark_core::text::visible;

pub(crate) use secret::{is_secret, is_secret_variable};
pub(crate) use system::{is_root, is_system};

use normal::{Normal, normalize};

/// What the paths of a tool name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Files on the disk of the machine that runs the tool.
    Local,
    /// Files elsewhere, such as in a repository: an absolute path says nothing, a traversal still does.
    Remote,
}

/// The longest path that is read. No file system takes more than 4,096 bytes.
const MAX_BYTES: usize = 8192;

/// Reads one path. Whether the tool changes what stands there is not the path's to say, so the effect is always pure.
#[must_use]
pub fn read(path: &str, scope: Scope, roots: &[String]) -> Reading {
    if path.len() > MAX_BYTES {
        return Reading::CannotTell { reason: "the path is longer than any file system takes".into() };
    }
    let shown = visible(path, 120);
    let mut effect = Effect::pure(Action::Read, shown.clone()).on([shown]);
    let normal = normalize(path);
    if escapes(&normal, scope, roots) {
        effect = effect.with(Danger::Escape);
    }
    if is_secret(&normal.text) {
        effect = effect.with(Danger::Secret);
    }
    if is_root(&normal.text) || is_root(path.trim()) {
        effect = effect.unbounded();
    }
    Reading::Understood(vec![effect])
}

fn escapes(path: &Normal, scope: Scope, roots: &[String]) -> bool {
    if path.hidden || path.climbs || path.network {
        return true;
    }
    match scope {
        Scope::Remote => false,
        Scope::Local if roots.is_empty() => path.foreign_home || is_system(&path.text),
        Scope::Local => (path.absolute || path.home) && !roots.iter().any(|root| is_below(&path.text, root)),
    }
}

fn is_below(path: &str, root: &str) -> bool {
    let root = normalize(root).text;
    match path.strip_prefix(root.trim_end_matches('/')) {
        Some(rest) => rest.is_empty() || rest.starts_with('/'),
        None => false,
    }
}

#[cfg(test)]
mod tests;
