//! What are the members of this object? Parameters and results as the bytes that were sent, with the place of each member,
//! so that one can be looked up, replaced or added while all others stay as they are.

use std::borrow::Cow;
use std::ops::Range;

use bytes::{BufMut, Bytes, BytesMut};

use super::refusal::ReadMessageErrorKind;
use super::scan::{Limits, Quoted, ScanError, Scanner};
use super::write::quote_into;

/// A JSON object as it was written, with the places of its members. Cheap to clone but for the list of places.
#[derive(Clone, Debug)]
pub struct RawObject {
    raw: Bytes,
    members: Vec<Member>,
}

/// Where one member stands, counted from the beginning of the object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    key: (usize, usize),
    value: (usize, usize),
    escaped: bool,
}

/// One change to the members of an object.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// The member has this value (JSON text), whether it was there or not.
    Set(&'a str, &'a [u8]),
    /// The member is not there.
    Remove(&'a str),
}

/// What a result of 2026-07-28 says about itself. Results of older servers say nothing, which means complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResultType {
    /// The request is answered.
    Complete,
    /// The server asks something first.
    InputRequired,
    /// A type that is not known here, such as one of an extension.
    Other,
}

impl PartialEq for RawObject {
    /// True for the same text.
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl Eq for RawObject {}

impl RawObject {
    /// Reads an object that stands alone.
    ///
    /// # Errors
    /// What is no object, too large or too deep, or has the same key twice.
    #[expect(clippy::needless_pass_by_value, reason = "the object keeps a share of these bytes")]
    pub fn read(raw: Bytes, limits: Limits) -> Result<Self, ReadMessageErrorKind> {
        if raw.len() > limits.bytes {
            return Err(ReadMessageErrorKind::TooLarge { limit: limits.bytes });
        }
        let text = str::from_utf8(&raw).map_err(|error| ReadMessageErrorKind::NotUtf8 { at: error.valid_up_to() })?;
        let mut scanner = Scanner::new(text, limits.depth);
        if scanner.peek() != Some(b'{') {
            return Err(ReadMessageErrorKind::NotAnObject);
        }
        let start = scanner.at();
        let members = read_members(&mut scanner)?;
        let end = scanner.at();
        scanner.finish()?;
        let object = Self { raw: raw.slice(start..end), members };
        object.without_duplicates()
    }

    /// `{}`.
    #[must_use]
    pub fn empty() -> Self {
        Self { raw: Bytes::from_static(b"{}"), members: Vec::new() }
    }

    pub(crate) fn from_parts(raw: Bytes, members: Vec<Member>) -> Result<Self, ReadMessageErrorKind> {
        Self { raw, members }.without_duplicates()
    }

    fn without_duplicates(self) -> Result<Self, ReadMessageErrorKind> {
        let twice = |key: Cow<'_, str>| ReadMessageErrorKind::DuplicateMember { name: key.chars().take(64).collect() };
        if self.members.len() <= 16 {
            for (index, member) in self.members.iter().enumerate() {
                if self.members.iter().take(index).any(|earlier| self.have_one_key(earlier, member)) {
                    return Err(twice(self.key_of(member)));
                }
            }
        } else {
            let mut keys: Vec<_> = self.members.iter().map(|member| self.key_of(member)).collect();
            keys.sort_unstable();
            if let Some(pair) = keys.windows(2).find(|pair| pair.first() == pair.last()) {
                return Err(twice(pair.first().cloned().unwrap_or_default()));
            }
        }
        Ok(self)
    }

    /// The object as it was written.
    #[must_use]
    pub fn raw(&self) -> &Bytes {
        &self.raw
    }

    /// The object as it was written, without the places.
    #[must_use]
    pub fn into_raw(self) -> Bytes {
        self.raw
    }

    /// How many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// True for `{}`.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The members in their written order: key and JSON text of the value.
    pub fn iter(&self) -> impl Iterator<Item = (Cow<'_, str>, &[u8])> {
        self.members.iter().map(|member| (self.key_of(member), self.part(member.value)))
    }

    /// The JSON text of a member.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&[u8]> {
        self.find(key).map(|member| self.part(member.value))
    }

    /// The JSON text of a member, sharing the memory of the message.
    #[must_use]
    pub fn slice(&self, key: &str) -> Option<Bytes> {
        self.find(key).map(|member| self.raw.slice(range(member.value)))
    }

    /// The text of a member, if it is a string. Half of a UTF-16 pair makes it no string.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<Cow<'_, str>> {
        read_text(self.get(key)?)
    }

    /// A member that is `true` or `false`.
    #[must_use]
    pub fn flag(&self, key: &str) -> Option<bool> {
        match self.get(key)? {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// A member that is a whole number of at least zero.
    #[must_use]
    pub fn count(&self, key: &str) -> Option<u64> {
        str::from_utf8(self.get(key)?).ok()?.parse().ok()
    }

    /// A member that is itself an object.
    #[must_use]
    pub fn object(&self, key: &str) -> Option<RawObject> {
        // Invariant: this text was scanned as part of the message, so its size and depth are within limits already.
        Self::read(self.slice(key)?, Limits::ADMITTED).ok()
    }

    /// True for a result that says `"isError": true`.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.flag("isError") == Some(true)
    }

    /// What a result says about itself.
    #[must_use]
    pub fn result_type(&self) -> ResultType {
        match self.get("resultType") {
            None | Some(br#""complete""#) => ResultType::Complete,
            Some(br#""input_required""#) => ResultType::InputRequired,
            Some(other) => match read_text(other).as_deref() {
                Some("complete") => ResultType::Complete,
                Some("input_required") => ResultType::InputRequired,
                _ => ResultType::Other,
            },
        }
    }

    /// The object with some members changed. Every byte of the others stays as it is, and so does their order; new members
    /// come first.
    #[must_use]
    pub fn rewrite(&self, changes: &[Change<'_>]) -> Bytes {
        let added: usize = changes
            .iter()
            .map(|change| match change {
                Change::Set(key, value) => key.len() + value.len() + 8,
                Change::Remove(_) => 0,
            })
            .sum();
        let mut out = BytesMut::with_capacity(self.raw.len() + added);
        self.rewrite_into(&mut out, changes);
        out.freeze()
    }

    /// The same, added to what is being written.
    pub fn rewrite_into(&self, out: &mut BytesMut, changes: &[Change<'_>]) {
        let base = out.len();
        let separate = |out: &mut BytesMut| {
            if out.len() > base + 1 {
                out.put_u8(b',');
            }
        };
        out.put_u8(b'{');
        for change in changes {
            if let Change::Set(key, value) = change
                && self.find(key).is_none()
            {
                separate(out);
                quote_into(out, key);
                out.put_u8(b':');
                out.put_slice(value);
            }
        }
        // Runs of untouched members are copied in one piece, white space and all.
        let put_run = |out: &mut BytesMut, run: Option<(usize, usize)>| {
            if let Some(run) = run {
                separate(out);
                out.put_slice(self.part(run));
            }
        };
        let mut run: Option<(usize, usize)> = None;
        for member in &self.members {
            let change = changes.iter().rev().find(|change| match change {
                Change::Set(name, _) | Change::Remove(name) => self.is_key(member, name),
            });
            match change {
                None => run = Some((run.map_or(member.key.0, |(start, _)| start), member.value.1)),
                Some(change) => {
                    put_run(out, run.take());
                    if let Change::Set(_, value) = change {
                        separate(out);
                        out.put_slice(self.part((member.key.0, member.value.0)));
                        out.put_slice(value);
                    }
                }
            }
        }
        put_run(out, run);
        out.put_u8(b'}');
    }

    /// Begins the same object in `out` with members that are new, and gives all it had as one piece; what is missing then is the closing
    /// bracket. Nothing is written when one of its own members would have to change, or when it has none.
    pub(crate) fn add_before(&self, out: &mut BytesMut, changes: &[Change<'_>]) -> Option<Bytes> {
        let touches = |change: &Change<'_>| match change {
            Change::Set(key, _) | Change::Remove(key) => self.find(key).is_some(),
        };
        let (first, last) = (self.members.first()?, self.members.last()?);
        if changes.iter().any(touches) {
            return None;
        }
        out.put_u8(b'{');
        for change in changes {
            if let Change::Set(key, value) = change {
                quote_into(out, key);
                out.put_u8(b':');
                out.put_slice(value);
                out.put_u8(b',');
            }
        }
        Some(self.raw.slice(first.key.0..last.value.1))
    }

    fn find(&self, key: &str) -> Option<&Member> {
        self.members.iter().find(|member| self.is_key(member, key))
    }

    fn is_key(&self, member: &Member, key: &str) -> bool {
        if member.escaped { self.key_of(member) == key } else { self.bare_key(member) == key.as_bytes() }
    }

    fn have_one_key(&self, one: &Member, other: &Member) -> bool {
        match one.escaped || other.escaped {
            true => self.key_of(one) == self.key_of(other),
            false => self.bare_key(one) == self.bare_key(other),
        }
    }

    fn bare_key(&self, member: &Member) -> &[u8] {
        self.part((member.key.0 + 1, member.key.1 - 1))
    }

    fn key_of(&self, member: &Member) -> Cow<'_, str> {
        if member.escaped {
            // A key with half of a UTF-16 pair is kept in its written form, which no other key can have.
            let written = self.part(member.key);
            read_text(written).unwrap_or_else(|| String::from_utf8_lossy(written))
        } else {
            str::from_utf8(self.bare_key(member)).map_or(Cow::Borrowed(""), Cow::Borrowed)
        }
    }

    fn part(&self, part: (usize, usize)) -> &[u8] {
        self.raw.get(range(part)).unwrap_or_default()
    }
}

fn range((start, end): (usize, usize)) -> Range<usize> {
    start..end
}

/// The text of a JSON string that was scanned before; `None` if it is no string, or no text.
pub(crate) fn read_text(written: &[u8]) -> Option<Cow<'_, str>> {
    read_quoted(str::from_utf8(written).ok()?)
}

/// The same of what is known to be text.
pub(crate) fn read_quoted(written: &str) -> Option<Cow<'_, str>> {
    let inner = written.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str::<String>(written).ok().map(Cow::Owned)
}

/// Whether JSON text holds these bytes anywhere: a quick look before a slow one. What is written with escapes is not found.
#[must_use]
pub fn mentions(raw: &[u8], bytes: &[u8]) -> bool {
    memchr::memmem::find(raw, bytes).is_some()
}

/// The items of an array as they were written; `None` if it is no array.
#[must_use]
pub fn read_items(raw: &Bytes) -> Option<Vec<Bytes>> {
    let mut scanner = Scanner::new(str::from_utf8(raw).ok()?, Limits::DEEPEST);
    let mut items = Vec::new();
    scanner.enter(b'[').ok()?;
    if !scanner.take(b']') {
        loop {
            scanner.peek();
            let start = scanner.at();
            scanner.value().ok()?;
            items.push(raw.slice(start..scanner.at()));
            if !scanner.take(b',') {
                scanner.expect(b']').ok()?;
                break;
            }
        }
    }
    scanner.finish().ok()?;
    Some(items)
}

/// Reads the members of the object that comes next; places are counted from its opening bracket.
pub(crate) fn read_members(scanner: &mut Scanner<'_>) -> Result<Vec<Member>, ScanError> {
    scanner.peek();
    let base = scanner.at();
    scanner.enter(b'{')?;
    let mut members = Vec::new();
    if !scanner.take(b'}') {
        members.reserve(6);
        loop {
            let Quoted { start, end, escaped } = scanner.key()?;
            scanner.peek();
            let value = scanner.at();
            scanner.value()?;
            members.push(Member {
                key: (start - 1 - base, end + 1 - base),
                value: (value - base, scanner.at() - base),
                escaped,
            });
            if !scanner.take(b',') {
                scanner.expect(b'}')?;
                break;
            }
        }
    }
    scanner.leave();
    Ok(members)
}
