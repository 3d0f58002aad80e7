use super::*;

#[test]
fn every_vector_of_the_repository_passes_or_is_pending() {
    let report = run_all(&repository_vectors()).unwrap_or_else(|error| panic!("{error}"));
    assert!(report.is_success(false), "{}", report.to_text(5));
}

fn verdicts(vectors: &str) -> Result<Report, ReadVectorsError> {
    let path = Path::new("test.json");
    let Document::Identity(vectors) = Document::read(path, vectors)? else { panic!("not identity vectors") };
    Ok(Report::of(identity::run(path, &vectors)?))
}

#[test]
fn a_recording_that_says_something_else_is_a_miss() {
    for vector in [
        r#"{"id": "a", "fn": "lookup_key", "input": {"name": "k"}, "output": ["bare", "z"]}"#,
        r#"{"id": "a", "fn": "lookup_key", "input": {"name": "k"}, "error_category": "x"}"#,
        r#"{"id": "a", "fn": "validate_fallback_name", "input": {"name": " "}, "output": " "}"#,
        r#"{"id": "a", "fn": "validate_fallback_name", "input": {}, "output": " "}"#,
        r#"{"id": "a", "fn": "strict_schema", "input": {"schema": {"type": "string", "const": 1}}, "output": {"type": "string", "const": 1.0}}"#,
        r#"{"id": "a", "fn": "approval_scenario", "input": {"ops": [{"op": "is_tool_approved", "name": "k", "call_id": "c"}]}, "output": [{"output": true}]}"#,
        r#"{"id": "a", "fn": "approval_scenario", "input": {"ops": [{"op": "is_tool_approved", "name": "k", "call_id": "c"}]}, "output": [{"error_category": "x"}]}"#,
        r#"{"id": "a", "fn": "approval_scenario", "input": {"ops": []}, "output": [{"output": null}]}"#,
    ] {
        let report = verdicts(&format!(r#"{{"vectors": [{vector}]}}"#)).expect("readable");
        assert!(!report.is_success(false), "{vector}");
    }
}

#[test]
fn what_is_pending_fails_only_when_strict() {
    let verdict = Verdict::Pending { waits_for: "what comes later" };
    let report = Report::of(vec![Outcome { id: "a".into(), function: "later".into(), verdict }]);
    assert!(report.is_success(false));
    assert!(!report.is_success(true));
}

#[test]
fn what_cannot_be_run_is_an_error_and_not_a_vector_less() {
    for (text, problem) in [
        (r#"{"vectors": [{"id": "a", "fn": "nothing", "input": {}, "output": null}]}"#, "unknown function `nothing`"),
        (r#"{"vectors": [{"id": "a", "fn": "lookup_key", "input": {}}]}"#, "needs either"),
        (r#"{"schema": "other/1"}"#, "unknown kind"),
        (r#"{"cases": []}"#, "neither"),
        (r#"{"vectors": [}"#, "json-syntax"),
    ] {
        let error = verdicts(text).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(problem), "{text}: {error}");
    }
    assert!(!verdicts(r#"{"vectors": []}"#).expect("readable").is_success(false));
}
