//! `subscriptions/listen`: what does the client want to hear of, what does the service agree to, and how does it hear it?

use std::sync::Arc;

use toolmark_core::explain::Code;

use super::answer::{Answer, Fault};
use super::inbox::Interest;
use super::run::{Run, Step};
use super::service::Service;
use super::stream::{ListenStream, acknowledged, listen_result};
use super::ticket::Ticket;
use crate::wire::{Limits, RawObject, codes};

/// Asks the service and opens the stream, or says why not.
pub(super) async fn open<S: Service>(ticket: &Ticket<S>, run: &mut Run) -> Result<ListenStream, Answer> {
    let params = RawObject::read(ticket.params.clone(), Limits::ADMITTED).ok();
    let Some(wanted) = params.and_then(|params| params.object("notifications")) else {
        let fault = Fault::new(codes::INVALID_PARAMS, "`notifications` must be an object");
        return Err(Answer::Fault(fault.coded(Code::new("listen-filter-invalid"))));
    };
    let accepted = loop {
        match run.next().await {
            Step::Answer(Answer::Result(accepted)) => break accepted,
            Step::Answer(Answer::Prepared(accepted)) => {
                break RawObject::read(accepted, Limits::ADMITTED).unwrap_or_else(|_| RawObject::empty());
            }
            Step::Answer(answer) => return Err(answer),
            Step::Cancelled => return Err(Answer::fault(codes::INTERNAL_ERROR, "the subscription was cancelled")),
            Step::Message(_) | Step::Asked | Step::HangUp => {}
        }
    };
    let interest = Interest::read(&wanted).both(&Interest::read(&accepted));
    let first = acknowledged(&ticket.id, &interest.write());
    let Some((inbox, seat)) = ticket.shared.listen(&ticket.caller, interest) else {
        let fault = Fault::new(codes::INTERNAL_ERROR, "there are too many subscriptions; try again later");
        return Err(Answer::Fault(fault.coded(Code::new("listeners-exhausted"))));
    };
    Ok(ListenStream {
        id: ticket.id.clone(),
        first: Some(first),
        inbox,
        closing: Some(listen_result(&ticket.id)),
        exchange: Arc::clone(run.exchange()),
        _seat: seat,
    })
}
