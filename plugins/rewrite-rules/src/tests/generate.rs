//! Statements and rows at random, from a seed.

use syrch_basics::Random;

/// Chooses parts of statements and rows by a seeded generator.
pub(super) struct Dice(pub(super) Random);

impl Dice {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0.number() % limit
    }

    fn pick<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[usize::try_from(self.below(texts.len() as u64)).unwrap()]
    }

    fn number(&mut self) -> String {
        if self.below(4) == 0 { "NULL".into() } else { self.below(4).to_string() }
    }

    fn date(&mut self) -> String {
        let day = ["2022-12-31", "2023-01-01", "2023-05-07", "2023-05-31", "2024-02-29"];
        if self.below(5) == 0 { "NULL".into() } else { format!("'{}'", self.pick(&day)) }
    }
}

/// The tables with rows: NULLs, duplicates, and sometimes none at all.
pub(super) fn data(dice: &mut Dice) -> String {
    let mut sql = String::from(
        "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, country TEXT NOT NULL, \
         level INTEGER);
         CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, total INTEGER, day \
           TEXT, state TEXT NOT NULL);
         CREATE INDEX customers_country ON customers (country);",
    );
    for _ in 0..dice.below(6) {
        let name = dice.pick(&["'ann'", "'bob'", "NULL"]);
        let country = dice.pick(&["AT", "DE"]);
        sql += &format!(
            "INSERT INTO customers (name, country, level) VALUES ({name}, '{country}', {});",
            dice.number()
        );
    }
    for _ in 0..dice.below(9) {
        let state = dice.pick(&["open", "paid"]);
        let values = format!("{}, {}, {}, '{state}'", dice.number(), dice.number(), dice.date());
        sql += &format!("INSERT INTO orders (customer_id, total, day, state) VALUES ({values});");
    }
    sql
}

/// A condition on a row of `customers c`, and where there is one of `orders o`.
fn condition(dice: &mut Dice, has_orders: bool, depth: u32) -> String {
    if depth > 0 && dice.below(3) == 0 {
        let a = condition(dice, has_orders, depth - 1);
        let b = condition(dice, has_orders, depth - 1);
        return match dice.below(4) {
            0 => format!("NOT ({a})"),
            1 => format!("{a} AND ({b})"),
            _ => format!("({a} OR {b})"),
        };
    }
    let op = dice.pick(&["=", "<", "<=", ">", ">=", "<>"]);
    let n = dice.below(4);
    match dice.below(if has_orders { 14 } else { 11 }) {
        0 => format!("c.level {op} {n}"),
        1 => format!("c.name {} NULL", dice.pick(&["IS", "IS NOT"])),
        2 => format!("country = '{}'", dice.pick(&["AT", "DE"])),
        3 => format!("c.id {}IN (SELECT customer_id FROM orders WHERE {})", not(dice), own(dice)),
        4 => format!("c.level {}IN (SELECT total FROM orders AS q WHERE {})", not(dice), own(dice)),
        5 => format!(
            "{}EXISTS (SELECT 1 FROM orders q WHERE q.customer_id = c.id AND {})",
            not(dice),
            own(dice)
        ),
        6 => format!("{}EXISTS (SELECT * FROM orders q WHERE c.level = q.total)", not(dice)),
        7 => {
            format!(
                "(SELECT COUNT({}) FROM orders q WHERE q.customer_id = c.id) {op} {n}",
                dice.pick(&["*", "total"])
            )
        }
        8 => format!(
            "c.level {op} (SELECT {}(total) FROM orders q WHERE c.id = q.customer_id)",
            dice.pick(&["MAX", "SUM"])
        ),
        9 => format!("c.level {}IN (SELECT level FROM customers WHERE country = 'AT')", not(dice)),
        10 => format!("level + {n} {op} 2"),
        11 => format!("o.total {op} {n}"),
        12 => format!("strftime('%Y-%m', o.day) {op} '2023-05'"),
        _ => format!(
            "substr(o.day, 1, {}",
            dice.pick(&["4) = '2023'", "7) = '2023-05'", "10) = '2022-12-31'"])
        ),
    }
}

fn not(dice: &mut Dice) -> &'static str {
    if dice.below(2) == 0 { "NOT " } else { "" }
}

/// A condition on a row of `orders` alone.
fn own(dice: &mut Dice) -> String {
    match dice.below(4) {
        0 => "state = 'open'".into(),
        1 => format!("total > {}", dice.below(3)),
        2 => "strftime('%Y', day) = '2023'".into(),
        _ => format!("(total = {} OR state = 'paid')", dice.below(3)),
    }
}

/// A statement.
pub(super) fn statement(dice: &mut Dice) -> String {
    let one = condition(dice, false, 2);
    let both = condition(dice, true, 2);
    let join = dice.pick(&["c.id = o.customer_id", "c.level = o.total OR c.id = o.customer_id"]);
    match dice.below(9) {
        0 => format!("SELECT c.id, c.name FROM customers AS c WHERE {one}"),
        1 => format!(
            "SELECT DISTINCT c.{} FROM customers AS c JOIN orders AS o ON {join} WHERE {both}",
            dice.pick(&["id", "name"])
        ),
        2 => format!(
            "SELECT c.country, COUNT(*) AS n FROM customers AS c, orders AS o WHERE {join} \
             AND {both} GROUP BY c.country"
        ),
        3 => format!(
            "SELECT c.name, o.total FROM customers AS c LEFT JOIN orders AS o ON {join} \
             WHERE {both}"
        ),
        4 => format!(
            "SELECT c.id, (SELECT COUNT(*) FROM orders WHERE customer_id = c.id \
             AND {}) AS n, (SELECT COALESCE(SUM(total), 0) + COUNT(day) FROM orders x \
             WHERE c.level = x.total) AS s FROM customers AS c WHERE {one}",
            own(dice)
        ),
        5 => format!(
            "WITH w AS (SELECT customer_id AS k, SUM(total) AS s FROM orders WHERE {} \
             GROUP BY customer_id) SELECT c.name, w.s, x.s AS t FROM customers AS c \
             JOIN w ON w.k = c.id JOIN w AS x ON x.k = c.level WHERE {one}",
            own(dice)
        ),
        6 => format!(
            "SELECT c.name, d.n FROM customers AS c JOIN (SELECT customer_id AS k, total AS n \
             FROM orders UNION SELECT total, id FROM orders) AS d ON d.k = c.id \
             WHERE d.n > {} AND {one}",
            dice.below(3)
        ),
        7 => format!(
            "SELECT o.id, (SELECT q.name FROM customers q WHERE q.id = o.customer_id) AS n \
             FROM orders AS o WHERE {}",
            own(dice).replace("state", "o.state")
        ),
        _ => format!(
            "SELECT COUNT(*) AS n FROM customers AS c JOIN orders AS o ON {join} WHERE {both}"
        ),
    }
}
