//! The settings: the weights of `signals`, the curve, and what it rests on.

use syrch_plugin::discount::Weights;
use syrch_plugin::serde_json::{Map, Value, json};
use syrch_plugin::settings::{self, Setting, finish, object, schema_of};

/// The kind of curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The confidence that the weights of `signals` give stays as it is.
    None,
    /// A monotone curve, linear between its corners.
    Isotonic,
    /// A sigmoid of the logit with two parameters: slope and intercept.
    Logistic,
}

impl Setting for Method {
    const TYPE: &'static str = "string";
    const WORDS: &'static [&'static str] = &["none", "isotonic", "logistic"];

    fn from_json(value: &Value) -> Option<Self> {
        match value.as_str()? {
            "none" => Some(Self::None),
            "isotonic" => Some(Self::Isotonic),
            "logistic" => Some(Self::Logistic),
            _ => None,
        }
    }

    fn to_json(&self) -> Value {
        json!(match self {
            Self::None => "none",
            Self::Isotonic => "isotonic",
            Self::Logistic => "logistic",
        })
    }
}

/// A list of numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Numbers(pub Vec<f64>);

impl Setting for Numbers {
    const TYPE: &'static str = "array";

    fn from_json(value: &Value) -> Option<Self> {
        value.as_array()?.iter().map(Value::as_f64).collect::<Option<_>>().map(Self)
    }

    fn to_json(&self) -> Value {
        json!(self.0)
    }
}

/// Any mapping, which the plugin does not read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Basis(Map<String, Value>);

impl Setting for Basis {
    const TYPE: &'static str = "object";

    fn from_json(value: &Value) -> Option<Self> {
        value.as_object().cloned().map(Self)
    }

    fn to_json(&self) -> Value {
        Value::Object(self.0.clone())
    }
}

syrch_plugin::settings! {
    /// The settings of the curve; those of the other methods are ignored.
    pub struct Curve {
        /// The kind of curve after the discounts: corners, two parameters, or none.
        method: Method = Method::None;
        /// Of `isotonic`: the confidences of its corners, 0 to 1, ascending.
        thresholds: Numbers = Numbers::default();
        /// Of `isotonic`: its values there, 0 to 1, never falling.
        values: Numbers = Numbers::default();
        /// Of `logistic`: the factor of the logit. Under 1 claims are too far apart, over 1 too
        /// close together.
        slope: f64 = 1.0, 0.0 ..= 1000.0;
        /// Of `logistic`: what is added to it. Under 0 claims are too high, over 0 too low.
        intercept: f64 = 0.0, -1000.0 ..= 1000.0;
        /// The basis of the curve, for programs that print answers: the share of right answers at
        /// about the same confidence, by database. It changes no confidence.
        basis: Basis = Basis::default();
    }
}

/// The settings of the plugin in a strategy file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settings {
    /// The discounts before the curve.
    pub weights: Weights,
    /// The curve that follows the discounts.
    pub curve: Curve,
}

impl settings::Settings for Settings {
    fn schema() -> Value {
        let both = [Weights::schema(), Curve::schema()];
        let properties =
            both.iter().filter_map(|schema| schema["properties"].as_object()).flatten();
        schema_of(properties.map(|(name, property)| (name.clone(), property.clone())).collect())
    }

    fn read(config: &str) -> Result<Self, String> {
        let given = object(config)?;
        let schema = Self::schema();
        let known: Vec<&str> = schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| &**name)
            .collect();
        let mut unknown = given.clone();
        unknown.retain(|name, _| !known.contains(&name.as_str()));
        finish(&mut unknown, &known)?;
        fn is_weight(name: &str) -> bool {
            Weights::schema()["properties"].get(name).is_some()
        }
        let (weights, curve): (Map<_, _>, Map<_, _>) =
            given.into_iter().partition(|(name, _)| is_weight(name));
        let weights = Weights::read(&Value::Object(weights).to_string())?;
        let curve = Curve::read(&Value::Object(curve).to_string())?;
        curve.validate().map(|curve| Self { weights, curve })
    }
}

impl Curve {
    fn validate(self) -> Result<Self, String> {
        let thresholds = &self.thresholds.0;
        let values = &self.values.0;
        fn is_share(number: &f64) -> bool {
            (0.0..=1.0).contains(number)
        }
        if self.method == Method::Isotonic && thresholds.is_empty() {
            return Err(
                "`thresholds` is missing: an isotonic curve has at least one corner".to_owned()
            );
        }
        if thresholds.len() != values.len() {
            let thresholds = thresholds.len();
            let values = values.len();
            return Err(format!(
                "`values` must be as many as `thresholds`: there are {values} and {thresholds}"
            ));
        }
        if !(thresholds.iter().all(is_share) && thresholds.windows(2).all(|pair| pair[0] < pair[1]))
        {
            return Err("`thresholds` must ascend from 0 to 1".to_owned());
        }
        if !(values.iter().all(is_share) && values.is_sorted()) {
            return Err("`values` must be from 0 to 1 and never fall".to_owned());
        }
        Ok(self)
    }
}
