//! Settings as the journal of a run holds them.

use serde_json::Value;
use syrch_core::DatabaseUrl;
use syrch_core::ledger::Budgets;

use crate::Settings;

/// Settings as a journal holds them. Keys are no part of them; what a URL may hide besides the
/// address is left out, too.
#[must_use]
pub fn journal_settings(settings: &Settings) -> Value {
    let mut written = serde_json::to_value(settings).unwrap_or_default();
    let mut clean = |pointer: &str| {
        if let Some(Value::String(url)) = written.pointer_mut(pointer)
            && url.contains(['@', '?', '#'])
        {
            *url = "***".to_owned();
        }
    };
    clean("/model/base_url");
    let names =
        settings.model.endpoints.keys().map(|name| name.replace('~', "~0").replace('/', "~1"));
    names.for_each(|name| clean(&format!("/model/endpoints/{name}/base_url")));
    written["database"] = DatabaseUrl::parse(&settings.database).to_string().into();
    written
}

/// Settings, as [`journal_settings`] returns them, without those that may change between the parts
/// of a graded run. Each question names its database, and where and for how long journals and
/// cached replies are stored changes no answer.
#[must_use]
pub fn lasting_settings(settings: &Value) -> Value {
    let mut settings = settings.clone();
    if let Some(settings) = settings.as_object_mut() {
        ["database", "journal", "cache"].iter().for_each(|key| drop(settings.shift_remove(*key)));
    }
    settings
}

/// Takes from today's settings what a journal, which may be untrusted, does not decide: how much
/// its plugins may use.
pub(crate) fn apply_limits(settings: &mut Settings, today: &Settings) {
    settings.limits.clone_from(&today.limits);
    let Budgets { host_calls, cpu, log_bytes, .. } = today.budgets;
    settings.budgets = Budgets { host_calls, cpu, log_bytes, ..settings.budgets.clone() };
    settings.policy.max_parallel = settings.policy.max_parallel.min(MOST_PARALLEL);
}

/// The limit on the number of tasks under way at once in a run that is repeated.
const MOST_PARALLEL: u32 = 64;
