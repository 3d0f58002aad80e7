//! Paths from strangers: reading never panics, and what stands behind a climb never hides it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolmark_core::facts::{Danger, Reading};
use toolmark_effects::paths::{Scope, read};

fuzz_target!(|path: &str| {
    let _ = read(path, Scope::Local, &["/srv".to_owned()]);
    let _ = read(path, Scope::Remote, &[]);
    if let Reading::Understood(effects) = read(&format!("../{path}"), Scope::Local, &[]) {
        assert!(effects.iter().all(|effect| effect.dangers.contains(&Danger::Escape)));
    }
});
