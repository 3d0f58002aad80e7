//! Names and sentences as lower-case words: `getPullRequest`, `pull-request.get` and "Gets a pull request" become the same kind of thing.

/// Words in order, kept in one text with a space between neighbours, so that two or three of them can be looked up as one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    text: String,
    spans: Vec<(usize, usize)>,
    /// Places before which a sentence ended.
    breaks: Vec<usize>,
    /// Where the word begins that is being read.
    open: Option<usize>,
}

impl Words {
    /// Splits a name: at everything that is neither letter nor digit, and where a capital begins a word.
    pub(crate) fn of_name(name: &str) -> Self {
        let mut words = Self::default();
        let mut previous = ' ';
        let mut rest = name.chars().peekable();
        while let Some(character) = rest.next() {
            let next_is_lower = rest.peek().is_some_and(|next| next.is_lowercase());
            let begins = character.is_uppercase()
                && (previous.is_lowercase() || previous.is_ascii_digit() || (previous.is_uppercase() && next_is_lower));
            if begins || !character.is_alphanumeric() {
                words.close();
            }
            if character.is_alphanumeric() {
                words.push(character);
            }
            previous = character;
        }
        words.close();
        words
    }

    /// Splits the first sentences of a text, up to `limit` words. An apostrophe does not split.
    pub(crate) fn of_text(text: &str, limit: usize) -> Self {
        let mut words = Self::default();
        for character in text.chars() {
            if character.is_alphanumeric() {
                words.push(character);
            } else if !matches!(character, '\'' | '’') {
                words.close();
                if matches!(character, '.' | ':' | ';' | '!' | '?' | '\n' | '•' | '—' | '|') {
                    words.breaks.push(words.len());
                }
                if words.len() >= limit {
                    return words;
                }
            }
        }
        words.close();
        words
    }

    /// Adds a letter to the word that is being read.
    fn push(&mut self, character: char) {
        if self.open.is_none() {
            if !self.text.is_empty() {
                self.text.push(' ');
            }
            self.open = Some(self.text.len());
        }
        if character.is_ascii() {
            self.text.push(character.to_ascii_lowercase());
        } else {
            self.text.extend(character.to_lowercase());
        }
    }

    /// Ends the word that is being read.
    fn close(&mut self) {
        if let Some(start) = self.open.take() {
            self.spans.push((start, self.text.len()));
        }
    }

    /// The same without its last word, if it is this one and not the only one.
    pub(crate) fn without_last(mut self, word: &str) -> Self {
        let last = self.len().saturating_sub(1);
        if last > 0 && self.at(last) == word {
            self.spans.pop();
            let end = self.spans.last().map_or(0, |(_, end)| *end);
            self.text.truncate(end);
        }
        self
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// The word at a place, or an empty text beyond the end.
    pub(crate) fn at(&self, place: usize) -> &str {
        self.run(place, 1)
    }

    /// `count` words from a place on, as one text with spaces; empty when there are not so many.
    pub(crate) fn run(&self, place: usize, count: usize) -> &str {
        let first = self.spans.get(place);
        let last = place.checked_add(count).and_then(|end| end.checked_sub(1)).and_then(|last| self.spans.get(last));
        match (first, last) {
            (Some((start, _)), Some((_, end))) => self.text.get(*start..*end).unwrap_or_default(),
            _ => "",
        }
    }

    /// The sentence that holds a place.
    pub(crate) fn sentence(&self, place: usize) -> std::ops::Range<usize> {
        let start = self.breaks.iter().rev().find(|at| **at <= place).copied().unwrap_or(0);
        let end = self.breaks.iter().find(|at| **at > place).copied().unwrap_or(self.len());
        start..end
    }

    /// All of them in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|place| self.at(place))
    }

    /// True when one of them is the word.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.iter().any(|own| own == word)
    }

    /// True when they occur one after the other.
    pub(crate) fn has_run(&self, run: &str) -> bool {
        let count = run.split(' ').count();
        (0..self.len()).any(|place| self.run(place, count) == run)
    }
}

/// The singular, where the ending says plural.
pub(crate) fn singular(word: &str) -> Option<std::borrow::Cow<'_, str>> {
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return Some(format!("{stem}y").into());
    }
    let ends_in_es = ["sses", "shes", "ches", "xes", "zes", "uses"].iter().any(|ending| word.ends_with(ending));
    if ends_in_es {
        return word.strip_suffix("es").map(Into::into);
    }
    let stem = word.strip_suffix('s').filter(|stem| stem.len() > 1 && !stem.ends_with('s') && !stem.ends_with("u"))?;
    Some(stem.into())
}

/// The verb that "lists", "retrieves", "listing" or "retrieving" may be forms of; several where the spelling leaves it open.
pub(crate) fn base_forms(word: &str) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
    let third = word.strip_suffix('s').filter(|stem| stem.len() > 1 && !stem.ends_with('s'));
    let third_es = word.strip_suffix("es").filter(|stem| stem.len() > 1);
    let third_ies = word.strip_suffix("ies").filter(|stem| stem.len() > 1).map(|stem| format!("{stem}y"));
    let gerund = word.strip_suffix("ing").filter(|stem| stem.len() > 2);
    let gerund_e = gerund.map(|stem| format!("{stem}e"));
    let doubled = gerund.filter(|stem| {
        let mut back = stem.chars().rev();
        back.next() == back.next()
    });
    let halved = doubled.and_then(|stem| stem.get(..stem.len().saturating_sub(1)));
    [third, third_es, gerund, halved]
        .into_iter()
        .flatten()
        .map(std::borrow::Cow::Borrowed)
        .chain([third_ies, gerund_e].into_iter().flatten().map(std::borrow::Cow::Owned))
}
