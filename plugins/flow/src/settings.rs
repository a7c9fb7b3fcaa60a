//! The settings: the flow, and what all its nodes share.

use syrch_flows::{Flow, Problem};
use syrch_plugin::serde_json::{Map, Value, json};
use syrch_plugin::settings::{self, finish, object, schema_of};

syrch_plugin::settings! {
    /// The settings that all nodes of a flow share.
    pub struct Common {
        /// The confidence of a single statement without rows, where the model states none.
        unstated: f64 = 0.7, 0.0 ..= 1.0;
        /// The confidence of a single statement with rows, where the model states none.
        unstated_with_rows: f64 = 0.85, 0.0 ..= 1.0;
        /// Rows above this number count as more than a good answer has.
        overflow_rows: u64 = 1000, 1 ..= 1_000_000_000;
        /// Rows of each finished dependency that stand in the prompt, as far as they are granted.
        parent_rows: u32 = 3, 0 ..= 50;
        /// Bytes of a prompt that the tables may fill.
        schema_bytes: u32 = 48_000, 500 ..= 200_000;
    }
}

/// The settings of the plugin in a strategy file.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The nodes and their edges.
    pub flow: Flow,
    /// The settings that the nodes share.
    pub common: Common,
}

/// The flow where none is given: a statement, and two repairs.
fn default_flow() -> Value {
    json!({
        "start": "draft",
        "nodes": {
            "draft": { "next": "run" },
            "run": { "on": { "error": "repair", "doubtful": "repair" } },
            "repair": { "next": "run", "max_visits": 2 },
        },
    })
}

fn read(flow: &Value) -> Result<Flow, String> {
    fn describe_problems(problems: Vec<Problem>) -> Vec<String> {
        problems.iter().map(|problem| format!("flow.{problem}")).collect::<Vec<_>>()
    }
    syrch_flows::read(flow).map_err(|problems| describe_problems(problems).join("; "))
}

impl Default for Settings {
    fn default() -> Self {
        let nothing = Flow { start: 0, nodes: Vec::new() };
        Self { flow: read(&default_flow()).unwrap_or(nothing), common: Common::default() }
    }
}

impl settings::Settings for Settings {
    fn schema() -> Value {
        let common = Common::schema();
        let mut properties = common["properties"].as_object().cloned().unwrap_or_default();
        let description = "The nodes and their edges, as `docs/strategies.md` describes them.";
        let flow =
            json!({ "type": "object", "description": description, "default": default_flow() });
        properties.insert("flow".to_owned(), flow);
        schema_of(properties)
    }

    fn read(config: &str) -> Result<Self, String> {
        let mut given = object(config)?;
        let flow = given.remove("flow");
        let schema = Common::schema();
        let known: Vec<&str> = schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| &**name)
            .chain(["flow"])
            .collect();
        let mut unknown: Map<String, Value> = given.clone();
        unknown.retain(|name, _| !known.contains(&name.as_str()));
        finish(&mut unknown, &known)?;
        let common = Common::read(&Value::Object(given).to_string())?;
        Ok(Self { flow: read(&flow.unwrap_or_else(default_flow))?, common })
    }
}
