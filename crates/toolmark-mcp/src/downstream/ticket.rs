//! What it takes to answer a request once its call has ended: for whom, in which era, under which id.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;
use toolmark_core::explain::Code;
use toolmark_core::json;

use super::answer::{
    Answer, Fault, MetaMember, write_in_session, write_input_required, write_prepared, write_stateless,
};
use super::body::Pieces;
use super::caller::{Caller, Client};
use super::context::AskError;
use super::endpoint::Shared;
use super::incoming::may_ask;
use super::run::Run;
use super::seal::{Bound, OpenSealError};
use super::service::Service;
use crate::wire::params::meta;
use crate::wire::version::{Era, ProtocolVersion};
use crate::wire::{Id, Limits, RawObject, codes};

/// Marks what a sealed state is: a call that waits in the lot, or bytes of the service.
const PARKED: u8 = b'p';
const STATE: u8 = b's';

pub(super) struct Ticket<S> {
    pub(super) shared: Arc<Shared<S>>,
    pub(super) version: ProtocolVersion,
    pub(super) id: Id,
    pub(super) method: Cow<'static, str>,
    /// The parameters as they were sent.
    pub(super) params: Bytes,
    pub(super) caller: Caller,
}

/// What a `requestState` stands for.
pub(super) enum Opened {
    Parked(Run),
    State(Bytes),
}

impl<S: Service> Ticket<S> {
    /// Writes the answer in one piece.
    pub(super) fn write(&self, answer: Answer) -> (StatusCode, Bytes) {
        let (status, pieces) = self.write_pieces(answer);
        (status, pieces.join())
    }

    /// Writes the answer, with the status for a response that has not begun yet.
    pub(super) fn write_pieces(&self, answer: Answer) -> (StatusCode, Pieces) {
        let era = self.version.era();
        match answer {
            Answer::Result(result) => (StatusCode::OK, self.write_result(&result, None)),
            Answer::WithMeta(result, added) => (StatusCode::OK, self.write_result(&result, Some(&added))),
            Answer::Prepared(result) | Answer::Listed(result, _) => (StatusCode::OK, write_prepared(&self.id, result)),
            Answer::Fault(fault) => (fault.status(era), fault.write(Some(&self.id)).into()),
            Answer::InputRequired(wanted) if era == Era::Stateless && may_ask(&self.method) => {
                if let Some(lacking) = self.lacks(&wanted.requests) {
                    let fault = AskError::Incapable(lacking).fault(era);
                    return (fault.status(era), fault.write(Some(&self.id)).into());
                }
                let state = wanted.state.map(|state| self.seal(STATE, &state, self.shared.expiry()));
                let about = self.shared.service.about(&self.caller);
                let asks =
                    write_input_required(&self.id, &wanted.said, wanted.requests.raw(), state.as_deref(), &about);
                (StatusCode::OK, asks.into())
            }
            Answer::InputRequired(_) => {
                let fault = Fault::new(codes::INTERNAL_ERROR, format!("`{}` cannot ask for input", self.method));
                (StatusCode::OK, fault.write(Some(&self.id)).into())
            }
        }
    }

    /// What the client would need to answer all of these, if it lacks something. Nobody is asked what it did not offer to answer.
    fn lacks(&self, requests: &RawObject) -> Option<&'static str> {
        // What was let in, and what a server may say, is read whatever its size.
        let read = |text: Bytes| RawObject::read(text, Limits::ADMITTED).ok();
        let meta = read(self.params.clone()).and_then(|params| params.object("_meta"));
        let capabilities = meta.and_then(|meta| meta.slice(meta::CLIENT_CAPABILITIES));
        let client = Client::new(None, capabilities.unwrap_or_else(|| Bytes::from_static(b"{}")));
        requests.iter().find_map(|(_, request)| {
            let request = read(Bytes::copy_from_slice(request))?;
            let params = request.slice("params").unwrap_or_else(|| Bytes::from_static(b"{}"));
            client.lacks(&request.text("method")?, &params)
        })
    }

    fn write_result(&self, result: &RawObject, added: Option<&MetaMember>) -> Pieces {
        match self.version.era() {
            Era::Session => write_in_session(&self.id, result, added),
            Era::Stateless => {
                let about = self.shared.service.about(&self.caller);
                write_stateless(&self.id, &self.method, result, added, &about)
            }
        }
    }

    /// Parks a call that asks and writes its questions.
    pub(super) fn park(&self, run: Run) -> (StatusCode, Bytes) {
        let questions = run.exchange().open_questions();
        let until = self.shared.expiry();
        match self.shared.park(run, until) {
            Some(id) => {
                let state = self.seal(PARKED, &id, until);
                let about = self.shared.service.about(&self.caller);
                let asks = write_input_required(&self.id, &RawObject::empty(), &questions, Some(&state), &about);
                (StatusCode::OK, asks)
            }
            None => {
                let fault = Fault::new(codes::INTERNAL_ERROR, "too many calls wait for an answer of their clients");
                let fault = fault.coded(Code::new("parked-calls-exhausted"));
                (StatusCode::SERVICE_UNAVAILABLE, fault.write(Some(&self.id)))
            }
        }
    }

    /// Opens a `requestState` that a client sent.
    pub(super) fn open(&self, text: &str) -> Result<Opened, OpenSealError> {
        let now = self.shared.unix_time();
        let payload = self.shared.settings.seal.open(self.bound(), now, text)?;
        match payload.split_first() {
            Some((&PARKED, id)) => self.shared.lot.take(id).map(Opened::Parked).ok_or(OpenSealError::Spent),
            Some((&STATE, _)) => Ok(Opened::State(payload.slice(1..))),
            _ => Err(OpenSealError::Forged),
        }
    }

    fn seal(&self, kind: u8, payload: &[u8], until: u64) -> String {
        let mut sealed = Vec::with_capacity(payload.len() + 1);
        sealed.push(kind);
        sealed.extend_from_slice(payload);
        self.shared.settings.seal.seal(self.bound(), until, &sealed)
    }

    fn bound(&self) -> Bound {
        let params = canonical_params(&self.params);
        Bound::new(self.caller.principal(), &self.caller.place(), &self.method, &params)
    }
}

/// The parameters in one spelling, without what may differ when a client repeats its request: `_meta`, the state and the answers.
fn canonical_params(params: &Bytes) -> Vec<u8> {
    let mut out = Vec::with_capacity(params.len());
    let read = str::from_utf8(params).ok().and_then(|text| json::read(text).ok());
    match read.as_ref().and_then(json::Json::entries) {
        Some(entries) => {
            let own = entries.iter().filter(|(key, _)| !matches!(&**key, "_meta" | "requestState" | "inputResponses"));
            toolmark_core::canonical::write_object(own.map(|(key, value)| (&**key, value)), &mut out);
        }
        // What has no canonical form (such as half of a UTF-16 pair) is bound byte for byte.
        None => {
            let limits = crate::wire::Limits { bytes: usize::MAX, depth: crate::wire::Limits::DEEPEST };
            if let Ok(object) = RawObject::read(params.clone(), limits) {
                let own =
                    object.iter().filter(|(key, _)| !matches!(&**key, "_meta" | "requestState" | "inputResponses"));
                for (key, value) in own {
                    out.extend_from_slice(key.as_bytes());
                    out.push(0);
                    out.extend_from_slice(value);
                    out.push(0);
                }
            }
        }
    }
    out
}
