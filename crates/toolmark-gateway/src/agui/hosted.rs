//! What do people read for what the provider of a model hosts? The provider gives no names, so that they stand here.

use toolmark_agui::HostedCall;
use toolmark_core::display::{Kind, Layer, Names};

/// A language, the name in it, and what is said meanwhile.
type Text = (&'static str, &'static str, &'static str);

/// Names in English, Dutch and German.
const KINDS: [(&str, [Text; 3]); 5] = [
    (
        "web_search",
        [
            ("en", "Web search", "Searching the web"),
            ("nl", "Zoeken op het web", "Ik zoek op het web"),
            ("de", "Websuche", "Ich suche im Web"),
        ],
    ),
    (
        "file_search",
        [
            ("en", "File search", "Searching the files"),
            ("nl", "Zoeken in bestanden", "Ik zoek in de bestanden"),
            ("de", "Dateisuche", "Ich suche in den Dateien"),
        ],
    ),
    (
        "code_interpreter",
        [
            ("en", "Run code", "Running code"),
            ("nl", "Code uitvoeren", "Ik voer code uit"),
            ("de", "Code ausführen", "Ich führe Code aus"),
        ],
    ),
    (
        "code_execution",
        [
            ("en", "Run code", "Running code"),
            ("nl", "Code uitvoeren", "Ik voer code uit"),
            ("de", "Code ausführen", "Ich führe Code aus"),
        ],
    ),
    (
        "image_generation",
        [
            ("en", "Make a picture", "Making a picture"),
            ("nl", "Afbeelding maken", "Ik maak een afbeelding"),
            ("de", "Bild erzeugen", "Ich erzeuge ein Bild"),
        ],
    ),
];

/// What it is called. A tool of a server has the name that the server gave it, in words.
pub(super) fn names(call: &HostedCall) -> Names {
    let mut names = Names::of(call.raw_name());
    let known = KINDS.iter().find(|(kind, _)| call.server.is_none() && *kind == call.kind);
    for (tag, name, spoken) in known.map(|(_, texts)| texts.as_slice()).unwrap_or_default() {
        if let Ok(tag) = tag.parse() {
            names.put(Layer::Declared, Kind::Spoken, Some(tag), spoken);
        }
        if let Ok(tag) = tag.parse() {
            names.put(Layer::Declared, Kind::Name, Some(tag), name);
        }
    }
    names
}
