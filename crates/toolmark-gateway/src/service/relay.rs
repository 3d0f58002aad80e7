//! Resources, prompts and completion: found under the names that clients know, sent on to the pack that has them.

use std::sync::Arc;

use bytes::Bytes;
use toolmark_core::names::PackName;
use toolmark_core::text::visible;
use toolmark_mcp::downstream::{Answer, Context, Fault, Incoming};
use toolmark_mcp::relay::Back;
use toolmark_mcp::upstream::{Reply, UpstreamRequest};
use toolmark_mcp::wire::version::Era;
use toolmark_mcp::wire::{Change, RawObject, codes, write};

use super::call::{admitted, note, without_ours};
use super::theirs::passed_on;
use super::{Front, addresses, object, view_of};
use crate::offers::Kind;
use crate::snapshot::Snapshot;

impl Front {
    pub(super) async fn relay_resource(&self, request: Incoming, context: Context) -> Answer {
        let snapshot = self.gateway.snapshot();
        let view = match view_of(&snapshot, &request) {
            Ok(view) => view,
            Err(fault) => return Answer::Fault(fault),
        };
        let Some(uri) = request.params.text("uri") else {
            return Answer::fault(codes::INVALID_PARAMS, "the parameters have no `uri`");
        };
        let Some((pack, own)) = view.offers().resource(&uri) else {
            return Answer::Fault(not_found(&uri, request.era()));
        };
        let changes = [("uri", own.clone())];
        match relay(&snapshot, pack, &request, context, &changes, Some(&own)).await {
            Answer::Result(result) => Answer::Result(addresses::of_read(view.offers(), pack, (&own, &uri), result)),
            other => other,
        }
    }

    pub(super) async fn relay_prompt(&self, request: Incoming, context: Context) -> Answer {
        let snapshot = self.gateway.snapshot();
        let view = match view_of(&snapshot, &request) {
            Ok(view) => view,
            Err(fault) => return Answer::Fault(fault),
        };
        let Some(name) = request.params.text("name") else {
            return Answer::fault(codes::INVALID_PARAMS, "the parameters have no `name`");
        };
        let Some(found) = view.offers().find(Kind::Prompt, &name) else {
            return Answer::fault(codes::INVALID_PARAMS, format!("there is no prompt `{}`", visible(&name, 200)));
        };
        let own = found.own.to_string();
        match relay(&snapshot, &found.pack, &request, context, &[("name", own.clone())], Some(&own)).await {
            Answer::Result(result) => Answer::Result(addresses::of_prompt(view.offers(), &found.pack, result)),
            other => other,
        }
    }

    pub(super) async fn relay_completion(&self, request: Incoming, context: Context) -> Answer {
        let snapshot = self.gateway.snapshot();
        let view = match view_of(&snapshot, &request) {
            Ok(view) => view,
            Err(fault) => return Answer::Fault(fault),
        };
        let Some(reference) = request.params.object("ref") else {
            return Answer::fault(codes::INVALID_PARAMS, "the parameters have no `ref`");
        };
        let found = match reference.text("type").as_deref() {
            Some("ref/prompt") => reference.text("name").and_then(|name| {
                let found = view.offers().find(Kind::Prompt, &name)?;
                Some((&found.pack, "name", found.own.to_string()))
            }),
            Some("ref/resource") => reference.text("uri").and_then(|uri| {
                let offers = view.offers();
                match offers.find(Kind::Template, &uri) {
                    Some(found) => Some((&found.pack, "uri", found.own.to_string())),
                    None => offers.resource(&uri).map(|(pack, own)| (pack, "uri", own)),
                }
            }),
            _ => None,
        };
        let Some((pack, key, own)) = found else {
            return Answer::fault(codes::INVALID_PARAMS, "`ref` names nothing that can be completed");
        };
        let reference = reference.rewrite(&[Change::Set(key, &write::quote(&own))]);
        let params = object(request.params.rewrite(&[Change::Set("ref", &reference)]));
        send(&snapshot, pack, &request, params, context, None).await
    }
}

pub(super) async fn relay(
    snapshot: &Snapshot,
    pack: &PackName,
    request: &Incoming,
    context: Context,
    renamed: &[(&str, String)],
    name: Option<&str>,
) -> Answer {
    let texts: Vec<(&str, Bytes)> = renamed.iter().map(|(key, text)| (*key, write::quote(text))).collect();
    let replaced: Vec<(&str, &[u8])> = texts.iter().map(|(key, text)| (*key, text.as_ref())).collect();
    let params = request.params_for_server(&replaced);
    send(snapshot, pack, request, params, context, name).await
}

async fn send(
    snapshot: &Snapshot,
    pack: &PackName,
    request: &Incoming,
    params: RawObject,
    context: Context,
    name: Option<&str>,
) -> Answer {
    let Some(handle) = snapshot.pack(pack.as_str()) else {
        return Answer::fault(codes::INTERNAL_ERROR, format!("the pack `{pack}` is gone"));
    };
    let upstream = match admitted(handle) {
        Ok(upstream) => upstream,
        Err(why) => return Answer::fault(codes::INTERNAL_ERROR, format!("the pack `{pack}` cannot be asked: {why}")),
    };
    let sent = UpstreamRequest {
        name,
        timeout: Some(handle.timeout()),
        cancel: Some(context.cancelled()),
        capabilities: Some(request.client.capabilities().clone()),
        log_level: context.log_level(),
        observer: Some(Arc::new(Back::to(context))),
        ..UpstreamRequest::new(&request.method, params)
    };
    let reply = upstream.request(sent).await;
    note(handle, reply.as_ref().err());
    match reply {
        Ok(Reply::Result(result)) => Answer::Result(without_ours(result)),
        Ok(Reply::Error(error)) => Answer::Fault(passed_on(&error, request)),
        Err(error) => Answer::fault(codes::INTERNAL_ERROR, error.to_string()),
    }
}

pub(super) fn not_found(uri: &str, era: Era) -> Fault {
    let code = match era {
        Era::Session => codes::RESOURCE_NOT_FOUND,
        Era::Stateless => codes::INVALID_PARAMS,
    };
    let data = format!(r#"{{"uri":{}}}"#, String::from_utf8_lossy(&write::quote(uri)));
    Fault { code, message: "Resource not found".into(), data: Some(Bytes::from(data)) }
}
