use super::*;

#[test]
fn every_vector_of_the_repository_passes_or_is_pending() {
    let report = run_all(&repository_vectors()).unwrap_or_else(|error| panic!("{error}"));
    assert!(report.is_success(false), "{}", report.to_text(5));
}
