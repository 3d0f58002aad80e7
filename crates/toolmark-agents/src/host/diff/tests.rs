use super::*;

fn applied(text: &str, diff: &str) -> String {
    apply_diff(text, diff).expect("the diff fits")
}

#[test]
fn a_hunk_is_found_by_the_lines_around_it() {
    let text = "one\ntwo\nthree\nfour\n";
    assert_eq!(applied(text, " two\n-three\n+3\n four\n"), "one\ntwo\n3\nfour\n");
    assert_eq!(applied(text, "@@\n-one\n"), "two\nthree\nfour\n");
    assert_eq!(applied(text, "@@ two\n+2.5\n"), "one\ntwo\n2.5\nthree\nfour\n");
    assert_eq!(applied(text, "+zero\n"), "zero\none\ntwo\nthree\nfour\n");
    assert_eq!(applied("", "+new\n"), "new\n");
}

#[test]
fn hunks_follow_one_another_and_anchors_narrow_the_search() {
    let text = "class A\n  def run\n    1\nclass B\n  def run\n    1\n";
    assert_eq!(
        applied(text, "@@ class B\n@@   def run\n-    1\n+    2\n"),
        text.replace("B\n  def run\n    1", "B\n  def run\n    2")
    );
    let both = "@@ class A\n   def run\n-    1\n+    a\n@@ class B\n   def run\n-    1\n+    b\n";
    assert_eq!(applied(text, both), "class A\n  def run\n    a\nclass B\n  def run\n    b\n");
    // An anchor that is nowhere is no reason to give up: the lines say where it is.
    assert_eq!(applied("a\nb\n", "@@ nowhere\n-b\n+c\n"), "a\nc\n");
}

#[test]
fn white_space_that_models_lose_is_not_what_decides() {
    assert_eq!(applied("  a  \n\tb\n c\n", "-a\n+x\n b\n"), "x\n\tb\n c\n");
    assert_eq!(applied("x  \ny\n", " x\n-y\n+z\n"), "x  \nz\n", "what stays is as the file has it");
    assert_eq!(applied("a\n\nb\n", " a\n\n-b\n+c\n"), "a\n\nc\n", "an empty line of a diff is one that stays");
}

#[test]
fn the_end_of_a_file_can_be_meant() {
    assert_eq!(applied("x\ny\nx\ny", "-x\n-y\n+z\n*** End of File\n"), "x\ny\nz");
    assert_eq!(applied("x\ny\n", " y\n+z\n"), "x\ny\nz\n");
    assert_eq!(applied("a\n", " a\n+b\n*** End Patch\nrest"), "a\nb\n", "what comes after the end is not read");
}

#[test]
fn line_endings_stay_what_they_are() {
    assert_eq!(applied("a\r\nb\r\n", " a\n-b\n+c\n"), "a\r\nc\r\n");
    assert_eq!(applied("a\r\nb", " b\n+c\n"), "a\r\nb\r\nc");
    assert_eq!(applied("a\nb\r\nc\n", "-c\n+d\n"), "a\nb\r\nd\r\n", "lines that nobody touched keep theirs");
    assert_eq!(create_from_diff("+a\r\n+b\r\n").expect("a file"), "a\r\nb");
}

#[test]
fn a_new_file_is_nothing_but_new_lines() {
    assert_eq!(create_from_diff("+a\n+\n+b").expect("a file"), "a\n\nb");
    assert_eq!(create_from_diff("").expect("a file"), "");
    let error = create_from_diff("+a\nb").expect_err("no new line");
    assert!(matches!(error, DiffError::NotNew { number: 2, .. }));
}

#[test]
fn what_does_not_fit_changes_nothing_and_says_where() {
    let refused = |text: &str, diff: &str| apply_diff(text, diff).expect_err(diff);
    assert!(matches!(refused("a\n", "-b\n+c\n"), DiffError::Absent { number: 1, .. }));
    assert!(matches!(refused("a\n", "?b\n"), DiffError::Line { number: 1, .. }));
    assert!(matches!(refused("a\n", "*** Something\n"), DiffError::Line { number: 1, .. }));
    assert!(matches!(refused("a\n", "@@\n@@ a\n"), DiffError::Empty { number: 1 }));
    assert!(matches!(refused("a\nb\n", "@@\n-b\n@@\n-a\n"), DiffError::Absent { number: 3, .. }), "never backwards");
    assert!(matches!(refused("a\nb\nc", "-a\n***\n-b\n"), DiffError::Unannounced { number: 2 }));
    assert!(matches!(refused("a\nb\nc", "-c\n@@\n b\n*** End of File\n"), DiffError::Absent { at_end: true, .. }));
}
