//! Stands in for `endpoints` in a build without it.

use std::sync::Arc;

use syrch_core::ports::ModelProvider;

use crate::settings::EndpointSettings;
use crate::{Error, Settings};

/// Opens nothing.
///
/// # Errors
/// Always.
pub(crate) fn open_endpoint(
    _: &Settings,
    _: &EndpointSettings,
    _: &str,
    _: bool,
) -> Result<Arc<dyn ModelProvider>, Error> {
    Err(Error::NotBuilt { what: "model endpoints", feature: "endpoints" })
}
