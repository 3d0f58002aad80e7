use std::thread;

use serde_json::json;
use toolmark_core::catalog::Catalog;
use toolmark_testkit::catalog;

use super::*;
use crate::settings::Settings;

const TOOLS: &str = r#"[
    {"name":"run_command","description":"Run a shell command","inputSchema":{"type":"object","properties":{"command":{"type":"string"}}}},
    {"name":"exec_command","description":"Run a shell command","inputSchema":{"type":"object","properties":{"command":{"type":"string"}}}},
    {"name":"ping","description":"Returns pong","inputSchema":{"type":"object"}}
]"#;

fn tools() -> Catalog {
    catalog(&[("machine", TOOLS)])
}

fn analyzer(catalog: &Catalog, name: &str, settings: Settings) -> Analyzer {
    Analyzer::of(catalog.find(name, |_| true).unwrap(), settings)
}

fn small(entries: usize, bytes: usize) -> EffectCache {
    EffectCache::new(CacheLimits { entries, bytes })
}

#[test]
fn a_call_that_is_repeated_is_not_read_again() {
    let catalog = tools();
    let run = analyzer(&catalog, "machine.run_command", Settings::default());
    let cache = EffectCache::default();
    let arguments = json!({"command": "rm -rf /srv/data"});
    let first = analyze_cached(&cache, &run, &arguments);
    assert!(Arc::ptr_eq(&first, &analyze_cached(&cache, &run, &arguments.clone())));
    assert_eq!(*first, run.analyze(&arguments));
    assert_eq!(cache.len(), 1);
    assert!(cache.bytes() > 0);
}

#[test]
fn another_tool_other_settings_or_other_arguments_are_another_call() {
    let catalog = tools();
    let run = analyzer(&catalog, "machine.run_command", Settings::default());
    let exec = analyzer(&catalog, "machine.exec_command", Settings::default());
    let rooted =
        analyzer(&catalog, "machine.run_command", Settings { roots: vec!["/srv".into()], ..Settings::default() });
    let cache = EffectCache::default();
    for analyzer in [&run, &exec, &rooted] {
        for arguments in [json!({"command": "ls"}), json!({"command": "ls "}), json!({"command": ["ls"]}), json!("ls")]
        {
            assert_eq!(*analyze_cached(&cache, analyzer, &arguments), analyzer.analyze(&arguments));
        }
    }
    assert_eq!(cache.len(), 12);
}

#[test]
fn numbers_that_are_written_differently_are_not_taken_for_each_other() {
    let catalog = tools();
    let run = analyzer(&catalog, "machine.run_command", Settings::default());
    assert_ne!(run.recognize(&json!({"limit": 1})), run.recognize(&json!({"limit": 1.0})));
    assert_ne!(run.recognize(&json!({"limit": 1})), run.recognize(&json!({"limit": "1"})));
}

#[test]
fn entries_and_bytes_stay_within_their_limits() {
    let catalog = tools();
    let run = analyzer(&catalog, "machine.run_command", Settings::default());
    for (cache, entries, bytes) in
        [(small(64, usize::MAX), 64, usize::MAX), (small(10_000, 64 * 1024), 10_000, 64 * 1024), (small(0, 0), 0, 0)]
    {
        for n in 0..2_000 {
            let arguments = json!({"command": format!("cat file{n}.txt")});
            assert_eq!(*analyze_cached(&cache, &run, &arguments), run.analyze(&arguments));
            assert!(cache.len() <= entries && cache.bytes() <= bytes, "{} {}", cache.len(), cache.bytes());
        }
    }
}

#[test]
fn what_is_used_stays_longer_than_what_is_not() {
    let catalog = tools();
    let run = analyzer(&catalog, "machine.run_command", Settings::default());
    let cache = small(16 * 8, usize::MAX);
    let often = json!({"command": "git status"});
    let first = analyze_cached(&cache, &run, &often);
    for n in 0..2_000 {
        let _ = analyze_cached(&cache, &run, &json!({"command": format!("cat file{n}.txt")}));
        assert!(Arc::ptr_eq(&first, &analyze_cached(&cache, &run, &often)), "{n}");
    }
}

#[test]
fn what_carries_nothing_and_what_is_too_long_is_not_kept() {
    let catalog = tools();
    let cache = EffectCache::default();
    let ping = analyzer(&catalog, "machine.ping", Settings::default());
    assert!(analyze_cached(&cache, &ping, &json!({"a": 1})).is_empty());
    let run = analyzer(&catalog, "machine.run_command", Settings::default());
    let long = json!({"command": "a".repeat(5_000_000)});
    assert!(analyze_cached(&cache, &run, &long).unclear().next().is_some());
    assert!(cache.is_empty());
}

#[test]
fn threads_share_a_cache() {
    let catalog = tools();
    let run = analyzer(&catalog, "machine.run_command", Settings::default());
    let cache = small(256, 1024 * 1024);
    thread::scope(|scope| {
        for thread in 0..4 {
            let (run, cache) = (&run, &cache);
            scope.spawn(move || {
                for n in 0..500 {
                    let arguments = json!({"command": format!("cat file{}.txt", (n * (thread + 1)) % 300)});
                    assert_eq!(*analyze_cached(cache, run, &arguments), run.analyze(&arguments));
                }
            });
        }
    });
    assert!(cache.len() <= 256);
}

#[test]
fn arguments_are_recognized_to_their_last_byte_or_not_at_all() {
    let catalog = tools();
    let run = analyzer(&catalog, "machine.run_command", Settings::default());
    for length in (0..2_000).chain(65_000..66_000).step_by(7) {
        let of = |last: char| run.recognize(&json!({"command": format!("{}{last}", "a".repeat(length))}));
        let (one, other) = (of('b'), of('c'));
        assert!(one != other || one.is_none(), "{length}");
        // Fifteen bytes stand around the letters.
        assert_eq!(one.is_none(), length + 15 > 64 * 1024, "{length}");
    }
}
