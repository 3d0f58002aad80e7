//! What a pack listed when it was last seen, so that its tools stay listed while it starts or is away.
//!
//! Texts are kept byte for byte. The digests that a definition had before are remembered, a bounded number of them.

use crate::backend::DefinitionsChange;
use crate::error::StoreError;
use crate::store::Store;
use crate::time::Micros;

/// How many digests are remembered for one name.
const HISTORY_PER_NAME: u32 = 32;
/// How many replaced digests are remembered for a pack: a server that invents new names must not fill the disk.
const HISTORY_PER_PACK: u32 = 20_000;

/// What a definition defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DefinitionKind {
    /// A tool.
    Tool,
    /// A resource.
    Resource,
    /// A template of resources.
    Template,
    /// A prompt.
    Prompt,
}

/// One definition as it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownDefinition {
    /// What it defines.
    pub kind: DefinitionKind,
    /// What the source calls it: the name of a tool or prompt, the address of a resource.
    pub name: String,
    /// The text of the definition, byte for byte.
    pub text: String,
    /// The digest of it.
    pub digest: [u8; 32],
}

/// A pack as it was last seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownPack {
    /// The pack.
    pub pack: String,
    /// Where it came from: the definitions of another source under the same name are not this pack's.
    pub source: String,
    /// What the server said about itself, as raw JSON: its name, version, capabilities and instructions.
    pub about: Option<String>,
    /// When it was last seen.
    pub seen: Micros,
}

/// What a pack lists now.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'a> {
    /// The pack.
    pub pack: &'a str,
    /// Where it comes from.
    pub source: &'a str,
    /// What the server says about itself, as raw JSON.
    pub about: Option<&'a str>,
    /// Everything it lists, in its order.
    pub definitions: &'a [KnownDefinition],
}

/// One digest that a definition had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// What it defined.
    pub kind: DefinitionKind,
    /// Its name.
    pub name: String,
    /// The digest.
    pub digest: [u8; 32],
    /// When the digest was first seen.
    pub first_seen: Micros,
    /// When another one took its place, or the definition went away. Empty for what is listed now.
    pub replaced: Option<Micros>,
}

impl DefinitionKind {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Tool, Self::Resource, Self::Template, Self::Prompt];

    /// The kind in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Template => "template",
            Self::Prompt => "prompt",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == text)
    }
}

impl Store {
    /// What a pack listed when it was last seen.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be read.
    pub async fn definitions(&self, pack: &str) -> Result<Option<(KnownPack, Vec<KnownDefinition>)>, StoreError> {
        self.backend().definitions(pack).await
    }

    /// Every pack that was ever seen and not forgotten.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    pub async fn packs(&self) -> Result<Vec<KnownPack>, StoreError> {
        self.backend().packs().await
    }

    /// Replaces what is known of a pack by what it lists now, all or nothing.
    ///
    /// # Errors
    /// [`StoreError`]; then everything is as before.
    pub async fn replace_definitions(&self, listing: Listing<'_>) -> Result<(), StoreError> {
        let pack = KnownPack {
            pack: listing.pack.into(),
            source: listing.source.into(),
            about: listing.about.map(Into::into),
            seen: self.now(),
        };
        let change = DefinitionsChange {
            pack: &pack,
            definitions: listing.definitions,
            history_per_name: HISTORY_PER_NAME,
            history_per_pack: HISTORY_PER_PACK,
        };
        self.backend().replace_definitions(change).await
    }

    /// Forgets a pack with its history, and says whether it was known.
    ///
    /// # Errors
    /// [`StoreError`]; then everything is as before.
    pub async fn forget_pack(&self, pack: &str) -> Result<bool, StoreError> {
        self.backend().forget_pack(pack).await
    }

    /// The digests that a pack's definitions had, newest first.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    pub async fn history(&self, pack: &str) -> Result<Vec<History>, StoreError> {
        self.backend().history(pack).await
    }
}
