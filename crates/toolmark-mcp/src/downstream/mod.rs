//! What do clients say to us? One [`Endpoint`] turns HTTP requests and stdio lines of both eras into calls of a [`Service`], and its
//! answers back into what each client understands.

mod admit;
mod answer;
mod body;
mod caller;
mod context;
mod endpoint;
mod exchange;
mod head;
mod http;
mod inbox;
mod incoming;
mod intake;
mod listen;
mod lot;
pub mod origin;
mod run;
mod seal;
mod service;
mod session;
mod share;
mod stdio;
mod stream;
mod table;
mod ticket;
mod track;

pub use answer::{Answer, Fault, InputRequired, MetaMember, Spoken};
pub use body::{Body, Listening, Pieces};
pub use caller::{Binding, Caller, Client};
pub use context::{AskError, Context, Question, Reply};
pub use endpoint::{Endpoint, Held, Settings};
pub use inbox::{Changed, Interest};
pub use incoming::{Incoming, Input, Notification, TraceHeaders, Via};
pub use intake::{ReadBodyError, read_body};
pub use seal::{Bound, OpenSealError, SealKey};
pub use service::{About, Service};
