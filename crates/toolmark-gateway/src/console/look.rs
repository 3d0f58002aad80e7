//! What does this person read? The names of tools, packs and agents in the language that a request asks for.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Response, header};
use serde_json::{Value, json};
use toolmark_core::catalog::Resolution;
use toolmark_core::display::{Kind, LanguageTag, Languages, Layer, Names, Shown};
use toolmark_core::text::visible;
use toolmark_core::tool::Tool;
use toolmark_mcp::downstream::Body;

use super::error::ConsoleError;
use super::query::Query;
use crate::pack::{PackHandle, PackState};
use crate::snapshot::Snapshot;

/// One snapshot as one person sees it.
#[derive(Clone)]
pub(crate) struct Look {
    pub(crate) snapshot: Arc<Snapshot>,
    languages: Languages,
    /// Why the languages of the request do not count.
    problem: Option<String>,
}

impl Look {
    /// For whoever sent this. `lang` of the query comes before the header.
    pub(crate) fn new(snapshot: Arc<Snapshot>, headers: &HeaderMap, query: &Query) -> Result<Self, ConsoleError> {
        if let Some(lang) = query.get("lang") {
            let languages = Languages::accept(lang).map_err(|_| ConsoleError::Query("lang".into()))?;
            return Ok(Self { snapshot, languages, problem: None });
        }
        let accepted = match headers.get(header::ACCEPT_LANGUAGE).map(HeaderValue::to_str) {
            None => Ok(Languages::default()),
            Some(Ok(text)) => Languages::accept(text).map_err(|error| error.to_string()),
            Some(Err(_)) => Err("the `Accept-Language` header is not text".to_owned()),
        };
        Ok(match accepted {
            Ok(languages) => Self { snapshot, languages, problem: None },
            Err(problem) => Self { snapshot, languages: Languages::default(), problem: Some(visible(&problem, 200)) },
        })
    }

    /// The same person, looking at what is now.
    pub(crate) fn at(&self, snapshot: Arc<Snapshot>) -> Self {
        Self { snapshot, ..self.clone() }
    }

    /// What tells those apart who read other names.
    pub(crate) fn reader(&self) -> String {
        self.languages.wanted().iter().map(LanguageTag::as_str).collect::<Vec<_>>().join(",")
    }

    /// The language that is spoken: of those that are wanted, the first that there are names in.
    pub(crate) fn lang(&self) -> LanguageTag {
        best(&self.snapshot, &self.languages)
    }

    /// Why the languages of the request do not count.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// The languages that there are names in.
    pub(crate) fn languages(&self) -> Vec<String> {
        let table = self.snapshot.display();
        let mut all = table.languages();
        all.insert(table.default_language().clone());
        all.iter().map(|tag| tag.as_str().to_owned()).collect()
    }

    /// Says in an answer which language it is in.
    pub(crate) fn mark(&self, response: &mut Response<Body>) {
        spoken(&self.lang(), response);
    }

    /// What a tool is called.
    pub(crate) fn tool(&self, tool: &Tool) -> Value {
        written(&self.snapshot.shown(tool, &self.languages))
    }

    /// What a tool of this canonical name is called, or was called while it was there.
    pub(crate) fn canonical(&self, canonical: &str) -> Value {
        match self.find(canonical) {
            Some(tool) => self.tool(tool),
            None => {
                let raw = canonical.split_once('.').map_or(canonical, |(_, raw)| raw);
                self.named(&Names::of(raw))
            }
        }
    }

    /// The tool of a canonical name.
    pub(crate) fn find(&self, canonical: &str) -> Option<&Tool> {
        match self.snapshot.workspace().catalog().resolve(canonical) {
            Resolution::Found(tool) if tool.canonical().as_str() == canonical => Some(tool),
            _ => None,
        }
    }

    /// What a pack is called.
    pub(crate) fn pack(&self, name: &str) -> Value {
        self.named(&self.snapshot.labels().pack(name))
    }

    /// What an agent is called.
    pub(crate) fn agent(&self, name: &str) -> Value {
        self.named(&self.snapshot.labels().agent(name))
    }

    /// What a tool is called in every language that somebody wrote a name in.
    pub(crate) fn names(&self, tool: &Tool) -> Value {
        json!(self.snapshot.names(tool))
    }

    /// What each layer calls a tool, strongest first.
    pub(crate) fn layers(&self, tool: &Tool) -> Value {
        let Some(names) = self.snapshot.display().names(tool) else { return json!([]) };
        let texts = names.texts(Kind::Name).map(
            |(layer, lang, text)| json!({"layer": layer.as_str(), "lang": lang.map(LanguageTag::as_str), "name": text}),
        );
        let last = json!({"layer": Layer::Humanized.as_str(), "lang": null, "name": names.in_words()});
        texts.chain([last]).collect()
    }

    fn named(&self, names: &Names) -> Value {
        written(&names.shown(&self.languages, self.snapshot.labels().default_language()))
    }

    /// How a pack stands.
    pub(crate) fn standing(&self, pack: &PackHandle) -> Value {
        let name = pack.name().as_str();
        let state = pack.state();
        let why = match &state {
            PackState::Unavailable(why) => Some(why.as_str()),
            _ => None,
        };
        let tools = self.snapshot.workspace().catalog().pack(name).map_or(0, |pack| pack.tools().len());
        json!({
            "name": name,
            "shown": self.pack(name),
            "state": state.as_str(),
            "why": why,
            "tools": tools,
            "restarts": pack.restarts(),
        })
    }
}

/// Of the languages that somebody wants, the first that there are names in.
pub(crate) fn best(snapshot: &Snapshot, languages: &Languages) -> LanguageTag {
    let table = snapshot.display();
    let mut known = table.languages();
    known.extend(snapshot.labels().languages().cloned());
    languages.lookup(&known).unwrap_or_else(|| table.default_language()).clone()
}

/// Says in an answer which language it is in, and that another header would have made it another one.
pub(crate) fn spoken(language: &LanguageTag, response: &mut Response<Body>) {
    let headers = response.headers_mut();
    headers.append(header::VARY, HeaderValue::from_static("Accept-Language"));
    if let Ok(language) = HeaderValue::try_from(language.as_str()) {
        headers.insert(header::CONTENT_LANGUAGE, language);
    }
}

/// As it stands beside whatever is shown.
fn written(shown: &Shown) -> Value {
    let mut all = shown.to_json();
    if let Some(name) = all.remove("displayName") {
        all.insert("name".into(), name);
    }
    Value::Object(all)
}
