//! An open host, and its questions.

use std::sync::Arc;

use futures::{StreamExt, stream};
use pyo3::prelude::*;
use syrch::{Error, Observer, Stop};

use crate::ask::AskFunction;
use crate::causes::Causes;
use crate::engine;
use crate::handle::Host;
use crate::model::PythonModel;
use crate::options::{self, HostOptions, SearchOptions};
use crate::outcome::Ended;
use crate::task::Task;
use crate::watch;

/// Opens a host: its options as JSON, the adapter of a database and a model of the program, and a
/// function for the progress. The task's value is a [`Host`].
#[pyfunction]
#[pyo3(signature = (options, database=None, model=None, watch=None))]
pub(crate) fn open(
    options: &str,
    database: Option<Py<PyAny>>,
    model: Option<Py<PyAny>>,
    watch: Option<Py<PyAny>>,
) -> PyResult<Task> {
    let options: HostOptions = options::read(options)?;
    let observer = watch::observer(watch)?;
    let work = async move {
        let causes = Causes::default();
        let opened = open_host(options, database, model, observer.as_ref(), &causes).await;
        let own = causes.clone();
        Ended::from_opened(opened.map(|host| Host { host, causes })).with_causes([own])
    };
    Task::start(work, Stop::new())
}

async fn open_host(
    options: HostOptions,
    database: Option<Py<PyAny>>,
    model: Option<Py<PyAny>>,
    observer: &dyn Observer,
    causes: &Causes,
) -> Result<syrch::Host, Error> {
    let mut settings = syrch::Settings::default();
    options.configure(&mut settings)?;
    let mut builder = options.builder()?;
    builder = match (database, &options.database) {
        (Some(adapter), _) => {
            let opened =
                engine::open(adapter, options.tables, settings.limits.clone(), causes.clone());
            let opened = opened.await?;
            builder.tables(Vec::<String>::new()).database(Arc::new(opened))
        }
        (None, Some(address)) => builder.database(address.as_str()),
        (None, None) => return Err(Error::Config("no database is named".to_owned())),
    };
    if let Some(model) = model {
        builder =
            builder.model(Arc::new(PythonModel::open(model, &settings, causes.clone()).await?));
    }
    builder.open_with(observer).await
}

#[pymethods]
impl Host {
    /// Remarks on the connection to the database for its user.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.host.database().warnings()
    }

    /// The name of the database.
    #[getter]
    fn name(&self) -> &str {
        self.host.database().name()
    }

    /// The SQL that the database speaks.
    #[getter]
    fn dialect(&self) -> String {
        self.host.database().dialect().name().to_owned()
    }

    /// Starts a search. `ask` answers questions to the user.
    #[pyo3(signature = (question, options, ask=None, watch=None))]
    fn query(
        &self,
        question: String,
        options: &str,
        ask: Option<Py<PyAny>>,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<Task> {
        let options: SearchOptions = options::read(options)?;
        let observer = watch::observer(watch)?;
        let stop = Stop::new();
        let query = self.host.query(question).stop(stop.clone()).observer(Shared(observer));
        let causes = self.causes.clone();
        let asking = Causes::default();
        let work = async move {
            let query = match options.apply(query) {
                Ok(query) => query,
                Err(error) => return error.into(),
            };
            let query = match ask {
                Some(function) => {
                    let function = Arc::new(function);
                    query.interactive(AskFunction { function, causes: asking.clone() })
                }
                None => query,
            };
            Ended::from_search(query.run().await).with_causes([asking, causes])
        };
        Task::start(work, stop)
    }

    /// Starts the searches of many questions, `workers` at once. The task's value is the outcome of
    /// each, in their order.
    fn batch(&self, questions: Vec<String>, options: &str, workers: usize) -> PyResult<Task> {
        let options: SearchOptions = options::read(options)?;
        let host = self.host.clone();
        let stop = Stop::new();
        let handle = stop.clone();
        let causes = self.causes.clone();
        let work = async move {
            let searches = questions.into_iter().map(|question| {
                let query = host.query(question).stop(handle.clone());
                let query = options.clone().apply(query);
                let causes = causes.clone();
                async move {
                    match query {
                        Ok(query) => Ended::from_search(query.run().await).with_causes([causes]),
                        Err(error) => error.into(),
                    }
                }
            });
            Ended::from_batch(stream::iter(searches).buffered(workers.max(1)).collect().await)
        };
        Task::start(work, stop)
    }
}

/// An observer that several owners share.
struct Shared(Arc<dyn Observer>);

impl Observer for Shared {
    fn event(&self, event: &syrch::SearchEvent) {
        self.0.event(event);
    }
}
