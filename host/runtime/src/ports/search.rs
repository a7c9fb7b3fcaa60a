//! Port `search`.

use syrch_core::ports::{MAX_EMBEDDED, MAX_EMBEDDED_TEXT, MAX_LOOKUP_TEXT, MAX_LOOKUPS, PortError};
use syrch_core::text::clip;
use syrch_core::{Hit, Lookup};

use crate::bindings::syrch::plugin::search as wit;
use crate::contract::Port;
use crate::convert::Conv;
use crate::state::State;

type WitHits = Result<Vec<wit::Hit>, wit::PortError>;

impl State {
    async fn look_up(&mut self, looks: Vec<wit::Query>) -> wasmtime::Result<Vec<WitHits>> {
        let mut entered = self.enter(Port::Search)?;
        // Looks are the host's work: each counts.
        for _ in 1..looks.len().min(MAX_LOOKUPS) {
            entered = self.enter(Port::Search)?;
        }
        let mut looks: Vec<Lookup> = looks.conv();
        looks.iter_mut().for_each(|look| look.text = clip(&look.text, MAX_LOOKUP_TEXT).to_owned());
        let (count, all) = (looks.len(), |error: PortError| vec![Err::<Vec<Hit>, _>(error); looks.len()]);
        let found = match entered {
            Err(reason) => all(PortError::Denied(reason)),
            Ok(_) if count > MAX_LOOKUPS => {
                all(PortError::Other(format!("{count} queries; one call may have {MAX_LOOKUPS}")))
            }
            Ok(call) => self.waiting(call.ports.search.look_up(&looks)).await,
        };
        Ok(found.conv())
    }
}

impl wit::Host for State {
    async fn find(&mut self, query: wit::Query) -> wasmtime::Result<WitHits> {
        let none = || Err(PortError::Other("no answer".to_owned()).conv());
        Ok(self.look_up(vec![query]).await?.pop().unwrap_or_else(none))
    }

    async fn find_all(&mut self, queries: Vec<wit::Query>) -> wasmtime::Result<Vec<WitHits>> {
        self.look_up(queries).await
    }

    async fn embed(&mut self, texts: Vec<String>) -> wasmtime::Result<Result<Vec<Vec<f32>>, wit::PortError>> {
        let entered = self.enter(Port::Search)?;
        let vectors = match entered {
            Err(reason) => Err(PortError::Denied(reason)),
            Ok(_) if texts.len() > MAX_EMBEDDED => {
                Err(PortError::Other(format!("{} texts; one call may have {MAX_EMBEDDED}", texts.len())))
            }
            Ok(_) if texts.iter().any(|text| text.len() > MAX_EMBEDDED_TEXT) => {
                Err(PortError::Other(format!("a text of more than {MAX_EMBEDDED_TEXT} bytes")))
            }
            Ok(call) => self.waiting(call.ports.search.embed(&texts)).await,
        };
        Ok(vectors.conv())
    }
}
