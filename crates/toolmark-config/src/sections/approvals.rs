//! `[approvals]`: how people are asked, and for how long.

use std::time::Duration;

use super::foreign::{DurationText, SpanText};
use super::is_web_address;
use crate::read::{Refused, Section, table, table_name};
use crate::values::{OnTimeout, Span, Template};

table! {
    /// How people are asked about calls whose verdict is to ask.
    pub struct Approvals check check {
        /// How long a question is open.
        #[schemars(with = "DurationText")]
        pub timeout: Duration = Duration::from_secs(600),
        /// What becomes of it then.
        pub on_timeout: OnTimeout,
        /// How long a question stays open that outlives its timeout.
        #[schemars(with = "Option<SpanText>")]
        pub keep: Option<Span>,
        /// How long a call waits for a decision when its client cannot ask anybody, before it is told to call again.
        #[schemars(with = "DurationText")]
        pub wait: Duration = Duration::ZERO,
        /// Whether the person in front of the client may decide, where the client can ask.
        pub client: bool = true,
        /// Where questions are sent.
        pub webhook: Option<Webhook>,
    }
}

table! {
    /// A server that hears of every question, and may answer.
    #[schemars(extend("required" = ["url", "secret"]))]
    pub struct Webhook check check_webhook {
        /// Its address.
        pub url: Option<Template>,
        /// What requests are signed with, such as `${TOOLMARK_WEBHOOK_SECRET}`.
        pub secret: Option<Template>,
    }
}

fn check(approvals: &Approvals, section: &mut Section<'_, '_>) {
    if approvals.timeout.is_zero() {
        let error = Refused::value("nobody answers in no time at all", "write a time such as `10min`");
        section.refuse(Some("timeout"), &error.at_key("approvals.timeout"));
    }
}

fn check_webhook(webhook: &Webhook, section: &mut Section<'_, '_>) {
    for (key, example) in [("url", "https://example.com/approvals"), ("secret", "${TOOLMARK_WEBHOOK_SECRET}")] {
        if !section.has(key) {
            section.refuse(
                None,
                &Refused::Missing {
                    table: table_name(section.path()),
                    message: format!("has no `{key}`"),
                    fix: format!("add `{key} = \"{example}\"`"),
                },
            );
        }
    }
    if let Some(url) = webhook.url.as_ref().and_then(Template::as_literal)
        && !is_web_address(url.expose())
    {
        let error =
            Refused::value("this is no web address", "write an address such as `https://example.com/approvals`");
        section.refuse(Some("url"), &error.at_key("approvals.webhook.url"));
    }
}
