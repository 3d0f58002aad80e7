//! To whom does it matter that a page was visited? A server of 2025-11-25 that sends a user to a page says later that they were there, and
//! names only the page. Whoever was sent there is remembered, in bounded number and for bounded time; nobody else hears of it.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::desk::Desk;
use super::request::{CallObserver, Question};
use crate::wire::{Limits, RawObject, RpcError, codes, read_items};

/// Most pages that are remembered of one server; the oldest are forgotten first.
const MOST: usize = 256;

/// How long a user may take to visit a page.
const LASTS: Duration = Duration::from_secs(3_600);

/// A page that somebody was sent to.
pub(crate) struct Page {
    elicitation: String,
    observer: Arc<dyn CallObserver>,
    until: Instant,
}

/// The pages that users of one server were sent to.
pub(crate) type Pages = VecDeque<Page>;

impl Desk {
    /// Remembers the pages that an error sends the user of a request to.
    pub(super) fn note_pages(&self, call: u64, error: &RpcError) {
        if error.code() != Some(codes::URL_ELICITATION_REQUIRED) {
            return;
        }
        let observer = self.calls().get(&call).and_then(|call| call.observer.clone());
        let data = error.data().and_then(|data| read(Bytes::copy_from_slice(data)));
        let pages = data.and_then(|data| read_items(&data.slice("elicitations")?));
        if let (Some(observer), Some(pages)) = (observer, pages) {
            for page in pages.into_iter().take(MOST).filter_map(read) {
                self.note_page(&page, &observer);
            }
        }
    }

    /// Remembers the page that a question sends a user to, if it does.
    pub(super) fn note_question(&self, question: &Question, observer: &Arc<dyn CallObserver>) {
        if let Some(params) = &question.params
            && question.method == "elicitation/create"
        {
            self.note_page(params, observer);
        }
    }

    fn note_page(&self, page: &RawObject, observer: &Arc<dyn CallObserver>) {
        let Some(elicitation) = page.text("elicitationId").filter(|_| page.text("mode").as_deref() == Some("url"))
        else {
            return;
        };
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        pages.retain(|page| page.until > now);
        if pages.len() >= MOST {
            pages.pop_front();
        }
        let elicitation = elicitation.into_owned();
        pages.push_back(Page { elicitation, observer: Arc::clone(observer), until: now + LASTS });
    }

    /// The server says that a page was visited.
    pub(super) fn visited(&self, params: &RawObject) {
        let Some(elicitation) = params.text("elicitationId") else { return };
        let mut sent = Vec::new();
        {
            let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
            let mut kept = VecDeque::with_capacity(pages.len());
            for page in pages.drain(..) {
                if page.elicitation == *elicitation { sent.push(page) } else { kept.push_back(page) }
            }
            *pages = kept;
        }
        for page in sent.iter().filter(|page| page.until > Instant::now()) {
            page.observer.visited(&elicitation);
        }
    }
}

fn read(text: Bytes) -> Option<RawObject> {
    RawObject::read(text, Limits::ADMITTED).ok()
}
