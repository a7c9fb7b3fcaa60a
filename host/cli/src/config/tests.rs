//! Precedence, provenance and trust of the layers.

use std::collections::BTreeSet;
use std::fs;

use serde_json::json;
use syrch::secrecy::ExposeSecret;

use super::*;

struct Place {
    folder: tempfile::TempDir,
    environment: Environment,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        fs::create_dir_all(home.join(".syrch")).unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        Self { environment: Environment { home: Some(home), ..Environment::default() }, folder }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn variable(&mut self, name: &str, value: &str) {
        self.environment.syrch.insert(name.to_owned(), Some(value.to_owned()));
    }

    fn load(&self, file: Option<&Path>, flags: &[(&'static str, Value)]) -> Outcome<Config> {
        let mut given = Flags::<true>::default();
        flags.iter().for_each(|(key, value)| given.set(key, value.clone()));
        load(
            Given { file, ..Given::new(&given, &[]) },
            &self.environment,
            &self.folder.path().join("work"),
        )
    }
}

fn depth(config: &Config) -> (u32, String) {
    (config.effective.settings.policy.max_depth, config.origin("execution.max_depth").to_string())
}

#[test]
fn each_layer_beats_the_one_below() {
    let mut place = Place::new();
    assert_eq!(depth(&place.load(None, &[]).unwrap()), (3, "default".into()));
    place.file("work/syrch.yml", "execution:\n  max_depth: 2\n");
    let config = place.load(None, &[]).unwrap();
    assert_eq!(depth(&config), (2, "syrch.yml:2".into()));
    assert_eq!(config.warnings, ["`syrch.yml` in this folder sets execution.max_depth"]);
    let own = place.file("home/.syrch/config.yml", "execution:\n  max_depth: 5\n");
    assert_eq!(depth(&place.load(None, &[]).unwrap()), (5, format!("{}:2", own.display())));
    let named = place.file("named.yml", "execution: {max_depth: 6}");
    assert_eq!(
        depth(&place.load(Some(&named), &[]).unwrap()),
        (6, format!("{}:1", named.display()))
    );
    place.variable("SYRCH_MAX_DEPTH", "7");
    assert_eq!(
        depth(&place.load(Some(&named), &[]).unwrap()),
        (7, "environment SYRCH_MAX_DEPTH".into())
    );
    let flags = [("execution.max_depth", json!(8))];
    assert_eq!(depth(&place.load(Some(&named), &flags).unwrap()), (8, "--max-depth".into()));
}

#[test]
fn a_search_has_a_deadline_unless_the_user_takes_it_away() {
    let mut place = Place::new();
    let deadline = |place: &Place, flags: &[(&'static str, Value)]| {
        let config = place.load(None, flags).unwrap();
        let seconds = config.effective.settings.deadline.map(|time| time.as_secs());
        (seconds, show_setting(&config, &["execution", "deadline_seconds"]))
    };
    assert_eq!(deadline(&place, &[]), (Some(600), (json!(600), "default".into())));
    let own = place.file("home/.syrch/config.yml", "execution: {deadline_seconds: none}\n");
    assert_eq!(deadline(&place, &[]), (None, (json!("none"), format!("{}:1", own.display()))));
    place.variable("SYRCH_DEADLINE", "900");
    assert_eq!(
        deadline(&place, &[]),
        (Some(900), (json!(900), "environment SYRCH_DEADLINE".into()))
    );
    let flags = [("execution.deadline_seconds", json!("none"))];
    assert_eq!(deadline(&place, &flags), (None, (json!("none"), "--deadline".into())));
}

#[test]
fn a_found_file_raises_nothing_that_the_strategy_lowers() {
    let place = Place::new();
    place.file("work/syrch.yml", "execution: {max_attempts_per_node: 2, max_depth: 2}\n");
    let own = |attempts: u32| {
        let text = format!(
            "name: own\nroles: {{planner: decompose}}\npolicy: {{max_attempts: {attempts}}}\n"
        );
        let path = place.file("own.yml", &text).display().to_string();
        let config = place.load(None, &[("strategy", json!(path))]).unwrap();
        (config.effective.settings.policy.max_attempts, config.warnings)
    };
    let (attempts, warnings) = own(1);
    assert_eq!(attempts, 1);
    assert!(
        warnings[0].starts_with(
            "syrch.yml:1: execution.max_attempts_per_node is not used: the strategy `"
        ),
        "{warnings:?}"
    );
    assert_eq!(warnings[1], "`syrch.yml` in this folder sets execution.max_depth");
    assert_eq!(own(7).0, 2);
}

#[test]
fn a_found_file_sets_only_what_is_of_a_built_in_plugin() {
    let place = Place::new();
    let text = "plugins: {solver: {config: {samples: 9}}, planner: {config: {width: 2}}}\n\
                execution: {ambiguity_threshold: 1}\n";
    place.file("work/syrch.yml", text);
    let config = place.load(None, &[]).unwrap();
    let set = "plugins.solver.config.samples, plugins.planner.config.width, \
               execution.ambiguity_threshold";
    assert_eq!(config.warnings, [format!("`syrch.yml` in this folder sets {set}")]);
    assert_eq!(config.effective.settings.strategy.config[&Role::Solver]["samples"], 9);
    let own =
        place.file("own.yml", "name: own\nroles: {solver: ./mine.wasm, clarifier: ./mine.wasm}\n");
    let config = place.load(None, &[("strategy", json!(own.display().to_string()))]).unwrap();
    let settings = &config.effective.settings.strategy.config;
    assert!(
        !settings.contains_key(&Role::Solver) && !settings.contains_key(&Role::Clarifier),
        "{settings:?}"
    );
    assert_eq!(settings[&Role::Planner]["width"], 2);
    for (number, what) in
        ["plugins.solver.config.samples", "execution.ambiguity_threshold"].into_iter().enumerate()
    {
        assert!(
            config.warnings[number].contains(&format!("{what} is not used: the ")),
            "{:?}",
            config.warnings
        );
    }
    // A plugin that the user's own file names takes none of it over either.
    place.file("home/.syrch/config.yml", "plugins: {solver: ./mine.wasm}\n");
    let config = place.load(None, &[]).unwrap();
    assert!(!config.effective.settings.strategy.config.contains_key(&Role::Solver));
}

#[cfg(unix)]
#[test]
fn a_found_file_that_is_a_link_is_refused_and_not_quoted() {
    let place = Place::new();
    for secret in [
        "[default]\naws_secret_access_key = canary\n",
        "canary: {a\n",
        "canary\n",
        "llm: {canary: 1}\n",
    ] {
        let target = place.file("secret", secret);
        let link = place.folder.path().join("work/syrch.yml");
        std::os::unix::fs::symlink(target, &link).unwrap();
        let failure = place.load(None, &[]).unwrap_err();
        assert_eq!(failure.exit, crate::exit::Exit::Config);
        assert_eq!(failure.message, "config file `syrch.yml`: is a symbolic link");
        assert!(
            failure.hint.as_deref().is_some_and(|hint| hint.contains("--config syrch.yml")),
            "{failure:?}"
        );
        assert!(!format!("{failure:?}").contains("canary"));
        fs::remove_file(link).unwrap();
    }
}

/// A path that depends on the folder in which one stands would name another file in each.
#[test]
fn only_a_flag_names_a_trusted_plugin_by_a_relative_path() {
    let mut place = Place::new();
    let plugin = place.file("mine.wasm", "");
    fn name(plugin: &Path) -> String {
        format!("execution: {{trust: [{:?}]}}\n", plugin.display().to_string())
    }
    let own = place.file("home/.syrch/config.yml", &name(&plugin));
    let config = place.load(None, &[]).unwrap();
    assert_eq!((&config.effective.settings.trust, &config.warnings), (&vec![plugin], &Vec::new()));
    place.file("home/.syrch/config.yml", &name(Path::new("mine.wasm")));
    let failure = place.load(None, &[]).unwrap_err();
    assert_eq!(failure.exit, crate::exit::Exit::Config);
    assert!(
        failure
            .message
            .starts_with(&format!("{}:1: `mine.wasm` is no absolute path", own.display())),
        "{failure:?}"
    );
    std::fs::remove_file(own).unwrap();
    place.variable("SYRCH_TRUST", "mine.wasm");
    assert!(
        place
            .load(None, &[])
            .unwrap_err()
            .message
            .starts_with("environment SYRCH_TRUST: `mine.wasm`")
    );
    // A path without a file is reported, since no plugin is trusted by it.
    let config = place.load(None, &[("execution.trust", json!(["nowhere.wasm"]))]).unwrap();
    assert_eq!(config.effective.settings.trust, [Path::new("nowhere.wasm")]);
    assert_eq!(
        config.warnings,
        ["--trust: there is no file `nowhere.wasm`, so no plugin is trusted by it"]
    );
}

#[test]
fn every_wrong_variable_is_named() {
    let mut place = Place::new();
    place.variable("SYRCH_MAX_DEPTH", "deep");
    place.variable("SYRCH_TEMPERATURE", "9");
    place.environment.syrch.insert("SYRCH_MODEL".into(), None);
    let failure = place.load(None, &[("execution.max_depth", json!(2))]).unwrap_err();
    assert_eq!(failure.exit, crate::exit::Exit::Config);
    for part in
        ["SYRCH_MAX_DEPTH: `deep`", "SYRCH_TEMPERATURE: `9`", "SYRCH_MODEL: the value is not UTF-8"]
    {
        assert!(failure.message.contains(part), "{}", failure.message);
    }
}

#[test]
fn both_spellings_work_and_typos_are_mentioned() {
    let mut place = Place::new();
    place.variable("SYRCH_TIMEOUT_SECONDS", "60");
    place.variable("SYRCH_MODLE", "x");
    place.variable("SYRCH_SOMETHING_ELSE_ENTIRELY", "x");
    let config = place.load(None, &[]).unwrap();
    assert_eq!(config.effective.settings.model.timeout.as_secs(), 60);
    assert_eq!(config.warnings.len(), 2, "{:?}", config.warnings);
    assert!(config.warnings[0].contains("`SYRCH_MODEL`"), "{:?}", config.warnings);
    assert!(
        config.warnings[1].contains("SYRCH_SOMETHING_ELSE_ENTIRELY is unknown"),
        "{:?}",
        config.warnings
    );
}

/// The configuration of the Python package as its 0.1.2 wrote it.
const OF_PYTHON: &str = "llm:\n  provider: openai\n  model: m\n  temperature: 0.7\n  \
    max_tokens_per_call: 4096\n  timeout_seconds: 120\n\
    execution:\n  db_path: shop.sqlite\n  executor_type: sqlite\n  max_depth: 3\n  \
    max_attempts_per_node: 3\n  high_confidence: 0.85\n  search_policy: beam\n  beam_width: 3\n  \
    token_budget: 100000\n  verbose: false\n  cache_enabled: false\n  cache_ttl: 60\n  \
    calibration_enabled: false\n  interactive: false\n  ambiguity_threshold: 0.35\n  \
    max_concurrency: 5\n";

#[test]
fn the_configuration_of_the_python_package_is_read() {
    let place = Place::new();
    let named = place.file("old.yml", OF_PYTHON);
    let config = place.load(Some(&named), &[]).unwrap();
    assert!(!config.effective.cache && config.effective.settings.cache.ttl.as_secs() == 60);
    assert_eq!(
        (
            config.effective.settings.policy.max_parallel,
            config.effective.settings.limits.llm_in_flight
        ),
        (5, 5)
    );
    let calibrator =
        config.effective.settings.strategy.roles.get(&Role::Calibrator).map(ToString::to_string);
    assert_eq!(calibrator.as_deref(), Some("signals"));
    assert!(
        config.effective.settings.strategy.config[&Role::Calibrator]
            .values()
            .all(|weight| *weight == json!(0.0))
    );
    let replaced: Vec<_> =
        config.warnings.iter().filter(|warning| warning.contains("has no effect here")).collect();
    assert!(
        replaced.len() == 2
            && replaced[0].contains("--strategy beam")
            && replaced[1].contains("solver.beam_width"),
        "{replaced:?}"
    );

    let mut place = Place::new();
    for (name, value) in [
        ("SYRCH_EXECUTOR", "sqlite"),
        ("SYRCH_CALIBRATION", "false"),
        ("SYRCH_SEARCH_POLICY", "beam"),
        ("SYRCH_BEAM_WIDTH", "3"),
    ] {
        place.variable(name, value);
    }
    let config = place.load(None, &[]).unwrap();
    assert!(!config.effective.calibration);
    assert_eq!(config.warnings.len(), 2, "{:?}", config.warnings);
    assert!(
        config.warnings.iter().any(|warning| warning.contains("--strategy beam")),
        "{:?}",
        config.warnings
    );
}

/// Files of the Python package usually lie in the current folder and are untrusted there. They
/// write out many defaults, which must not be errors.
#[test]
fn a_found_file_may_repeat_the_defaults() {
    let place = Place::new();
    let text = "execution:\n  executor_type: sqlite\n  cache_enabled: true\n  cache_ttl: 86400\n  \
                calibration_enabled: true\n  verbose: false\n  max_depth: 2\n  stop_margin: 0.1\n";
    place.file("work/syrch.yml", text);
    let config = place.load(None, &[]).unwrap();
    assert_eq!(config.effective.settings.policy.max_depth, 2);
    assert!(
        config.warnings.iter().any(|warning| warning.contains("stop_margin has no effect")),
        "{:?}",
        config.warnings
    );
    place.file("work/syrch.yml", "execution:\n  calibration_enabled: false\n");
    assert!(place.load(None, &[]).unwrap_err().message.contains("may not be set by a file found"));
}

#[test]
fn a_missing_or_odd_config_file_is_an_error() {
    let place = Place::new();
    let folder = place.folder.path().to_owned();
    let bytes = folder.join("bytes.yml");
    fs::write(&bytes, [b'a', 0xff]).unwrap();
    let huge = place.file("huge.yml", &"# x\n".repeat(100_000));
    for (path, why) in [
        (folder.join("none.yml"), "No such file"),
        (folder, "is a folder"),
        (bytes, "not UTF-8"),
        (huge, "larger"),
    ] {
        let failure = place.load(Some(&path), &[]).unwrap_err();
        assert_eq!(failure.exit, crate::exit::Exit::Config);
        assert!(failure.message.contains(why), "{}", failure.message);
    }
}

#[test]
fn the_provider_follows_from_key_and_url() {
    let provider = |place: &Place, flags: &[(&'static str, Value)]| {
        let config = place.load(None, flags).unwrap();
        let key = config
            .effective
            .settings
            .model
            .api_key
            .as_ref()
            .map(|key| key.expose_secret().to_owned());
        (config.effective.settings.model.provider.name(), key)
    };
    let mut place = Place::new();
    assert_eq!(provider(&place, &[]), ("offline", None));
    assert_eq!(
        provider(&place, &[("llm.base_url", json!("http://localhost:1/v1"))]),
        ("openai", None)
    );
    place.environment.vendor_keys.insert("OPENAI_API_KEY", "sk-env".into());
    assert_eq!(provider(&place, &[]), ("openai", Some("sk-env".into())));
    assert_eq!(provider(&place, &[("llm.provider", json!("offline"))]), ("offline", None));
    place.variable("SYRCH_API_KEY", "sk-own");
    assert_eq!(provider(&place, &[]), ("openai", Some("sk-own".into())));
}

#[test]
fn anthropic_has_its_own_address_model_and_key() {
    let shown = |place: &Place, flags: &[(&'static str, Value)]| {
        let model = place.load(None, flags).unwrap().effective.settings.model;
        let key = model.api_key.as_ref().map(|key| key.expose_secret().to_owned());
        (model.provider.name(), model.base_url, model.model, key)
    };
    let named = [("llm.provider", json!("anthropic"))];
    let mut place = Place::new();
    let theirs = "https://api.anthropic.com".to_owned();
    assert_eq!(
        shown(&place, &named),
        ("anthropic", theirs.clone(), "claude-sonnet-4-5".into(), None)
    );
    place.environment.vendor_keys.insert("ANTHROPIC_API_KEY", "sk-a".into());
    assert_eq!(
        shown(&place, &[]),
        ("anthropic", theirs.clone(), "claude-sonnet-4-5".into(), Some("sk-a".into()))
    );
    let elsewhere = [("llm.base_url", json!("http://localhost:1")), ("llm.model", json!("m"))];
    let openai = ("openai", "http://localhost:1".to_owned(), "m".to_owned(), None);
    assert_eq!(shown(&place, &elsewhere), openai);
    // Bug 34: syrch 0.1.2 handed OPENAI_API_KEY to the Anthropic client.
    place.environment.vendor_keys = [("OPENAI_API_KEY", "sk-o".to_owned())].into();
    assert_eq!(shown(&place, &named).3, None);
    place.variable("SYRCH_API_KEY", "sk-own");
    assert_eq!(shown(&place, &named).3, Some("sk-own".into()));
    assert_eq!(shown(&place, &[("llm.base_url", json!(theirs))]).0, "anthropic");
}

#[test]
fn a_recording_to_be_made_leaves_the_provider_to_be_chosen() {
    let mut place = Place::new();
    place.environment.vendor_keys.insert("OPENAI_API_KEY", "sk-env".into());
    let model = |place: &Place, word: &str| {
        let config = place.load(None, &[("llm.provider", json!(word))]).unwrap();
        assert_eq!(config.origin("llm.provider").to_string(), "--llm");
        assert_eq!(config.document(false)["llm"]["provider"], word);
        let model = config.effective.settings.model;
        (model.provider.name(), model.record, model.replay)
    };
    assert_eq!(model(&place, "record:a.jsonl"), ("openai", Some("a.jsonl".into()), None));
    assert_eq!(model(&place, "replay:a.jsonl"), ("offline", None, Some("a.jsonl".into())));
    place.file("home/.syrch/config.yml", "llm: {provider: anthropic}\n");
    assert_eq!(model(&place, "record:a.jsonl"), ("anthropic", Some("a.jsonl".into()), None));
    place.file("home/.syrch/config.yml", "llm: {provider: \"replay:b.jsonl\"}\n");
    assert_eq!(model(&place, "openai"), ("openai", None, None));
}

#[test]
fn an_endpoints_key_is_its_own_or_its_vendors() {
    let mut place = Place::new();
    place.environment.vendor_keys.insert("OPENAI_API_KEY", "sk-vendor".into());
    place.file(
        "home/.syrch/config.yml",
        "llm:\n  endpoints:\n    file: {provider: openai, base_url: \"http://a/v1\", api_key: \
         sk-file}\n    free: {provider: openai, base_url: \"http://b/v1\"}\n    \
         vendor: {provider: openai, base_url: \"https://api.openai.com/v1\"}\n  models: {m: \
         {endpoint: free, model: small}}\n",
    );
    let keys = |place: &Place, flags: &[(&'static str, Value)]| {
        let config = place.load(None, flags).unwrap();
        config
            .effective
            .settings
            .model
            .endpoints
            .values()
            .map(|endpoint: &syrch::settings::EndpointSettings| {
                endpoint.api_key.as_ref().map(|key| key.expose_secret().to_owned())
            })
            .collect::<Vec<_>>()
    };
    let is = |key: &str| Some(key.to_owned());
    assert_eq!(keys(&place, &[]), [is("sk-file"), None, is("sk-vendor")]);
    place.variable("SYRCH_API_KEY_FREE", "sk-free");
    place.variable("SYRCH_API_KEY_FILE", "sk-other");
    assert_eq!(keys(&place, &[]), [is("sk-other"), is("sk-free"), is("sk-vendor")]);
    assert!(place.load(None, &[]).unwrap().warnings.is_empty());
    assert_eq!(keys(&place, &[("llm.provider", json!("offline"))]), [None; 0]);
    place.variable("SYRCH_API_KEY_FREE", "sk canary");
    let failure = place.load(None, &[]).unwrap_err();
    assert!(
        failure.message.contains("SYRCH_API_KEY_FREE") && !failure.message.contains("canary"),
        "{failure:?}"
    );
}

#[test]
fn answers_are_cached_by_default() {
    let mut place = Place::new();
    let folder = |place: &Place, flags: &[(&'static str, Value)]| {
        let config = place.load(None, flags).unwrap();
        assert!(config.answers.unwrap().ends_with(".cache/syrch/answers"));
        config.effective.settings.cache
    };
    let cache = folder(&place, &[("cache.ttl_seconds", json!(60))]);
    assert!(cache.folder.unwrap().ends_with(".cache/syrch/answers"));
    assert_eq!(cache.ttl.as_secs(), 60);
    place.variable("SYRCH_CACHE", "false");
    assert_eq!(folder(&place, &[]).folder, None);
    assert!(folder(&place, &[("cache.enabled", json!(true))]).folder.is_some());
}

#[test]
fn the_document_hides_the_key_and_names_origins() {
    let mut place = Place::new();
    place.variable("SYRCH_API_KEY", "sk-canary");
    place.file(
        "home/.syrch/config.yml",
        "plugins:\n  planner: {config: {width: 3}}\nsettings: {style: short}\n",
    );
    let config = place.load(None, &[]).unwrap();
    let plain = config.document(false);
    assert_eq!(
        (&plain["llm"]["api_key"], &plain["llm"]["provider"]),
        (&json!("set"), &json!("openai"))
    );
    assert_eq!(plain["plugins"]["planner"], json!({"plugin": "direct", "config": {"width": 3}}));
    assert_eq!(plain["settings"]["style"], "short");
    let origins = config.document(true);
    assert_eq!(origins["llm"]["provider"]["origin"], "a key is configured");
    assert_eq!(origins["execution"]["max_depth"], json!({"value": 3, "origin": "default"}));
    assert!(!format!("{plain}{origins}{config:?}").contains("canary"));
    assert_eq!(config.secrets(&place.environment).len(), 2);
}

#[test]
fn a_replaced_plugin_does_not_get_its_predecessors_config() {
    let place = Place::new();
    place.file(
        "home/.syrch/config.yml",
        "plugins:\n  planner: {plugin: a.wasm, config: {width: 3}}\n",
    );
    let config = place.load(None, &[("plugins.planner", json!("b.wasm"))]).unwrap();
    assert!(config.effective.settings.strategy.config.is_empty());
    assert!(config.warnings[0].contains("config of the planner"), "{:?}", config.warnings);
    let same = place.load(None, &[("plugins.planner", json!("a.wasm"))]).unwrap();
    assert_eq!(same.effective.settings.strategy.config[&Role::Planner]["width"], 3);
}

/// A value as `config --origin` shows it, and where it comes from.
fn show_setting(config: &Config, path: &[&str]) -> (Value, String) {
    let document = config.document(true);
    let leaf = path.iter().fold(&document, |value, key| &value[*key]);
    (leaf["value"].clone(), leaf["origin"].as_str().unwrap_or_default().to_owned())
}

const OWN: &str = "name: own\nroles:\n  planner: plan.wasm\n  solver: {plugin: solve, config: \
                   {samples: 9, agree: 3}}\n  clarifier: {plugin: clarify, config: \
                   {threshold: 0.5}}\npolicy: {max_attempts: 7, max_parallel: 2}\n";

#[test]
fn a_strategy_is_a_layer_above_the_defaults() {
    let place = Place::new();
    let own = place.file("own.yml", OWN).display().to_string();
    let config = place.load(None, &[("strategy", json!(own))]).unwrap();
    let of_it = format!("strategy {own}");
    let planner = place.folder.path().join("plan.wasm").display().to_string();
    for (path, value, origin) in [
        (&["strategy"][..], json!(own), "--strategy"),
        (&["plugins", "planner", "plugin"], json!(planner), &of_it),
        (&["plugins", "solver", "config", "samples"], json!(9), &of_it),
        (
            &["plugins", "reward", "plugin"],
            show_setting(&place.load(None, &[]).unwrap(), &["plugins", "reward", "plugin"]).0,
            "default",
        ),
        (&["plugins", "linker", "plugin"], json!("narrow"), "default"),
        (&["execution", "max_attempts_per_node"], json!(7), &of_it),
        (&["execution", "max_concurrency"], json!(2), &of_it),
        (&["execution", "max_depth"], json!(3), "default"),
        (&["execution", "ambiguity_threshold"], json!(0.5), &of_it),
    ] {
        assert_eq!(show_setting(&config, path), (value, origin.to_owned()), "{path:?}");
    }
    assert_eq!(
        (config.effective.settings.strategy.name.as_str(), config.warnings.len()),
        ("own", 0)
    );
}

#[test]
fn whatever_is_set_by_hand_beats_the_strategy() {
    let mut place = Place::new();
    let own = place.file("own.yml", OWN).display().to_string();
    place.file(
        "home/.syrch/config.yml",
        "execution: {max_attempts_per_node: 4, ambiguity_threshold: 0.1}\n",
    );
    place.variable("SYRCH_MAX_CONCURRENCY", "3");
    let samples: Parameter = "solver.samples=1".parse().unwrap();
    let mut flags = Flags::<true>::default();
    [("strategy", json!(own)), ("plugins.clarifier", json!("other"))]
        .into_iter()
        .for_each(|(key, value)| flags.set(key, value));
    let given = Given::new(&flags, std::slice::from_ref(&samples));
    let config = load(given, &place.environment, &place.folder.path().join("work")).unwrap();
    let origin = |path: &[&str]| show_setting(&config, path);
    assert_eq!(origin(&["execution", "max_attempts_per_node"]).0, json!(4));
    assert_eq!(
        origin(&["execution", "max_concurrency"]),
        (json!(3), "environment SYRCH_MAX_CONCURRENCY".into())
    );
    assert_eq!(origin(&["plugins", "solver", "config", "samples"]), (json!(1), "-P".into()));
    assert_eq!(origin(&["plugins", "solver", "config", "agree"]).1, format!("strategy {own}"));
    assert_eq!(origin(&["plugins", "clarifier", "plugin"]), (json!("other"), "--clarifier".into()));
    // The config of the strategy belonged to the replaced plugin and goes without a warning; what
    // the user set is reported.
    assert_eq!(
        config.warnings,
        ["the config of the clarifier in a file is not used, since plugins.clarifier is \
          another plugin"]
    );
    let replaced =
        place.load(None, &[("strategy", json!(own)), ("plugins.solver", json!("b.wasm"))]).unwrap();
    assert!(!replaced.effective.settings.strategy.config.contains_key(&Role::Solver));
    let unclear =
        place.load(None, &[("strategy", json!(own)), ("plugins.clarifier", json!("b"))]).unwrap();
    assert_eq!(
        show_setting(&unclear, &["execution", "ambiguity_threshold"]),
        (Value::Null, "default".into())
    );
    assert!(replaced.warnings.is_empty(), "{:?}", replaced.warnings);
}

#[test]
fn the_strongest_layer_names_the_strategy() {
    let mut place = Place::new();
    let [file, variable, flag] = ["file", "variable", "flag"].map(|name| {
        let text = format!("name: {name}\nroles: {{solver: {name}}}\n");
        place.file(&format!("{name}.yml"), &text).display().to_string()
    });
    let named = |place: &Place, flags: &[(&'static str, Value)]| {
        let config = place.load(None, flags).unwrap();
        (config.effective.settings.strategy.name.clone(), config.origin("strategy").to_string())
    };
    assert_eq!(named(&place, &[]), (strategies::DEFAULT.into(), "default".into()));
    let home = place.file(
        "home/.syrch/config.yml",
        &format!("strategy: {file:?}\nplugins: {{planner: mine}}\n"),
    );
    assert_eq!(named(&place, &[]), ("file".into(), format!("{}:1", home.display())));
    place.variable("SYRCH_STRATEGY", &variable);
    assert_eq!(named(&place, &[]), ("variable".into(), "environment SYRCH_STRATEGY".into()));
    assert_eq!(named(&place, &[("strategy", json!(flag))]), ("flag".into(), "--strategy".into()));
    // The plugin of the file stays, and a warning says so, since the strategy was named on the
    // command line.
    place.file("flag.yml", "name: flag\nroles: {planner: theirs}\n");
    let config = place.load(None, &[("strategy", json!(flag))]).unwrap();
    assert_eq!(config.effective.settings.strategy.roles[&Role::Planner].to_string(), "mine");
    assert!(
        config.warnings[0].contains("the planner is not `theirs` of the strategy"),
        "{:?}",
        config.warnings
    );
}

#[test]
fn the_model_chooses_the_strategy_that_no_layer_names() {
    fn choose(place: &Place, flags: &[(&'static str, Value)]) -> (String, String) {
        let config = place.load(None, flags).unwrap();
        assert_eq!(config.effective.strategy, config.effective.settings.strategy.name);
        (config.effective.strategy.clone(), config.origin("strategy").to_string())
    }
    fn recording(place: &Place, model: &str) -> (&'static str, Value) {
        let head = json!({"format": "syrch.recording", "version": 1, "models": [model]});
        let file = place.file(&format!("{model}.jsonl"), &format!("{head}\n"));
        ("llm.provider", json!(format!("replay:{}", file.display())))
    }
    let mut place = Place::new();
    let by_rules = (strategies::DEFAULT.to_owned(), "default".to_owned());
    let with_model = (strategies::WITH_MODEL.to_owned(), "the default with a model".to_owned());
    assert_eq!(choose(&place, &[]), by_rules);
    let simulated = ("llm.provider", json!("simulated:suite.jsonl"));
    assert_eq!(choose(&place, &[simulated]), with_model);
    assert_eq!(choose(&place, &[recording(&place, "offline")]), by_rules);
    assert_eq!(choose(&place, &[recording(&place, "gpt-4o")]), with_model);
    place.variable("SYRCH_API_KEY", "sk-canary");
    assert_eq!(choose(&place, &[]), with_model);
    assert_eq!(choose(&place, &[("llm.provider", json!("offline"))]), by_rules);
    let flag = ("strategy", json!(strategies::DEFAULT));
    assert_eq!(choose(&place, &[flag]), (strategies::DEFAULT.into(), "--strategy".into()));

    // Parts of it can be named, with settings of the others.
    place.file("home/.syrch/config.yml", "plugins: {solver: {config: {samples: 5}}}\n");
    let flags = [("plugins.planner", json!("decompose")), ("plugins.linker", json!("none"))];
    let config = place.load(None, &flags).unwrap();
    let strategy = &config.effective.settings.strategy;
    let of_default = strategies::find(strategies::WITH_MODEL).unwrap().strategy();
    assert_eq!(strategy.roles[&Role::Planner].to_string(), "decompose");
    assert_eq!(strategy.roles[&Role::Solver], of_default.roles[&Role::Solver]);
    assert!(!strategy.roles.contains_key(&Role::Linker));
    let shown = config.document(true);
    let shown = &shown["plugins"]["solver"]["config"];
    assert_eq!(shown["agree"], json!({"value": 3, "origin": "default"}));
    assert_eq!(shown["samples"]["value"], 5);
    assert!(shown["samples"]["origin"].as_str().unwrap().contains("config.yml:1"), "{shown}");
    assert!(config.warnings.is_empty(), "{:?}", config.warnings);
}

#[test]
fn a_wrong_strategy_is_reported_with_who_named_it() {
    let mut place = Place::new();
    let failure = place.load(None, &[("strategy", json!("deocmpose"))]).unwrap_err();
    let near = format!("did you mean `{}`?", strategies::DEFAULT);
    assert_eq!(
        (failure.exit, failure.hint.as_deref()),
        (crate::exit::Exit::Config, Some(near.as_str()))
    );
    assert!(
        failure.message.starts_with("--strategy: there is no built-in strategy"),
        "{}",
        failure.message
    );
    place.variable("SYRCH_STRATEGY", "no/such.yml");
    let failure = place.load(None, &[]).unwrap_err();
    assert!(
        failure.message.starts_with("environment SYRCH_STRATEGY: strategy file `no/such.yml`: "),
        "{}",
        failure.message
    );
}

#[test]
fn the_linker_may_be_left_out() {
    let place = Place::new();
    let own = place
        .file("own.yml", "name: own\nroles: {linker: {plugin: link, config: {a: 1}}}\n")
        .display()
        .to_string();
    let linker = |flags: &[(&'static str, Value)]| {
        let strategy = place.load(None, flags).unwrap().effective.settings.strategy;
        (
            strategy.roles.get(&Role::Linker).map(ToString::to_string),
            strategy.config.contains_key(&Role::Linker),
        )
    };
    assert_eq!(linker(&[("strategy", json!(own))]), (Some("link".into()), true));
    assert_eq!(
        linker(&[("strategy", json!(own)), ("plugins.linker", json!("none"))]),
        (None, false)
    );
    assert_eq!(linker(&[("plugins.linker", json!("mine"))]), (Some("mine".into()), false));
}

#[test]
fn names_are_unique_and_defaults_fit_their_kind() {
    let effective = Effective::default();
    let mut names = BTreeSet::new();
    for spec in SPECS {
        assert!(names.insert(spec.key.to_owned()), "{}", spec.key);
        assert!(
            spec.flag.is_none_or(|(flag, _)| names.insert(format!("--{flag}"))),
            "{}",
            spec.key
        );
        assert!(spec.env.iter().all(|name| names.insert((*name).to_owned())), "{}", spec.key);
        let default = spec.get(&effective);
        assert!(default.is_null() || spec.kind.check(default).is_ok(), "{}", spec.key);
    }
}

#[test]
fn the_document_lists_every_variable() {
    let document = include_str!("../../../../docs/configuration.md");
    for spec in SPECS {
        let cell = format!("| `{}` |", spec.key);
        let row =
            document.lines().find(|line| line.starts_with("| `SYRCH_") && line.contains(&cell));
        let row = row.unwrap_or_default();
        let flag = spec.flag.map(|(flag, _)| format!("--{flag}"));
        let names = spec.env.iter().map(|name| (*name).to_owned()).chain(flag);
        let missing: Vec<String> =
            names.filter(|name| !row.contains(&format!("`{name}`"))).collect();
        assert!(missing.is_empty(), "docs/configuration.md lacks {missing:?} for `{}`", spec.key);
    }
}

/// By default plugins run in processes of their own where the system can bound them; only a user
/// who asks for that is refused where it cannot.
#[test]
fn isolation_is_what_the_system_can_do() {
    assert_eq!(Effective::default().isolate, Isolate::Auto);
    assert_eq!(Isolate::Auto.choose_worker(true).unwrap(), Some(Environment::worker()));
    assert_eq!(Isolate::Auto.choose_worker(false).unwrap(), None);
    assert_eq!(Isolate::None.choose_worker(true).unwrap(), None);
    assert_eq!(Isolate::Process.choose_worker(true).unwrap(), Some(Environment::worker()));
    let refused = Isolate::Process.choose_worker(false).unwrap_err();
    assert!(refused.message.contains("cannot bound the processes of plugins"), "{refused:?}");
}

#[test]
fn what_is_set_is_what_is_got() {
    for spec in SPECS {
        let value = match spec.kind {
            kind::Kind::Integer(..) => json!(7),
            kind::Kind::Number { .. } | kind::Kind::SecondsOrNone(_) => json!(0.5),
            kind::Kind::Boolean => json!(true),
            kind::Kind::EndpointProvider => json!("openai"),
            kind::Kind::Choice(words) => json!(words[0]),
            kind::Kind::Globs | kind::Kind::Files | kind::Kind::Texts => json!(["a", "b*"]),
            kind::Kind::Encoding => json!("windows-1252"),
            kind::Kind::Rows => json!("aggregates"),
            kind::Kind::Text | kind::Kind::Secret => json!("set"),
            kind::Kind::Executor => json!("sqlite"),
            kind::Kind::ModelSource => json!("replay:a.jsonl"),
            kind::Kind::SharedCache => json!("/srv/cache"),
            kind::Kind::Mapping(mapping) => mapping::sample(mapping),
        };
        let mut effective = Effective::default();
        spec.set(&mut effective, &value);
        assert_eq!(spec.get(&effective), value, "{}", spec.key);
    }
}
