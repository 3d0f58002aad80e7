//! `[telemetry]`: what Toolmark tells others about itself.

use super::check_receiver;
use crate::read::{Refused, Section, table, table_name};
use crate::values::{Entries, LogFilter, LogFormat, Template};

table! {
    /// Traces, metrics and logs.
    pub struct Telemetry {
        /// Where traces are sent; without it, nowhere.
        pub otlp: Option<Otlp>,
        /// How log lines are written.
        pub log: Log,
        /// Whether `/metrics` is served.
        pub metrics: bool = true,
    }
}

table! {
    /// A receiver of OpenTelemetry data over HTTP.
    #[schemars(extend("required" = ["endpoint"]))]
    pub struct Otlp check check_otlp {
        /// Its address, such as `http://127.0.0.1:4318`.
        pub endpoint: Option<Template>,
        /// Headers that are sent with the data.
        pub headers: Entries<String, Template>,
        /// What Toolmark is called there.
        pub service_name: Option<String>,
    }
}

table! {
    /// Log lines. They go to standard error.
    pub struct Log check check_log {
        /// For people or for machines.
        pub format: LogFormat,
        /// What is logged, such as `info` or `warn,toolmark_mcp=debug`; the variable `TOOLMARK_LOG` comes before it.
        pub filter: String = "info".to_owned(),
    }
}

fn check_otlp(otlp: &Otlp, section: &mut Section<'_, '_>) {
    if let Some(endpoint) = otlp.endpoint.as_ref().and_then(Template::as_literal)
        && let Err(why) = check_receiver(endpoint.expose().trim())
    {
        let error = Refused::value(format!("this {why}"), "write an address such as `http://127.0.0.1:4318`");
        section.refuse(Some("endpoint"), &error.at_key(&format!("{}.endpoint", section.path())));
    }
    if !section.has("endpoint") {
        section.refuse(
            None,
            &Refused::Missing {
                table: table_name(section.path()),
                message: "has no `endpoint`".into(),
                fix: "add `endpoint = \"http://127.0.0.1:4318\"`".into(),
            },
        );
    }
}

fn check_log(log: &Log, section: &mut Section<'_, '_>) {
    if let Err(error) = log.filter.parse::<LogFilter>() {
        section.refuse(Some("filter"), &error);
    }
}
