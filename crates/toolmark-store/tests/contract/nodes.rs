//! Names of nodes.

use toolmark_core::explain::Explain as _;
use toolmark_store::ClaimNodeError;

use crate::place::Place;

pub(crate) async fn a_name_is_held_by_one_and_free_when_it_is_dropped(place: &impl Place) {
    let (one, other) = (place.open().await, place.open().await);
    let claim = one.claim_node("node \u{e9} 1").await.expect("free");
    assert!(claim.is_held() && **claim.node() == *"node \u{e9} 1");
    let error = other.claim_node("node \u{e9} 1").await.expect_err("taken");
    assert_eq!(error.code().as_str(), "node-name-taken");
    let error = one.claim_node("node \u{e9} 1").await.expect_err("taken by ourselves");
    assert!(matches!(error, ClaimNodeError::Taken(_)));
    let another = other.claim_node("node-2").await.expect("another name is free");
    drop(claim);
    let again = other.claim_node("node \u{e9} 1").await.expect("free again");
    assert!(again.is_held() && another.is_held());
}

pub(crate) async fn names_of_nodes_that_cannot_be_read_are_refused(place: &impl Place) {
    let store = place.open().await;
    for name in ["", "  ", "a\nb", "a\u{0}b", "a\u{202e}b", &"x".repeat(201)] {
        let error = store.claim_node(name).await.expect_err("no name");
        assert_eq!(error.code().as_str(), "node-name-syntax", "{name:?}");
    }
}
