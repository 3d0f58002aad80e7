//! How does a model see tools in namespaces, when its wire format knows none? Under one name each, which leads back to exactly one tool.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::StreamExt as _;
use toolmark_core::names::{flat_name, flat_name_apart};

use crate::event::{ModelEvent, ModelStream};
use crate::item::{FunctionCall, Item};
use crate::model::{Model, ModelFuture};
use crate::name::{ModelName, Provider};
use crate::request::ModelRequest;
use crate::response::ModelResponse;
use crate::tool::WireTool;

/// A model whose wire format has no namespaces, with tools in namespaces.
#[derive(Debug)]
struct Flat(Arc<dyn Model>);

/// Lets a model have tools in namespaces, whatever it speaks: as they are where its wire format has namespaces, and as `namespace__name`
/// where it has none. Names that would come out the same, or too long, get a few digits that are always the same for one tool.
#[must_use]
pub fn flat(model: Arc<dyn Model>) -> Arc<dyn Model> {
    match model.name().provider() {
        Provider::OpenAi | Provider::Scripted => model,
        Provider::OpenAiChat | Provider::Anthropic => Arc::new(Flat(model)),
    }
}

/// Which name stands for which tool in one request.
#[derive(Debug, Default)]
struct Names {
    flat: BTreeMap<(String, String), String>,
    back: BTreeMap<String, (String, String)>,
}

impl Names {
    fn of(request: &ModelRequest) -> Self {
        let mut spaced = BTreeSet::new();
        let mut taken: BTreeMap<String, usize> = BTreeMap::new();
        for tool in &request.tools {
            if let WireTool::Function(tool) = tool {
                match tool.namespace.as_deref().filter(|namespace| !namespace.is_empty()) {
                    Some(namespace) => drop(spaced.insert((namespace.to_owned(), tool.name.clone()))),
                    None => *taken.entry(tool.name.clone()).or_default() += 1,
                }
            }
        }
        // What was called earlier keeps its name, also when it is not offered any more.
        for item in &request.input {
            if let Item::FunctionCall(call) = item
                && let Some(namespace) = call.namespace.as_deref().filter(|namespace| !namespace.is_empty())
            {
                spaced.insert((namespace.to_owned(), call.name.clone()));
            }
        }
        for key in &spaced {
            *taken.entry(flat_name(&key.0, &key.1)).or_default() += 1;
        }
        let mut names = Self::default();
        for key in spaced {
            let plain = flat_name(&key.0, &key.1);
            let name = if taken.get(&plain) == Some(&1) { plain } else { flat_name_apart(&key.0, &key.1) };
            names.back.insert(name.clone(), key.clone());
            names.flat.insert(key, name);
        }
        names
    }

    fn request(&self, request: &ModelRequest) -> ModelRequest {
        let mut request = request.clone();
        for tool in &mut request.tools {
            if let WireTool::Function(tool) = tool
                && let Some(name) = self.name(tool.namespace.as_deref(), &tool.name)
            {
                tool.name = name;
                tool.namespace = None;
                tool.namespace_description = None;
            }
        }
        for item in &mut request.input {
            if let Item::FunctionCall(call) = item
                && let Some(name) = self.name(call.namespace.as_deref(), &call.name)
            {
                call.name = name;
                call.namespace = None;
            }
        }
        request
    }

    fn name(&self, namespace: Option<&str>, name: &str) -> Option<String> {
        self.flat.get(&(namespace?.to_owned(), name.to_owned())).cloned()
    }

    fn call(&self, call: &mut FunctionCall) {
        if let Some((namespace, name)) = self.back.get(&call.name) {
            call.namespace = Some(namespace.clone());
            call.name.clone_from(name);
        }
    }

    fn item(&self, item: &mut Item) {
        if let Item::FunctionCall(call) = item {
            self.call(call);
        }
    }

    fn response(&self, mut response: ModelResponse) -> ModelResponse {
        response.items.iter_mut().for_each(|item| self.item(item));
        response
    }

    fn event(&self, event: ModelEvent) -> ModelEvent {
        match event {
            ModelEvent::CallStarted { call_id, name, namespace } => match self.back.get(&name) {
                Some((own, name)) => {
                    ModelEvent::CallStarted { call_id, name: name.clone(), namespace: Some(own.clone()) }
                }
                None => ModelEvent::CallStarted { call_id, name, namespace },
            },
            ModelEvent::ItemDone(mut item) => {
                self.item(&mut item);
                ModelEvent::ItemDone(item)
            }
            ModelEvent::Completed(response) => ModelEvent::Completed(Box::new(self.response(*response))),
            other => other,
        }
    }
}

impl Model for Flat {
    fn name(&self) -> &ModelName {
        self.0.name()
    }

    fn respond<'a>(&'a self, request: &'a ModelRequest) -> ModelFuture<'a, ModelResponse> {
        let names = Names::of(request);
        if names.flat.is_empty() {
            return self.0.respond(request);
        }
        Box::pin(async move {
            let request = names.request(request);
            self.0.respond(&request).await.map(|response| names.response(response))
        })
    }

    fn stream<'a>(&'a self, request: &'a ModelRequest) -> ModelFuture<'a, ModelStream> {
        let names = Names::of(request);
        if names.flat.is_empty() {
            return self.0.stream(request);
        }
        Box::pin(async move {
            let request = names.request(request);
            let stream = self.0.stream(&request).await?;
            let stream: ModelStream = Box::pin(stream.map(move |event| event.map(|event| names.event(event))));
            Ok(stream)
        })
    }
}

#[cfg(test)]
mod tests;
