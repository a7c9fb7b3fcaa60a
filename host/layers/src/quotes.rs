//! Texts in double quotes, which models still write for SQLite: the statement of a reply is read as
//! it is meant.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use syrch_core::Catalog;
use syrch_core::ports::{ModelCall, ModelLayer, ModelOutcome, ModelProvider, Shape};

/// Returns how a statement is meant over a catalog; `None` if that is as it is written.
pub type Meaning = fn(&str, &Catalog) -> Option<String>;

/// A model whose statements are read as they are meant.
pub struct MeantModel {
    inner: Arc<dyn ModelProvider>,
    catalog: Arc<Catalog>,
    meaning: Meaning,
}

impl MeantModel {
    /// Creates the layer around a provider. `catalog` has all that is granted.
    #[must_use]
    pub fn new(inner: Arc<dyn ModelProvider>, catalog: Arc<Catalog>, meaning: Meaning) -> Self {
        Self { inner, catalog, meaning }
    }

    /// The document of a reply with the statement as it is meant; `None` if it is so already.
    fn read(&self, parsed: &str) -> Option<String> {
        let mut document: Value = serde_json::from_str(parsed).ok()?;
        let sql = document.get_mut("sql")?;
        *sql = (self.meaning)(sql.as_str()?, &self.catalog)?.into();
        Some(document.to_string())
    }
}

#[async_trait]
impl ModelLayer for MeantModel {
    fn layer(&self) -> &'static str {
        "quotes"
    }

    fn inner(&self) -> &dyn ModelProvider {
        self.inner.as_ref()
    }

    async fn call(&self, call: &ModelCall) -> ModelOutcome {
        let mut outcome = self.inner.complete(call).await;
        if let (Shape::Sql, Ok(reply)) = (&call.request.expect, &mut outcome.result)
            && let Some(parsed) = reply.parsed.as_deref().and_then(|parsed| self.read(parsed))
        {
            reply.parsed = Some(parsed);
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use syrch_core::Dialect;

    use super::*;
    use crate::fakes::ScriptedModel;

    #[test]
    fn only_the_statement_of_a_reply_changes() {
        let catalog =
            Catalog { database: "d".to_owned(), dialect: Dialect::Sqlite, tables: Vec::new() };
        let meaning: Meaning = |sql, _| sql.contains('"').then(|| sql.replace('"', "'"));
        let model =
            MeantModel::new(Arc::new(ScriptedModel::new(Vec::new())), Arc::new(catalog), meaning);
        fn document(sql: &str) -> String {
            json!({"sql": sql, "confidence": 0.9}).to_string()
        }
        assert_eq!(model.read(&document("SELECT \"a\"")), Some(document("SELECT 'a'")));
        assert_eq!(model.read(&document("SELECT 1")), None);
        assert_eq!((model.read("{}"), model.read("no document")), (None, None));
    }
}
