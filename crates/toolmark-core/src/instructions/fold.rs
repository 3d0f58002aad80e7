//! Text as a model reads it, cut into words: case, white space, invisible characters, look-alike letters and styles of letters
//! make no difference, and every word remembers where it stood.

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use super::phrases::{Vocabulary, Word};
use crate::text::is_hidden;

/// One word of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) word: Word,
    pub(super) start: usize,
    pub(super) end: usize,
    /// A sentence, list item or paragraph begins here.
    pub(super) begins: bool,
}

/// Longer words are in no vocabulary.
const LONGEST: usize = 24;

/// Cuts `text` into words.
pub(super) fn tokens(text: &str, vocabulary: &Vocabulary) -> Vec<Token> {
    let mut cutter = Cutter::new(vocabulary, text.len());
    if text.is_ascii() {
        for (at, byte) in text.bytes().enumerate() {
            cutter.ascii(byte, at, at + 1);
        }
        return cutter.finish();
    }
    for (at, character) in text.char_indices() {
        let end = at + character.len_utf8();
        if let Ok(byte) = u8::try_from(u32::from(character))
            && byte.is_ascii()
        {
            cutter.ascii(byte, at, end);
        } else if let Some(byte) = tag(character) {
            cutter.ascii(byte, at, end);
        } else if !is_hidden(character) || matches!(character, '\u{85}' | '\u{2028}' | '\u{2029}') {
            decompose_compatible(character, |part| cutter.other(part, at, end));
        }
    }
    cutter.finish()
}

/// The ASCII character that a tag character stands for. Models read tags; people do not see them.
pub(super) fn tag(character: char) -> Option<u8> {
    match u32::from(character) {
        point @ 0xE0020..=0xE007E => u8::try_from(point - 0xE0000).ok(),
        _ => None,
    }
}

struct Cutter<'v> {
    vocabulary: &'v Vocabulary,
    tokens: Vec<Token>,
    word: [u8; LONGEST],
    length: usize,
    start: usize,
    end: usize,
    /// A letter was met that no ASCII letter looks like: the word is in no vocabulary.
    foreign: bool,
    /// Where a dot stands that may begin a word, as in `.env`.
    dot: Option<usize>,
    stopped: bool,
    lines: usize,
    begins: bool,
}

impl<'v> Cutter<'v> {
    fn new(vocabulary: &'v Vocabulary, length: usize) -> Self {
        Self {
            vocabulary,
            tokens: Vec::with_capacity(length / 6 + 1),
            word: [0; LONGEST],
            length: 0,
            start: 0,
            end: 0,
            foreign: false,
            dot: None,
            stopped: false,
            lines: 0,
            begins: true,
        }
    }

    #[inline]
    fn ascii(&mut self, byte: u8, at: usize, end: usize) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => self.letter(byte.to_ascii_lowercase(), at, end),
            // "don't" and "user's" are one word each.
            b'\'' => {}
            b'.' if self.length == 0 && self.dot.is_none() => self.dot = Some(at),
            b'.' | b'!' | b'?' | b';' => {
                self.close();
                self.stopped = true;
            }
            b'@' if self.length > 0 => {
                self.close();
                self.tokens.push(Token { word: self.vocabulary.word(b"@"), start: at, end, begins: false });
            }
            b'\n' => {
                self.close();
                self.lines += 1;
                self.begins |= self.stopped || self.lines > 1;
            }
            b' ' | b'\t' | b'\r' => {
                self.close();
                self.begins |= self.stopped;
            }
            b'-' | b'*' | b'#' if self.lines > 0 && self.length == 0 => self.begins = true,
            _ => self.close(),
        }
    }

    fn other(&mut self, character: char, at: usize, end: usize) {
        if is_combining_mark(character) {
            return;
        }
        let plain = u8::try_from(u32::from(character)).ok().filter(u8::is_ascii);
        match plain.or_else(|| look_alike(character)) {
            Some(byte) => self.ascii(byte, at, end),
            None if character.is_alphanumeric() => {
                self.foreign = true;
                self.letter(b'?', at, end);
            }
            None if character.is_whitespace() => self.ascii(b' ', at, end),
            None if matches!(character, '。' | '؟' | '।') => {
                self.close();
                self.begins = true;
            }
            None => self.close(),
        }
    }

    fn letter(&mut self, byte: u8, at: usize, end: usize) {
        if self.length == 0 {
            self.start = at;
            if let Some(dot) = self.dot.take()
                && dot + 1 == at
            {
                self.start = dot;
                self.put(b'.');
            }
            self.stopped = false;
            self.lines = 0;
        }
        self.put(byte);
        self.end = end;
    }

    fn put(&mut self, byte: u8) {
        if let Some(place) = self.word.get_mut(self.length) {
            *place = byte;
        }
        self.length += 1;
    }

    fn close(&mut self) {
        // A dot that no word followed ended a sentence.
        self.stopped |= self.dot.take().is_some();
        if self.length == 0 {
            return;
        }
        let known = self.word.get(..self.length).filter(|_| !self.foreign);
        let word = known.map_or(Word::UNKNOWN, |word| self.vocabulary.word(word));
        let begins = std::mem::take(&mut self.begins);
        self.tokens.push(Token { word, start: self.start, end: self.end, begins });
        self.length = 0;
        self.foreign = false;
    }

    fn finish(mut self) -> Vec<Token> {
        self.close();
        self.tokens
    }
}

/// The ASCII character that a decomposed character is mistaken for. Few on purpose: those that spell English words.
fn look_alike(character: char) -> Option<u8> {
    Some(match character {
        'а' | 'А' | 'α' | 'Α' | 'ɑ' => b'a',
        'В' | 'Β' | 'Ь' | 'ь' => b'b',
        'с' | 'С' | 'ϲ' | 'Ϲ' => b'c',
        'ԁ' => b'd',
        'е' | 'Е' | 'Ε' | 'ҽ' => b'e',
        'ɡ' | 'ց' => b'g',
        'һ' | 'Н' | 'Η' | 'հ' => b'h',
        'і' | 'І' | 'Ι' | 'ι' | 'ı' | 'Ӏ' | 'ӏ' => b'i',
        'ј' | 'Ј' => b'j',
        'К' | 'к' | 'Κ' | 'κ' => b'k',
        'М' | 'Μ' => b'm',
        'Ν' | 'ո' => b'n',
        'о' | 'О' | 'ο' | 'Ο' | 'σ' | 'օ' => b'o',
        'р' | 'Р' | 'ρ' | 'Ρ' => b'p',
        'ԛ' => b'q',
        'ѕ' | 'Ѕ' => b's',
        'Т' | 'т' | 'Τ' | 'τ' => b't',
        'υ' | 'ս' => b'u',
        'ѵ' | 'ν' => b'v',
        'ԝ' => b'w',
        'х' | 'Х' | 'χ' | 'Χ' => b'x',
        'у' | 'У' | 'γ' | 'Υ' | 'ү' => b'y',
        'Ζ' => b'z',
        '’' | '‘' | 'ʼ' | '′' => b'\'',
        '‐' | '‑' | '‒' | '–' | '—' | '−' | '•' => b'-',
        _ => return None,
    })
}
