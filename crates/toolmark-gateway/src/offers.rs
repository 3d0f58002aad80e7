//! Resources, templates and prompts as clients at one address see them: under names of which each has one owner.

mod titles;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use toolmark_config::locale::Offered;
use toolmark_core::display::{LanguageTag, Languages};
use toolmark_core::names::PackName;
use toolmark_mcp::wire::version::Era;
use toolmark_mcp::wire::{Change, write};

use self::titles::Titles;
use crate::labels::Labels;
use crate::listing::Listed;
use crate::names::Names;
use crate::pages::Pages;

/// What else there is beside tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Resource,
    Template,
    Prompt,
}

/// Everything that packs offer beside tools.
#[derive(Debug)]
pub(crate) struct Offers {
    resources: OfferList,
    templates: OfferList,
    prompts: OfferList,
    /// True when a pack completes arguments.
    pub(crate) completes: bool,
    /// True when a pack tells about changes of single resources.
    pub(crate) subscribes: bool,
    /// True when calls of a pack may go on as tasks.
    pub(crate) tasks: bool,
}

#[derive(Debug)]
struct OfferList {
    entries: Vec<Entry>,
    by_name: HashMap<String, usize>,
    /// Each of them as it is listed.
    texts: Vec<Bytes>,
    pages: Pages,
    /// What people call them, found out when somebody first wants a language.
    titles: OnceLock<Titles>,
}

/// One offer: whose it is, what its pack calls it, and what clients call it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) pack: PackName,
    pub(crate) own: Arc<str>,
    exposed: String,
}

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::Resource => "resource",
            Self::Template => "template",
            Self::Prompt => "prompt",
        }
    }

    const fn offered(self) -> Offered {
        match self {
            Self::Resource => Offered::Resource,
            Self::Template => Offered::Template,
            Self::Prompt => Offered::Prompt,
        }
    }

    /// The member of a result that holds the list, and the member of an entry that holds its name.
    const fn members(self) -> (&'static str, &'static str) {
        match self {
            Self::Resource => ("resources", "uri"),
            Self::Template => ("resourceTemplates", "uriTemplate"),
            Self::Prompt => ("prompts", "name"),
        }
    }
}

impl Offers {
    /// What these packs offer, in this order. Who was first with a name keeps it.
    pub(crate) fn of<'l>(
        names: &Names,
        packs: &(impl Iterator<Item = (&'l PackName, &'l Listed)> + Clone),
        shown: impl Fn(&PackName) -> bool,
    ) -> Self {
        let list = |kind: Kind| OfferList::of(names, kind, packs.clone(), &shown);
        let any = |has: fn(&Listed) -> bool| packs.clone().any(|(pack, listed)| shown(pack) && has(listed));
        Self {
            resources: list(Kind::Resource),
            templates: list(Kind::Template),
            prompts: list(Kind::Prompt),
            completes: any(|listed| listed.completes),
            subscribes: any(|listed| listed.subscribes),
            tasks: any(|listed| listed.tasks),
        }
    }

    fn list(&self, kind: Kind) -> &OfferList {
        match kind {
            Kind::Resource => &self.resources,
            Kind::Template => &self.templates,
            Kind::Prompt => &self.prompts,
        }
    }

    /// True when there is any.
    pub(crate) fn has(&self, kind: Kind) -> bool {
        !self.list(kind).entries.is_empty()
    }

    /// A page of a list; nothing for a cursor that was never given out.
    pub(crate) fn page(&self, kind: Kind, era: Era, cursor: Option<&str>) -> Option<Bytes> {
        self.list(kind).pages.get(era, cursor)
    }

    /// The same with titles in these languages, as far as there are any, and the language that most of them are in.
    pub(crate) fn page_in(
        &self,
        kind: Kind,
        labels: &Labels,
        languages: &Languages,
        era: Era,
        cursor: Option<&str>,
    ) -> Option<(Bytes, Option<LanguageTag>)> {
        let list = self.list(kind);
        let titles = list.titles.get_or_init(|| {
            let all = list.entries.iter().zip(&list.texts);
            Titles::new(all.map(|(entry, text)| labels.offer(kind.offered(), entry.pack.as_str(), &entry.own, text)))
        });
        match titles.pages(kind.members().0, &list.texts, labels.default_language(), languages) {
            Some((pages, language)) => Some((pages.get(era, cursor)?, Some(language))),
            None => Some((list.pages.get(era, cursor)?, None)),
        }
    }

    /// What a name stands for.
    pub(crate) fn find(&self, kind: Kind, exposed: &str) -> Option<&Entry> {
        let list = self.list(kind);
        list.entries.get(*list.by_name.get(exposed)?)
    }

    /// The address that clients know a pack's resource by.
    pub(crate) fn exposed_resource(&self, pack: &PackName, uri: String) -> String {
        let mut entries = self.resources.entries.iter();
        match entries.find(|entry| entry.pack == *pack && *entry.own == *uri) {
            Some(entry) => entry.exposed.clone(),
            None => uri,
        }
    }

    /// Who has the resource at this address, and what it is called there: whoever lists it, or else the one pack whose template could
    /// mean it.
    pub(crate) fn resource(&self, uri: &str) -> Option<(&PackName, String)> {
        if let Some(found) = self.find(Kind::Resource, uri) {
            return Some((&found.pack, found.own.to_string()));
        }
        let fitting: Vec<(&PackName, &str)> = self
            .templates
            .entries
            .iter()
            .filter_map(|template| {
                let fixed = template.exposed.split('{').next().unwrap_or_default();
                let added = template.exposed.strip_suffix(&*template.own)?;
                (!fixed.is_empty() && uri.starts_with(fixed)).then_some((&template.pack, uri.strip_prefix(added)?))
            })
            .collect();
        let packs: HashSet<&PackName> = fitting.iter().map(|(pack, _)| *pack).collect();
        let offering: HashSet<&PackName> =
            self.resources.entries.iter().chain(&self.templates.entries).map(|entry| &entry.pack).collect();
        match (fitting.first(), packs.len(), offering.len()) {
            (Some((pack, own)), 1, _) => Some((pack, (*own).to_owned())),
            // One pack alone may know addresses that it does not list.
            (None, _, 1) => offering.into_iter().next().map(|pack| (pack, uri.to_owned())),
            _ => None,
        }
    }
}

impl OfferList {
    fn of<'l>(
        names: &Names,
        kind: Kind,
        packs: impl Iterator<Item = (&'l PackName, &'l Listed)>,
        shown: &impl Fn(&PackName) -> bool,
    ) -> Self {
        let mut offers = Vec::new();
        for (pack, listed) in packs {
            let own = match kind {
                Kind::Resource => &listed.resources,
                Kind::Template => &listed.templates,
                Kind::Prompt => &listed.prompts,
            };
            let mut seen = HashSet::new();
            // Of two with one name in one pack, nobody could say which is meant; the first is kept.
            offers.extend(own.iter().filter(|offer| seen.insert(&offer.key)).map(|offer| (pack, offer)));
        }
        let wanted: Vec<(String, String, String)> = offers
            .iter()
            .map(|(pack, offer)| {
                let other = match kind {
                    Kind::Prompt => format!("{pack}__{}", offer.key),
                    Kind::Resource | Kind::Template => format!("toolmark://{pack}/{}", offer.key),
                };
                (format!("{pack} {}", offer.key), offer.key.to_string(), other)
            })
            .collect();
        // All are named, also those that are not shown here: a name means the same at every address.
        let exposed = names.of(kind.word(), &wanted);
        let (member, key) = kind.members();
        let (mut entries, mut texts) = (Vec::new(), Vec::new());
        for ((pack, offer), exposed) in offers.into_iter().zip(exposed).filter(|((pack, _), _)| shown(pack)) {
            texts.push(match *exposed == *offer.key {
                true => offer.object.raw().clone(),
                false => offer.object.rewrite(&[Change::Set(key, &write::quote(&exposed))]),
            });
            entries.push(Entry { pack: pack.clone(), own: Arc::clone(&offer.key), exposed });
        }
        let by_name = entries.iter().enumerate().map(|(at, entry)| (entry.exposed.clone(), at)).collect();
        let pages = Pages::new(member, &texts);
        Self { entries, by_name, texts, pages, titles: OnceLock::new() }
    }
}
