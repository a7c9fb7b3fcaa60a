//! Tests of what flows may contain, and of the messages about errors in them.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn problems(document: &Value) -> Vec<String> {
    read(document).unwrap_err().iter().map(ToString::to_string).collect()
}

/// A flow that starts with `draft`.
fn flow(nodes: Value) -> Value {
    json!({ "start": "draft", "nodes": nodes })
}

fn loops() -> Value {
    json!({
        "draft": { "next": "run", "settings": { "form": "yaml" }, "max_retries": 2 },
        "run": { "on": { "error": "repair" } },
        "repair": { "next": "run", "max_visits": 2, "fallback": "lost" },
    })
}

#[test]
fn a_flow_has_its_defaults() {
    let read = read(&flow(loops())).unwrap();
    let names: Vec<&str> = read.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!((names.as_slice(), read.start), (["draft", "run", "repair"].as_slice(), 0));
    let [draft, run, repair] = [0, 1, 2].map(|place| &read.nodes[place]);
    assert_eq!((draft.kind, draft.text("form"), draft.max_retries), (Kind::Draft, "yaml", 2));
    assert_eq!((draft.number("temperature"), draft.max_visits), (None, None));
    assert_eq!((repair.text("history"), repair.max_retries), ("all", 1));
    assert_eq!(repair.actions(), ["abstained", "default", "exhausted", "lost"]);
    assert_eq!(run.edges, BTreeMap::from([("error".to_owned(), vec![2])]));
    assert_eq!(read.last_actions(), ["abstained", "default", "abstained", "exhausted", "lost"]);
}

#[test]
fn each_wrong_part_is_named_with_its_path() {
    let nodes = json!({
        "draft": {
            "next": ["run", "rnu"], "settings": { "from": "yaml", "form": "xml" }, "max_retries": 0
        },
        "run": { "do": "rum" },
        "again": { "do": "repair", "on": { "eror": "run" }, "max_visit": 3, "fallback": "a b" },
        "judge": { "flow": {}, "times": 2, "settings": { "pass_score": 11 } },
        "other": {},
        "a b": {},
        "list": [],
        "part": { "do": "flow" },
    });
    assert_eq!(
        problems(&json!({ "start": 3, "nodes": nodes, "end": "run" })),
        [
            "end: unknown key `end`",
            "nodes.draft.next: there is no node `rnu`",
            "nodes.draft.settings.from: a node of the kind `draft` has no setting `from`",
            "nodes.draft.settings.form: \"xml\" is not one of sql, yaml",
            "nodes.draft.max_retries: 0 is not a whole number from 1 to 10",
            "nodes.run.do: \"rum\" is no kind of node",
            "nodes.again.max_visit: unknown key `max_visit`",
            "nodes.again.fallback: \"a b\" is no action",
            "nodes.again.on.eror: the node never ends with `eror`, but with abstained, default",
            "nodes.judge.flow: a node of the kind `judge` has no inner flow",
            "nodes.judge.settings.pass_score: 11 is not a number from 0 to 10",
            "nodes.judge.times: only an inner flow, `do: flow`, runs several times side by side",
            "nodes.other: `do` is missing: what does the node do? One of draft, repair, check, \
             run, judge, vote, choose, ask, solver, flow",
            "nodes.a b: is no name of a node: letters, digits, `_` and `-`, at most 40",
            "nodes.list: must be a mapping of keys and values",
            "nodes.part: `flow` is missing: which nodes has the inner flow?",
            "start: 3 names no node",
        ]
    );
    let unknown =
        read(&json!({ "start": "drft", "nodes": { "draft": {} } })).unwrap_err().remove(0).unknown;
    assert_eq!(unknown, Some(("drft".to_owned(), vec!["draft".to_owned()])));
    assert_eq!(problems(&json!({})), ["the flow has no `nodes`"]);
    assert_eq!(problems(&json!([])), ["must be a mapping of keys and values"]);
    assert_eq!(problems(&json!({ "nodes": {} })), ["nodes: the flow has no node"]);
}

#[test]
fn the_shape_is_checked() {
    fn wrong(nodes: Value) -> Vec<String> {
        problems(&flow(nodes))
    }
    assert_eq!(
        wrong(json!({ "draft": { "next": "run" }, "run": {}, "judge": {} })),
        ["nodes.judge: no edge leads to this node"]
    );
    assert_eq!(
        wrong(json!({
            "draft": { "next": "run" }, "run": { "on": { "error": "repair" } },
            "repair": { "next": "run" }
        })),
        ["nodes.run: the loop run → repair → run has no bound: give one of its nodes `max_visits`"]
    );
    assert_eq!(
        wrong(json!({ "draft": { "next": "draft" } })),
        ["nodes.draft: the loop draft → draft has no bound: give one of its nodes `max_visits`"]
    );
    let joined =
        wrong(json!({ "draft": { "next": "run" }, "run": { "next": "vote" }, "vote": {} }));
    assert!(
        joined[0].starts_with("nodes.vote: a `vote` joins branches, and nothing before it"),
        "{joined:?}"
    );
    assert_eq!(
        problems(&json!({ "start": "run", "nodes": { "run": {} } })),
        ["start: `run` is a `run`, and there is no statement yet"]
    );
    let endless = json!({ "draft": {
        "max_visits": 2, "on": { "default": "draft", "abstained": "draft", "exhausted": "draft" }
    } });
    assert_eq!(
        wrong(endless),
        ["nodes: the flow has no end: every action of every node leads to a node"]
    );
}

#[test]
fn branches_come_from_lists_and_from_inner_flows() {
    let lists = flow(json!({
        "draft": { "next": ["run", "check"] }, "check": { "next": "run" },
        "run": { "next": "vote" }, "vote": {},
    }));
    assert!(read(&lists).unwrap().nodes[0].fans_out());
    let inner = json!({ "start": "tries", "nodes": {
        "tries": {
            "do": "flow", "flow": flow(loops()), "times": 5,
            "on": { "default": "vote", "lost": "vote" }
        },
        "vote": {},
    } });
    let read = read(&inner).unwrap();
    assert_eq!((read.nodes[0].times, read.nodes[0].inner.is_some()), (5, true));
    // A flow that ends with no action of that name drives no edge for it.
    let wrong = json!({ "start": "tries", "nodes": {
        "tries": { "do": "flow", "flow": flow(loops()), "times": 5, "on": { "lots": "vote" } },
        "vote": {},
    } });
    assert_eq!(
        problems(&wrong)[0],
        "nodes.tries.on.lots: the node never ends with `lots`, but with abstained, default, \
         exhausted, lost"
    );
}

#[test]
fn what_is_wrong_inside_has_its_whole_path() {
    let inner = json!({ "start": "part", "nodes": { "part": { "do": "flow", "flow": {
        "start": "draft", "nodes": { "draft": {}, "run": {} }
    } } } });
    assert_eq!(problems(&inner), ["nodes.part.flow.nodes.run: no edge leads to this node"]);
    fn deep(levels: usize) -> Value {
        (1..levels).fold(
            json!({ "start": "draft", "nodes": { "draft": { "next": "run" }, "run": {} } }),
            |inner, _| json!({ "start": "a", "nodes": { "a": { "do": "flow", "flow": inner } } }),
        )
    }
    assert!(read(&deep(LEVELS)).is_ok());
    assert!(problems(&deep(LEVELS + 1))[0].ends_with("flows may be nested 4 deep"));
    let many: Map<String, Value> =
        (0..=NODES).map(|place| (format!("n{place}"), json!({ "do": "draft" }))).collect();
    assert_eq!(
        problems(&json!({ "start": "n0", "nodes": many })),
        ["nodes: a flow has at most 128 nodes, those of inner flows included"]
    );
}

#[test]
fn a_solver_calls_a_plugin() {
    let flow = |help: Value| {
        json!({ "start": "draft", "nodes": {
        "draft": { "next": "part" },
        "part": { "do": "flow", "flow": { "start": "help", "nodes": { "help": help } } },
    } })
    };
    let config = json!({ "samples": 3 });
    let document =
        flow(json!({ "do": "solver", "settings": { "plugin": "consistency", "config": config } }));
    let solvers = read(&document).unwrap().solvers();
    assert_eq!(
        (solvers[0].name.as_str(), solvers[0].plugin.as_str()),
        ("part/help", "consistency")
    );
    assert_eq!(Value::Object(solvers[0].config.clone()), config);
    assert_eq!(solvers[0].path.join("."), "nodes.part.flow.nodes.help.settings");
    let mut moved = document.clone();
    map_plugins(&mut moved, &|word| format!("over/{word}"));
    assert_eq!(read(&moved).unwrap().solvers()[0].plugin, "over/consistency");
    let wrong = flow(json!({
        "do": "solver", "settings": { "config": 3, "sure": 2 }, "max_retries": 2,
        "on": { "error": "help" }
    }));
    assert_eq!(
        problems(&wrong),
        [
            "nodes.part.flow.nodes.help.settings.config: 3 is not a mapping",
            "nodes.part.flow.nodes.help.settings.sure: 2 is not a number from 0 to 1",
            "nodes.part.flow.nodes.help: `settings.plugin` is missing: which plugin \
             solves the task?",
            "nodes.part.flow.nodes.help.max_retries: a `solver` is called once in a visit; \
             its plugin has attempts of its own",
            "nodes.part.flow.nodes.help.on.error: the node never ends with `error`, but with \
             default, none, unsure",
        ]
    );
}

#[test]
fn nodes_follow_a_solver_by_how_it_ended() {
    let flow = |help: Value, more: Value| {
        let mut nodes = json!({ "help": help });
        nodes.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "start": "help", "nodes": nodes })
    };
    let help = |edges: Value| {
        let mut node = json!({ "do": "solver", "settings": { "plugin": "refine" } });
        node.as_object_mut().unwrap().extend(edges.as_object().unwrap().clone());
        node
    };
    // What a plugin found may be judged, though no `run` stands before.
    let judged = flow(
        help(json!({ "next": "judge", "on": { "unsure": "draft", "none": "draft" } })),
        json!({ "judge": {}, "draft": { "next": "run" }, "run": {} }),
    );
    let read = read(&judged).unwrap();
    assert!(read.nodes.iter().any(|node| node.name == "help" && node.is_followed()));
    let endless = flow(help(json!({ "on": { "none": "help" } })), json!({}));
    assert_eq!(
        problems(&endless),
        ["nodes.help: the loop help → help has no bound: give one of its nodes `max_visits`"]
    );
    let mut unused = flow(help(json!({})), json!({}));
    unused["nodes"]["help"]["settings"]["sure"] = json!(0.9);
    assert_eq!(
        problems(&unused),
        ["nodes.help.settings.sure: has no effect without an edge for `unsure`"]
    );
}

/// Documents that look like flows, so that the reader gets far.
fn documents() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "draft",
        "run",
        "repair",
        "vote",
        "choose",
        "flow",
        "solver",
        "default",
        "error",
        "exhausted",
        "nodes",
        "start",
        "do",
        "on",
        "next",
        "settings",
        "max_visits",
        "times",
        "fallback",
        "a b",
        "",
    ]);
    let leaf = prop_oneof![
        word.clone().prop_map(|word| json!(word)),
        (-1i64..200).prop_map(|number| json!(number)),
        Just(Value::Null),
        any::<bool>().prop_map(|is_on| json!(is_on)),
    ];
    leaf.prop_recursive(6, 64, 8, move |inner| {
        let map = prop::collection::btree_map(word.clone(), inner.clone(), 0..6);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            map.clone().prop_map(|map| json!(map)),
            (word.clone(), map)
                .prop_map(|(start, nodes)| json!({ "start": start, "nodes": nodes })),
        ]
    })
}

/// Flows of nodes that exist, with any edges between them.
fn graphs() -> impl Strategy<Value = Value> {
    const NAMES: [&str; 5] = ["draft", "run", "repair", "vote", "judge"];
    let target = prop::collection::vec(prop::sample::select(NAMES.to_vec()), 1..3);
    let node = (target.clone(), target, prop::option::of(1u32..3));
    prop::collection::vec(node, 5).prop_map(|nodes| {
        let nodes: Map<String, Value> = NAMES
            .iter()
            .zip(nodes)
            .map(|(name, (next, other, max_visits))| {
                let action = match *name {
                    "run" => "error",
                    "vote" => "none",
                    "judge" => "rejected",
                    _ => "abstained",
                };
                let mut node = json!({ "next": next, "on": { action: other } });
                if let Some(max_visits) = max_visits {
                    node["max_visits"] = json!(max_visits);
                }
                ((*name).to_owned(), node)
            })
            .collect();
        json!({ "start": "draft", "nodes": nodes })
    })
}

proptest! {
    #[test]
    fn any_document_is_read_or_refused(document in documents()) {
        if let Err(problems) = read(&document) {
            prop_assert!(!problems.is_empty());
        }
    }

    /// In a flow that is accepted, every way that avoids the nodes with a bound ends.
    #[test]
    fn what_is_accepted_is_bounded(document in graphs()) {
        if let Ok(flow) = read(&document) {
            let mut ways = vec![vec![flow.start]];
            while let Some(way) = ways.pop() {
                prop_assert!(way.len() <= flow.nodes.len(), "{way:?}");
                let last = way[way.len() - 1];
                let next = flow.nodes[last].edges.values().flatten();
                ways.extend(next.filter(|next| flow.nodes[**next].max_visits.is_none()).map(|next| {
                    way.iter().copied().chain([*next]).collect::<Vec<_>>()
                }));
            }
        }
    }
}

#[test]
fn settings_of_a_flow_are_those_of_its_nodes() {
    let inner = json!({ "start": "draft", "nodes": {
        "draft": { "settings": { "temperature": 0.2 }, "next": "run" },
        "run": { "on": { "error": "repair" } },
        "repair": { "max_visits": 1, "next": "run" },
    } });
    let outer = |keys: Value| {
        let mut node = json!({ "do": "flow", "flow": inner, "next": "vote" });
        node.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
        json!({ "start": "tries", "nodes": { "tries": node, "vote": {} } })
    };
    fn temperatures(flow: &Flow) -> Vec<Option<f64>> {
        flow.nodes
            .iter()
            .filter(|node| node.name != "run")
            .map(|node| node.number("temperature"))
            .collect()
    }
    let replaced = read(&outer(json!({ "times": 2, "settings": { "temperature": 0.7 } }))).unwrap();
    assert_eq!(temperatures(replaced.nodes[0].item(1).unwrap()), [Some(0.7), Some(0.7)]);

    let each = json!([{ "temperature": 0 }, { "form": "yaml" }, {}]);
    let read_each =
        read(&outer(json!({ "each": each, "settings": { "temperature": 0.7 } }))).unwrap();
    let tries = &read_each.nodes[0];
    assert_eq!((tries.branches(), tries.fans_out()), (3, true));
    let of = |item: usize| tries.item(item).unwrap();
    assert_eq!([0, 1, 2].map(|item| temperatures(of(item))[0]), [Some(0.0), Some(0.7), Some(0.7)]);
    assert_eq!([0, 1, 2].map(|item| of(item).nodes[0].text("form")), ["sql", "yaml", "sql"]);

    // What an outer flow says counts for the flows within it, and what an item says counts more.
    let within = json!({ "start": "a", "nodes": { "a": {
        "do": "flow", "settings": { "temperature": 1.5 },
        "flow": outer(json!({ "each": each, "settings": { "temperature": 0.7 } })),
    } } });
    let read_within = read(&within).unwrap();
    let tries = &read_within.nodes[0].item(0).unwrap().nodes[0];
    assert_eq!(
        [0, 1].map(|item| temperatures(tries.item(item).unwrap())[0]),
        [Some(0.0), Some(1.5)]
    );

    let wrong = |keys: Value| problems(&outer(keys));
    assert_eq!(
        wrong(json!({ "times": 2, "settings": { "agree": 2, "temperature": 3 } })),
        [
            "nodes.tries.settings.agree: no node of the inner flow has a setting `agree`",
            "nodes.tries.settings.temperature: 3 is not a number from 0 to 2"
        ]
    );
    assert_eq!(
        wrong(json!({ "each": [{}, { "form": "xml" }, 7] })),
        [
            "nodes.tries.each.1.form: \"xml\" is not one of sql, yaml",
            "nodes.tries.each.2: must be a mapping of keys and values"
        ]
    );
    assert_eq!(
        wrong(json!({ "each": [{}], "times": 2 })),
        ["nodes.tries.each: stands beside `times`; keep one of the two"]
    );
    assert_eq!(
        wrong(json!({ "each": [] })),
        ["nodes.tries.each: must be a list of 1 to 32 mappings of settings"]
    );
    assert_eq!(
        problems(&flow(json!({ "draft": { "each": [{}] } }))),
        ["nodes.draft.each: is for an inner flow, `do: flow`"]
    );
    let solver = json!({ "start": "a", "nodes": { "a": {
        "do": "flow", "settings": { "plugin": "vote" },
        "flow": {
            "start": "solver", "nodes": { "solver": { "settings": { "plugin": "refine" } } }
        },
    } } });
    assert_eq!(
        problems(&solver),
        ["nodes.a.settings.plugin: no node of the inner flow has a setting `plugin`"]
    );
}

#[test]
fn items_within_items_are_bounded() {
    fn wide(inner: Value) -> Value {
        json!({
            "start": "a", "nodes": {
                "a": { "do": "flow", "each": vec![json!({}); 32], "flow": inner }
            }
        })
    }
    let two = wide(wide(json!({ "start": "draft", "nodes": { "draft": {} } })));
    assert_eq!(
        problems(&two),
        ["nodes.a.each: makes more than 1024 nodes, counted once for each item"]
    );
}

#[test]
fn a_wait_stands_before_another_attempt() {
    fn with(mut keys: Value) -> Value {
        keys["next"] = json!("run");
        flow(json!({ "draft": keys, "run": {} }))
    }
    assert_eq!(
        read(&with(json!({ "max_retries": 2, "wait": 1.5 }))).unwrap().nodes[0].wait.to_bits(),
        1.5_f64.to_bits()
    );
    let none = "nodes.draft.wait: is the wait before another attempt, of which there is none: give \
                `max_retries` 2 or more";
    assert_eq!(problems(&with(json!({ "wait": 1.5 }))), [none]);
    assert_eq!(
        problems(&with(json!({ "max_retries": 2, "wait": 61 }))),
        ["nodes.draft.wait: 61 is not a number of seconds from 0 to 60"]
    );
}

#[test]
fn a_flow_that_can_never_answer_is_refused() {
    let none = "nodes: no node runs a statement: the flow needs a `run`, or a `solver`";
    assert_eq!(problems(&flow(json!({ "draft": {} }))), [none]);
    let judged =
        flow(json!({ "draft": { "next": "judge" }, "judge": { "next": "run" }, "run": {} }));
    assert_eq!(
        problems(&judged),
        ["nodes.judge: a `judge` is about results, and nothing before it runs a statement"]
    );
    let vote = flow(json!({
        "draft": { "next": ["one", "two"] }, "one": { "do": "run", "next": "vote" },
        "two": { "do": "run", "next": "vote" }, "vote": { "settings": { "agree": 3 } },
    }));
    assert_eq!(
        problems(&vote),
        ["nodes.vote.settings.agree: has no effect without an edge for `disagreed`"]
    );
    assert!(
        read(&flow(
            json!({ "draft": { "next": "solver" }, "solver": { "settings": { "plugin": "vote" } } })
        ))
        .is_ok()
    );
}
