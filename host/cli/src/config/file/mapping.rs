//! The mappings of a file: each entry, key and value checked at its place, and each name that one
//! of them mentions.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use syrch::syrch_core::text::nearest;
use syrch::yaml::{Location, Pair, Spanned, Tree};

use super::super::mapping::{self, Mapping};
use super::super::spec::Spec;
use super::{Entry, NOT_FOUND, Reader, Trust, WhenFound};
use crate::failure::alternatives;

/// A name that must be that of an entry of another mapping.
pub(super) struct Mention {
    at: Location,
    /// The mapping that must have an entry of that name.
    of: Mapping,
    /// The key whose value mentions the name.
    key: String,
    name: String,
}

impl Reader<'_> {
    /// Reads a mapping of names, such as `llm.endpoints`.
    pub(super) fn mapping(
        &mut self,
        spec: &'static Spec,
        mapping: Mapping,
        at: Location,
        tree: Spanned<Tree>,
    ) {
        if self.trust == Trust::Untrusted && spec.when_found == WhenFound::Never {
            self.problem(at, format!("{} {NOT_FOUND}", spec.key));
            return;
        }
        let origin = self.origin(at);
        let pairs = self.pairs(spec.key, tree);
        if mapping == Mapping::Endpoints {
            self.check_variables(&pairs);
        }
        let mut entries = Map::new();
        for (name, content) in pairs {
            if let Err(why) = mapping.check_name(&name.value) {
                self.problem(name.referenced, format!("{}: {why}", spec.key));
                continue;
            }
            let key = format!("{}.{}", spec.key, name.value);
            let entry = match mapping {
                Mapping::Databases => self.read_field(&key, super::Kind::Text, content),
                Mapping::Purposes => self.read_name(&key, Mapping::Models, content),
                _ => Some(self.read_entry(mapping, &key, name.referenced, content)),
            };
            entries.extend(entry.map(|entry| (name.value, entry)));
        }
        self.entries.push(Entry::Option(spec, entries.into(), origin));
    }

    /// The keys of two endpoints must not be held by one variable.
    fn check_variables(&mut self, pairs: &[Pair]) {
        let mut taken = BTreeMap::new();
        for (name, _) in pairs {
            let variable = mapping::variable(&name.value);
            if let Some(other) = taken.insert(variable.clone(), &name.value) {
                let why =
                    format!("`{}` and `{other}` would share the variable {variable}", name.value);
                self.problem(name.referenced, format!("llm.endpoints: {why}"));
            }
        }
    }

    fn read_entry(
        &mut self,
        mapping: Mapping,
        key: &str,
        at: Location,
        content: Spanned<Tree>,
    ) -> Value {
        let fields = mapping.fields();
        let mut entry = Map::new();
        for (name, value) in self.pairs(mapping.entry_noun(), content) {
            let Some(field) = fields.iter().find(|field| field.name == name.value) else {
                let known: Vec<&str> = fields.iter().map(|field| field.name).collect();
                self.report_unknown(
                    name.referenced,
                    &format!("key of {}", mapping.entry_noun()),
                    &name.value,
                    &known,
                );
                continue;
            };
            let full = format!("{key}.{}", field.name);
            let value = match (mapping, field.name) {
                (Mapping::Models, "endpoint") => self.read_name(&full, Mapping::Endpoints, value),
                _ => self.read_field(&full, field.kind, value),
            };
            entry.insert(name.value, value.unwrap_or_default());
        }
        for field in fields.iter().filter(|field| field.required) {
            if entry.get(field.name).is_none() {
                self.problem(at, format!("{key} lacks `{}`", field.name));
            }
        }
        // A key without a value counts as missing.
        entry.retain(|_, value| !value.is_null());
        entry.into()
    }

    fn read_field(&mut self, key: &str, kind: super::Kind, tree: Spanned<Tree>) -> Option<Value> {
        let at = tree.referenced;
        let value = tree.value.value();
        if value.is_null() {
            return None;
        }
        kind.check(value).map_err(|why| self.problem(at, format!("{key}: {why}"))).ok()
    }

    /// The name of an entry of another mapping, which may follow further below.
    fn read_name(&mut self, key: &str, of: Mapping, tree: Spanned<Tree>) -> Option<Value> {
        let at = tree.referenced;
        let value = self.read_field(key, super::Kind::Text, tree)?;
        let name = value.as_str().unwrap_or_default().to_owned();
        self.mentions.push(Mention { at, of, key: key.to_owned(), name });
        Some(value)
    }

    /// Reports the mentioned names that no entry has. Called once the whole file is read, since
    /// entries may follow their mention.
    pub(super) fn check_mentions(&mut self) {
        for Mention { at, of, key, name } in std::mem::take(&mut self.mentions) {
            let known = self.entry_names(of);
            if known.contains(&name) {
                continue;
            }
            let (what, section) = if of == Mapping::Endpoints {
                ("endpoint", "endpoints")
            } else {
                ("model", "models")
            };
            let similar = nearest(&name, known.iter().map(String::as_str));
            let hint = match alternatives(&similar) {
                Some(names) => format!("; did you mean {names}?"),
                None => format!("; `llm.{section}` names them"),
            };
            self.problem(at, format!("{key}: there is no {what} `{name}`{hint}"));
        }
    }

    fn entry_names(&self, of: Mapping) -> Vec<String> {
        let known = self.entries.iter().find_map(|entry| match entry {
            Entry::Option(spec, value, _)
                if matches!(
                    spec.kind, super::Kind::Mapping(kind) if kind == of
                ) =>
            {
                value.as_object()
            }
            _ => None,
        });
        known.into_iter().flat_map(|map| map.keys().cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::problems;
    use super::*;

    const GOOD: &str = "llm:\n  endpoints:\n    gpu: {provider: openai, base_url: \
                        \"http://gpu:8000/v1\", api_key: sk-1, in_flight: 4}\n  models:\n    \
                        cheap: {endpoint: gpu, model: small}\n    other: {model: large}\n  \
                        purposes: {judge: cheap, plan: other}\n  prices:\n    \"gpt-4o*\": \
                        {input: 2.5, output: 10}\n    small: {input: 0, output: 0}\n";

    #[test]
    fn every_wrong_entry_is_named_with_its_place() {
        assert_eq!(problems(GOOD, Trust::User), "");
        for (from, to, why) in [
            (
                "provider: openai",
                "provider: offline",
                "f.yml:3:21: llm.endpoints.gpu.provider: `offline` is not one of",
            ),
            ("provider: openai, ", "", "f.yml:3:5: llm.endpoints.gpu lacks `provider`"),
            (
                "base_url",
                "base_uri",
                "f.yml:3:29: unknown key of an endpoint `base_uri`; did you mean `base_url`?",
            ),
            (
                "in_flight: 4",
                "in_flight: 0",
                "llm.endpoints.gpu.in_flight: `0` is not a whole number from 1",
            ),
            ("sk-1", "[sk-canary]", "llm.endpoints.gpu.api_key: the value is not a key"),
            ("    gpu:", "    g pu:", "f.yml:3:5: llm.endpoints: `g pu` is no name of an endpoint"),
            (
                "endpoint: gpu",
                "endpoint: gpv",
                "f.yml:5:23: llm.models.cheap.endpoint: there is no endpoint `gpv`; \
                 did you mean `gpu`?",
            ),
            ("{model: large}", "large", "f.yml:6:12: a model must be a mapping of keys and values"),
            (
                "judge: cheap",
                "jugde: cheap",
                "f.yml:7:14: llm.purposes: unknown purpose `jugde`; did you mean `judge`?",
            ),
            (
                "judge: cheap",
                "judge: chaep",
                "f.yml:7:21: llm.purposes.judge: there is no model `chaep`; did you mean `cheap`?",
            ),
            ("judge: cheap", "judge: [cheap]", "llm.purposes.judge: `[\"cheap\"]` is not a text"),
            (
                "input: 2.5",
                "input: -2.5",
                "f.yml:9:24: llm.prices.gpt-4o*.input: `-2.5` is not a number from 0",
            ),
            ("input: 2.5", "input: cheap", "llm.prices.gpt-4o*.input: `cheap` is not a number"),
            (", output: 10", "", "f.yml:9:5: llm.prices.gpt-4o* lacks `output`"),
            ("gpt-4o*", "gpt-[", "f.yml:9:5: llm.prices: the pattern `gpt-[` is wrong"),
        ] {
            assert!(GOOD.contains(from), "{from}");
            let reported = problems(&GOOD.replace(from, to), Trust::User);
            assert!(reported.contains(why), "{to}: {reported}");
            assert!(!reported.contains("canary"), "{reported}");
        }
        assert!(
            problems("llm: {prices: [1]}", Trust::User).contains("llm.prices must be a mapping")
        );
        let twice = "llm:\n  endpoints:\n    a-b: {provider: openai, base_url: x}\n    a_b: \
                     {provider: openai, base_url: x}\n";
        assert!(
            problems(twice, Trust::User)
                .starts_with("f.yml:4:5: llm.endpoints: `a_b` and `a-b` would share")
        );
    }

    #[test]
    fn an_untrusted_file_may_set_none_of_them() {
        for key in ["endpoints", "models", "purposes", "prices"] {
            let reported = problems(&format!("llm:\n  {key}: {{}}\n"), Trust::Untrusted);
            assert_eq!(
                reported,
                format!("f.yml:2:3: llm.{key} may not be set by a file found in a folder")
            );
        }
    }
}
