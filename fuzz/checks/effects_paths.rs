//! Paths from strangers: reading never panics, and what stands behind a climb never hides it.

use toolmark_core::facts::{Danger, Reading};
use toolmark_effects::paths::{Scope, read};

/// Holds for every input.
pub(crate) fn check(path: &str) {
    let _ = read(path, Scope::Local, &["/srv".to_owned()]);
    let _ = read(path, Scope::Remote, &[]);
    if let Reading::Understood(effects) = read(&format!("../{path}"), Scope::Local, &[]) {
        assert!(effects.iter().all(|effect| effect.dangers.contains(&Danger::Escape)));
    }
}
