//! Resources, templates and prompts as clients at one address see them: under names of which each has one owner.

mod titles;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use toolmark_config::locale::Offered;
use toolmark_core::display::{LanguageTag, Languages};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::exposure::Mode;
use toolmark_core::names::PackName;
use toolmark_core::problem::Problem;
use toolmark_core::text::visible;
use toolmark_mcp::wire::version::Era;
use toolmark_mcp::wire::{Change, write};

use self::titles::Titles;
use crate::labels::Labels;
use crate::listing::{Listed, twice};
use crate::names::{Names, Wanted};
use crate::pages::Pages;

/// What addresses begin with that say whose they are: `toolmark://PACK/ADDRESS`.
const SPELLED: &str = "toolmark://";

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
    /// The packs that are shown, and whether they have resources.
    packs: Vec<(PackName, bool)>,
    /// True when every address is its owner's own and can be nobody else's.
    plain: bool,
    /// True when calls of a pack may go on as tasks.
    pub(crate) tasks: bool,
}

#[derive(Debug)]
struct OfferList {
    entries: Vec<Entry>,
    by_name: HashMap<String, usize>,
    by_own: HashMap<PackName, HashMap<Arc<str>, usize>>,
    /// Each of them as it is listed.
    texts: Vec<Bytes>,
    pages: Pages,
    /// What people call them, found out when somebody first wants a language.
    titles: OnceLock<Titles>,
    ttl_ms: u64,
}

/// Whose an address is, as far as lists and templates tell.
enum Owner<'o> {
    Known(&'o PackName, String),
    /// Several could have it.
    Several,
    Nobody,
}

/// Something that a server lists twice under one name.
#[derive(Debug, thiserror::Error)]
#[error("the pack `{pack}` lists two of {kind} `{name}`")]
struct OfferedTwice {
    pack: PackName,
    kind: &'static str,
    name: String,
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
        named: impl Fn(&PackName) -> (String, Mode),
        ttl_ms: u64,
    ) -> Self {
        let list = |kind: Kind| OfferList::of(names, kind, packs.clone(), &shown, &named, ttl_ms);
        let (resources, templates) = (list(Kind::Resource), list(Kind::Template));
        let readers = packs.clone().filter(|(pack, _)| shown(pack)).map(|(pack, listed)| (pack.clone(), listed.reads));
        let readers: Vec<(PackName, bool)> = readers.collect();
        let plain = readers.len() < 2 && resources.entries.iter().all(|entry| *entry.own == *entry.exposed);
        let any = |has: fn(&Listed) -> bool| packs.clone().any(|(pack, listed)| shown(pack) && has(listed));
        Self {
            resources,
            templates,
            prompts: list(Kind::Prompt),
            packs: readers,
            plain,
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

    /// The packs that are shown, in their order.
    pub(crate) fn packs(&self) -> impl Iterator<Item = &PackName> {
        self.packs.iter().map(|(pack, _)| pack)
    }

    /// True when addresses go to clients as servers write them.
    pub(crate) fn is_plain(&self) -> bool {
        self.plain
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
        match titles.pages(kind.members().0, &list.texts, list.ttl_ms, labels.default_language(), languages) {
            Some((pages, language)) => Some((pages.get(era, cursor)?, Some(language))),
            None => Some((list.pages.get(era, cursor)?, None)),
        }
    }

    /// What a name stands for.
    pub(crate) fn find(&self, kind: Kind, exposed: &str) -> Option<&Entry> {
        let list = self.list(kind);
        list.entries.get(*list.by_name.get(exposed)?)
    }

    /// The address that clients know a pack's resource by, where that is not its own: the one that is listed, or else one that says whose
    /// it is. Invariant: whatever address a client is given leads back to this pack, or to nobody.
    pub(crate) fn exposed(&self, pack: &PackName, uri: &str) -> Option<String> {
        let listed = self.resources.by_own.get(pack).and_then(|own| self.resources.entries.get(*own.get(uri)?));
        if let Some(entry) = listed {
            return (entry.exposed != uri).then(|| entry.exposed.clone());
        }
        let spelled = || Some(spelled(pack, uri));
        match self.owner(uri) {
            Owner::Known(owner, own) if owner == pack && own == uri => None,
            Owner::Known(..) | Owner::Several => spelled(),
            // Clients fetch these themselves.
            Owner::Nobody if is_web(uri) => None,
            Owner::Nobody => match self.alone() {
                Some(owner) if owner == pack => None,
                Some(_) => spelled(),
                None if self.reads(pack) => spelled(),
                None => None,
            },
        }
    }

    /// The addresses under which clients may watch a pack's resource.
    pub(crate) fn watched(&self, pack: &PackName, uri: String) -> Vec<String> {
        let (named, exposed) = (spelled(pack, &uri), self.exposed(pack, &uri));
        let mut all: Vec<String> = exposed.into_iter().filter(|exposed| *exposed != named).collect();
        all.push(named);
        // Where fewer packs are shown, it may have its own address; but not the one that is another's.
        if !matches!(self.owner(&uri), Owner::Known(owner, _) if owner != pack) {
            all.push(uri);
        }
        all
    }

    /// Who has the resource at this address, and what it is called there: whoever lists it, whoever the address names, the one pack whose
    /// template could mean it, or else the only one that has resources.
    pub(crate) fn resource(&self, uri: &str) -> Option<(&PackName, String)> {
        match self.owner(uri) {
            Owner::Known(pack, own) => Some((pack, own)),
            Owner::Several => None,
            // One pack alone may know addresses that it does not list.
            Owner::Nobody => self.alone().map(|pack| (pack, uri.to_owned())),
        }
    }

    fn owner(&self, uri: &str) -> Owner<'_> {
        if let Some(found) = self.find(Kind::Resource, uri) {
            return Owner::Known(&found.pack, found.own.to_string());
        }
        if let Some((name, own)) = uri.strip_prefix(SPELLED).and_then(|rest| rest.split_once('/'))
            && let Some(pack) = self.packs().find(|pack| pack.as_str() == name)
        {
            return Owner::Known(pack, own.to_owned());
        }
        let mut fitting = self.templates.entries.iter().filter_map(|template| {
            let fixed = template.exposed.split('{').next().unwrap_or_default();
            let added = template.exposed.strip_suffix(&*template.own)?;
            (!fixed.is_empty() && uri.starts_with(fixed)).then_some((&template.pack, uri.strip_prefix(added)?))
        });
        match fitting.next() {
            None => Owner::Nobody,
            Some((pack, own)) if fitting.all(|(other, _)| other == pack) => Owner::Known(pack, own.to_owned()),
            Some(_) => Owner::Several,
        }
    }

    /// The only pack that has resources.
    fn alone(&self) -> Option<&PackName> {
        let mut readers = self.packs.iter().filter(|(_, reads)| *reads).map(|(pack, _)| pack);
        readers.next().filter(|_| readers.next().is_none())
    }

    fn reads(&self, pack: &PackName) -> bool {
        self.packs.iter().any(|(own, reads)| own == pack && *reads)
    }
}

/// An address that says whose it is.
fn spelled(pack: &PackName, uri: &str) -> String {
    format!("{SPELLED}{pack}/{uri}")
}

fn is_web(uri: &str) -> bool {
    ["https:", "http:"].iter().any(|scheme| uri.get(..scheme.len()).is_some_and(|own| own.eq_ignore_ascii_case(scheme)))
}

/// What a pack lists that is left out.
pub(crate) fn problems(pack: &PackName, listed: &Listed) -> Vec<Problem> {
    let lists =
        [("the resource", &listed.resources), ("the template", &listed.templates), ("the prompt", &listed.prompts)];
    let mut problems = Vec::new();
    for (kind, offers) in lists {
        let mut names: Vec<&str> = twice(offers).into_iter().collect();
        names.sort_unstable();
        for name in names {
            let error = OfferedTwice { pack: pack.clone(), kind, name: visible(name, 200) };
            problems.push(Problem::refused(error.report(), None));
        }
    }
    problems
}

impl Explain for OfferedTwice {
    fn code(&self) -> Code {
        Code::new("offered-twice")
    }

    fn why(&self) -> String {
        "nobody could say which of the two is meant, so neither is used".into()
    }

    fn fix(&self) -> String {
        "tell the author of the server; each of them needs a name of its own".into()
    }

    fn facts(&self) -> serde_json::Map<String, serde_json::Value> {
        facts([("pack", self.pack.as_str().into()), ("name", self.name.as_str().into())])
    }
}

impl OfferList {
    fn of<'l>(
        names: &Names,
        kind: Kind,
        packs: impl Iterator<Item = (&'l PackName, &'l Listed)>,
        shown: &impl Fn(&PackName) -> bool,
        named: &impl Fn(&PackName) -> (String, Mode),
        ttl_ms: u64,
    ) -> Self {
        let (mut offers, mut wanted) = (Vec::new(), Vec::new());
        for (pack, listed) in packs {
            let own = match kind {
                Kind::Resource => &listed.resources,
                Kind::Template => &listed.templates,
                Kind::Prompt => &listed.prompts,
            };
            let (twice, (prefix, mode)) = (twice(own), named(pack));
            for offer in own.iter().filter(|offer| !twice.contains(&*offer.key)) {
                let (other, mode) = match kind {
                    Kind::Prompt => (format!("{prefix}__{}", offer.key), mode),
                    // An address is no name; but one that looks as if it said whose it is must say so.
                    Kind::Resource | Kind::Template => {
                        let mode = if offer.key.starts_with(SPELLED) { Mode::Prefixed } else { Mode::Auto };
                        (spelled(pack, &offer.key), mode)
                    }
                };
                wanted.push(Wanted {
                    owner: format!("{pack} {}", offer.key),
                    bare: offer.key.to_string(),
                    other,
                    mode,
                });
                offers.push((pack, offer));
            }
        }
        // All are named, also those that are not shown here: a name means the same at every address.
        let given = names.of(kind.word(), &wanted);
        let (member, key) = kind.members();
        let (mut entries, mut texts) = (Vec::new(), Vec::new());
        let mut by_owner = HashMap::new();
        for (((pack, offer), exposed), wanted) in offers.into_iter().zip(given.names).zip(&wanted) {
            let Some(exposed) = exposed.filter(|_| shown(pack)) else { continue };
            texts.push(match *exposed == *offer.key {
                true => offer.object.raw().clone(),
                false => offer.object.rewrite(&[Change::Set(key, &write::quote(&exposed))]),
            });
            by_owner.insert(&*wanted.owner, entries.len());
            entries.push(Entry { pack: pack.clone(), own: Arc::clone(&offer.key), exposed });
        }
        let former = given.former.into_iter().filter_map(|(name, owner)| Some((name, *by_owner.get(&*owner)?)));
        let mut by_name: HashMap<String, usize> = former.collect();
        by_name.extend(entries.iter().enumerate().map(|(at, entry)| (entry.exposed.clone(), at)));
        let mut by_own: HashMap<PackName, HashMap<Arc<str>, usize>> = HashMap::new();
        for (at, entry) in entries.iter().enumerate() {
            by_own.entry(entry.pack.clone()).or_default().insert(Arc::clone(&entry.own), at);
        }
        let pages = Pages::new(member, &texts, ttl_ms);
        Self { entries, by_name, by_own, texts, pages, titles: OnceLock::new(), ttl_ms }
    }
}
