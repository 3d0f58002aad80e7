//! `[profiles.NAME]`, `[names]` and `[console]`: what clients and people see.

use toolmark_core::display::LanguageTag;
use toolmark_core::exposure::{Mode, ProfileName};
use toolmark_core::names::PackName;
use toolmark_core::text::visible;

use super::foreign::{ClientWord, ExposureWord, LanguageTagText};
use crate::read::{Refused, Section, table, table_name};
use crate::values::{ListMeta, Name};

table! {
    /// A client and the address it uses: `/mcp/NAME`.
    #[schemars(extend("required" = ["client"]))]
    pub struct Profile check check_profile {
        /// Whose limits names are made for.
        #[schemars(with = "Option<ClientWord>")]
        pub client: Option<ProfileName>,
        /// The name under which the client knows Toolmark; its length counts.
        pub server: Option<String>,
        /// How names are exposed.
        #[schemars(with = "Option<ExposureWord>")]
        pub exposure: Option<Mode>,
        /// The task that holds for calls through this address.
        pub task: Option<Name>,
        /// The packs that are seen through this address; without it, all.
        #[schemars(with = "Option<Vec<String>>")]
        pub packs: Option<Vec<PackName>>,
        /// How much of what Toolmark knows about a tool stands in lists; without it, as `[gateway]` says.
        pub list_meta: Option<ListMeta>,
    }
}

table! {
    /// How names are chosen where nothing else says so.
    pub struct Names check check_names {
        /// The language of display names where nobody asks for another, or it is not there; without it, `en`.
        #[schemars(with = "Option<LanguageTagText>")]
        pub default_locale: Option<LanguageTag>,
        /// Files with names in one language each, such as `locales/*.ftl`. The language is the last part of the name: `nl.ftl`.
        pub locales: Vec<String>,
        /// Whether `Accept-Language` of a request decides which titles old clients see in lists.
        pub honour_accept_language: bool = true,
        /// Whether `_meta["io.modelcontextprotocol/acceptLanguage"]` of a request does so (SEP-2792, which is a draft).
        pub honour_language_meta: bool = false,
        /// How names are exposed.
        #[schemars(with = "ExposureWord")]
        pub exposure: Mode,
    }
}

table! {
    /// The console in the browser. More settings come with a later version.
    pub struct Console {
        /// Whether it is served.
        pub enabled: bool = true,
    }
}

impl Names {
    /// The language of display names where nobody asks for another.
    #[must_use]
    pub fn default_language(&self) -> LanguageTag {
        self.default_locale.clone().unwrap_or_else(LanguageTag::english)
    }
}

impl Profile {
    /// Whose limits names are made for.
    #[must_use]
    pub fn client(&self) -> ProfileName {
        self.client.unwrap_or(ProfileName::Generic)
    }

    /// The limits themselves.
    #[must_use]
    pub fn limits(&self) -> toolmark_core::exposure::Profile {
        let named =
            self.server.as_deref().map(|server| toolmark_core::exposure::Profile::with_server(self.client(), server));
        named.and_then(Result::ok).unwrap_or_else(|| toolmark_core::exposure::Profile::new(self.client()))
    }
}

fn check_profile(profile: &Profile, section: &mut Section<'_, '_>) {
    if !section.has("client") {
        section.refuse(
            None,
            &Refused::Missing {
                table: table_name(section.path()),
                message: "has no `client`".into(),
                fix: "add `client = \"claude-code\"`, or `\"generic\"` for any other".into(),
            },
        );
    }
    if let Some(server) = &profile.server
        && let Err(error) = toolmark_core::exposure::Profile::with_server(profile.client(), server)
    {
        let error = Refused::inner(&error).at_key(&format!("{}.server", section.path()));
        section.refuse(Some("server"), &error);
    }
}

fn check_names(names: &Names, section: &mut Section<'_, '_>) {
    for (at, pattern) in names.locales.iter().enumerate() {
        if !pattern.ends_with(".ftl") && !pattern.ends_with(".toml") {
            let error = Refused::value(
                format!("`{}` is neither Fluent nor TOML", visible(pattern, 80)),
                "name files that end in `.ftl` or `.toml`: `locales/*.ftl`",
            );
            section.refuse(Some("locales"), &error.at_key(&format!("names.locales[{at}]")));
        }
    }
}
