//! Opens backends: the database of a URL, the models of the settings. The engines stand in
//! `executors.rs`, the providers in `providers.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use syrch_cache::{Cache, Options};
use syrch_core::ports::{CellIndex, Database, ModelProvider, RowsGrant, SqlPort};
use syrch_core::{DatabaseUrl, ResultSet, SqlError};
use syrch_layers::{
    Author, DoubtingDatabase, GrantedIndex, Limiter, Memo, Price, PricedModel, Prices, Rates,
    Route, RoutedModel, SqlBinding, cache_database,
};
use syrch_offline::{OfflineConfig, OfflineProvider};
use syrch_semantics::Semantics;

use crate::endpoints::open_endpoint;
use crate::executors::{Executor, OpenDatabase, ServerReport};
use crate::recordings::open_replay;
use crate::settings::{
    CacheSettings, EndpointSettings, ModelSettings, RateSettings, RouteSettings,
};
use crate::simulation::open_simulated;
use crate::{Error, Settings, Shared};

/// Opens the database of the settings. It is never created and never written.
///
/// # Errors
/// When no engine has its scheme, and when it is missing, is something else, or cannot be read.
pub async fn open_database(settings: &Settings) -> Result<Arc<dyn Database>, Error> {
    let url = DatabaseUrl::parse(&settings.database);
    let executor = Executor::for_url(&url);
    // Of some servers all is in variables, so that their scheme alone is an address.
    if url.is_empty() && !executor.as_ref().is_ok_and(|executor| executor.reads_variables()) {
        return Err(Error::Config("no database is named".to_owned()));
    }
    Ok(executor?.open(database_arguments(url, settings)).await?)
}

/// The database with the doubts about the results of its statements, for statements that a user
/// writes: nothing of them is hidden.
#[must_use]
pub fn with_doubts(database: &Arc<dyn Database>) -> Arc<dyn Database> {
    doubting_within(database, RowsGrant::Full)
}

/// The database with the doubts about the results of its statements, whose texts show cells as far
/// as the grant allows.
#[must_use]
pub fn doubting_within(database: &Arc<dyn Database>, grant: RowsGrant) -> Arc<dyn Database> {
    Arc::new(DoubtingDatabase::new(
        Arc::clone(database),
        Arc::clone(database),
        grant,
        Author::Other,
    ))
}

/// Runs a statement as the answer to a question, in a database of [`with_doubts`]: its result
/// carries the doubts about it as that answer, too.
///
/// # Errors
/// As [`Database::run`].
pub async fn run_as_answer(
    database: &Arc<dyn Database>,
    question: &str,
    sql: &str,
) -> Result<Arc<ResultSet>, SqlError> {
    SqlBinding::new(Memo::new(Arc::clone(database)), Vec::new(), 0)
        .with_question(question, None, &[])
        .run(sql)
        .await
}

/// Asks the server of the settings' database what it is and what its user could do beyond reading;
/// `None` for a file.
///
/// # Errors
/// As [`open_database`].
pub async fn inspect_server(settings: &Settings) -> Result<Option<ServerReport>, Error> {
    let url = DatabaseUrl::parse(&settings.database);
    let executor = Executor::for_url(&url)?;
    Ok(executor.inspect(database_arguments(url, settings)).await.transpose()?)
}

/// The statements that make a role which only reads these schemas of the settings' database, for an
/// administrator to run. Nothing is connected to.
///
/// # Errors
/// When the address is wrong, or the engine has no roles.
pub fn role_sql(settings: &Settings, schemas: &[String]) -> Result<String, Error> {
    let url = DatabaseUrl::parse(&settings.database);
    let able: Vec<Executor> = Executor::all().filter(|executor| executor.has_roles()).collect();
    let executor = if url.is_empty() {
        able.first().copied().ok_or_else(no_roles)?
    } else {
        Executor::for_url(&url)?
    };
    let written = executor.role_sql(database_arguments(url, settings), schemas);
    Ok(written.ok_or_else(no_roles)??)
}

fn no_roles() -> Error {
    let able: Vec<&str> =
        Executor::all().filter(|executor| executor.has_roles()).map(Executor::name).collect();
    Error::Config(format!(
        "this database has no roles; those of these engines have: {}",
        able.join(", ")
    ))
}

fn database_arguments(url: DatabaseUrl, settings: &Settings) -> OpenDatabase {
    let Settings { tables, limits, servers, imports, .. } = settings;
    OpenDatabase {
        url,
        tables: tables.clone(),
        limits: limits.clone(),
        servers: servers.clone(),
        imports: imports.clone(),
    }
}

/// The cache of the settings; `None` if nothing is cached. It is opened by the first request.
#[must_use]
pub fn open_cache(settings: &Settings) -> Option<Arc<Cache>> {
    let CacheSettings { ttl, bytes, .. } = &settings.cache;
    let options = Options { ttl: *ttl, bytes: *bytes, ..Options::default() };
    Some(Cache::open_at(settings.cache.place()?, options))
}

/// Opens the models of the settings; nothing is sent yet.
pub(crate) fn open_model(
    settings: &Settings,
    database: &Arc<dyn Database>,
    semantics: Option<&Arc<Semantics>>,
    shared: &Shared,
) -> Result<Arc<RoutedModel>, Error> {
    let model = &settings.model;
    if let Some(path) = &model.replay {
        return Ok(Arc::new(open_replay(settings, path)?));
    }
    if let Some(simulated) = &model.simulated {
        return Ok(Arc::new(open_simulated(settings, simulated, database, shared)?));
    }
    if settings.budgets.cost_micros.is_some() {
        check_prices(model)?;
    }
    let default = EndpointSettings {
        provider: model.provider,
        base_url: model.base_url.clone(),
        api_key: model.api_key.clone(),
        timeout: None,
        rates: model.rates,
    };
    let mut endpoints: BTreeMap<Option<&str>, (&EndpointSettings, Arc<Limiter>)> = BTreeMap::new();
    let named = model.endpoints.iter().map(|(name, endpoint)| (Some(name.as_str()), endpoint));
    for (name, endpoint) in named.chain([(None, &default)]) {
        let limiter = shared.limiter(&place(name, endpoint), rates(endpoint.rates, model)?);
        endpoints.insert(name, (endpoint, limiter));
    }
    let prices = Arc::new(prices(model, None)?);
    let cells =
        cache_database(Arc::clone(database), shared.cache(settings).as_ref(), &settings.limits);
    let open = |name: &str, route: &RouteSettings, embeds: bool| {
        let (endpoint, limiter) = endpoints.get(&route.endpoint.as_deref()).ok_or_else(|| {
            Error::Config(format!("the model `{name}` is at an endpoint that is not configured"))
        })?;
        let parts = Parts { cells: &cells, semantics };
        let make = || open_provider(settings, endpoint, &route.model, parts, embeds);
        let provider = match endpoint.provider.endpoint() {
            // The rules read the database's cells.
            None => make()?,
            Some(_) => {
                let form = (model.temperature, model.max_tokens, model.structured);
                let reported = (&route.model, form, endpoint.timeout, model.timeout, embeds);
                shared.provider(
                    format!("{} {reported:?}", place(route.endpoint.as_deref(), endpoint)),
                    make,
                )?
            }
        };
        let provider = Arc::new(PricedModel::new(provider, Arc::clone(&prices)));
        let name = name.to_owned();
        let limiter = Arc::clone(limiter);
        Ok::<_, Error>(Route { name, provider, model: None, limiter })
    };
    let own = RouteSettings { endpoint: None, model: model.model.clone() };
    let name = if model.is_offline() { model.provider.name() } else { &model.model };
    let is_for_text = |name: &String| model.embeddings.as_ref() != Some(name);
    let texts = model.models.iter().filter(|(name, _)| is_for_text(name));
    let mut others =
        texts.map(|(name, route)| open(name, route, false)).collect::<Result<Vec<_>, _>>()?;
    if let Some(name) = &model.embeddings {
        let own = RouteSettings { endpoint: None, model: name.clone() };
        others.push(open(name, model.models.get(name).unwrap_or(&own), true)?);
    }
    let default = match &model.own {
        Some(own) => Route {
            name: name.to_owned(),
            provider: Arc::new(PricedModel::new(Arc::clone(own.provider()?), Arc::clone(&prices))),
            model: None,
            limiter: shared.limiter(&format!("own {}", own.name()), rates(model.rates, model)?),
        },
        None => open(name, &own, false)?,
    };
    let routed = RoutedModel::new(default, others, &model.purposes);
    Ok(Arc::new(routed.map_err(|error| Error::Config(error.to_string()))?))
}

/// Checks that money can be limited: every model that an endpoint answers for has a price.
///
/// # Errors
/// The model that has none.
pub fn check_prices(model: &ModelSettings) -> Result<(), Error> {
    if !asks_endpoint(model) {
        return Ok(());
    }
    let prices = prices(model, None)?;
    let own = |name: &String| RouteSettings { endpoint: None, model: name.clone() };
    let embeds = model.embeddings.iter().filter(|name| !model.models.contains_key(*name)).map(own);
    let mut all =
        std::iter::once(own(&model.model)).chain(model.models.values().cloned()).chain(embeds);
    let is_paid = |route: &RouteSettings| match &route.endpoint {
        None => !model.is_offline(),
        Some(name) => {
            model.endpoints.get(name).is_some_and(|endpoint| endpoint.provider.endpoint().is_some())
        }
    };
    match all.find(|route| is_paid(route) && prices.for_model(&route.model).is_none()) {
        None => Ok(()),
        Some(route) => Err(Error::Unpriced { model: route.model }),
    }
}

/// Returns whether any model is at an endpoint; otherwise rules, a recording or a simulation answer
/// for all.
#[must_use]
pub fn asks_endpoint(model: &ModelSettings) -> bool {
    let is_other =
        !model.is_offline() || model.models.values().any(|route| route.endpoint.is_some());
    model.replay.is_none() && model.simulated.is_none() && is_other
}

/// Returns a text that distinguishes an endpoint from others: its name and its address.
fn place(name: Option<&str>, endpoint: &EndpointSettings) -> String {
    format!("{name:?} {:?} {}", endpoint.provider, endpoint.base_url)
}

/// The limits of an endpoint for this process.
fn rates(rates: RateSettings, model: &ModelSettings) -> Result<Rates, Error> {
    let rates = model.shard.map_or(Ok(rates), |shard| rates.part(shard))?;
    let RateSettings { requests_per_minute, tokens_per_minute, in_flight } = rates;
    let patience = model.max_retry_wait;
    Ok(Rates { requests_per_minute, tokens_per_minute, in_flight, patience })
}

/// The price table of the settings; a model that is `free` costs nothing unless the table names it.
pub(crate) fn prices(model: &ModelSettings, free: Option<&str>) -> Result<Prices, Error> {
    let wrong = |error: syrch_layers::PriceError| Error::Config(error.to_string());
    let prices = model.prices.iter().map(|(pattern, price)| {
        let usual = Price::new(price.input, price.output).map_err(wrong)?;
        let price = price
            .cached_input
            .map_or(Ok(usual), |cached| usual.with_cached(cached))
            .map_err(wrong)?;
        Ok((pattern.clone(), price))
    });
    // Of equally long patterns the one given last counts.
    let free = free.map(|name| Ok((name.to_owned(), Price::new(0.0, 0.0).map_err(wrong)?)));
    let prices = free.into_iter().chain(prices);
    Prices::new(prices.collect::<Result<Vec<_>, Error>>()?).map_err(wrong)
}

/// The parts that the rules read besides the question and the catalog.
#[derive(Clone, Copy)]
struct Parts<'a> {
    cells: &'a Arc<dyn Database>,
    semantics: Option<&'a Arc<Semantics>>,
}

/// A client of an endpoint, or the rules that stand in its place.
fn open_provider(
    settings: &Settings,
    endpoint: &EndpointSettings,
    name: &str,
    parts: Parts<'_>,
    embeds: bool,
) -> Result<Arc<dyn ModelProvider>, Error> {
    if embeds || endpoint.provider.endpoint().is_some() {
        return open_endpoint(settings, endpoint, name, embeds);
    }
    let index = Arc::clone(parts.cells);
    let cells: Arc<dyn CellIndex> =
        Arc::new(GrantedIndex { index: index as _, grant: settings.rows });
    let semantics = parts.semantics.cloned();
    let mut config = OfflineConfig { semantics, ..OfflineConfig::default() };
    if let Some(threshold) = settings.model.offline_threshold {
        config.threshold = threshold;
    }
    Ok(Arc::new(OfflineProvider::new(Some(cells), config)))
}
