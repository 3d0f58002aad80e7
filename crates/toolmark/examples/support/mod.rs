//! The model of an example: a scripted one, or the one that `TOOLMARK_MODEL` names, such as `openai:gpt-5.2`, with its key in the
//! variable of its provider.

use std::error::Error;
use std::sync::Arc;

use toolmark::models::scripted::Turn;
use toolmark::models::{Model, Options, ScriptedModel, open};

pub(crate) fn model(script: impl IntoIterator<Item = Turn>) -> Result<Arc<dyn Model>, Box<dyn Error>> {
    match std::env::var("TOOLMARK_MODEL") {
        Ok(name) => Ok(open(&name.parse()?, &Options::default(), &|variable| std::env::var(variable).ok())?),
        Err(_) => Ok(Arc::new(ScriptedModel::new(script))),
    }
}
