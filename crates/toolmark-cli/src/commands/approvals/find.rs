//! Which question or grant does somebody mean? An id, or as much of its end as only one has.

use toolmark_core::approval::{Ask, AskId};
use toolmark_core::explain::{Code, Explain};
use toolmark_core::text::visible;
use toolmark_store::Store;
use toolmark_store::approvals::AskFilter;

use super::failed;
use crate::exit::Exit;
use crate::failure::Failure;

/// At most so many questions are looked through for a short id.
const LOOKED_THROUGH: u32 = 1000;
/// Fewer characters of an id mean nothing.
const SHORTEST: usize = 4;

/// A question or grant that is not found by what was typed.
#[derive(Debug, thiserror::Error)]
pub(super) enum FindError {
    #[error("a store in memory keeps no questions")]
    Volatile,
    #[error("`{0}` means several: {1}")]
    Several(String, String),
    #[error("there is no {0} `{1}`")]
    None(&'static str, String),
}

/// A question by its id or the end of it.
pub(super) async fn find(store: &Store, typed: &str) -> Result<Ask, Failure> {
    let none = || Failure::refused(Exit::NotFound, &FindError::None("question", visible(typed, 60)));
    if let Ok(id) = typed.parse::<AskId>() {
        return store.ask(id).await.map_err(failed)?.ok_or_else(none);
    }
    let asks = store.asks(&AskFilter::default(), None, LOOKED_THROUGH).await.map_err(failed)?;
    let id = pick("question", typed, asks.iter().map(|ask| ask.id), AskId::short)?;
    asks.into_iter().find(|ask| ask.id == id).ok_or_else(none)
}

/// The one id that ends like this.
pub(super) fn pick<I: Copy + ToString>(
    kind: &'static str,
    typed: &str,
    all: impl Iterator<Item = I>,
    short: impl Fn(I) -> String,
) -> Result<I, Failure> {
    let digits: String = typed.chars().filter(|character| *character != '-').collect();
    let ends =
        |id: &I| digits.len() >= SHORTEST && id.to_string().replace('-', "").ends_with(&digits.to_ascii_lowercase());
    let found: Vec<I> = all.filter(ends).collect();
    match found.as_slice() {
        [one] => Ok(*one),
        [] => Err(Failure::refused(Exit::NotFound, &FindError::None(kind, visible(typed, 60)))),
        several => {
            let several: Vec<String> = several.iter().take(5).map(|id| short(*id)).collect();
            Err(Failure::refused(Exit::BadInput, &FindError::Several(visible(typed, 60), several.join(", "))))
        }
    }
}

impl Explain for FindError {
    fn code(&self) -> Code {
        match self {
            Self::Volatile => Code::new("approval-store"),
            Self::Several(..) | Self::None(..) => Code::new("approval-unknown"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Volatile => "what is forgotten with the process cannot be decided from another one".into(),
            Self::Several(..) => "a decision about the wrong call cannot be taken back".into(),
            Self::None(..) => "a decision without a question decides nothing".into(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Volatile => "name the store of the gateway with `--store`".into(),
            Self::Several(..) => "type more of the id".into(),
            Self::None(..) => {
                "list what is there with `toolmark approvals list --all` or `toolmark approvals grants --all`".into()
            }
        }
    }
}
