//! Looks up the objects of an analysed statement by one query of the server's catalogs, and refuses
//! some of them.

use std::collections::{BTreeSet, HashMap};

use syrch_core::{Catalog, SqlError, SqlErrorKind};
use tokio_postgres::{Client, Error, Statement};

use super::analysed::{Aggregate, Merge, Used, refuse};
use super::lists;

/// The first object id that is not the server's own.
const FIRST_OF_USERS: u32 = 16_384;

/// Collations that are the server's: that of the database, and `C`. Under them different texts are
/// never equal.
const DETERMINISTIC: [u32; 2] = [100, 950];

/// Of each object: what it is, its id, its schema and name, and three texts. Of a table: why it is
/// no ordinary one. Of a function: volatility, and name with types of the arguments; of an
/// operator: those of its function, and that function's schema. Of a collation: whether different
/// texts are never equal under it.
pub(super) const OBJECTS: &str = "WITH called AS ( \
       SELECT p.oid, n.nspname::text AS space, p.proname::text AS name, p.provolatile::text AS \
       volatility, p.proname || '(' || coalesce((SELECT string_agg(t.typname::text, ',' \
       ORDER BY u.place) FROM unnest(p.proargtypes) WITH ORDINALITY u(type, place) \
       JOIN pg_type t ON t.oid = u.type), '') || ')' AS shown FROM pg_proc p \
       JOIN pg_namespace n ON n.oid = p.pronamespace WHERE p.oid = ANY ($2) OR p.oid IN (SELECT \
       oprcode FROM pg_operator WHERE oid = ANY ($3))) SELECT 'f', oid, space, name, volatility, \
       shown, NULL FROM called WHERE oid = ANY ($2) UNION ALL SELECT 'o', o.oid, n.nspname::text, \
       o.oprname::text, c.volatility, c.shown, c.space FROM pg_operator o \
       JOIN pg_namespace n ON n.oid = o.oprnamespace LEFT JOIN called c ON c.oid = o.oprcode::oid \
       WHERE o.oid = ANY ($3) \
     UNION ALL SELECT 't', t.oid, n.nspname::text, t.typname::text, NULL, NULL, NULL \
       FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE t.oid = ANY ($4) \
     UNION ALL SELECT 'c', c.oid, n.nspname::text, c.collname::text, c.collisdeterministic::text, \
     NULL, NULL FROM pg_collation c JOIN pg_namespace n ON n.oid = c.collnamespace \
     WHERE c.oid = ANY ($5) UNION ALL SELECT 'r', c.oid, n.nspname::text, c.relname::text, CASE \
         WHEN c.relkind <> 'r' THEN 'it is a view, a partitioned or another kind of table' \
         WHEN c.relpersistence = 't' THEN 'it is a temporary table' \
         WHEN c.relrowsecurity THEN 'which of its rows are seen depends on the role' \
         WHEN c.relhasrules THEN 'it has rules' \
         WHEN EXISTS (SELECT FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT \
         JOIN pg_type e ON e.oid = t.typelem WHERE a.attrelid = c.oid AND a.attnum > 0 \
         AND NOT a.attisdropped AND (t.typtype IN ('d', 'e') OR e.typtype IN ('d', 'e') OR \
         a.attgenerated = 'v')) THEN 'a column of it has a type that users made, or is computed \
         when it is read' END, EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = c.oid)::text, \
         NULL FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = ANY ($1)";

/// An object of the server's catalogs.
struct Object {
    schema: String,
    name: String,
    first: Option<String>,
    second: Option<String>,
    third: Option<String>,
}

/// The objects of a statement, by kind and id.
pub(super) struct Objects(HashMap<(char, u32), Object>);

impl Objects {
    /// Reads what the used objects are, by [`OBJECTS`] as the server prepared it.
    ///
    /// # Errors
    /// Those of the server, and a lost connection.
    pub(super) async fn read(
        client: &Client,
        objects: &Statement,
        used: &Used,
    ) -> Result<Self, Error> {
        let relations: Vec<u32> = used.relations.union(&used.only).copied().collect();
        fn to_list(set: &BTreeSet<u32>) -> Vec<u32> {
            set.iter().copied().collect::<Vec<u32>>()
        }
        let functions = to_list(&used.functions);
        let operators = to_list(&used.operators);
        let collations = to_list(&used.collations);
        let types: Vec<u32> =
            used.types.iter().copied().filter(|oid| !is_listed_type(*oid)).collect();
        let rows = client
            .query(objects, &[&relations, &functions, &operators, &types, &collations])
            .await?;
        let mut objects = HashMap::new();
        for row in &rows {
            let kind = row.try_get::<_, &str>(0)?.chars().next().unwrap_or_default();
            let object = Object {
                schema: row.try_get(2)?,
                name: row.try_get(3)?,
                first: row.try_get(4)?,
                second: row.try_get(5)?,
                third: row.try_get(6)?,
            };
            objects.insert((kind, row.try_get(1)?), object);
        }
        Ok(Self(objects))
    }

    fn get(&self, kind: char, oid: u32) -> Result<&Object, SqlError> {
        self.0.get(&(kind, oid)).ok_or_else(|| {
            SqlError::new(SqlErrorKind::Other, "the server's catalogs changed meanwhile")
                .rule("catalog")
        })
    }

    /// Checks all objects; returns the names of the tables as the catalog shows them, sorted.
    ///
    /// # Errors
    /// The first refusal, with its rule.
    pub(super) fn judge(
        &self,
        used: &Used,
        catalog: &Catalog,
        real_sums: bool,
    ) -> Result<Vec<String>, SqlError> {
        let tables = self.tables(used, catalog)?;
        for oid in &used.types {
            if !is_listed_type(*oid) {
                return Err(refuse(
                    "type",
                    &self.get('t', *oid)?.name,
                    "its values are not compared exactly",
                ));
            }
        }
        for oid in used.collations.iter().filter(|oid| !DETERMINISTIC.contains(oid)) {
            let collation = self.get('c', *oid)?;
            if collation.first.as_deref() != Some("true") {
                return Err(refuse("collation", &collation.name, "it calls different texts equal"));
            }
        }
        if used.has_sets {
            let function = used.sets.first().map(|oid| self.get('f', *oid)).transpose()?;
            let name = function.map_or("a function", |function| &function.name);
            return Err(refuse("set-returning", name, "it returns several rows"));
        }
        let aggregates: BTreeSet<u32> =
            used.aggregates.iter().map(|aggregate| aggregate.function).collect();
        for oid in used.functions.difference(&aggregates) {
            let function = self.get('f', *oid)?;
            let volatility = function.first.as_deref();
            let shown = function.second.as_deref();
            judge_function(*oid, &function.schema, &function.name, volatility, shown)?;
        }
        for oid in &used.operators {
            let operator = self.get('o', *oid)?;
            let schema = operator.third.as_deref().unwrap_or_default();
            let oid = if operator.schema == "pg_catalog" { *oid } else { FIRST_OF_USERS };
            judge_function(
                oid,
                schema,
                &operator.name,
                operator.first.as_deref(),
                operator.second.as_deref(),
            )?;
        }
        for aggregate in &used.aggregates {
            self.judge_aggregate(aggregate, real_sums)?;
        }
        self.judge_merges(used)?;
        Ok(tables)
    }

    fn tables(&self, used: &Used, catalog: &Catalog) -> Result<Vec<String>, SqlError> {
        let mut tables = BTreeSet::new();
        for oid in used.relations.iter().chain(&used.only) {
            let table = self.get('r', *oid)?;
            let Some(known) = catalog.tables.iter().find(|known: &&syrch_core::Table| {
                known.name == table.name
                    && known.schema_name.as_deref() == Some(table.schema.as_str())
            }) else {
                return Err(refuse(
                    "granted-tables",
                    &table.name,
                    "it is not among the granted tables",
                ));
            };
            if let Some(why) = &table.first {
                return Err(refuse("ordinary-table", &table.name, why));
            }
            if used.relations.contains(oid) && table.second.as_deref() != Some("false") {
                return Err(refuse(
                    "ordinary-table",
                    &table.name,
                    "it has children, which are read with it",
                ));
            }
            tables.insert(catalog.table_name(known));
        }
        if tables.is_empty() {
            return Err(refuse("base-table", "SELECT", "it reads no table"));
        }
        Ok(tables.into_iter().collect())
    }

    fn judge_aggregate(&self, aggregate: &Aggregate, real_sums: bool) -> Result<(), SqlError> {
        let function = self.get('f', aggregate.function)?;
        let name = function.name.as_str();
        let argument = argument(function);
        let is_own = function.schema == "pg_catalog" && aggregate.function < FIRST_OF_USERS;
        if is_own && lists::WINDOWS.binary_search(&name).is_ok() {
            return Ok(());
        }
        let is_extreme = matches!(name, "min" | "max");
        // These count.
        let counts = matches!(name, "count" | "regr_count");
        let is_floating = lists::FLOATING.has(name)
            || (matches!(argument, "float4" | "float8") && !is_extreme && !counts);
        let is_listed = lists::AGGREGATES.has(name);
        let is_floating = is_floating && (is_listed || lists::FLOATING.has(name));
        if is_own && is_floating && !real_sums {
            return Err(refuse(
                "float-aggregate",
                name,
                "sums of floating-point numbers depend on the order of rows",
            ));
        }
        if !is_own || !(is_listed || is_floating) {
            return Err(refuse(
                "aggregate",
                name,
                "it is not on the list: its result may depend on the order of rows",
            ));
        }
        if !aggregate.is_full {
            return Err(refuse("window", name, "over a window it must see the whole partition"));
        }
        let is_loose = lists::LOOSE_EXTREMES.binary_search(&argument).is_ok()
            || (argument == "bpchar" && !aggregate.is_fixed);
        if is_extreme && is_loose {
            return Err(refuse(
                "mixed-values",
                name,
                "of equal values that differ it takes the first one",
            ));
        }
        Ok(())
    }

    /// Refuses places where the order of rows decides which of several equal values is seen.
    fn judge_merges(&self, used: &Used) -> Result<(), SqlError> {
        let mut is_loose = used.aggregates.iter().any(|aggregate| {
            !aggregate.is_fixed
                && self.0.get(&('f', aggregate.function)).is_some_and(|function: &Object| {
                    matches!(function.name.as_str(), "min" | "max")
                        && argument(function) == "numeric"
                })
        });
        for Merge { operator, is_fixed, aggregate } in &used.merges {
            // It counts each once, whichever it is.
            if aggregate.is_some_and(|oid| {
                self.0.get(&('f', oid)).is_some_and(|function| function.name == "count")
            }) {
                continue;
            }
            let operator = self.get('o', *operator)?;
            let shown = operator.second.as_deref().unwrap_or_default();
            let is_identity = lists::IDENTITIES.has(shown);
            if is_identity || (*is_fixed && lists::FIXED_IDENTITIES.binary_search(&shown).is_ok()) {
                continue;
            }
            if shown != "numeric_eq(numeric,numeric)" {
                let why = "values that are equal by it may differ, and the order of rows decides \
                           which of them is seen";
                return Err(refuse("mixed-values", shown, why));
            }
            is_loose = true;
        }
        if !is_loose {
            return Ok(());
        }
        let mut called = used
            .operators
            .iter()
            .filter_map(|oid: &u32| self.0.get(&('o', *oid)))
            .chain(used.functions.iter().filter_map(|oid: &u32| self.0.get(&('f', *oid))));
        let token = called
            .find(|object: &&Object| {
                let shown = object.second.as_deref().unwrap_or_default();
                lists::SHOWS_SCALE.has(shown)
            })
            .map(|object| object.name.as_str());
        match token.or(used.spells_numbers.then_some("CAST")) {
            Some(token) => Err(refuse(
                "mixed-values",
                token,
                "it shows the digits behind the point, in which equal decimal numbers may differ",
            )),
            None => Ok(()),
        }
    }
}

/// The type of a function's first argument.
fn argument(function: &Object) -> &str {
    let shown = function.second.as_deref().unwrap_or_default();
    let arguments = shown.split_once('(').map_or("", |(_, rest)| rest.trim_end_matches(')'));
    arguments.split(',').next().unwrap_or_default()
}

fn is_listed_type(oid: u32) -> bool {
    lists::OUTPUTS.binary_search(&oid).is_ok() || lists::INNER.binary_search(&oid).is_ok()
}

/// Refuses functions of users, those that may change, and those that depend on more than their
/// arguments and the fixed settings; each by the one that the server chose among those of its name.
fn judge_function(
    oid: u32,
    schema: &str,
    name: &str,
    volatility: Option<&str>,
    shown: Option<&str>,
) -> Result<(), SqlError> {
    if schema != "pg_catalog" || oid >= FIRST_OF_USERS {
        return Err(refuse("function", name, "it is not one of the server's own"));
    }
    match (volatility, shown) {
        (Some("i"), _) => Ok(()),
        (Some("s"), Some(shown)) if lists::STABLE.has(shown) => Ok(()),
        (Some("s"), _) => {
            Err(refuse("function", name, "its result depends on more than its arguments"))
        }
        _ => Err(refuse("function", name, "it may give something else each time")),
    }
}
