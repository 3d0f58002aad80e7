//! `[packs.NAME]`: one MCP server, how it is reached, and what its tools may be.

use std::time::Duration;

use toolmark_core::exposure::Mode;
use toolmark_core::names::RawName;
use toolmark_core::text::visible;
use toolmark_policy::pattern::Glob;

use super::address::{is_plain, is_web_address};
use super::foreign::{DurationText, ExposureWord, GlobText};
use super::tool::Tool;
use crate::read::{Refused, Section, below, table, table_name};
use crate::values::{
    Entries, Era, Grant, Localized, Name, Refresh, Sentences, Size, Template, Transport, Trust, is_environment_name,
};

table! {
    /// One MCP server: a program that is started (`command`) or an address that is called (`url`).
    #[schemars(extend("oneOf" = [{"required": ["command"]}, {"required": ["url"]}]))]
    pub struct Pack check check {
        /// The program that is started. No shell is involved.
        pub command: Option<Template>,
        /// Its arguments.
        pub args: Vec<Template>,
        /// Variables that it is given. It sees no others but `inherit_env` and what every program needs.
        pub env: Entries<String, Template>,
        /// A file with more variables, one `NAME=value` a line. `env` wins over it.
        pub env_file: Option<Template>,
        /// Variables of Toolmark's own environment that it is given.
        pub inherit_env: Vec<String>,
        /// The directory in which it is started.
        pub cwd: Option<Template>,
        /// The address of the server.
        pub url: Option<Template>,
        /// How the address is spoken to.
        pub transport: Option<Transport>,
        /// Headers that are sent with every request.
        pub headers: Entries<String, Template>,
        /// How Toolmark says who it is.
        pub auth: Option<PackAuth>,
        /// A PEM file with the certificates that the server's must lead to, in place of those that this machine believes.
        pub ca: Option<Template>,
        /// How often an address is asked again for its lists, so that a server that was replaced or is gone is noticed even if nobody calls
        /// it. A server that says for how long its lists are good is asked again by then, but not more often than every 5 seconds; `0s`
        /// leaves it at that.
        #[schemars(with = "DurationText")]
        pub refresh: Refresh = Refresh::seconds(60),
        /// Which revision of MCP the server speaks.
        pub era: Era,
        /// What people call it: a text, or a text for each language.
        pub display_name: Option<Localized>,
        /// What is said while one of its tools works that has no `spoken` of its own.
        pub spoken: Option<Sentences>,
        /// False: the pack is not started and its tools are not listed.
        pub enabled: bool = true,
        /// The word before `__` in exposed names, in place of the name of the pack.
        pub prefix: Option<String>,
        /// How the names of its tools are exposed.
        #[schemars(with = "Option<ExposureWord>")]
        pub exposure: Option<Mode>,
        /// Whether what the server says about its own tools is believed.
        pub trust: Trust,
        /// The tools that are listed, by the server's own names; without it, all.
        #[schemars(with = "Option<Vec<GlobText>>")]
        pub allow: Option<Vec<Glob>>,
        /// Tools that are left out.
        #[schemars(with = "Vec<GlobText>")]
        pub deny: Vec<Glob>,
        /// The task whose expectation holds for every call of its tools, whatever the task of the client.
        pub task: Option<Name>,
        /// The directories that path arguments may name. Without any, only secrets and places of the system are noticed.
        pub roots: Vec<Template>,
        /// How much the server may take.
        pub limits: PackLimits,
        /// What is known about single tools, by the server's own names.
        #[schemars(with = "Entries<String, Tool>")]
        pub tools: Entries<RawName, Tool>,
        /// What is known about single prompts, by the server's own names.
        pub prompts: Entries<String, Offer>,
        /// What is known about single resources, by their addresses.
        pub resources: Entries<String, Offer>,
        /// What is known about single templates of resources.
        pub templates: Entries<String, Offer>,
    }
}

table! {
    /// What an operator knows about a prompt, a resource or a template of resources.
    pub struct Offer {
        /// What people read in place of its name: a text, or a text for each language.
        pub display_name: Option<Localized>,
    }
}

table! {
    /// How much one server may take of time, memory and calls.
    pub struct PackLimits check check_limits {
        /// How long a call may take.
        #[schemars(with = "DurationText")]
        pub timeout: Duration = Duration::from_secs(60),
        /// How long the server may take to start and list its tools.
        #[schemars(with = "DurationText")]
        pub start: Duration = Duration::from_secs(30),
        /// How many calls may run at once.
        pub calls: u32 = 64,
        /// How many calls may wait for that; more are refused at once.
        pub queue: u32 = 256,
        /// After how many calls in a row without an answer the server gets a rest, during which calls are refused at once; 0 for never.
        pub failures: u32 = 5,
        /// How long the first rest is. Each that follows is twice as long, up to a minute.
        #[schemars(with = "DurationText")]
        pub rest: Duration = Duration::from_secs(10),
        /// The largest result.
        pub result_bytes: Size = Size::mebibytes(16),
        /// On how many processors a program may run, with everything that it starts; without it, on all, except while it answers more calls on one. Linux only.
        pub processors: Option<u32>,
    }
}

table! {
    /// How Toolmark says who it is: exactly one of the two.
    #[schemars(extend("oneOf" = [{"required": ["bearer"]}, {"required": ["oauth"]}]))]
    pub struct PackAuth check check_auth {
        /// A token, sent as `Authorization: Bearer …`.
        pub bearer: Option<Template>,
        /// A token that an authorization server gives.
        pub oauth: Option<OAuth>,
    }
}

table! {
    /// OAuth 2.1. What is left out is found through the server's metadata.
    pub struct OAuth check check_oauth {
        /// How the token is got.
        pub grant: Grant,
        /// Who Toolmark is; without it, it registers itself where the server allows that.
        pub client_id: Option<Template>,
        /// Its secret.
        pub client_secret: Option<Template>,
        /// What is asked for.
        pub scopes: Vec<String>,
        /// The authorization server.
        pub issuer: Option<Template>,
        /// Where tokens are got.
        pub token_url: Option<Template>,
        /// The port on 127.0.0.1 to which a login returns; without it, a free one.
        pub redirect_port: Option<u16>,
    }
}

impl Pack {
    /// Whether a tool of this name is listed at all.
    #[must_use]
    pub fn admits(&self, tool: &RawName) -> bool {
        let name = tool.as_str();
        let allowed = self.allow.as_ref().is_none_or(|allow| allow.iter().any(|glob| glob.matches(name)));
        let switched_off = self.tools.get(tool).is_some_and(|tool| !tool.enabled);
        allowed && !switched_off && !self.deny.iter().any(|glob| glob.matches(name))
    }

    /// How long a call of this tool may take.
    #[must_use]
    pub fn timeout(&self, tool: &RawName) -> Duration {
        self.tools.get(tool).and_then(|tool| tool.timeout).unwrap_or(self.limits.timeout)
    }
}

/// What only one of the two kinds of servers has.
const OF_PROGRAMS: &[&str] = &["args", "env", "env_file", "inherit_env", "cwd"];
const OF_ADDRESSES: &[&str] = &["transport", "headers", "auth", "ca", "refresh"];

fn check(pack: &Pack, section: &mut Section<'_, '_>) {
    let table = table_name(section.path());
    match (section.has("command"), section.has("url")) {
        (false, false) => section.refuse(
            None,
            &Refused::Missing {
                table: table.clone(),
                message: "has neither `command` nor `url`".into(),
                fix: "add `command = \"…\"` for a program, or `url = \"https://…\"` for an address".into(),
            },
        ),
        (true, true) => section.refuse(
            Some("url"),
            &Refused::Conflict {
                table: table.clone(),
                message: "has both `command` and `url`".into(),
                fix: "make two packs of it, or remove one of the two".into(),
            },
        ),
        (program, _) => {
            let (others, kind) = if program {
                (OF_ADDRESSES, "a program that is started")
            } else {
                (OF_PROGRAMS, "an address that is called")
            };
            for key in others {
                if section.has(key) {
                    let message = format!("is {kind}, which has no `{key}`");
                    let error = Refused::Conflict { table: table.clone(), message, fix: format!("remove `{key}`") };
                    section.refuse(Some(key), &error);
                }
            }
            if !program && pack.limits.processors.is_some() {
                let message = "is an address that is called, whose processors are not ours".into();
                let fix = "remove `processors` from its limits".into();
                section.refuse(Some("limits"), &Refused::Conflict { table: table.clone(), message, fix });
            }
        }
    }
    for key in pack.env.iter().map(|(key, _)| key).chain(&pack.inherit_env) {
        if !is_environment_name(key) {
            let message = format!("`{}` is no name of a variable", visible(key, 40));
            let error = Refused::value(message, "use letters, digits and `_`; it cannot be empty or hold `=`");
            section.refuse(Some("env"), &error.at_key(&format!("{}.env", section.path())));
        }
    }
    check_headers(pack, section);
    for (key, what, message) in unsendable(pack) {
        let error = Refused::value(message, "remove it");
        section.refuse(Some(key), &error.at_key(&format!("{}.{what}", section.path())));
    }
    if pack.auth.is_some() && pack.headers.iter().any(|(key, _)| key.eq_ignore_ascii_case("authorization")) {
        section.refuse(
            Some("auth"),
            &Refused::Conflict {
                table: table.clone(),
                message: "says twice who Toolmark is: `auth`, and the header `Authorization`".into(),
                fix: "remove one of the two".into(),
            },
        );
    }
    if let Some(url) = pack.url.as_ref().and_then(Template::as_literal)
        && !is_web_address(url.expose())
    {
        let error = Refused::value("this is no address", "write `http://…` or `https://…`");
        section.refuse(Some("url"), &error.at_key(&format!("{}.url", section.path())));
    }
    if section.has("ca")
        && let Some(url) = pack.url.as_ref().and_then(Template::as_literal)
        && is_plain(url.expose())
    {
        let message = "the address is called without encryption, and shows no certificate";
        let error = Refused::value(message, "write `https://` in `url`, or remove `ca`");
        section.refuse(Some("ca"), &error.at_key(&format!("{}.ca", section.path())));
    }
    if pack.command.as_ref().and_then(Template::as_literal).is_some_and(|command| command.expose().trim().is_empty()) {
        let error = Refused::value("the text is empty", "write the program that is to be started");
        section.refuse(Some("command"), &error.at_key(&format!("{}.command", section.path())));
    }
    if pack.allow.as_ref().is_some_and(Vec::is_empty) {
        let error = Refused::value("an empty list allows no tool", "leave `allow` out, or write `enabled = false`");
        section.refuse(Some("allow"), &error.at_key(&format!("{}.allow", section.path())));
    }
    if pack.prefix.as_deref().is_some_and(|prefix| !is_prefix(prefix)) {
        let error = Refused::value("this is no prefix", "use 1 to 32 letters, digits, `_` and `-`");
        section.refuse(Some("prefix"), &error.at_key(&format!("{}.prefix", section.path())));
    }
}

fn check_headers(pack: &Pack, section: &mut Section<'_, '_>) {
    for (at, (key, _)) in pack.headers.iter().enumerate() {
        let shown = visible(key, 40);
        let before = pack.headers.iter().take(at).find(|(known, _)| known.eq_ignore_ascii_case(key));
        let error = if !is_header(key) {
            Refused::value(format!("`{shown}` is no name of a header"), "use letters, digits and `-`")
        } else if is_of_transport(key) {
            let message = format!("`{shown}` says how a message is carried, which Toolmark says itself");
            Refused::value(message, "remove it")
        } else if let Some((before, _)) = before {
            let message = format!("`{shown}` stands there already, as `{}`", visible(before, 40));
            Refused::value(message, "keep one of the two")
        } else {
            continue;
        };
        section.refuse_at(&["headers", key], &error.at_key(&format!("{}.headers", section.path())));
    }
}

/// The settings whose texts reach no server, with the key under which they stand and why; never by value.
pub(crate) fn unsendable(pack: &Pack) -> Vec<(&'static str, String, &'static str)> {
    const HEADER: &str = "a header holds no line break and no other control character";
    const PROGRAM: &str = "a program is given no zero character";
    let is_control = |character: char| character.is_ascii_control() && character != '\t';
    let is_zero = |character: char| character == '\0';
    let mut all = Vec::new();
    for (name, _) in pack.headers.iter().filter(|(_, text)| text.holds(is_control)) {
        all.push(("headers", below("headers", name), HEADER));
    }
    if pack.auth.iter().filter_map(|auth| auth.bearer.as_ref()).any(|bearer| bearer.holds(is_control)) {
        all.push(("auth", "auth.bearer".to_owned(), HEADER));
    }
    for (key, text) in [("command", &pack.command), ("env_file", &pack.env_file), ("cwd", &pack.cwd)] {
        if text.as_ref().is_some_and(|text| text.holds(is_zero)) {
            all.push((key, key.to_owned(), PROGRAM));
        }
    }
    for (at, _) in pack.args.iter().enumerate().filter(|(_, text)| text.holds(is_zero)) {
        all.push(("args", format!("args[{at}]"), PROGRAM));
    }
    for (name, _) in pack.env.iter().filter(|(_, text)| text.holds(is_zero)) {
        all.push(("env", below("env", name), PROGRAM));
    }
    all
}

fn check_limits(limits: &PackLimits, section: &mut Section<'_, '_>) {
    let zeros = [
        ("calls", limits.calls == 0),
        ("result_bytes", limits.result_bytes.bytes() == 0),
        ("processors", limits.processors == Some(0)),
    ];
    for (key, zero) in zeros {
        if zero {
            let error = Refused::value("nothing would ever get through", "write a number above 0");
            section.refuse(Some(key), &error.at_key(&format!("{}.{key}", section.path())));
        }
    }
}

fn check_auth(_: &PackAuth, section: &mut Section<'_, '_>) {
    let table = table_name(section.path());
    let fix = "keep either `bearer = \"${TOKEN}\"` or a table `oauth`".to_owned();
    match (section.has("bearer"), section.has("oauth")) {
        (false, false) => {
            section.refuse(None, &Refused::Missing { table, message: "has neither `bearer` nor `oauth`".into(), fix });
        }
        (true, true) => {
            section.refuse(None, &Refused::Conflict { table, message: "has both `bearer` and `oauth`".into(), fix });
        }
        _ => {}
    }
}

fn check_oauth(oauth: &OAuth, section: &mut Section<'_, '_>) {
    let complete = section.has("client_id") && section.has("client_secret");
    if oauth.grant == Grant::ClientCredentials && !complete {
        section.refuse(
            None,
            &Refused::Missing {
                table: table_name(section.path()),
                message: "has `grant = \"client_credentials\"`, but not both `client_id` and `client_secret`".into(),
                fix: "add what is missing, such as `client_secret = \"${CLIENT_SECRET}\"`".into(),
            },
        );
    }
}

/// Headers that say how a message is carried. Another value would break what Toolmark says there itself.
const OF_TRANSPORT: &[&str] = &[
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// True for a header that is not for configurations to say, however it is spelled.
pub(crate) fn is_of_transport(name: &str) -> bool {
    OF_TRANSPORT.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// True for what HTTP calls a token.
pub(crate) fn is_header(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

fn is_prefix(text: &str) -> bool {
    (1..=32).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
