//! Which definition of a tool was accepted, by whom, when and how. A pin is made where there is none, or by somebody who means to
//! replace it; nothing replaces one by the way.

use toolmark_core::approval::{Ask, AskState};
use toolmark_core::catalog::Catalog;
use toolmark_core::definition::{Definition, Form};
use toolmark_core::document::Slice;
use toolmark_core::lock::{Lock, Pinned};
use toolmark_core::names::PackName;
use toolmark_core::pack::Pack;
use toolmark_core::tool::{Source, ToolKind};

use crate::definitions::{DefinitionKind, KnownDefinition, KnownPack};
use crate::error::StoreError;
use crate::store::Store;
use crate::time::Micros;

/// A tool as it was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// Its canonical name.
    pub tool: String,
    /// What it was.
    pub pinned: Pinned,
    /// How it came to be pinned.
    pub how: HowPinned,
    /// By whom: a person, or the node that saw it first.
    pub by: String,
    /// When.
    pub at: Micros,
}

/// How a tool came to be pinned. Exhaustive on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HowPinned {
    /// It was seen for the first time, and trusted.
    FirstUse,
    /// Somebody answered a question about a call of it.
    Approval,
    /// Somebody accepted it.
    Accepted,
}

impl HowPinned {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::FirstUse, Self::Approval, Self::Accepted];

    /// In one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FirstUse => "first-use",
            Self::Approval => "approval",
            Self::Accepted => "accepted",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|how| how.as_str() == text)
    }
}

impl Pin {
    /// As it is kept: a line of a lock file.
    pub(crate) fn body(&self) -> String {
        self.pinned.to_text(&self.tool)
    }

    /// A pin from its columns, or why it is none.
    pub(crate) fn read(tool: &str, body: &str, how: &str, by: String, at: Micros) -> Result<Self, String> {
        let how = HowPinned::parse(how).ok_or_else(|| format!("`{how}` is no way to pin a tool"))?;
        let (named, pinned) = Pinned::read_text(body, "pins").map_err(|error| error.to_string())?;
        if named != tool {
            return Err(format!("the pin of `{tool}` is one of `{named}`"));
        }
        Ok(Self { tool: named, pinned, how, by, at })
    }
}

impl Store {
    /// All pins, by tool.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    pub async fn pins(&self) -> Result<Vec<Pin>, StoreError> {
        self.backend().pins().await
    }

    /// All pins as a lock.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    pub async fn pinned(&self) -> Result<Lock, StoreError> {
        Ok(self.pins().await?.into_iter().map(|pin| (pin.tool, pin.pinned)).collect())
    }

    /// Pins tools that nobody pinned before; returns the pins that stand for those that somebody did. Nothing is replaced.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was pinned.
    pub async fn pin_new(&self, tools: &[(String, Pinned)], by: &str) -> Result<Vec<Pin>, StoreError> {
        let pins = self.made(tools, HowPinned::FirstUse, by);
        self.backend().add_pins(&pins).await
    }

    /// Makes tools the pinned ones, in place of whatever was.
    ///
    /// # Errors
    /// [`StoreError`]; then everything is as before.
    pub async fn accept_pins(&self, tools: &[(String, Pinned)], how: HowPinned, by: &str) -> Result<(), StoreError> {
        let pins = self.made(tools, how, by);
        self.backend().replace_pins(&pins).await
    }

    /// Forgets the pin of a tool, and says whether there was one.
    ///
    /// # Errors
    /// [`StoreError`]; then it stands.
    pub async fn forget_pin(&self, tool: &str) -> Result<bool, StoreError> {
        self.backend().forget_pin(tool).await
    }

    fn made(&self, tools: &[(String, Pinned)], how: HowPinned, by: &str) -> Vec<Pin> {
        let at = self.now();
        let pin = |(tool, pinned): &(String, Pinned)| {
            let (tool, pinned) = (tool.clone(), pinned.clone());
            Pin { tool, pinned, how, by: by.to_owned(), at }
        };
        tools.iter().map(pin).collect()
    }

    /// The tools of all packs as they were last seen, without what cannot be read.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    pub async fn seen_tools(&self) -> Result<Catalog, StoreError> {
        let mut builder = Catalog::builder();
        for known in self.packs().await? {
            let Some((known, definitions)) = self.definitions(&known.pack).await? else { continue };
            builder = builder.packs(pack(&known, &definitions));
        }
        Ok(builder.build_partly())
    }

    /// Pins the tool of a question that was answered so. The answer stands in any case: who gave it is not asked again about this.
    pub(crate) async fn pin_approved(&self, ask: &Ask) {
        let AskState::Decided(decided) = &ask.state else { return };
        if !(decided.pin && decided.allows) {
            return;
        }
        let (tool, by) = (ask.canonical.as_str(), decided.given.by.as_str());
        let pinned = match self.seen(ask).await {
            Ok(Some(pinned)) => pinned,
            Ok(None) => {
                tracing::warn!(tool, by, "the tool is not pinned: it is no longer the one that was approved");
                return;
            }
            Err(error) => {
                tracing::warn!(tool, by, %error, "the tool that was approved is not pinned");
                return;
            }
        };
        let pins = self.made(&[(tool.to_owned(), pinned)], HowPinned::Approval, by);
        // Whoever approved the first use saw no other pin. If there is one by now, it stands.
        let done = match ask.is_first_use() {
            true => self.backend().add_pins(&pins).await.map(|_| ()),
            false => self.backend().replace_pins(&pins).await,
        };
        match done {
            Ok(()) => tracing::info!(tool, by, "the tool is pinned as it was approved"),
            Err(error) => tracing::warn!(tool, by, %error, "the tool that was approved is not pinned"),
        }
    }

    /// The tool of a question as its pack last listed it, if it is still the one that was shown.
    async fn seen(&self, ask: &Ask) -> Result<Option<Pinned>, StoreError> {
        let Some((owner, _)) = ask.canonical.split_once('.') else { return Ok(None) };
        let Some((known, definitions)) = self.definitions(owner).await? else { return Ok(None) };
        let Some(pack) = pack(&known, &definitions) else { return Ok(None) };
        let tool = pack.tools().iter().find(|tool| tool.canonical().as_str() == ask.canonical);
        Ok(tool.filter(|tool| tool.mark() == ask.mark).map(Pinned::whole))
    }
}

/// The tools of a pack as it last listed them.
fn pack(known: &KnownPack, definitions: &[KnownDefinition]) -> Option<Pack> {
    let mut builder = Pack::builder(known.pack.parse::<PackName>().ok()?, Source::new(&known.source));
    for definition in definitions.iter().filter(|one| one.kind == DefinitionKind::Tool) {
        let slice = Slice::of(format!("{} (store)", known.pack), definition.text.clone());
        if let Ok(read) = Definition::read(&slice, Form::Tool) {
            builder.push(ToolKind::Mcp, read);
        }
    }
    Some(builder.build())
}
