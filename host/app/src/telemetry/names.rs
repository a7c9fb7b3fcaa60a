//! The names of attributes and of errors. Those that do not begin with `syrch.` are
//! OpenTelemetry's: its conventions for databases, which are stable, and those for generative
//! models as of 1.37, which no longer know `gen_ai.system`.

use syrch_core::RoleError;
use syrch_core::ports::LlmError;

pub(super) const OPERATION: &str = "gen_ai.operation.name";
pub(super) const PROVIDER: &str = "gen_ai.provider.name";
pub(super) const REQUEST_MODEL: &str = "gen_ai.request.model";
pub(super) const TEMPERATURE: &str = "gen_ai.request.temperature";
pub(super) const TOP_P: &str = "gen_ai.request.top_p";
pub(super) const MAX_TOKENS: &str = "gen_ai.request.max_tokens";
pub(super) const RESPONSE_MODEL: &str = "gen_ai.response.model";
pub(super) const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
pub(super) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub(super) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";

pub(super) const DATABASE_SYSTEM: &str = "db.system.name";
pub(super) const DATABASE: &str = "db.namespace";
pub(super) const DATABASE_OPERATION: &str = "db.operation.name";
pub(super) const QUERY_TEXT: &str = "db.query.text";
pub(super) const RETURNED_ROWS: &str = "db.response.returned_rows";

pub(super) const ERROR: &str = "error.type";

pub(super) const RUN: &str = "syrch.run";
pub(super) const OUTCOME: &str = "syrch.outcome";
pub(super) const INTERRUPTED: &str = "syrch.interrupted";
pub(super) const RESUMED: &str = "syrch.resumed";
pub(super) const ROLE: &str = "syrch.role";
pub(super) const PLUGIN: &str = "syrch.plugin";
pub(super) const TASK: &str = "syrch.task";
pub(super) const PURPOSE: &str = "syrch.purpose";
pub(super) const CACHED: &str = "syrch.cached";
pub(super) const TRUNCATED: &str = "syrch.truncated";

/// The class of a span that ended because the span around it did.
pub(super) const CANCELLED: &str = "cancelled";
/// The class of a run that ended with an error.
pub(super) const FAILED: &str = "failed";

/// The class of a model call's error.
pub(super) fn model_error_class(error: &LlmError) -> &'static str {
    match error {
        LlmError::Budget => "budget",
        LlmError::Denied(_) => "denied",
        LlmError::Refused(_) => "refused",
        LlmError::TooLarge | LlmError::Overflow(_) => "too-large",
        LlmError::Malformed(_) => "malformed",
        LlmError::Cut { .. } => "cut",
        LlmError::Unsupported(_) => "unsupported",
        LlmError::Cancelled => CANCELLED,
        LlmError::Unavailable(_) => "unavailable",
        LlmError::Declined { .. } => "declined",
        LlmError::Missed(_) => "missed",
        // The conventions' word for an error without a class.
        LlmError::Other(_) => "_OTHER",
    }
}

/// The class of a role call's error.
pub(super) fn role_error_class(error: &RoleError) -> &'static str {
    match error {
        RoleError::Failure { .. } => "failure",
        RoleError::Trap { .. } => "trap",
        RoleError::Limit { .. } => "limit",
        RoleError::Invalid { .. } => "invalid",
        RoleError::Unavailable { .. } => "unavailable",
        RoleError::Deadline => "deadline",
        RoleError::Cancelled => CANCELLED,
    }
}
