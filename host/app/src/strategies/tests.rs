//! Tests of what strategy files may contain, and of the reports on errors in them.

use proptest::prelude::*;
use serde_json::json;
use syrch_core::ports::Policy;
use syrch_core::roles::Role;

use super::*;
use crate::settings::{PluginSource, Strategy};
use crate::{Settings, Silent};

fn read_definition(text: &str) -> Result<Definition, StrategyError> {
    read::read(text, "f.yml", Some(Path::new("here")), default_definition())
}

fn problems(text: &str) -> Vec<String> {
    match read_definition(text) {
        Err(StrategyError::Invalid { problems }) => problems,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_built_in_file_is_read_and_called_like_its_file() {
    assert!(names().any(|name| name == DEFAULT));
    for name in names() {
        let definition = find(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(definition.name, name);
        let parts = [&definition.summary, &definition.idea, &definition.when];
        assert!(parts.iter().all(|text| !text.is_empty()), "{name} does not say what it is for");
        assert!(definition.summary.len() <= 120 && !definition.summary.ends_with('.'), "{name}");
        assert!(
            definition
                .roles
                .values()
                .all(|part: &Part| matches!(part.plugin, PluginSource::Builtin(_))),
            "{name} names a file"
        );
    }
}

#[test]
fn earlier_names_are_accepted() {
    for (alias, name) in ALIASES {
        assert_eq!(find(alias).unwrap(), find(name).unwrap());
        assert!(names().all(|name| name != alias));
    }
}

#[test]
fn the_default_plays_every_role_and_sets_no_policy() {
    let default = find(DEFAULT).unwrap();
    assert_eq!(Strategy::default(), default.strategy());
    for role in Role::SEARCH.into_iter().filter(|role| *role != Role::Linker) {
        assert!(default.roles.contains_key(&role), "no plugin implements the {role}");
    }
    // Otherwise `Settings::default()` would differ from a search with `--strategy` and its name.
    assert!(default.policy.is_empty());
    // `settle` chooses plugins alone.
    assert!(find(WITH_MODEL).unwrap().policy.is_empty());
}

#[test]
fn what_a_file_leaves_out_is_as_in_the_default() {
    let own = read_definition(
        "name: own\nroles:\n  planner: my/plan.wasm\n  solver: {plugin: other, config: \
         {rounds: 3}}\npolicy: {max_depth: 2}\n",
    );
    let own = own.unwrap();
    assert_eq!(own.roles[&Role::Planner].plugin, PluginSource::File("here/my/plan.wasm".into()));
    assert_eq!(own.roles[&Role::Solver].plugin, PluginSource::Builtin("other".into()));
    let default = find(DEFAULT).unwrap();
    let reward = &own.roles[&Role::Reward];
    assert!(reward.is_inherited && reward.plugin == default.roles[&Role::Reward].plugin);
    let mut settings = Settings::default();
    own.apply(&mut settings);
    assert_eq!(settings.policy, Policy { max_depth: 2, ..Policy::default() });
    assert_eq!(settings.strategy.name, "own");
    assert_eq!(
        settings.strategy.config,
        [(Role::Solver, json!({"rounds": 3}).as_object().unwrap().clone())].into()
    );
    assert_eq!(own.whole_policy()["max_parallel"], json!(Policy::default().max_parallel));
}

#[test]
fn a_linker_may_be_inherited_or_left_to_nobody() {
    let with =
        read_definition("name: with\nroles: {linker: {plugin: some, config: {a: 1}}}").unwrap();
    let heir = |text: &str| read::read(text, "f.yml", None, Some(&with)).unwrap();
    let inherited = heir("name: a\nroles: {solver: x}").roles[&Role::Linker].clone();
    assert_eq!((inherited.is_inherited, &inherited.config["a"]), (true, &json!(1)));
    assert!(!heir("name: a\nroles: {solver: x, linker: none}").roles.contains_key(&Role::Linker));
    assert!(
        !heir("name: a\nroles: {solver: x, linker: {plugin: none}}")
            .roles
            .contains_key(&Role::Linker)
    );
    let reported = problems("name: a\nroles: {solver: none}");
    assert_eq!(
        reported,
        ["f.yml:2:17: roles.solver: only the linker's role may be left to nobody, and then \
          without config"]
    );
}

#[test]
fn a_strategy_may_name_a_rewriter_and_the_default_names_none() {
    let own =
        read_definition("name: own\nroles: {rewriter: {plugin: my/rules.wasm, config: {a: 1}}}")
            .unwrap();
    let rewriter = &own.roles[&Role::Rewriter];
    assert_eq!(rewriter.plugin, PluginSource::File("here/my/rules.wasm".into()));
    let strategy = own.strategy();
    assert_eq!(
        (strategy.roles.contains_key(&Role::Solver), &strategy.config[&Role::Rewriter]["a"]),
        (true, &json!(1))
    );
    assert!(!find(DEFAULT).unwrap().roles.contains_key(&Role::Rewriter));
    assert!(problems("name: a\nroles: {rewriter: none}")[0].contains("only the linker's role"));
}

#[test]
fn every_wrong_key_and_value_is_named_with_its_place() {
    let text = "nmae: a\nname: a b\nsummary: [x]\nroles:\n  planer: x\n  solver: {plugn: x}\n  \
                reward: 3\n  clarifier: {plugin: a, config: 3}\n\
                policy:\n  max_atempts: 3\n  max_depth: 17\n  high_confidence: 0\nllm: {model: m}\n\
                budget: 3\n";
    assert_eq!(
        problems(text),
        [
            "f.yml:1:1: unknown key `nmae`; did you mean `name`?",
            "f.yml:2:7: name: \"a b\" is no name: letters, digits, `.`, `_` and `-`, at most 64",
            "f.yml:3:10: summary: is not a text of one line, at most 4096 bytes long",
            "f.yml:5:3: unknown role `planer`; did you mean `planner` or `linker`?",
            "f.yml:6:12: unknown key of a role `plugn`; did you mean `plugin`?",
            "f.yml:6:3: roles.solver: `plugin` is missing: which plugin implements the role?",
            "f.yml:7:11: roles.reward: 3 names no plugin",
            "f.yml:8:34: roles.clarifier.config must be a mapping of keys and values",
            "f.yml:10:3: unknown key in `policy` `max_atempts`; did you mean `max_attempts` or \
             `max_depth`?",
            "f.yml:11:14: policy.max_depth: 17 is not a whole number from 1 to 16",
            "f.yml:12:20: policy.high_confidence: 0 is not a number above 0, at most 1",
            "f.yml:13:1: `llm` belongs in a config file; a strategy is roles and a policy",
            "f.yml:14:1: unknown key `budget`",
        ]
    );
}

#[test]
fn a_file_without_what_it_needs_is_refused() {
    assert_eq!(
        problems("# nothing\n"),
        ["f.yml: is empty; a strategy has at least `name` and `roles`"]
    );
    assert_eq!(problems("roles: {solver: x}"), ["f.yml:1:1: the strategy has no `name`"]);
    assert!(problems("name: a")[0].contains("`roles` names no plugin"));
    assert!(problems("name: a\nroles: {}")[0].contains("`roles` names no plugin"));
    assert_eq!(
        problems("name: a\nname: b\n"),
        ["f.yml:2:1: duplicate key `name`: it stands above already; keep one of the two"]
    );
    assert_eq!(
        problems("- a"),
        ["f.yml:1:1: a strategy file must be a mapping of keys and values"]
    );
    let bomb = (1..20).fold("a0: &a0 [x, x]\n".to_owned(), |text, n| {
        format!("{text}a{n}: &a{n} [*a{0}, *a{0}, *a{0}, *a{0}]\n", n - 1)
    });
    assert!(problems(&bomb)[0].contains("too large or nested too deep"), "{:?}", problems(&bomb));
}

#[test]
fn a_word_is_a_name_or_a_path() {
    for path in ["a/b", "mine.yml", "MINE.YAML", ".\\x"] {
        assert!(is_file(path), "{path}");
    }
    assert!(!is_file("mine"));
    let unknown = find("deocmpose").unwrap_err();
    assert_eq!(
        unknown,
        StrategyError::Unknown { name: "deocmpose".into(), similar: vec![DEFAULT.into()] }
    );
    let missing = find("no/such.yml").unwrap_err().to_string();
    assert!(missing.starts_with("strategy file `no/such.yml`: No such file"), "{missing}");
}

#[test]
fn the_schema_has_the_ranges_and_roles_of_the_host() {
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
    let policy = &schema["properties"]["policy"]["properties"];
    assert_eq!(
        policy.as_object().unwrap().keys().collect::<Vec<_>>(),
        LIMITS.each_ref().map(|limit| limit.key)
    );
    for limit in &LIMITS {
        let (least, kind) =
            if limit.whole { ("minimum", "integer") } else { ("exclusiveMinimum", "number") };
        let reported = ["type", least, "maximum"].map(|key| policy[limit.key][key].clone());
        assert_eq!(reported, [json!(kind), json!(limit.min), json!(limit.max)], "{}", limit.key);
        assert!(limit.admits(&limit.get(&Policy::default())));
    }
    let roles = schema["properties"]["roles"]["properties"].as_object().unwrap();
    assert_eq!(roles.keys().collect::<Vec<_>>(), Role::ALL.map(Role::name));
}

#[test]
fn the_schema_has_the_kinds_of_nodes_and_their_settings() {
    use syrch_flows::{Kind, Range};

    let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
    let node = &schema["$defs"]["node"]["properties"];
    assert_eq!(node["do"]["enum"], json!(Kind::names().collect::<Vec<_>>()));
    let mut settings = node["settings"]["properties"].as_object().unwrap().clone();
    settings
        .values_mut()
        .for_each(|setting| drop(setting.as_object_mut().unwrap().remove("description")));
    let kinds = Kind::names().filter_map(Kind::from_name);
    let mut known = serde_json::Map::new();
    for setting in kinds.flat_map(Kind::settings) {
        let text = json!({"type": "string", "maxLength": syrch_flows::TEXT});
        let described = match setting.range {
            Range::Words(words) => json!({"enum": words}),
            Range::Number(least, most) => {
                json!({"type": "number", "minimum": least as u32, "maximum": most as u32})
            }
            Range::Whole(least, most) => {
                json!({"type": "integer", "minimum": least, "maximum": most})
            }
            Range::Text => text,
            Range::Map => json!({"type": "object"}),
            Range::Texts => json!({"type": "array", "maxItems": 10, "items": text}),
        };
        // Kinds that share a name share its meaning.
        assert_eq!(
            *known.entry(setting.name).or_insert_with(|| described.clone()),
            described,
            "{}",
            setting.name
        );
    }
    assert_eq!(settings, known);
    let most = ["max_visits", "max_retries", "times"].map(|key| node[key]["maximum"].clone());
    assert_eq!(
        most,
        [syrch_flows::VISITS, syrch_flows::RETRIES, syrch_flows::BRANCHES].map(|most| json!(most))
    );
    assert_eq!(node["each"]["maxItems"], syrch_flows::BRANCHES);
    assert_eq!(node["wait"]["maximum"].as_f64(), Some(syrch_flows::WAIT));
}

const FLOW_FILE: &str = "name: own\nflow:\n  start: draft\n  nodes:\n    draft: {next: run}\n    \
                         run:\n      on: {error: repair}\n    repair:\n      next: run\n      \
                         max_visits: 2\n";

#[test]
fn a_flow_is_a_setting_of_the_solver_that_runs_it() {
    let own = read_definition(FLOW_FILE).unwrap();
    let solver = &own.roles[&Role::Solver];
    assert_eq!(solver.plugin, PluginSource::Builtin(FLOW.into()));
    assert_eq!(solver.config[FLOW]["nodes"]["repair"], json!({"next": "run", "max_visits": 2}));
    assert_eq!(own.flow(), Some(&solver.config[FLOW]));
    assert!(own.roles[&Role::Planner].is_inherited && find(DEFAULT).unwrap().flow().is_none());
    let with = read_definition(&format!(
        "{FLOW_FILE}roles: {{solver: {{plugin: flow, config: {{unstated: 0.5}}}}}}\n"
    ))
    .unwrap();
    assert_eq!(
        (&with.roles[&Role::Solver].config["unstated"], with.flow()),
        (&json!(0.5), own.flow())
    );
    assert_eq!(
        problems(&format!("{FLOW_FILE}roles: {{solver: refine}}\n")),
        ["f.yml:2:1: a flow is run by the solver `flow`, and `roles.solver` names `refine`"]
    );
    let twice = format!("{FLOW_FILE}roles: {{solver: {{plugin: flow, config: {{flow: {{}}}}}}}}\n");
    assert!(
        problems(&twice)[0]
            .starts_with("f.yml:2:1: the solver has a flow in `roles.solver.config.flow`")
    );
}

#[test]
fn what_is_wrong_with_a_flow_has_its_line() {
    let wrong = |from: &str, to: &str| problems(&FLOW_FILE.replace(from, to));
    assert_eq!(
        wrong("error: repair", "eror: repiar"),
        [
            "f.yml:7:12: flow.nodes.run.on.eror: there is no node `repiar`; did you mean `repair`?",
            "f.yml:7:12: flow.nodes.run.on.eror: the node never ends with `eror`, but with \
             default, doubtful, empty, error; did you mean `error`?",
        ]
    );
    assert_eq!(
        wrong("      max_visits: 2\n", ""),
        ["f.yml:6:5: flow.nodes.run: the loop run → repair → run has no bound: give one of its \
          nodes `max_visits`"]
    );
    assert_eq!(
        wrong("max_visits: 2", "max_visits: 0"),
        ["f.yml:10:7: flow.nodes.repair.max_visits: 0 is not a whole number from 1 to 100"]
    );
    assert_eq!(
        wrong("start: draft", "stat: draft"),
        [
            "f.yml:3:3: flow.stat: unknown key `stat`; did you mean `start`?",
            "f.yml:2:1: flow: `start` is missing: with which node does the flow start?",
        ]
    );
    assert_eq!(
        wrong("{next: run}", "{do: drafts}"),
        ["f.yml:5:13: flow.nodes.draft.do: \"drafts\" is no kind of node; did you mean `draft`?"]
    );
    // The same within the settings of the solver.
    let inside = "name: own\nroles:\n  solver:\n    plugin: flow\n    config:\n      \
                  flow:\n        start: run\n        nodes: {run: {}}\n";
    assert_eq!(
        problems(inside),
        ["f.yml:7:9: flow.start: `run` is a `run`, and there is no statement yet"]
    );
    assert_eq!(
        problems("name: a\nflow: 3\n"),
        ["f.yml:2:1: flow: must be a mapping of keys and values"]
    );
}

#[tokio::test]
async fn the_plugins_of_a_flow_are_found_beside_the_file_and_checked() {
    let text = FLOW_FILE.replace("error: repair", "error: repair, doubtful: help, empty: own")
        + "    help:\n      do: solver\n      settings: {plugin: consistncy}\n    own:\n      do: \
           solver\n      settings: {plugin: my/own.wasm}\n";
    let own = read_definition(&text).unwrap();
    let solvers = own.strategy().solvers();
    assert_eq!(syrch_flows::SOLVER, syrch_core::Operation::SOLVER);
    assert_eq!(solvers["own"].0, PluginSource::File("here/my/own.wasm".into()));
    let StrategyError::Invalid { problems } =
        check(&own, &Settings::default(), &Silent).await.unwrap_err()
    else {
        panic!("{solvers:?}")
    };
    assert_eq!(
        problems[0],
        "f.yml:13:18: flow: `help`: there is no built-in plugin `consistncy`; did you mean \
         `consistency`?"
    );
    assert!(
        problems[1]
            .starts_with("f.yml:16:18: flow: `own`: plugin `here/my/own.wasm`: there is no file"),
        "{problems:?}"
    );
    let config = text
        .replace("consistncy", "consistency, config: {sampels: 3}")
        .replace("my/own.wasm", "beam");
    let reported = check(&read_definition(&config).unwrap(), &Settings::default(), &Silent)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        reported.starts_with(
            "f.yml:13:48: roles.solver.config: `consistency` has no setting `sampels`; did you \
             mean `samples`?"
        ),
        "{reported}"
    );
}

#[tokio::test]
async fn plugins_and_their_settings_are_checked_with_places() {
    let text = "name: a\nroles:\n  planner: decompos\n  solver:\n    plugin: ambiguity\n  \
                clarifier:\n    plugin: ambiguity\n    config:\n      threshhold: 0.5\n  reward: \
                no/such.wasm\n";
    let reported =
        check(&read_definition(text).unwrap(), &Settings::default(), &Silent).await.unwrap_err();
    let StrategyError::Invalid { problems } = reported else { panic!("{reported}") };
    assert_eq!(problems.len(), 4, "{problems:?}");
    assert_eq!(
        problems[0],
        "f.yml:3:12: roles.planner: there is no built-in plugin `decompos`; did you mean \
         `decompose`?"
    );
    assert_eq!(
        problems[1],
        "f.yml:5:13: roles.solver: `ambiguity`: does not implement the role solver; \
         it implements clarifier"
    );
    assert!(
        problems[2]
            .starts_with("f.yml:10:11: roles.reward: plugin `here/no/such.wasm`: there is no file"),
        "{problems:?}"
    );
    let unknown = "f.yml:9:7: roles.clarifier.config: `ambiguity` has no setting `threshhold`; \
                   did you mean `threshold`?";
    assert_eq!(problems[3], unknown);
    let range =
        read_definition("name: a\nroles: {clarifier: {plugin: ambiguity, config: {threshold: 7}}}")
            .unwrap();
    let reported = check(&range, &Settings::default(), &Silent).await.unwrap_err().to_string();
    assert!(
        reported.starts_with("f.yml:2:49: roles.clarifier: `ambiguity`: config: threshold: 7"),
        "{reported}"
    );
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[ -~\n]{0,200}") {
        let _ = read_definition(&text);
        let _ = read_definition(&format!("name: a\nflow:\n  {}", text.replace('\n', "\n  ")));
    }
}
