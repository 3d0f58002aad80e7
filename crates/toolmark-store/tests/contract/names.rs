//! Published names.

use std::collections::BTreeSet;
use std::convert::Infallible;

use toolmark_core::explain::Explain as _;
use toolmark_core::exposure::Published;
use toolmark_store::{KnownNames, NameScope, PublishError, Saved, Store};

use crate::place::Place;

fn scope() -> NameScope {
    NameScope::new("claude-code", "toolmark")
}

async fn save(store: &Store, change: impl Fn(&mut Published)) -> KnownNames {
    let before = store.names(&scope()).await.expect("names");
    let mut after = before.published.clone();
    change(&mut after);
    match store.save_names(&scope(), &before, &after).await.expect("saved") {
        Saved::Done(known) => known,
        Saved::Outdated(_) => panic!("nobody else saves here"),
    }
}

pub(crate) async fn names_stay_with_their_tools(place: &impl Place) {
    let store = place.open().await;
    assert_eq!(store.names(&scope()).await.expect("names"), KnownNames::default());
    let saved = save(&store, |names| {
        names.remember("github.create_issue", "create_issue");
        names.remember("gitlab.create_issue", "gitlab__create_issue");
        names.remember("odd.naïve \u{1f980} \"name\"", "odd");
    })
    .await;
    assert_eq!(saved.version, 1);
    assert_eq!(place.open().await.names(&scope()).await.expect("names"), saved);
}

pub(crate) async fn a_name_that_was_replaced_still_leads_to_its_tool(place: &impl Place) {
    let store = place.open().await;
    save(&store, |names| names.remember("github.create", "create")).await;
    save(&store, |names| names.remember("github.create", "github__create")).await;
    save(&store, |names| names.renamed("github.create", "github.make")).await;
    let known = place.open().await.names(&scope()).await.expect("names");
    assert_eq!(known.version, 3);
    assert_eq!(known.published.current().count(), 0);
    let former: Vec<_> = known.published.former().collect();
    assert_eq!(former, [("create", "github.make"), ("github__create", "github.make")]);
}

pub(crate) async fn saving_what_is_there_changes_nothing(place: &impl Place) {
    let store = place.open().await;
    let first = save(&store, |names| names.remember("a.b", "b")).await;
    assert_eq!(save(&store, |_| {}).await, first);
    assert_eq!(store.names(&scope()).await.expect("names"), first);
}

pub(crate) async fn two_tools_may_change_names_with_each_other(place: &impl Place) {
    let store = place.open().await;
    let fresh = |one: &str, other: &str| {
        let mut names = Published::default();
        names.remember("a.t", one);
        names.remember("b.t", other);
        names
    };
    let before = store.names(&scope()).await.expect("names");
    let Saved::Done(known) = store.save_names(&scope(), &before, &fresh("x", "y")).await.expect("saved") else {
        panic!("nobody else saves here")
    };
    let Saved::Done(swapped) = store.save_names(&scope(), &known, &fresh("y", "x")).await.expect("saved") else {
        panic!("nobody else saves here")
    };
    assert_eq!(swapped.published, fresh("y", "x"));
    assert_eq!(place.open().await.names(&scope()).await.expect("names"), swapped);
}

pub(crate) async fn whoever_saves_second_is_told_and_writes_nothing(place: &impl Place) {
    let (one, other) = (place.open().await, place.open().await);
    let before = one.names(&scope()).await.expect("names");
    let mut mine = Published::default();
    mine.remember("a.t", "t");
    let mut theirs = Published::default();
    theirs.remember("b.t", "t");
    let saved = one.save_names(&scope(), &before, &mine).await.expect("saved");
    assert!(matches!(saved, Saved::Done(_)));
    let Saved::Outdated(now) = other.save_names(&scope(), &before, &theirs).await.expect("asked") else {
        panic!("the name was taken")
    };
    assert_eq!(now.published, mine);
    assert_eq!(other.names(&scope()).await.expect("names").published, mine);
}

/// Each takes the first free name of a few, as a table would.
pub(crate) async fn many_who_publish_at_once_never_share_a_name(place: &impl Place) {
    const PUBLISHERS: usize = 8;
    let mut tasks = Vec::new();
    for at in 0..PUBLISHERS {
        let store = place.open().await;
        tasks.push(tokio::spawn(async move {
            let tool = format!("pack{at}.tool");
            let publish = |known: &Published| {
                let taken: BTreeSet<&str> = known.current().map(|(_, exposed)| exposed).collect();
                let name = (0..).map(|n| format!("tool{n}")).find(|name| !taken.contains(name.as_str()));
                let name = name.expect("some name is free");
                let mut after = known.clone();
                after.remember(&tool, &name);
                Ok::<_, Infallible>((after, name))
            };
            store.publish(&scope(), publish).await.expect("published")
        }));
    }
    let mut given = BTreeSet::new();
    for task in tasks {
        given.insert(task.await.expect("no panic"));
    }
    assert_eq!(given.len(), PUBLISHERS);
    let known = place.open().await.names(&scope()).await.expect("names");
    let kept: BTreeSet<String> = known.published.current().map(|(_, exposed)| exposed.to_owned()).collect();
    assert_eq!(kept, given);
}

pub(crate) async fn one_name_for_two_tools_is_refused(place: &impl Place) {
    let store = place.open().await;
    let before = store.names(&scope()).await.expect("names");
    let mut after = Published::default();
    after.remember("a.t", "t");
    after.remember("b.t", "t");
    let error = store.save_names(&scope(), &before, &after).await.expect_err("refused");
    assert!(matches!(error, PublishError::Twice(_)), "{error}");
    assert_eq!(error.to_string(), "`t` would be the name of both `a.t` and `b.t`");
    let refused = store.publish(&scope(), |_| Err::<(Published, ()), _>(error.clone())).await.expect_err("no table");
    assert!(matches!(refused, PublishError::Table(_)));
    assert_eq!(store.names(&scope()).await.expect("names"), before);
    let report = store
        .publish(&scope(), |_| {
            let names: Result<_, toolmark_store::StoreError> = Ok((after.clone(), ()));
            names
        })
        .await
        .expect_err("refused")
        .report();
    assert_eq!(report.code().as_str(), "published-name-twice");
}

pub(crate) async fn scopes_do_not_mix(place: &impl Place) {
    let store = place.open().await;
    save(&store, |names| names.remember("a.t", "t")).await;
    for other in [NameScope::new("cursor", "toolmark"), NameScope::new("claude-code", "tm")] {
        assert_eq!(store.names(&other).await.expect("names"), KnownNames::default());
    }
    let empty = NameScope::new("cursor", "");
    let mut names = Published::default();
    names.remember("b.t", "t");
    let saved = store.save_names(&empty, &KnownNames::default(), &names).await.expect("saved");
    assert!(matches!(saved, Saved::Done(_)));
    assert_eq!(store.name_scopes().await.expect("scopes"), [scope(), empty]);
}
