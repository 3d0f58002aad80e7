//! Plain values: texts, numbers, lists, and everything that is written as a text and parsed.

use toml::de::DeValue;

use super::{FromToml, Node, Reader, Refused};

impl FromToml for String {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        node.text("a text", reader).map(ToOwned::to_owned)
    }
}

impl FromToml for bool {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        let read = node.value.as_bool();
        if read.is_none() {
            node.expected("`true` or `false`", reader);
        }
        read
    }
}

impl FromToml for u32 {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        let read = match node.value {
            DeValue::Integer(number) => u32::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        if read.is_none() {
            node.expected("a whole number from 0 to 4294967295", reader);
        }
        read
    }
}

impl FromToml for u16 {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        let read = match node.value {
            DeValue::Integer(number) => u16::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        if read.is_none() {
            node.expected("a whole number from 0 to 65535", reader);
        }
        read
    }
}

impl FromToml for f64 {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        let read = match node.value {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
            DeValue::Float(number) => number.as_str().parse().ok(),
            _ => None,
        };
        let read = read.filter(|number: &Self| number.is_finite());
        if read.is_none() {
            node.expected("a finite number", reader);
        }
        read
    }
}

impl<T: FromToml> FromToml for Option<T> {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        T::from_toml(node, reader).map(Some)
    }
}

/// A list. What is wrong with one item does not hide what is wrong with the next.
impl<T: FromToml> FromToml for Vec<T> {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        let DeValue::Array(items) = node.value else {
            node.expected("a list", reader);
            return None;
        };
        let read: Vec<Option<T>> = items
            .iter()
            .enumerate()
            .map(|(index, item)| {
                let path = format!("{}[{index}]", node.path);
                T::from_toml(&Node { value: item.get_ref(), at: item.span().start, path }, reader)
            })
            .collect();
        read.into_iter().collect()
    }
}

/// Any value, as JSON.
impl FromToml for serde_json::Value {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        match node.value {
            DeValue::String(text) => Some(text.as_ref().into()),
            DeValue::Boolean(value) => Some((*value).into()),
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Some(number.into()),
                Err(_) => {
                    node.expected("a whole number of 64 bits", reader);
                    None
                }
            },
            DeValue::Float(number) => {
                let read = number.as_str().parse().ok().and_then(serde_json::Number::from_f64);
                if read.is_none() {
                    node.expected("a finite number", reader);
                }
                read.map(Self::Number)
            }
            DeValue::Datetime(date) => Some(date.to_string().into()),
            DeValue::Array(_) => Vec::<Self>::from_toml(node, reader).map(Self::Array),
            DeValue::Table(_) => serde_json::Map::from_toml(node, reader).map(Self::Object),
        }
    }
}

/// Any table, as JSON.
impl FromToml for serde_json::Map<String, serde_json::Value> {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        let DeValue::Table(table) = node.value else {
            node.expected("a table", reader);
            return None;
        };
        let mut read = Self::new();
        let mut whole = true;
        for (key, value) in super::in_order(table) {
            let path = super::section::below(&node.path, key.get_ref());
            let value = Node { value: value.get_ref(), at: value.span().start, path };
            match serde_json::Value::from_toml(&value, reader) {
                Some(value) => drop(read.insert(key.get_ref().to_string(), value)),
                None => whole = false,
            }
        }
        whole.then_some(read)
    }
}

/// Reads a text with the parser of its type.
pub(crate) fn parsed<T>(
    node: &Node<'_>,
    what: &'static str,
    reader: &mut Reader,
    parse: impl FnOnce(&str) -> Result<T, Refused>,
) -> Option<T> {
    let text = node.text(what, reader)?;
    match parse(text) {
        Ok(read) => Some(read),
        Err(error) => {
            reader.refuse(node.at, &error.at_key(&node.path));
            None
        }
    }
}
