use super::*;
use crate::catalog::Catalog;

fn read(text: &str) -> Snapshot {
    Snapshot::of(&Document::new("some/file.json", text.to_owned()), "file")
}

fn names(snapshot: &Snapshot) -> Vec<String> {
    snapshot.packs().iter().flat_map(Pack::tools).map(|tool| tool.canonical().to_string()).collect()
}

fn codes(snapshot: &Snapshot) -> Vec<&'static str> {
    snapshot.problems().iter().map(|problem| problem.code().as_str()).collect()
}

const A: &str = r#"{"name":"a","inputSchema":{"type":"object"}}"#;
const B: &str = r#"{"name":"b","inputSchema":{"type":"object"}}"#;

#[test]
fn a_tools_list_result_is_read_in_each_of_its_wrappings() {
    for text in [
        format!("{{\"tools\":[{A},{B}]}}"),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"tools\":[{A},{B}],\"ttlMs\":1}}}}"),
        format!("[{A} ,\n {B}]"),
        format!("{A}\n{B}\n"),
        format!("\u{feff}{{\n \"tools\" : [ {A} , {B} ] }}\n"),
    ] {
        let snapshot = read(&text);
        assert_eq!(names(&snapshot), ["file.a", "file.b"], "{text}");
        assert_eq!(codes(&snapshot), [] as [&str; 0], "{text}");
    }
}

#[test]
fn rows_are_grouped_by_server_and_keep_their_package_as_source() {
    let text = r#"{"server":"git","package":"npm:git","version":"1","name":"a"}
{"server":"Other One","package":"pypi:x","version":"2","name":"a"}
{"server":"git","package":"npm:git","version":"1","name":"b"}"#;
    let snapshot = read(text);
    assert_eq!(names(&snapshot), ["git.a", "git.b", "other-one.a"]);
    assert_eq!(snapshot.packs()[0].source().as_str(), "npm:git");
}

#[test]
fn a_packages_record_names_its_pack() {
    let snapshot = read(&format!("{{\"package\":\"npm:@x/Server\",\"version\":\"1\",\"tools\":[{A}]}}"));
    assert_eq!(names(&snapshot), ["npm-x-server.a"]);
    assert_eq!(snapshot.packs()[0].source().as_str(), "npm:@x/Server");
}

#[test]
fn the_papers_declarations_are_tools() {
    let snapshot = read(
        r#"[{"name":"read_query","schema":{"query":"string"},"mutability":"PURE","action":"READ","output_domain":"DATA"}]"#,
    );
    assert_eq!(names(&snapshot), ["file.read_query"]);
    assert_eq!(snapshot.packs()[0].tools()[0].behavior().unwrap().to_string(), "PURE|READ|DATA");
}

#[test]
fn one_bad_line_does_not_spoil_the_others_and_its_place_is_named() {
    let snapshot = read(&format!("{A}\n{{\"name\":\"x\", oops}}\n{B}\n{{\"name\":\"\"}}\n"));
    assert_eq!(names(&snapshot), ["file.a", "file.b"]);
    assert_eq!(codes(&snapshot), ["json-syntax", "tool-name-empty"]);
    let place = snapshot.problems()[0].place().unwrap();
    assert_eq!((place.file.as_str(), place.line, place.column), ("some/file.json", 2, 14));
}

#[test]
fn a_bad_tool_in_a_list_is_left_out_and_named() {
    let snapshot = read(&format!("{{\"tools\":[\n{A},\n{{\"name\":\"x\",\"description\":5}},\n{B}]}}"));
    assert_eq!(names(&snapshot), ["file.a", "file.b"]);
    assert_eq!(codes(&snapshot), ["definition-field-type"]);
    assert_eq!(snapshot.problems()[0].place().unwrap().line, 3);
}

#[test]
fn what_is_no_snapshot_is_refused() {
    for (text, code) in [
        ("", "snapshot-empty"),
        (" \n ", "snapshot-empty"),
        ("5", "snapshot-not-tools"),
        ("{}", "snapshot-not-tools"),
        ("{\"tools\":5}", "snapshot-not-tools"),
        ("{\"result\":[]}", "snapshot-not-tools"),
        ("{\"error\":{\"code\":-32601,\"message\":\"no\"}}", "snapshot-is-an-error"),
        ("{\"tools\":[", "json-truncated"),
        ("{\"tools\":[{\"name\":\"a\"}", "json-truncated"),
        ("{\"tools\":[],\"tools\":[]}", "json-duplicate-key"),
        ("[{\"name\":\"a\"} {\"name\":\"b\"}]", "snapshot-not-tools"),
        ("[{\"name\":\"a\",\"x\":\"\\ud800\"}]", "json-not-text"),
        ("[1]", "definition-not-an-object"),
        ("]", "json-syntax"),
        ("\0", "json-syntax"),
    ] {
        assert_eq!(codes(&read(text)), [code], "{text}");
    }
}

#[test]
fn a_list_of_several_megabytes_is_not_mistaken_for_one_tool() {
    let tools: Vec<String> =
        (0..20_000).map(|n| format!("{{\"name\":\"t{n}\",\"description\":\"{}\"}}", "d".repeat(100))).collect();
    let snapshot = read(&format!("{{\"tools\":[{}],\"x\":1}}", tools.join(",")));
    assert_eq!(names(&snapshot).len(), 20_000);
    let broken = read(&format!("{{\"tools\":[{}],\"tools\":[],\"x\":1}}", tools.join(",")));
    assert_eq!(codes(&broken), ["snapshot-not-tools"]);
}

#[test]
fn a_bad_tool_in_a_small_list_spoils_neither_the_list_nor_its_neighbours() {
    let snapshot = read(&format!("{{\"tools\":[{A},{{\"name\":\"x\",\"name\":\"y\"}},{B}]}}"));
    assert_eq!(names(&snapshot), ["file.a", "file.b"]);
    assert_eq!(codes(&snapshot), ["json-duplicate-key"]);
}

#[test]
fn a_list_that_names_its_server_is_still_a_list() {
    assert_eq!(names(&read(&format!("{{\"name\":\"my-server\",\"tools\":[{A}]}}"))), ["file.a"]);
}

#[test]
fn one_huge_tool_alone_is_too_large_and_not_something_else() {
    let text = format!("{{\"name\":\"big\",\"description\":\"{}\"}}", "x".repeat(2 << 20));
    assert_eq!(codes(&read(&text)), ["definition-too-large"]);
}

#[test]
fn a_hundred_thousand_tools_in_one_pack_are_refused_in_bounded_time() {
    let tools: Vec<String> = (0..100_000).map(|n| format!("{{\"name\":\"t{n}\"}}")).collect();
    let error = read(&format!("[{}]", tools.join(","))).into_builder().build().unwrap_err();
    assert_eq!(error.problems()[0].code().as_str(), "pack-too-large");
    assert!(error.problems()[0].place().is_some());
}

#[test]
fn a_huge_description_is_refused_with_its_place() {
    let text = format!("[{A},\n{{\"name\":\"big\",\"description\":\"{}\"}}]", "x".repeat(10 << 20));
    let snapshot = read(&text);
    assert_eq!(codes(&snapshot), ["definition-too-large"]);
    assert_eq!(snapshot.problems()[0].place().unwrap().line, 2);
}

#[test]
fn a_schema_of_ten_thousand_levels_is_refused() {
    let deep = format!("{}1{}", "{\"properties\":".repeat(10_000), "}".repeat(10_000));
    assert_eq!(codes(&read(&format!("[{{\"name\":\"a\",\"inputSchema\":{deep}}}]"))), ["json-too-deep"]);
}

#[test]
fn a_list_with_more_pages_says_so() {
    let snapshot = read(&format!("{{\"tools\":[{A}],\"nextCursor\":\"p2\"}}"));
    assert!(snapshot.notes()[0].contains("more pages"));
}

#[test]
fn two_keys_with_one_slug_are_a_problem_and_two_files_with_one_name_are_too() {
    let mut reader = SnapshotReader::default();
    reader.read(&Document::new("My Server.json", format!("[{A}]")), "My Server");
    reader.read(&Document::new("my-server.json", format!("[{A}]")), "my-server");
    assert_eq!(codes(&reader.finish()), ["pack-name-collision"]);

    let mut reader = SnapshotReader::default();
    reader.read(&Document::new("one/git.json", format!("[{A}]")), "git");
    reader.read(&Document::new("two/git.json", format!("[{B}]")), "git");
    let error = reader.finish().into_builder().build().unwrap_err();
    assert_eq!(error.problems()[0].code().as_str(), "duplicate-pack");
}

#[test]
fn a_thousand_problems_are_counted_but_not_all_kept() {
    let lines: Vec<String> = (0..1000).map(|_| "{\"name\":\"\"}".to_owned()).collect();
    let snapshot = read(&lines.join("\n"));
    assert_eq!(snapshot.problems().len(), MOST_PROBLEMS);
    assert!(snapshot.notes()[0].contains("900 more problems"));
}

#[test]
fn the_catalog_of_a_snapshot_resolves_its_tools() {
    let catalog: Catalog = read(&format!("[{A},{B}]")).into_builder().build().unwrap();
    assert_eq!(catalog.find("a", |_| true).unwrap().canonical().as_str(), "file.a");
}
