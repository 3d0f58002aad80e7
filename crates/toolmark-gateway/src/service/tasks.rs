//! Calls that go on as tasks (an extension of 2026-07-28): whose they are and which pack made them, so that questions about a task reach
//! its server, and come from nobody but the caller who started it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use toolmark_core::names::PackName;
use toolmark_core::tool::Tool;
use toolmark_mcp::downstream::{Answer, Caller, Context, Fault, Incoming};
use toolmark_mcp::wire::version::Era;
use toolmark_mcp::wire::{Change, Limits, RawObject, ResultType, codes, write};

use super::call::without_ours;
use super::{Front, object, relay};
use crate::listing::TASKS;

/// Most tasks that are remembered; the oldest are forgotten first.
const MOST: usize = 10_000;

/// The tasks that were handed out.
#[derive(Debug, Default)]
pub(super) struct Tasks(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    tasks: HashMap<Key, Origin>,
    oldest: VecDeque<Key>,
}

/// Who started a task, and the id by which they know it.
type Key = (Caller, Arc<str>);

/// Where a task is, and what it is called there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Origin {
    pack: PackName,
    id: Arc<str>,
}

impl Tasks {
    /// Remembers the task that a call became, if it became one. Its id is changed only where another pack has given out the same.
    pub(super) fn note(&self, caller: &Caller, tool: &Tool, result: RawObject) -> RawObject {
        if result.result_type() != ResultType::Other || result.text("resultType").as_deref() != Some("task") {
            return result;
        }
        let pack = tool.pack().and_then(|pack| pack.parse().ok());
        let (Some(pack), Some(id)) = (pack, result.text("taskId")) else { return result };
        let own: Arc<str> = id.as_ref().into();
        let exposed = self.known().add(caller, Origin { pack, id: Arc::clone(&own) });
        if exposed == own {
            return result;
        }
        object(result.rewrite(&[Change::Set("taskId", &write::quote(&exposed))]))
    }

    fn find(&self, caller: &Caller, id: &str) -> Option<Origin> {
        self.known().tasks.get(&(caller.clone(), id.into())).cloned()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn add(&mut self, caller: &Caller, origin: Origin) -> Arc<str> {
        let mut id = Arc::clone(&origin.id);
        let mut number = 1;
        loop {
            let key = (caller.clone(), Arc::clone(&id));
            match self.tasks.get(&key) {
                Some(other) if *other == origin => return id,
                Some(_) => {
                    id = format!("{}.{number}.{}", origin.pack, origin.id).into();
                    number += 1;
                }
                None => {
                    self.oldest.push_back(key.clone());
                    self.tasks.insert(key, origin);
                    if self.oldest.len() > MOST
                        && let Some(oldest) = self.oldest.pop_front()
                    {
                        self.tasks.remove(&oldest);
                    }
                    return id;
                }
            }
        }
    }
}

impl Front {
    /// `tasks/get`, `tasks/update` and `tasks/cancel`.
    pub(super) async fn relay_task(&self, request: Incoming, context: Context) -> Answer {
        let snapshot = self.gateway.snapshot();
        if request.era() == Era::Session || !snapshot.offers().tasks {
            return Answer::fault(codes::METHOD_NOT_FOUND, "there are no tasks here");
        }
        if !declares_tasks(request.client.capabilities()) {
            return Answer::Fault(undeclared());
        }
        let Some(id) = request.params.text("taskId") else {
            return Answer::fault(codes::INVALID_PARAMS, "the parameters have no `taskId`");
        };
        let Some(origin) = self.tasks.find(&request.caller, &id) else {
            return Answer::fault(codes::INVALID_PARAMS, "there is no such task");
        };
        let renamed = [("taskId", origin.id.to_string())];
        let answer = relay::relay(&snapshot, &origin.pack, &request, context, &renamed, Some(&origin.id)).await;
        let Answer::Result(mut result) = answer else { return answer };
        if *id != *origin.id && result.get("taskId").is_some() {
            result = object(result.rewrite(&[Change::Set("taskId", &write::quote(&id))]));
        }
        // What the call brought stands in what is said of the task.
        if let Some(brought) = result.object("result") {
            result = object(result.rewrite(&[Change::Set("result", without_ours(brought).raw())]));
        }
        Answer::Result(result)
    }
}

fn declares_tasks(capabilities: &Bytes) -> bool {
    let capabilities = RawObject::read(capabilities.clone(), Limits::default()).ok();
    let extensions = capabilities.and_then(|capabilities| capabilities.object("extensions"));
    extensions.is_some_and(|extensions| extensions.get(TASKS).is_some())
}

fn undeclared() -> Fault {
    Fault {
        code: codes::MISSING_CAPABILITY,
        message: format!("the client did not declare the extension `{TASKS}`").into(),
        data: Some(Bytes::from(format!(r#"{{"requiredCapabilities":{{"extensions":{{"{TASKS}":{{}}}}}}}}"#))),
    }
}

#[cfg(test)]
mod tests;
