//! Under which addresses do clients read what servers link to? Addresses in results become those that lead back to the pack that said
//! them. Results that hold none are passed on as they are, without being looked into.

use bytes::{BufMut as _, Bytes, BytesMut};
use toolmark_core::names::PackName;
use toolmark_mcp::wire::{Change, Limits, RawObject, mentions, read_items, write};

use crate::offers::Offers;

/// What the types of blocks with addresses begin with: `resource_link` and `resource`.
const BLOCKS: &[u8] = b"\"resource";

/// The result of a call.
pub(super) fn of_call(offers: &Offers, pack: &PackName, result: RawObject) -> RawObject {
    if offers.is_plain() || !mentions(result.raw(), BLOCKS) {
        return result;
    }
    changed(result, "content", |block| block_of(offers, pack, block))
}

/// The result of `prompts/get`.
pub(super) fn of_prompt(offers: &Offers, pack: &PackName, result: RawObject) -> RawObject {
    if offers.is_plain() || !mentions(result.raw(), BLOCKS) {
        return result;
    }
    changed(result, "messages", |message| {
        let content = message.slice("content")?;
        let new = match content.first() {
            Some(b'[') => items(&content, |block| block_of(offers, pack, block))?,
            _ => block_of(offers, pack, &read(content)?)?,
        };
        Some(message.rewrite(&[Change::Set("content", &new)]))
    })
}

/// The result of `resources/read`. What was asked for has the address by which it was asked for, whatever else there is.
pub(super) fn of_read(offers: &Offers, pack: &PackName, (own, asked): (&str, &str), result: RawObject) -> RawObject {
    if offers.is_plain() && own == asked {
        return result;
    }
    changed(result, "contents", |content| {
        let uri = content.text("uri")?;
        let exposed = if *uri == *own { Some(asked.to_owned()) } else { offers.exposed(pack, &uri) };
        let exposed = exposed.filter(|exposed| **exposed != *uri)?;
        Some(content.rewrite(&[Change::Set("uri", &write::quote(&exposed))]))
    })
}

/// A block of content, where its address changes.
fn block_of(offers: &Offers, pack: &PackName, block: &RawObject) -> Option<Bytes> {
    let with = |object: &RawObject| {
        let exposed = offers.exposed(pack, &object.text("uri")?)?;
        Some(object.rewrite(&[Change::Set("uri", &write::quote(&exposed))]))
    };
    match &*block.text("type")? {
        "resource_link" => with(block),
        "resource" => Some(block.rewrite(&[Change::Set("resource", &with(&block.object("resource")?)?)])),
        _ => None,
    }
}

/// A result with some of the objects of one list changed.
fn changed(result: RawObject, list: &str, change: impl Fn(&RawObject) -> Option<Bytes>) -> RawObject {
    let new = result.slice(list).and_then(|own| items(&own, change));
    let new = new.and_then(|new| read(result.rewrite(&[Change::Set(list, &new)])));
    new.unwrap_or(result)
}

/// A list with some of its objects changed; nothing where none is.
fn items(list: &Bytes, change: impl Fn(&RawObject) -> Option<Bytes>) -> Option<Bytes> {
    let items = read_items(list)?;
    let changed: Vec<Option<Bytes>> =
        items.iter().map(|item| read(item.clone()).and_then(|object| change(&object))).collect();
    if changed.iter().all(Option::is_none) {
        return None;
    }
    let mut out = BytesMut::with_capacity(list.len() + 64);
    for (at, (item, changed)) in items.iter().zip(&changed).enumerate() {
        out.put_u8(if at == 0 { b'[' } else { b',' });
        out.put_slice(changed.as_ref().unwrap_or(item));
    }
    out.put_u8(b']');
    Some(out.freeze())
}

fn read(text: Bytes) -> Option<RawObject> {
    RawObject::read(text, Limits::ADMITTED).ok()
}
