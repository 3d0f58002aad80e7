use serde_json::json;

use super::*;

#[test]
fn objects_with_a_known_type_become_parts() {
    assert_eq!(structured(&json!({"type": "text", "text": "", "more": 1})), Some(vec![Part::text("")]));
    let file = json!({"type": "file", "file_data": null, "file_url": "", "filename": "x"});
    let expected = File { url: Some(String::new()), filename: Some("x".into()), ..File::default() };
    assert_eq!(structured(&file), Some(vec![Part::File(expected)]));
}

#[test]
fn one_bad_entry_makes_the_whole_list_plain_data() {
    let good = json!({"type": "text", "text": "a"});
    assert!(structured(&json!([good, good])).is_some());
    for bad in [json!({"type": "text"}), json!(1), json!({"type": "image", "image_url": 5}), json!({"type": "audio"})] {
        assert_eq!(structured(&json!([good, bad])), None);
    }
    assert_eq!(structured(&json!([])), None);
}

#[test]
fn an_image_with_an_unknown_detail_is_plain_data() {
    for detail in ["original", "", "LOW"] {
        assert_eq!(structured(&json!({"type": "image", "image_url": "u", "detail": detail})), None);
    }
}
