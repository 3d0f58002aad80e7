//! What must hold for every sequence of changes, not only for those somebody thought of.
#![expect(clippy::expect_used, reason = "a test that cannot go on must stop")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use toolmark_core::exposure::Published;
use toolmark_store::audit::{AuditFilter, AuditRecord, Bodies, Order, Outcome, ResultDigest, SinkSettings, Timings};
use toolmark_store::{KnownNames, Micros, NameScope, PublishError, Saved, Settings, Store};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

async fn store() -> Store {
    Store::in_memory(&Settings::new(|| Micros::new(0))).await.expect("a store")
}

#[derive(Clone, Debug)]
enum Step {
    Remember(u8, u8),
    Former(u8, u8),
    Renamed(u8, u8),
    Save,
}

fn step() -> impl Strategy<Value = Step> {
    let small = 0u8..6;
    prop_oneof![
        (small.clone(), small.clone()).prop_map(|(tool, name)| Step::Remember(tool, name)),
        (small.clone(), small.clone()).prop_map(|(tool, name)| Step::Former(tool, name)),
        (small.clone(), small).prop_map(|(old, new)| Step::Renamed(old, new)),
        Just(Step::Save),
    ]
}

fn apply(published: &mut Published, step: &Step) {
    let (tool, name) = (|at: &u8| format!("pack.tool{at}"), |at: &u8| format!("name{at}"));
    match step {
        Step::Remember(at, to) => published.remember(&tool(at), &name(to)),
        Step::Former(at, to) => published.remember_former(&tool(at), &name(to)),
        Step::Renamed(old, new) => published.renamed(&tool(old), &tool(new)),
        Step::Save => {}
    }
}

/// Current names, each with its tool, or none if two tools share one; and the former names that no current one hides.
type Names = (BTreeMap<String, String>, BTreeMap<String, String>);

fn meaning(published: &Published) -> Option<Names> {
    let mut current = BTreeMap::new();
    for (tool, name) in published.current() {
        if current.insert(name.to_owned(), tool.to_owned()).is_some() {
            return None;
        }
    }
    let former = published.former().filter(|(name, _)| !current.contains_key(*name));
    let former = former.map(|(name, tool)| (name.to_owned(), tool.to_owned())).collect();
    Some((current, former))
}

fn optional(texts: &'static str) -> impl Strategy<Value = Option<Arc<str>>> {
    proptest::option::of(texts.prop_map(Arc::from))
}

fn record() -> impl Strategy<Value = AuditRecord> {
    let texts = (optional("\\PC{0,20}"), optional("[\\x00-\\x7f]{0,20}"), "\\PC{0,40}", optional("\\PC{0,9}"));
    let numbers = (any::<u128>(), any::<i64>(), any::<Option<u64>>(), any::<[u64; 3]>());
    let rest = (
        any::<Option<(bool, [u8; 32])>>(),
        any::<Option<[u8; 16]>>(),
        proptest::sample::select(Outcome::ALL),
        any::<bool>(),
    );
    (texts, numbers, rest).prop_map(|(texts, numbers, rest)| {
        let [identify, dispatch, total] = numbers.3;
        let bodies = rest.3.then(|| Box::new(Bodies { arguments: Some("{}".into()), result: texts.0.clone() }));
        AuditRecord {
            caller: texts.0,
            session: texts.1,
            task: texts.3,
            result: rest
                .0
                .map(|(long, bytes)| if long { ResultDigest::Blake3(bytes) } else { ResultDigest::Sha256(bytes) }),
            result_size: numbers.2,
            trace: rest.1,
            timings: Timings { identify, dispatch, total, ..Timings::default() },
            bodies,
            ..AuditRecord::new(uuid::Uuid::from_u128(numbers.0), Micros::new(numbers.1), texts.2.into(), rest.2)
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn names_mean_the_same_after_they_were_kept(steps in proptest::collection::vec(step(), 0..40)) {
        runtime().block_on(async {
            let (store, scope) = (store().await, NameScope::new("generic", "tm"));
            let mut known = KnownNames::default();
            let mut published = Published::default();
            for step in steps.iter().chain([&Step::Save]) {
                apply(&mut published, step);
                if !matches!(step, Step::Save) {
                    continue;
                }
                let wanted = meaning(&published);
                match store.save_names(&scope, &known, &published).await {
                    Ok(Saved::Done(saved)) => {
                        prop_assert_eq!(&store.names(&scope).await.expect("names"), &saved);
                        prop_assert_eq!(meaning(&saved.published), wanted);
                        known = saved;
                    }
                    Ok(Saved::Outdated(_)) => prop_assert!(false, "nobody else saves here"),
                    Err(PublishError::Twice(_)) => {
                        prop_assert_eq!(wanted, None);
                        prop_assert_eq!(&store.names(&scope).await.expect("names"), &known);
                    }
                    Err(error) => prop_assert!(false, "{}", error),
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn any_record_comes_back_as_it_was_and_its_chain_is_whole(records in proptest::collection::vec(record(), 1..40)) {
        runtime().block_on(async {
            let store = store().await;
            let sink = store.audit_sink(SinkSettings { batch: 11, ..SinkSettings::new("n") });
            for record in &records {
                sink.record(record.clone()).await.expect("taken");
            }
            sink.close().await.expect("written");
            let filter = AuditFilter { bodies: true, ..AuditFilter::default() };
            let mut found = store.audit(filter, Order::Newest).all().await.expect("records");
            let times: Vec<Micros> = found.iter().map(|entry| entry.record.time).collect();
            prop_assert!(times.is_sorted_by(|one, next| one >= next));
            found.sort_by_key(|entry| entry.link.seq);
            let read: Vec<AuditRecord> = found.into_iter().map(|entry| entry.record).collect();
            prop_assert_eq!(read, records);
            let verification = store.verify_audit(&[]).await.expect("verified");
            prop_assert!(verification.is_whole(), "{:?}", verification.breaks);
            Ok(())
        })?;
    }

    #[test]
    fn whatever_goes_the_rest_is_whole(times in proptest::collection::vec(0i64..20, 1..60), cuts in proptest::collection::vec(0i64..25, 1..5)) {
        runtime().block_on(async {
            let store = store().await;
            let sink = store.audit_sink(SinkSettings::new("n"));
            for time in &times {
                let record = AuditRecord::new(uuid::Uuid::nil(), Micros::new(*time), "t".into(), Outcome::Ok);
                sink.record(record).await.expect("taken");
            }
            sink.close().await.expect("written");
            let mut left: &[i64] = &times;
            for cut in cuts {
                let gone = left.iter().take_while(|time| **time < cut).count();
                prop_assert_eq!(store.trim_audit(Micros::new(cut)).await.expect("trimmed"), gone as u64);
                left = &left[gone..];
                let verification = store.verify_audit(&[]).await.expect("verified");
                prop_assert!(verification.is_whole(), "{:?}", verification.breaks);
                prop_assert_eq!(verification.rows(), left.len() as u64);
            }
            Ok(())
        })?;
    }

    #[test]
    fn every_scope_of_names_is_its_own(scopes in proptest::collection::btree_set(("[a-c]{0,2}", "[a-c]{0,2}"), 1..6)) {
        runtime().block_on(async {
            let store = store().await;
            for (profile, server) in &scopes {
                let mut published = Published::default();
                published.remember("p.t", &format!("{profile}-{server}"));
                let scope = NameScope::new(profile, server);
                let saved = store.save_names(&scope, &KnownNames::default(), &published).await.expect("saved");
                prop_assert!(matches!(saved, Saved::Done(_)));
            }
            let listed: BTreeSet<(String, String)> =
                store.name_scopes().await.expect("scopes").into_iter().map(|one| (one.profile, one.server)).collect();
            prop_assert_eq!(&listed, &scopes);
            for (profile, server) in &scopes {
                let known = store.names(&NameScope::new(profile, server)).await.expect("names");
                let expected = format!("{profile}-{server}");
                prop_assert_eq!(known.published.current().collect::<Vec<_>>(), [("p.t", expected.as_str())]);
            }
            Ok(())
        })?;
    }
}
