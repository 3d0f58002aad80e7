//! How far does a JSON string go without anything that needs attention? Asked for every string that is read or written.

/// Most strings are shorter than this, and looked at in words only.
const SHORT: usize = 32;
const BLOCK: usize = 64;

/// How many bytes there are before the first quote, backslash or control character: all of them, where there is none.
#[must_use]
pub fn plain_length(bytes: &[u8]) -> usize {
    let (short, long) = bytes.split_at(bytes.len().min(SHORT));
    let mut length = in_words(short);
    if length < short.len() || long.is_empty() {
        return length;
    }
    for block in long.as_chunks::<BLOCK>().0 {
        // One look for a whole block. Written in words: whether a loop over bytes becomes vector instructions depends on how the
        // program around it is built.
        let found = block.as_chunks::<8>().0.iter().fold(0, |found, word| found | specials(u64::from_le_bytes(*word)));
        if found != 0 {
            break;
        }
        length += BLOCK;
    }
    length + in_words(bytes.get(length..).unwrap_or_default())
}

fn in_words(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut length = 0;
    for word in words {
        let found = specials(u64::from_le_bytes(*word));
        if found != 0 {
            return length + found.trailing_zeros() as usize / 8;
        }
        length += 8;
    }
    length + rest.iter().position(|&byte| is_special(byte)).unwrap_or(rest.len())
}

fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// The highest bit of every byte that is special. Bytes above the first may be marked without being so, since a subtraction borrows from
/// them; the first never is.
fn specials(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    // A byte below `limit` loses its highest bit's complement in the subtraction; one that had that bit set is left out.
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, 0x20) | is(b'"') | is(b'\\')) & HIGH
}
