use std::time::Duration;

use proptest::prelude::*;
use toolmark_core::explain::Explain as _;

use super::*;
use crate::read::{self, FromToml};

fn value<T: FromToml>(written: &str) -> Option<T> {
    let entries = read::read::<Entries<String, T>>(&format!("v = {written}"), "t").ok()?;
    entries.into_iter().next().map(|(_, value)| value)
}

#[test]
fn times_are_a_whole_number_and_a_unit() {
    for (written, milliseconds) in
        [("500ms", 500), ("30s", 30_000), ("5min", 300_000), ("5m", 300_000), ("2h", 7_200_000), ("1 d", 86_400_000)]
    {
        assert_eq!(value::<Duration>(&format!("{written:?}")), Some(Duration::from_millis(milliseconds)), "{written}");
    }
    for wrong in [
        "\"\"",
        "\"30\"",
        "30",
        "\"-1s\"",
        "\"1.5s\"",
        "\"0s\"",
        "\"s\"",
        "\"99999999999999999999s\"",
        "\"400d\"",
        "\"1  s\"",
    ] {
        assert_eq!(value::<Duration>(wrong), None, "{wrong}");
    }
}

#[test]
fn sizes_are_bytes_or_a_number_and_a_unit() {
    for (written, bytes) in
        [("\"16MiB\"", 16 << 20), ("\"2kB\"", 2000), ("\"1 GiB\"", 1 << 30), ("512", 512), ("\"7B\"", 7)]
    {
        assert_eq!(value::<Size>(written).map(Size::bytes), Some(bytes), "{written}");
    }
    for wrong in ["\"16\"", "\"MiB\"", "\"1mb\"", "-1", "\"99999999999GiB\"", "1.5"] {
        assert_eq!(value::<Size>(wrong), None, "{wrong}");
    }
    assert_eq!(Size::mebibytes(16).to_string(), "16MiB");
}

#[test]
fn rates_say_how_often_and_per_what() {
    let rate = value::<Rate>("\"600/min\"").unwrap();
    assert_eq!((rate.count(), rate.per()), (600, Duration::from_secs(60)));
    for wrong in ["\"0/s\"", "\"5\"", "\"5/day\"", "\"/s\"", "5"] {
        assert_eq!(value::<Rate>(wrong), None, "{wrong}");
    }
}

#[test]
fn a_template_knows_its_variables_and_refuses_what_is_none() {
    let template = Template::parse("a${X}$${Y}${Z:-d}${env:W}$").unwrap_or_default();
    assert_eq!(template.variables().collect::<Vec<_>>(), ["X", "Z", "W"]);
    let expanded = template.expand(&|name| (name != "Z").then(|| name.to_lowercase())).unwrap();
    assert_eq!(expanded.expose(), "ax${Y}dw$");
    assert_eq!(template.expand(&|_| None).unwrap_err(), ["X", "W"]);
    for wrong in ["${", "${}", "${a b}", "${input:key}", "${1}", "${env:}", "${:-d}"] {
        assert!(Template::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_default_holds_no_variable() {
    for wrong in ["${A:-${B}}", "${A:-x${B:-c}}", "${env:A:-${B}", "${A:-$${B}}", "${A:-${}"] {
        let Err(error) = Template::parse(wrong) else { panic!("{wrong}") };
        assert_eq!(error.code().as_str(), "config-variable-syntax", "{wrong}");
    }
    let plain = Template::parse("${A:-$B {c}").unwrap_or_default();
    assert_eq!(plain.expand(&|_| None).unwrap().expose(), "$B {c");
}

proptest! {
    #[test]
    fn a_template_of_any_parts_is_written_so_that_it_reads_as_itself(
        parts in proptest::collection::vec(prop_oneof!["[$${}a:]{1,4}".prop_map(Some), Just(None)], 0..5)
    ) {
        let part = |literal: Option<String>| match literal {
            Some(text) => Part::Literal(Secret::new(text)),
            None => Part::Variable { name: "V".into(), default: None },
        };
        let template = Template::from_parts(parts.into_iter().map(part).collect());
        let again = Template::parse(template.written().expose()).map_err(|_| TestCaseError::fail("not read"))?;
        let environment = |_: &str| Some("<v>".to_owned());
        prop_assert_eq!(again.expand(&environment), template.expand(&environment));
    }

    #[test]
    fn a_template_that_is_written_reads_as_itself(text in "([a${}:-]|\\$\\{|\\$\\$\\{X\\}|\\$\\{Y(:-[a-z]*)?\\}){0,12}") {
        if let Ok(template) = Template::parse(&text) {
            let again = Template::parse(template.written().expose()).map_err(|_| TestCaseError::fail("not read"))?;
            let environment = |name: &str| Some(format!("<{name}>"));
            prop_assert_eq!(again.expand(&environment), template.expand(&environment));
        }
    }
}

#[test]
fn a_log_filter_is_levels_and_modules_with_levels() {
    let parts = |text: &str| -> Vec<(Option<String>, &'static str)> {
        let filter: LogFilter = text.parse().unwrap();
        filter.parts().map(|(module, level)| (module.map(str::to_owned), level)).collect()
    };
    assert_eq!(parts("INFO"), [(None, "info")]);
    assert_eq!(
        parts("warn, toolmark_mcp::upstream = debug"),
        [(None, "warn"), (Some("toolmark_mcp::upstream".into()), "debug")]
    );
    for wrong in
        ["", "verbose", "toolmark_mcp", "a=b=info", "info,", "=info", "x=", "warn,error", "a=info,a=debug", "a b=info"]
    {
        let error = wrong.parse::<LogFilter>().unwrap_err();
        assert!(error.to_string().starts_with(&format!("`{wrong}` is no filter")), "{error}");
    }
}
