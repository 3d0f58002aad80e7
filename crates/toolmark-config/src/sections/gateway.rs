//! `[gateway]`: where Toolmark listens, who may come in, how much they may take, and where it remembers.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use toolmark_policy::OneOrMany;

use super::address::{is_trusted_address, is_web_address};
use super::foreign::{AddressText, DurationText, OneOrManyTexts};
use crate::read::{Refused, Section, table, table_name};
use crate::values::{Durability, Entries, ListMeta, Rate, Size, Tasks, Template};

table! {
    /// The gateway itself.
    pub struct Gateway check check {
        /// Where it listens. Anything but loopback needs `[gateway.auth]`.
        #[schemars(with = "AddressText")]
        pub listen: SocketAddr = DEFAULT_LISTEN,
        /// Where it remembers: the path of a SQLite file, or an address; without it, a file in the user's data directory.
        pub store: Option<Template>,
        /// The address under which clients reach it, where that is another.
        pub public_url: Option<String>,
        /// Host names that requests may be for, besides those of loopback and `public_url`.
        pub allowed_hosts: Vec<String>,
        /// Web pages that may send requests, such as `https://app.example.com`; without any, none.
        pub allowed_origins: Vec<String>,
        /// Who may come in.
        pub auth: GatewayAuth,
        /// How much callers may take.
        pub limits: GatewayLimits,
        /// The former place of `durability` in `[audit]`, which comes before it.
        pub durability: Durability,
        /// How much of what Toolmark knows about a tool stands in lists.
        pub list_meta: ListMeta,
    }
}

table! {
    /// Who may come in. Without any of these, everybody on this machine.
    pub struct GatewayAuth {
        /// Callers need a token made by `toolmark token`.
        pub tokens: bool,
        /// Callers need a token of this authorization server.
        pub jwt: Option<Jwt>,
    }
}

table! {
    /// An authorization server whose tokens are accepted.
    #[schemars(extend("required" = ["issuer", "audience"]))]
    pub struct Jwt check check_jwt {
        /// Who signs: the value of `iss`.
        pub issuer: String,
        /// For whom: what `aud` must hold, one of these. Where it is the address of the gateway or of a part of it, clients are told to ask for it.
        #[schemars(with = "OneOrManyTexts")]
        pub audience: OneOrMany<String>,
        /// Where its keys are; without it, found through the issuer's metadata.
        pub jwks_url: Option<String>,
        /// The tasks that each scope allows; `"*"` is all of them, and what belongs to none. Without it, every caller may choose every task.
        pub scopes: Entries<String, Tasks>,
    }
}

table! {
    /// How much callers may take.
    pub struct GatewayLimits check check_limits {
        /// The largest request.
        pub body_bytes: Size = Size::mebibytes(4),
        /// How deep JSON may be nested.
        pub depth: u32 = 64,
        /// How many requests of one caller may run at once.
        pub concurrency: u32 = 256,
        /// How often one caller may call; without it, as often as it likes.
        pub rate: Option<Rate>,
        /// How many sessions may be open.
        pub sessions: u32 = 4096,
        /// After how long an unused session is closed.
        #[schemars(with = "DurationText")]
        pub session_idle: Duration = Duration::from_secs(30 * 60),
    }
}

/// Where the gateway listens when nobody says otherwise.
pub(crate) const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7319);

impl GatewayAuth {
    /// True when callers have to say who they are.
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.tokens || self.jwt.is_some()
    }
}

impl Gateway {
    /// True when listening there would let anybody in who can reach the address. Whoever takes an address from elsewhere asks this.
    #[must_use]
    pub fn would_be_open(&self, listen: SocketAddr) -> bool {
        !listen.ip().to_canonical().is_loopback() && !self.auth.is_required()
    }
}

fn check(gateway: &Gateway, section: &mut Section<'_, '_>) {
    if gateway.would_be_open(gateway.listen) {
        section.refuse(Some("listen"), &Refused::OpenDoor { listen: gateway.listen.to_string() });
    }
    if gateway.public_url.as_deref().is_some_and(|url| !is_web_address(url)) {
        let error = Refused::value("this is no address", "write `https://tools.example.com`");
        section.refuse(Some("public_url"), &error.at_key("gateway.public_url"));
    }
    for origin in &gateway.allowed_origins {
        // An origin has no path; browsers never send one.
        let bare = origin.splitn(4, '/').nth(3).is_none();
        if !is_web_address(origin) || !bare {
            let message = format!("`{}` is no origin", toolmark_core::text::visible(origin, 80));
            let error = Refused::value(message, "write scheme, host and port only: `https://app.example.com`");
            section.refuse(Some("allowed_origins"), &error.at_key("gateway.allowed_origins"));
        }
    }
    for host in &gateway.allowed_hosts {
        if host.is_empty() || host.contains(['/', '*', ' ', '@']) {
            let message = format!("`{}` is no host", toolmark_core::text::visible(host, 80));
            let error = Refused::value(message, "write the name, and a port if it has one: `tools.example.com:8443`");
            section.refuse(Some("allowed_hosts"), &error.at_key("gateway.allowed_hosts"));
        }
    }
}

fn check_jwt(jwt: &Jwt, section: &mut Section<'_, '_>) {
    let nobody = jwt.audience.0.is_empty() || jwt.audience.0.iter().any(String::is_empty);
    for (key, empty) in [("issuer", jwt.issuer.is_empty()), ("audience", nobody)] {
        if empty && (section.reads(key) || !section.has(key)) {
            section.refuse(
                Some(key),
                &Refused::Missing {
                    table: table_name(section.path()),
                    message: format!("has no `{key}`"),
                    fix: format!("add `{key} = \"…\"`; without it, tokens made for somebody else would be accepted"),
                },
            );
        }
    }
    let (key, keys) = jwt.jwks_url.as_deref().map_or(("issuer", jwt.issuer.as_str()), |url| ("jwks_url", url));
    if section.reads(key) && !(keys.is_empty() && key == "issuer") && !is_trusted_address(keys) {
        let message = "keys are fetched over `https://` only, or from this machine";
        let error = Refused::value(message, "write an `https://` address, or where its keys are into `jwks_url`");
        section.refuse(Some(key), &error.at_key(&format!("gateway.auth.jwt.{key}")));
    }
}

fn check_limits(limits: &GatewayLimits, section: &mut Section<'_, '_>) {
    let zeros = [
        ("body_bytes", limits.body_bytes.bytes() == 0),
        ("depth", limits.depth == 0),
        ("concurrency", limits.concurrency == 0),
        ("sessions", limits.sessions == 0),
    ];
    for (key, zero) in zeros {
        if zero {
            let error = Refused::value("nothing would ever get through", "write a number above 0");
            section.refuse(Some(key), &error.at_key(&format!("gateway.limits.{key}")));
        }
    }
}
