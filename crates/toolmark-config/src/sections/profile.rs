//! `[profiles.NAME]`, `[names]` and `[console]`: what clients and people see.

use toolmark_core::exposure::{Mode, ProfileName};
use toolmark_core::names::PackName;

use super::foreign::{ClientWord, ExposureWord};
use crate::read::{Refused, Section, table, table_name};
use crate::values::{ListMeta, Name, is_locale};

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
        /// The language of display names, such as `en`.
        pub default_locale: Option<String>,
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
    if names.default_locale.as_deref().is_some_and(|locale| !is_locale(locale)) {
        let error = Refused::value("this is no language", "write `en`, `nl`, `pt-BR` or the like");
        section.refuse(Some("default_locale"), &error.at_key("names.default_locale"));
    }
}
