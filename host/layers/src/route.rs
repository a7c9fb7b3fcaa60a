//! Several models behind one provider: each call goes to the one that it names, that its purpose is
//! for, or the default.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use syrch_core::ports::{Estimate, LlmError, ModelCall, ModelOutcome, ModelProvider, Preview};

use crate::rate::Limiter;

/// A model by the name that requests and the configuration use for it.
#[derive(Clone)]
pub struct Route {
    /// The configured name, which need not be the endpoint's.
    pub name: String,
    /// The provider that answers.
    pub provider: Arc<dyn ModelProvider>,
    /// The model's name at that provider; `None` means its default.
    pub model: Option<String>,
    /// The rate limits of the endpoint, which all routes to it share.
    pub limiter: Arc<Limiter>,
}

/// The reason why routes cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// Two models have the same name.
    #[error("two models are named `{0}`")]
    Twice(String),
    /// The provider does not have the model.
    #[error("the endpoint of `{name}` has no model `{model}`")]
    Foreign {
        /// The configured name of the model.
        name: String,
        /// The model that the route names.
        model: String,
    },
    /// A purpose is mapped to a model that is not configured.
    #[error("the purpose `{purpose}` is for the model `{name}`, which is not configured")]
    Unknown {
        /// The purpose that is mapped.
        purpose: String,
        /// The name that it is mapped to.
        name: String,
    },
}

/// A provider that passes calls on to others, by name and by purpose.
pub struct RoutedModel {
    /// The routes, the default first.
    routes: Vec<Route>,
    purposes: BTreeMap<String, usize>,
}

impl RoutedModel {
    /// Creates a provider with a default, further models, and the names of the models for calls of
    /// a purpose (by [`Purpose::name`](syrch_core::ports::Purpose::name)).
    ///
    /// # Errors
    /// When two routes have the same name, or a name is unknown.
    pub fn new(
        default: Route,
        others: Vec<Route>,
        purposes: &BTreeMap<String, String>,
    ) -> Result<Self, RouteError> {
        let routes: Vec<Route> = std::iter::once(default).chain(others).collect();
        for (at, route) in routes.iter().enumerate() {
            if routes[..at].iter().any(|other| other.name == route.name) {
                return Err(RouteError::Twice(route.name.clone()));
            }
            if let Some(model) =
                route.model.as_ref().filter(|model| !route.provider.models().contains(model))
            {
                return Err(RouteError::Foreign { name: route.name.clone(), model: model.clone() });
            }
        }
        let purposes = purposes
            .iter()
            .map(|(purpose, name): (&String, &String)| {
                match routes.iter().position(|route| route.name == *name) {
                    Some(at) => Ok((purpose.clone(), at)),
                    None => {
                        Err(RouteError::Unknown { purpose: purpose.clone(), name: name.clone() })
                    }
                }
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { routes, purposes })
    }

    /// The route that a call takes; `None` when it names a model that is not configured.
    #[must_use]
    pub fn route(&self, call: &ModelCall) -> Option<&Route> {
        match &call.request.model {
            Some(name) => self.routes.iter().find(|route| route.name == *name),
            None => self
                .routes
                .get(self.purposes.get(call.request.purpose.name()).copied().unwrap_or(0)),
        }
    }

    /// The route that a call takes, and the call with that provider's model name.
    fn find_route<'a>(&self, call: &'a ModelCall) -> Option<(&Route, Cow<'a, ModelCall>)> {
        let route = self.route(call)?;
        let mut onward = Cow::Borrowed(call);
        if route.model != call.request.model {
            onward.to_mut().request.model.clone_from(&route.model);
        }
        Some((route, onward))
    }
}

#[async_trait]
impl ModelProvider for RoutedModel {
    /// The name of the default model's provider.
    fn name(&self) -> &str {
        self.routes.first().map_or("none", |route| route.provider.name())
    }

    fn models(&self) -> Vec<String> {
        self.routes.iter().map(|route| route.name.clone()).collect()
    }

    fn identity(&self, call: &ModelCall) -> Option<String> {
        let (route, call) = self.find_route(call)?;
        route.provider.identity(&call)
    }

    fn estimate(&self, call: &ModelCall) -> Estimate {
        self.find_route(call)
            .map(|(route, call)| route.provider.estimate(&call))
            .unwrap_or_default()
    }

    fn preview(&self, call: &ModelCall) -> Option<Preview> {
        let (route, call) = self.find_route(call)?;
        route.provider.preview(&call)
    }

    async fn complete(&self, call: &ModelCall) -> ModelOutcome {
        let Some((route, onward)) = self.find_route(call) else {
            let name = call.request.model.as_deref().unwrap_or_default();
            return ModelOutcome::unsent(LlmError::Denied(format!(
                "the model `{name}` is not configured"
            )));
        };
        let sending = route.limiter.send();
        let outcome = route.provider.complete(&onward).await;
        sending.end(outcome)
    }

    fn layers(&self) -> Vec<&'static str> {
        let of_default = self.routes.first().map(|route| route.provider.layers());
        std::iter::once("route").chain(of_default.into_iter().flatten()).collect()
    }
}

#[cfg(test)]
mod tests {
    use syrch_core::Ledger;
    use syrch_core::Limits;
    use syrch_core::ledger::Budgets;
    use syrch_core::ports::Purpose;

    use super::*;
    use crate::BudgetedModel;
    use crate::fakes::{FakeModel, ScriptedModel, call};
    use crate::rate::Rates;

    fn route(name: &str, provider: Arc<dyn ModelProvider>, model: Option<&str>) -> Route {
        let limiter = Limiter::new(Rates::default());
        Route { name: name.into(), provider, model: model.map(str::to_owned), limiter }
    }

    fn purposes(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(purpose, name)| ((*purpose).to_owned(), (*name).to_owned())).collect()
    }

    #[tokio::test]
    async fn a_name_counts_before_a_purpose_and_a_purpose_before_the_default() {
        let strong = Arc::new(ScriptedModel::with_models("s", &["large", "huge"]));
        let cheap = Arc::new(ScriptedModel::with_models("c", &["tiny"]));
        let routed = RoutedModel::new(
            route("strong", Arc::clone(&strong) as _, Some("huge")),
            vec![
                route("cheap", Arc::clone(&cheap) as _, None),
                route("large", Arc::clone(&strong) as _, Some("large")),
            ],
            &purposes(&[("judge", "cheap"), ("probe", "large")]),
        )
        .unwrap();
        assert_eq!(
            (routed.name(), routed.models()),
            ("s", vec!["strong".into(), "cheap".into(), "large".into()])
        );
        let identity = |purpose: Purpose, model: Option<&str>| {
            let mut call = call("x");
            (call.request.purpose, call.request.model) = (purpose, model.map(str::to_owned));
            routed.identity(&call)
        };
        fn is(identity: &str) -> Option<String> {
            Some(identity.to_owned())
        }
        assert_eq!(identity(Purpose::Generate, None), is("s huge"));
        assert_eq!(identity(Purpose::Judge, None), is("c tiny"));
        assert_eq!(identity(Purpose::Judge, Some("strong")), is("s huge"));
        assert_eq!(identity(Purpose::Other("probe".into()), None), is("s large"));
        // The endpoint's own names are not the configuration's.
        assert_eq!(identity(Purpose::Generate, Some("huge")), None);
        let mut judged = call("x");
        judged.request.purpose = Purpose::Judge;
        assert!(routed.complete(&judged).await.result.is_ok());
        assert!(routed.complete(&call("x")).await.result.is_ok());
        assert_eq!(
            (cheap.list_requested_models(), strong.list_requested_models()),
            (vec![None], vec![Some("huge".to_owned())])
        );
    }

    #[tokio::test]
    async fn only_configured_names_are_answered() {
        let fake = Arc::new(FakeModel::using(10, 1));
        let routed = RoutedModel::new(
            route("one", Arc::clone(&fake) as _, None),
            Vec::new(),
            &BTreeMap::new(),
        );
        let routed: Arc<dyn ModelProvider> = Arc::new(routed.unwrap());
        let mut named = call("x");
        named.request.model = Some("fake".into());
        assert!(matches!(routed.complete(&named).await.result, Err(LlmError::Denied(_))));
        let ledger = Ledger::new(Budgets::default());
        let budgeted = BudgetedModel::new(routed, Arc::clone(&ledger), Limits::default());
        assert!(matches!(budgeted.complete(&named).await.result, Err(LlmError::Denied(_))));
        named.request.model = Some("one".into());
        assert!(budgeted.complete(&named).await.result.is_ok());
        assert_eq!((fake.calls(), ledger.spending().calls), (1, 1));
    }

    #[test]
    fn names_must_mean_something() {
        fn fake() -> Arc<dyn ModelProvider> {
            Arc::new(FakeModel::using(1, 1)) as Arc<dyn ModelProvider>
        }
        fn new(others: Vec<Route>, pairs: &[(&str, &str)]) -> Option<RouteError> {
            RoutedModel::new(route("a", fake(), None), others, &purposes(pairs)).err()
        }
        assert_eq!(new(vec![route("a", fake(), None)], &[]), Some(RouteError::Twice("a".into())));
        let foreign = RouteError::Foreign { name: "b".into(), model: "other".into() };
        assert_eq!(new(vec![route("b", fake(), Some("other"))], &[]), Some(foreign));
        let unknown = RouteError::Unknown { purpose: "judge".into(), name: "c".into() };
        assert_eq!(new(vec![route("b", fake(), Some("fake"))], &[("judge", "c")]), Some(unknown));
    }
}
