//! Baselines.

use toolmark_store::StoreError;

use crate::place::Place;

pub(crate) async fn what_was_learned_is_kept_by_task(place: &impl Place) {
    let store = place.open().await;
    assert_eq!(store.baseline("tidy").await.expect("read"), None);
    let learn = |before: Option<&str>| Ok::<_, StoreError>(format!("{}x", before.unwrap_or_default()));
    for _ in 0..3 {
        store.learn_baseline("tidy", learn).await.expect("kept");
    }
    store.learn_baseline("other", learn).await.expect("kept");
    let store = place.open().await;
    assert_eq!(store.baseline("tidy").await.expect("read").as_deref(), Some("xxx"));
    let tasks: Vec<String> = store.baselines().await.expect("read").into_iter().map(|(task, _)| task).collect();
    assert_eq!(tasks, ["other", "tidy"]);
}

pub(crate) async fn several_who_learn_at_once_lose_nothing(place: &impl Place) {
    let store = place.open().await;
    let learners: Vec<_> = (0..8)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                let learn = |before: Option<&str>| Ok::<_, StoreError>(format!("{}x", before.unwrap_or_default()));
                store.learn_baseline("tidy", learn).await.expect("kept")
            })
        })
        .collect();
    for learner in learners {
        learner.await.expect("learned");
    }
    assert_eq!(store.baseline("tidy").await.expect("read").as_deref(), Some("xxxxxxxx"));
}
