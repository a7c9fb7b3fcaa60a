//! The least of a ranking of metrics: what no row counts for has less than what is shown.

use syrch_core::{Doubt, DoubtKind};

use super::Judge;
use super::words::LONG;

impl Judge<'_> {
    /// The doubt about the rows with the least count or sum, where the table of their groups has
    /// further ones, for which no row counts.
    pub(super) async fn doubt_least(&mut self) -> Option<Doubt> {
        let (sql, table) = count_rowless(self.defined?)?;
        if !self.is_any(sql, LONG).await? {
            return None;
        }
        let text = format!(
            "rows of {table} for which nothing counts are left out, and have less than what is \
             shown"
        );
        Some(Doubt { kind: DoubtKind::InnerJoin, text })
    }
}

/// The statement that counts the rows of a dimension's table for which no row of the metric counts,
/// and that table. The ranking is one that definitions gave, with one measure and one dimension.
fn count_rowless(sql: &str) -> Option<(String, &str)> {
    let (with, shown) = sql.split_once("\n)\nSELECT ")?;
    let inner = with.strip_prefix("WITH measured AS (\n  SELECT\n")?;
    let (_, order) = shown.split_once("\nFROM measured\nORDER BY measured.")?;
    let (order, limit) = order.split_once("\nLIMIT ")?;
    limit.parse::<u64>().ok()?;
    let end = order.find([' ', ',']).unwrap_or(order.len());
    let measure = &order[..end];
    // Where an engine has no NULLS LAST, `x IS NULL` stands before `x`.
    let key = order.strip_prefix(&format!("{measure} IS NULL, measured.")).unwrap_or(order);
    let is_ascending = !key.strip_prefix(measure).is_some_and(|rest| rest.starts_with(" DESC"));
    let (cells, rest) = inner.split_once("\n  FROM ")?;
    let cells: Vec<(&str, &str)> = cells
        .lines()
        .map(|cell| cell.trim().trim_end_matches(',').rsplit_once(" AS "))
        .collect::<Option<_>>()?;
    let is_other = ["d1", "k1", "t0"].iter().any(|name| find(&cells, name).is_some());
    let amount = find(&cells, measure)?;
    if !is_ascending || is_other || !["COUNT(", "SUM("].iter().any(|call| amount.starts_with(call))
    {
        return None;
    }
    let shown = find(&cells, "d0")?;
    // Groups by a key are the rows of a table; of other values, the table may have more than those
    // that are meant.
    let key = find(&cells, "k0")?;
    let (alias, _) = shown.split_once('.')?;
    let read = Rows::read(rest)?;
    let (source, on) = read.joins.iter().find_map(|join| join.read_as(alias))?;
    let mut reached = vec![alias];
    let mut from = format!("FROM {source} AS {alias}");
    let own = on.split(" AND ").skip(1).filter(|part| !read.mentions_others(part, &reached));
    let mut conditions: Vec<String> = own.map(str::to_owned).collect();
    for join in &read.joins {
        let leads_on =
            !reached.contains(&join.alias) && reached.iter().any(|alias| mentions(join.on, alias));
        if leads_on {
            from += &format!("\nLEFT JOIN {} AS {} ON {}", join.source, join.alias, join.on);
            reached.push(join.alias);
        }
    }
    let met = read.conditions.iter().filter(|part| !read.mentions_others(part, &reached));
    conditions.extend(met.map(|part| (*part).to_owned()));
    conditions.push(format!("{shown} IS NOT NULL"));
    conditions.push(format!(
        "{key} NOT IN (SELECT measured.k0 FROM measured WHERE measured.k0 IS NOT NULL)"
    ));
    let conditions = conditions.join("\n  AND ");
    Some((format!("{with}\n)\nSELECT COUNT(*)\n{from}\nWHERE {conditions}"), source))
}

/// The expression of a column.
fn find<'s>(cells: &[(&'s str, &str)], name: &str) -> Option<&'s str> {
    cells.iter().find(|(_, known)| *known == name).map(|(cell, _)| *cell)
}

/// A table that is joined.
struct Join<'s> {
    source: &'s str,
    alias: &'s str,
    on: &'s str,
}

impl<'s> Join<'s> {
    fn read_as(&self, alias: &str) -> Option<(&'s str, &'s str)> {
        (self.alias == alias).then_some((self.source, self.on))
    }
}

/// The tables of the measure and the conditions on its rows.
struct Rows<'s> {
    base: &'s str,
    joins: Vec<Join<'s>>,
    conditions: Vec<&'s str>,
}

impl<'s> Rows<'s> {
    /// Reads the lines behind FROM, of which each holds a join or a condition.
    fn read(rest: &'s str) -> Option<Self> {
        let mut lines = rest.lines();
        let (_, base) = lines.next()?.split_once(" AS ")?;
        let mut read = Self { base, joins: Vec::new(), conditions: Vec::new() };
        for line in lines {
            if let Some(join) = line.strip_prefix("  LEFT JOIN ") {
                let (source, join) = join.split_once(" AS ")?;
                let (alias, on) = join.split_once(" ON ")?;
                read.joins.push(Join { source, alias, on });
            } else if let Some(condition) =
                line.strip_prefix("  WHERE ").or_else(|| line.strip_prefix("    AND "))
            {
                read.conditions.push(condition);
            } else if line.starts_with("  GROUP BY ") {
                return Some(read);
            } else {
                return None;
            }
        }
        None
    }

    /// Returns true if a condition is about other tables than these.
    fn mentions_others(&self, condition: &str, reached: &[&str]) -> bool {
        let aliases = self.joins.iter().map(|join| join.alias).chain([self.base]);
        let mut others = aliases.filter(|alias| !reached.contains(alias));
        others.any(|alias| mentions(condition, alias))
    }
}

/// Returns true if a condition has a column of that table.
fn mentions(condition: &str, alias: &str) -> bool {
    condition.match_indices(alias).any(|(at, _)| {
        let is_start =
            condition[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '_');
        is_start && condition[at + alias.len()..].starts_with('.')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOLD: &str = "WITH measured AS (
  SELECT
    products.name AS d0,
    products.id AS k0,
    SUM(items.quantity) AS m0
  FROM items AS items
  LEFT JOIN products AS products ON items.product = products.id AND (products.old = 0)
  LEFT JOIN kinds AS kinds ON products.kind = kinds.id
  LEFT JOIN orders AS orders ON items.\"order\" = orders.id
  WHERE kinds.name = 'Books'
    AND orders.day >= '2024-01-01'
  GROUP BY products.name, products.id
)
SELECT measured.d0 AS product, measured.m0 AS sold
FROM measured
ORDER BY measured.m0 NULLS LAST, measured.d0 NULLS LAST
LIMIT 1";

    #[test]
    fn rows_of_the_dimension_that_are_in_no_group_are_counted() {
        let (sql, table) = count_rowless(SOLD).unwrap();
        assert_eq!(table, "products");
        let end = "\n)\nSELECT COUNT(*)\nFROM products AS products\nLEFT JOIN kinds AS kinds ON \
                   products.kind = kinds.id\nWHERE (products.old = 0)\n  AND kinds.name = \
                   'Books'\n  AND products.name IS NOT NULL\n  AND products.id NOT IN (SELECT \
                   measured.k0 FROM measured WHERE measured.k0 IS NOT NULL)";
        assert!(sql.ends_with(end), "{sql}");
        // Of an engine without NULLS LAST.
        let order = "measured.m0 NULLS LAST, measured.d0 NULLS LAST";
        let other = SOLD.replace(order, "measured.m0 IS NULL, measured.m0, measured.d0 IS NULL");
        assert!(count_rowless(&other).is_some(), "{other}");
        for other in [
            SOLD.replace(order, "measured.m0 IS NULL, measured.m0 DESC"),
            SOLD.replace("m0 NULLS", "m0 DESC NULLS"),
            SOLD.replace("SUM(", "AVG("),
            SOLD.replace("products.id AS k0", "orders.day AS d1"),
            SOLD.replace("    products.id AS k0,\n", ""),
            SOLD.replace("products.name AS d0", "items.name AS d0"),
            SOLD.replace("\nLIMIT 1", ""),
        ] {
            assert!(count_rowless(&other).is_none(), "{other}");
        }
    }
}
