use serde_json::json;
use toolmark_core::severity::Severity;

use super::severity;
use crate::RuleId;

fn hidden(description: &str) -> Option<Severity> {
    severity(RuleId::HiddenCharacters, json!({"name": "x", "description": description}))
}

fn bidirectional(description: &str) -> Option<Severity> {
    severity(RuleId::BidirectionalCharacters, json!({"name": "x", "description": description}))
}

#[test]
fn text_in_tag_characters_is_critical_wherever_it_stands() {
    let tags: String = "call home".chars().map(|c| char::from_u32(0xE0000 + u32::from(c)).unwrap()).collect();
    assert_eq!(hidden(&format!("Adds numbers.{tags}")), Some(Severity::Critical));
    let in_schema = json!({"name": "x", "inputSchema": {"type": "object", "properties": {"a": {"enum": ["b", format!("c{tags}")]}}}});
    assert_eq!(severity(RuleId::HiddenCharacters, in_schema), Some(Severity::Critical));
    let in_title = json!({"name": "x", "annotations": {"title": tags}});
    assert_eq!(severity(RuleId::HiddenCharacters, in_title), Some(Severity::Critical));
    let in_key = json!({"name": "x", "inputSchema": {"type": "object", "properties": {format!("a{tags}"): {}}}});
    assert_eq!(severity(RuleId::HiddenCharacters, in_key), Some(Severity::Critical));
}

#[test]
fn invisible_characters_inside_words_and_names_are_high() {
    assert_eq!(hidden("ig\u{200b}nore"), Some(Severity::High));
    assert_eq!(hidden("ig\u{2060}nore"), Some(Severity::High));
    assert_eq!(hidden("a\u{200d}b"), Some(Severity::High));
    assert_eq!(hidden("\u{1b}[2J"), Some(Severity::High));
    for name in ["a\u{200b}b", "ab\u{200b}", "a\u{ad}b", "a\u{3164}", "a\u{fe0f}b"] {
        assert_eq!(severity(RuleId::HiddenCharacters, json!({"name": name})), Some(Severity::High), "{name:?}");
    }
}

#[test]
fn bytes_smuggled_in_invisible_characters_are_critical() {
    assert_eq!(
        hidden("ok \u{200b}\u{200c}\u{200b}\u{200b}\u{200c}\u{200c}\u{200b}\u{200c} ok"),
        Some(Severity::Critical)
    );
    assert_eq!(hidden("😀\u{e0148}\u{e0155}\u{e015c}\u{e0155}"), Some(Severity::Critical));
    assert_eq!(hidden("😀\u{fe01}\u{fe02}\u{fe03}"), Some(Severity::Critical));
}

#[test]
fn remains_of_copying_are_mild() {
    assert_eq!(hidden("\u{feff}Adds numbers"), Some(Severity::Low));
    assert_eq!(hidden("data\u{ad}base"), Some(Severity::Low));
    assert_eq!(hidden("Adds numbers. \u{200b}"), Some(Severity::Medium));
}

#[test]
fn emoji_and_other_scripts_are_honest() {
    for text in [
        "👩\u{200d}💻 ❤\u{fe0f} 1\u{fe0f}\u{20e3} ⚠\u{fe0f} 👨\u{200d}👩\u{200d}👧 🏳\u{fe0f}\u{200d}🌈 ☎\u{fe0e}",
        "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
        "می\u{200c}خواهم",
        "क\u{94d}\u{200d}ष",
        "ภาษา\u{200b}ไทย",
        "葛\u{e0100}城",
        "中文，日本語、한국어",
        "line one\nline two\ttab\r\n",
    ] {
        assert_eq!(hidden(text), None, "{text:?}");
    }
    for text in ["שלום \u{200f}עולם", "العربية \u{2067}متن\u{2069}", "مرحبا\u{200e} API"] {
        assert_eq!(bidirectional(text), None, "{text:?}");
        assert_eq!(hidden(text), None, "{text:?}");
    }
}

#[test]
fn characters_that_reorder_text_are_found() {
    assert_eq!(bidirectional("read \u{202e}etelf\u{202c} file"), Some(Severity::Critical));
    assert_eq!(bidirectional("read \u{2066}file"), Some(Severity::High));
    assert_eq!(bidirectional("read \u{200f}file"), Some(Severity::Medium));
    assert_eq!(bidirectional("שלום \u{2067}עולם"), Some(Severity::High), "never closed");
    assert_eq!(severity(RuleId::BidirectionalCharacters, json!({"name": "a\u{200e}b"})), Some(Severity::Critical));
}

#[test]
fn a_tag_that_is_no_flag_is_not_excused_by_a_flag() {
    let smuggled = "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}\u{e0068}\u{e0069}";
    assert_eq!(hidden(smuggled), Some(Severity::Critical));
    assert_eq!(hidden("🏴\u{e0068}\u{e0069}\u{e007f}"), Some(Severity::Critical));
}
