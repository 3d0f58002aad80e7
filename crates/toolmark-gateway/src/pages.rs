//! A list in pages, written once for each era and sent as it is.

use std::sync::OnceLock;

use bytes::{BufMut as _, Bytes, BytesMut};
use toolmark_mcp::wire::version::Era;

/// How many entries a page has.
const PAGE: usize = 1000;
/// How long clients may keep a list that tells them when it changes, in milliseconds.
pub(crate) const TTL_MS: u64 = 60_000;
/// The same while a pack is starting: what it will list is not known yet.
pub(crate) const STARTING_TTL_MS: u64 = 1_000;
/// What our cursors begin with.
const CURSOR: &str = "tm1.";

/// The pages of one list. Those of the new era say a little more, and are written when a client of it first asks.
#[derive(Debug)]
pub(crate) struct Pages {
    session: Vec<Bytes>,
    stateless: OnceLock<Vec<Bytes>>,
    ttl_ms: u64,
}

impl Pages {
    /// A list under this name in results, which may be kept for so long.
    pub(crate) fn new(member: &str, entries: &[Bytes], ttl_ms: u64) -> Self {
        Self::with_meta(member, entries, ttl_ms, None)
    }

    /// The same, with something to say about all of them.
    pub(crate) fn with_meta(member: &str, entries: &[Bytes], ttl_ms: u64, meta: Option<&str>) -> Self {
        let chunks: Vec<&[Bytes]> = if entries.is_empty() { vec![&[]] } else { entries.chunks(PAGE).collect() };
        let last = chunks.len() - 1;
        let page = |(at, chunk): (usize, &&[Bytes])| {
            let mut out = BytesMut::with_capacity(chunk.iter().map(|entry| entry.len() + 1).sum::<usize>() + 160);
            out.put_u8(b'{');
            if at < last {
                out.put_slice(format!(r#""nextCursor":"{CURSOR}{}","#, at + 1).as_bytes());
            }
            if let Some(meta) = meta {
                out.put_slice(format!(r#""_meta":{meta},"#).as_bytes());
            }
            out.put_slice(format!(r#""{member}":["#).as_bytes());
            for (at, entry) in chunk.iter().enumerate() {
                if at > 0 {
                    out.put_u8(b',');
                }
                out.put_slice(entry);
            }
            out.put_slice(b"]}");
            out.freeze()
        };
        Self { session: chunks.iter().enumerate().map(page).collect(), stateless: OnceLock::new(), ttl_ms }
    }

    /// A page, whole and ready to be sent; nothing for a cursor that was never given out.
    pub(crate) fn get(&self, era: Era, cursor: Option<&str>) -> Option<Bytes> {
        let at = match cursor {
            None => 0,
            Some(cursor) => {
                let number = cursor.strip_prefix(CURSOR)?;
                // As it was written, and in no other way that a number can be.
                number.parse::<usize>().ok().filter(|at| *at > 0 && at.to_string() == number)?
            }
        };
        let pages = match era {
            Era::Session => &self.session,
            Era::Stateless => {
                self.stateless.get_or_init(|| self.session.iter().map(|page| stateless(page, self.ttl_ms)).collect())
            }
        };
        pages.get(at).cloned()
    }
}

/// A page with what the new era wants to know of every list.
fn stateless(page: &Bytes, ttl_ms: u64) -> Bytes {
    let more = format!(r#"{{"resultType":"complete","ttlMs":{ttl_ms},"cacheScope":"private","#);
    let rest = page.strip_prefix(b"{").unwrap_or_default();
    Bytes::from([more.as_bytes(), rest].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_on_one_page_and_only_our_cursors_lead_to_the_next() {
        let entries: Vec<Bytes> = (0..2500).map(|number| Bytes::from(format!("{{\"n\":{number}}}"))).collect();
        let pages = Pages::new("things", &entries, TTL_MS);
        let (mut cursor, mut seen): (Option<String>, Vec<u64>) = (None, Vec::new());
        loop {
            let page = pages.get(Era::Stateless, cursor.as_deref()).expect("a page");
            let page: serde_json::Value = serde_json::from_slice(&page).expect("JSON");
            assert_eq!(page["ttlMs"], TTL_MS);
            seen.extend(page["things"].as_array().expect("a list").iter().filter_map(|one| one["n"].as_u64()));
            match page["nextCursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => break,
            }
        }
        assert_eq!(seen, (0..2500).collect::<Vec<_>>());
        for forged in ["", "0", "tm1.0", "tm1.3", "tm1.-1", "tm2.1", "tm1.1x"] {
            assert_eq!(pages.get(Era::Session, Some(forged)), None, "{forged}");
        }
    }

    #[test]
    fn an_empty_list_is_a_page_without_entries() {
        assert_eq!(
            Pages::new("prompts", &[], TTL_MS).get(Era::Session, None).as_deref(),
            Some(br#"{"prompts":[]}"#.as_slice())
        );
    }
}
