//! Serves the interface `retrieval` to guests: retrieval and embeddings.

use syrch_core::ports::{MAX_EMBEDDED, MAX_EMBEDDED_TEXT, MAX_QUERIES, MAX_QUERY_TEXT, PortError};
use syrch_core::text::clip;
use syrch_core::{Hit, RetrievalQuery};

use crate::bindings::syrch::plugin::retrieval as wit;
use crate::contract::Port;
use crate::convert::Conv;
use crate::state::State;

type WitHits = Result<Vec<wit::Hit>, wit::PortError>;

impl State {
    async fn retrieve(
        &mut self,
        queries: Vec<wit::RetrievalQuery>,
    ) -> wasmtime::Result<Vec<WitHits>> {
        let mut entered = self.enter(Port::Retrieval)?;
        // Each query is work of the host and counts as a call.
        for _ in 1..queries.len().min(MAX_QUERIES) {
            entered = self.enter(Port::Retrieval)?;
        }
        let mut queries: Vec<RetrievalQuery> = queries.conv();
        queries
            .iter_mut()
            .for_each(|query| query.text = clip(&query.text, MAX_QUERY_TEXT).to_owned());
        let count = queries.len();
        let all = |error: PortError| vec![Err::<Vec<Hit>, _>(error); queries.len()];
        let found = match entered {
            Err(reason) => all(PortError::Denied(reason)),
            Ok(_) if count > MAX_QUERIES => {
                all(PortError::Other(format!("{count} queries; one call may have {MAX_QUERIES}")))
            }
            Ok(call) => self.waiting(call.ports.retrieval.find(&queries)).await,
        };
        Ok(found.conv())
    }
}

impl wit::Host for State {
    async fn find(&mut self, query: wit::RetrievalQuery) -> wasmtime::Result<WitHits> {
        Ok(self
            .retrieve(vec![query])
            .await?
            .pop()
            .unwrap_or_else(|| Err(PortError::Other("no answer".to_owned()).conv())))
    }

    async fn find_all(
        &mut self,
        queries: Vec<wit::RetrievalQuery>,
    ) -> wasmtime::Result<Vec<WitHits>> {
        self.retrieve(queries).await
    }

    async fn embed(
        &mut self,
        texts: Vec<String>,
    ) -> wasmtime::Result<Result<Vec<Vec<f32>>, wit::PortError>> {
        let entered = self.enter(Port::Retrieval)?;
        let vectors = match entered {
            Err(reason) => Err(PortError::Denied(reason)),
            Ok(_) if texts.len() > MAX_EMBEDDED => Err(PortError::Other(format!(
                "{} texts; one call may have {MAX_EMBEDDED}",
                texts.len()
            ))),
            Ok(_) if texts.iter().any(|text| text.len() > MAX_EMBEDDED_TEXT) => {
                Err(PortError::Other(format!("a text of more than {MAX_EMBEDDED_TEXT} bytes")))
            }
            Ok(call) => self.waiting(call.ports.retrieval.embed(&texts)).await,
        };
        Ok(vectors.conv())
    }
}
