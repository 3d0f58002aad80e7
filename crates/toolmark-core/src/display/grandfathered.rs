//! Tags that were registered before BCP 47 had a grammar, and what they mean today. RFC 5646 fixes the list for good.

const TAGS: [(&str, &str); 26] = [
    ("art-lojban", "jbo"),
    ("cel-gaulish", "xtg"),
    ("en-GB-oed", "en-GB-oxendict"),
    ("i-ami", "ami"),
    ("i-bnn", "bnn"),
    ("i-default", "en-x-default"),
    ("i-enochian", "und-x-enochian"),
    ("i-hak", "hak"),
    ("i-klingon", "tlh"),
    ("i-lux", "lb"),
    ("i-mingo", "see"),
    ("i-navajo", "nv"),
    ("i-pwn", "pwn"),
    ("i-tao", "tao"),
    ("i-tay", "tay"),
    ("i-tsu", "tsu"),
    ("no-bok", "nb"),
    ("no-nyn", "nn"),
    ("sgn-BE-FR", "sfb"),
    ("sgn-BE-NL", "vgt"),
    ("sgn-CH-DE", "sgg"),
    ("zh-guoyu", "zh"),
    ("zh-hakka", "hak"),
    ("zh-min", "nan"),
    ("zh-min-nan", "nan"),
    ("zh-xiang", "hsn"),
];

/// The tag as it is registered, and the one that took its place. The text is in lower case.
pub(super) fn find(lower: &str) -> Option<(&'static str, &'static str)> {
    TAGS.iter().find(|(tag, _)| tag.eq_ignore_ascii_case(lower)).copied()
}
