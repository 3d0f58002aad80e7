use super::*;
use crate::explain::Explain as _;

fn of(text: &str) -> Behavior {
    text.parse().unwrap()
}

#[test]
fn the_identities_of_the_paper_come_out_as_published() {
    assert_eq!(of("PURE|READ|DATA").identity().to_string(), "b2795a7bb60a9c04");
    assert_eq!(of("MUTATES|CREATE|ACK").identity().to_string(), "224da4ec8f32d39e");
    let four = of("PURE|READ|DATA|STRUCTURED");
    assert_eq!(four.identity().to_string(), "b2795a7bb60a9c04");
    assert_eq!(four.identity_v2().unwrap().to_string(), "4f5039a790ec59b2");
}
