use super::*;

#[test]
fn only_what_is_written_for_the_model_is_in_the_default_text() {
    let io = ToolError::from(std::io::Error::other("/home/ada/.secret"));
    let context = ToolError::without_context("app::Secret");
    let panicked = ToolError::panicked(&"/home/ada/.secret");
    for error in [ToolError::new("/home/ada/.secret"), io, context, panicked] {
        for may_change in [true, false] {
            let text = error.default_text("read", may_change);
            assert!(!text.to_lowercase().contains("secret"), "{text}");
            assert!(text.starts_with("`read` failed. "), "{text}");
        }
        assert!(error.to_string().to_lowercase().contains("secret"));
    }
    assert_eq!(ToolError::told("Try Rome.").default_text("read", true), "Try Rome.");
    assert_eq!(
        ToolError::arguments("`days` is no number").default_text("read", true),
        "`read` failed. The arguments do not fit: `days` is no number. Correct them and call again."
    );
}

#[test]
fn what_hides_in_a_text_for_the_model_is_written_out_and_it_ends() {
    let text = ToolError::told(format!("a\u{202e}b\nc{}", "x".repeat(10_000))).default_text("read", false);
    assert!(text.starts_with("a\\u{202e}b\nc"), "{text}");
    assert!(text.chars().count() < 4_200);
}

#[test]
fn a_panic_of_any_kind_is_an_error() {
    assert_eq!(ToolError::panicked(&"text").message(), "the tool panicked: text");
    assert_eq!(ToolError::panicked(&"owned".to_owned()).message(), "the tool panicked: owned");
    assert_eq!(ToolError::panicked(&5_u8).message(), "the tool panicked");
}
