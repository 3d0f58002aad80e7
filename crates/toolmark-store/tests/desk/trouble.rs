//! A store that takes nothing: nobody is asked, nothing runs, and the caller is told.

use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Executor as _};
use tempfile::TempDir;
use toolmark_core::approval::{Ruling, Scope};
use toolmark_core::explain::Explain as _;
use toolmark_core::exposure::Published;
use toolmark_runtime::approve::{ClientAnswer, DeskSettings, NoClient};
use toolmark_store::{KnownNames, Location, Micros, NameScope, Settings, Store};

use crate::stage::{START, Stage, Traveller, sweep};

const YES: Option<ClientAnswer> = Some(ClientAnswer::Yes(Scope::Once));

async fn limited(folder: &TempDir, max_bytes: Option<u64>) -> Store {
    let settings = Settings { patience: Duration::from_millis(200), max_bytes, ..Settings::new(|| Micros::new(START)) };
    Store::open(&Location::File(folder.path().join("store.db")), &settings).await.expect("a store")
}

/// Takes all the room that there is.
async fn fill(store: &Store) {
    for size in [2000, 500, 100, 20, 4, 1] {
        for round in 0.. {
            let mut names = Published::default();
            for number in 0..size {
                names.remember(&format!("pack{size}.tool_{round}_{number}"), &format!("t{size}_{round}_{number}"));
            }
            let scope = NameScope::new("generic", &format!("tm{size}x{round}"));
            if store.save_names(&scope, &KnownNames::default(), &names).await.is_err() {
                break;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_asked_and_nothing_runs_when_the_store_is_full() {
    let folder = TempDir::new().expect("a folder");
    let store = limited(&folder, Some(600 * 1024)).await;
    let stage = Stage::over(store.clone(), "n1", DeskSettings::default()).await;
    let (run, ask) = stage.call("ann", &sweep("users"), &Traveller::default()).await.handed();
    fill(&store).await;
    let long = format!("{}_{}", "users", "x".repeat(6000));
    let text = stage.call("ann", &sweep(&long), &NoClient).await.refused("approval-store");
    assert!(text.contains("was not called"), "{text}");
    assert!(!text.contains(&*folder.path().to_string_lossy()), "where the store is, is no matter of callers: {text}");
    let long = Ruling { message: Some("x".repeat(9000)), ..Ruling::once(false, stage.given("bob")) };
    let error = stage.decide(ask, long).await.expect_err("no room");
    assert_eq!(error.code().as_str(), "approval-store");
    assert!(stage.ran().is_empty());
    drop((stage, store));
    // With room again, the question is as it was.
    let stage = Stage::over(limited(&folder, None).await, "n1", DeskSettings::default()).await;
    stage.call("ann", &sweep("users"), &Traveller::back(run, YES)).await.passed();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_asked_and_nothing_runs_when_the_store_is_gone() {
    let folder = TempDir::new().expect("a folder");
    let store = limited(&folder, None).await;
    let stage = Stage::over(store.clone(), "n1", DeskSettings::default()).await;
    let (run, ask) = stage.call("ann", &sweep("users"), &Traveller::default()).await.handed();
    stage.call("ann", &sweep("orders"), &NoClient).await.waits();
    let orders = stage.open().await.into_iter().find(|other| other.id != ask).expect("asked");
    stage.grant(orders.id, Scope::Always, Some(5)).await;
    store.close().await.expect("closed");
    for client in [&NoClient as &dyn toolmark_runtime::approve::Client, &Traveller::back(run, YES)] {
        let text = stage.call("ann", &sweep("users"), client).await.refused("approval-store");
        assert!(text.contains("the store is closed") && !text.contains(&*folder.path().to_string_lossy()), "{text}");
    }
    // A standing yes that is counted cannot be counted.
    stage.call("ann", &sweep("notes"), &NoClient).await.refused("approval-store");
    let error = stage.decide(ask, Ruling::once(true, stage.given("bob"))).await.expect_err("gone");
    assert_eq!(error.code().as_str(), "approval-store");
    assert!(error.to_string().contains(&*folder.path().to_string_lossy()), "whoever decides here may know: {error}");
    assert!(stage.ran().is_empty());
    let stage = Stage::over(limited(&folder, None).await, "n1", DeskSettings::default()).await;
    stage.call("ann", &sweep("users"), &Traveller::back(run, YES)).await.passed();
    stage.call("ann", &sweep("orders"), &NoClient).await.passed();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_asked_and_nothing_runs_while_the_store_cannot_be_written() {
    let folder = TempDir::new().expect("a folder");
    let stage = Stage::over(limited(&folder, None).await, "n1", DeskSettings::default()).await;
    let (run, ask) = stage.call("ann", &sweep("users"), &Traveller::default()).await.handed();
    stage.approve(ask).await;
    // Whoever holds the lock keeps everybody else from writing; reading goes on.
    let mut other = SqliteConnectOptions::new().filename(folder.path().join("store.db")).connect().await.expect("open");
    other.execute("BEGIN IMMEDIATE").await.expect("locked");
    stage.call("eve", &sweep("users"), &NoClient).await.refused("approval-store");
    stage.call("ann", &sweep("users"), &Traveller::back(run, YES)).await.refused("approval-store");
    assert!(stage.ran().is_empty());
    other.execute("ROLLBACK").await.expect("let go");
    stage.call("ann", &sweep("users"), &Traveller::back(run, YES)).await.passed();
    stage.call("eve", &sweep("users"), &NoClient).await.waits();
    assert_eq!(stage.ran().len(), 1);
}
