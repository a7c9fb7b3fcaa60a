//! The measures of the 22 queries of TPC-H beside statements that are written by hand. What the
//! queries nest is left out: a comparison of a row with an aggregate, and HAVING.

use rusqlite::{Connection, params_from_iter};
use syrch_core::Dialect;
use tpchgen::distribution::Distributions;
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};
use tpchgen::text::TextPool;

use crate::{RequestText, Semantics, Source};

use super::kit::{compile_for, day, open, rows};

/// The least scale at which no part has a supplier twice.
const SCALE: f64 = 0.01;

const TABLES: &str = "
CREATE TABLE region (r_regionkey INTEGER, r_name TEXT, r_comment TEXT);
CREATE TABLE nation (n_nationkey INTEGER, n_name TEXT, n_regionkey INTEGER, n_comment TEXT);
CREATE TABLE part (p_partkey INTEGER PRIMARY KEY, p_name TEXT, p_mfgr TEXT, p_brand TEXT,
  p_type TEXT, p_size INTEGER, p_container TEXT, p_retailprice REAL, p_comment TEXT);
CREATE TABLE supplier (s_suppkey INTEGER PRIMARY KEY, s_name TEXT, s_address TEXT,
  s_nationkey INTEGER, s_phone TEXT, s_acctbal REAL, s_comment TEXT);
CREATE TABLE partsupp (ps_partkey INTEGER, ps_suppkey INTEGER, ps_availqty INTEGER,
  ps_supplycost REAL, ps_comment TEXT, PRIMARY KEY (ps_partkey, ps_suppkey));
CREATE TABLE customer (c_custkey INTEGER PRIMARY KEY, c_name TEXT, c_address TEXT,
  c_nationkey INTEGER, c_phone TEXT, c_acctbal REAL, c_mktsegment TEXT, c_comment TEXT);
CREATE TABLE orders (o_orderkey INTEGER PRIMARY KEY, o_custkey INTEGER, o_orderstatus TEXT,
  o_totalprice REAL, o_orderdate TEXT, o_orderpriority TEXT, o_clerk TEXT, o_shippriority INTEGER,
  o_comment TEXT);
CREATE TABLE lineitem (l_orderkey INTEGER, l_partkey INTEGER, l_suppkey INTEGER,
  l_linenumber INTEGER, l_quantity REAL, l_extendedprice REAL, l_discount REAL, l_tax REAL,
  l_returnflag TEXT, l_linestatus TEXT, l_shipdate TEXT, l_commitdate TEXT,
  l_receiptdate TEXT, l_shipinstruct TEXT,
  l_shipmode TEXT, l_comment TEXT);
";

/// Inserts rows as the generator writes them, with a bar behind each cell.
fn fill(connection: &Connection, table: &str, rows: impl IntoIterator<Item = impl ToString>) {
    let mut insert: Option<rusqlite::Statement<'_>> = None;
    for row in rows {
        let row = row.to_string();
        let cells: Vec<&str> = row.strip_suffix('|').unwrap_or(&row).split('|').collect();
        let places = vec!["?"; cells.len()].join(", ");
        let statement = insert.get_or_insert_with(|| {
            connection.prepare(&format!("INSERT INTO {table} VALUES ({places})")).unwrap()
        });
        statement.execute(params_from_iter(cells)).unwrap();
    }
}

fn database() -> Connection {
    let words = Distributions::static_default();
    let pool = TextPool::new(1 << 20, words);
    let database = open(TABLES);
    database.execute_batch("BEGIN").unwrap();
    let regions = RegionGenerator::new_with_distributions_and_text_pool(words, &pool);
    fill(&database, "region", regions.iter());
    let nations = NationGenerator::new_with_distributions_and_text_pool(words, &pool);
    fill(&database, "nation", nations.iter());
    macro_rules! scaled {
        ($($generator:ident $table:literal),*) => {
            $(let new = $generator::new_with_distributions_and_text_pool;
            fill(&database, $table, new(SCALE, 1, 1, words, &pool).iter());)*
        };
    }
    scaled!(
        PartGenerator "part", SupplierGenerator "supplier", CustomerGenerator "customer",
        OrderGenerator "orders", LineItemGenerator "lineitem"
    );
    let supplies = PartSuppGenerator::new_with_text_pool(SCALE, 1, 1, &pool);
    fill(&database, "partsupp", supplies.iter());
    database.execute_batch("COMMIT").unwrap();
    database
}

const JOINED: &str = "lineitem JOIN orders ON o_orderkey = l_orderkey JOIN customer ON c_custkey \
= o_custkey \
    JOIN part ON p_partkey = l_partkey JOIN supplier ON s_suppkey = l_suppkey \
    JOIN partsupp ON ps_partkey = l_partkey AND ps_suppkey = l_suppkey \
    JOIN nation sn ON sn.n_nationkey = s_nationkey JOIN nation cn ON cn.n_nationkey = c_nationkey \
    JOIN region sr ON sr.r_regionkey = sn.n_regionkey JOIN region cr ON cr.r_regionkey = \
    cn.n_regionkey";

const REVENUE: &str = "SUM(l_extendedprice * (1 - l_discount))";

/// The number of a query, the request as JSON, and the statement, in which `{J}` are the joins of
/// `lineitem` and `{R}` is the revenue.
const QUERIES: [(u8, &str, &str); 23] = [
    (
        1,
        r#"{"metrics": ["quantity", "base price", "revenue", "charge", "mean quantity",
            "mean price",
            "mean discount", "lines"], "by": ["l_returnflag", "l_linestatus"],
                "period": "..1998-09-02"}"#,
        "SELECT l_returnflag, l_linestatus, SUM(l_quantity), SUM(l_extendedprice), {R}, \
         SUM(l_extendedprice * (1 - l_discount) * (1 + l_tax)), AVG(l_quantity), \
         AVG(l_extendedprice), \
         AVG(l_discount), COUNT(*) FROM lineitem WHERE l_shipdate <= '1998-09-02' GROUP BY 1, 2 \
         ORDER BY 1, 2",
    ),
    (
        2,
        r#"{"metrics": ["least supply cost"], "by": ["p_partkey"],
            "where": "supplier_region = 'EUROPE' AND p_size = 15"}"#,
        "SELECT p_partkey, MIN(ps_supplycost) FROM part, partsupp, supplier, nation, region \
         WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey AND p_size = 15 \
         AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'EUROPE' \
         GROUP BY 1 ORDER BY 1",
    ),
    (
        3,
        r#"{"metrics": ["revenue"], "by": ["l_orderkey", "o_orderdate", "o_shippriority"],
            "where": "c_mktsegment = 'BUILDING' AND o_orderdate < DATE '1995-03-15'",
            "period": "1995-03-16..", "order": "revenue:desc", "limit": 10}"#,
        "SELECT l_orderkey, o_orderdate, o_shippriority, {R} FROM {J} WHERE c_mktsegment = \
         'BUILDING' \
         AND o_orderdate < '1995-03-15' AND l_shipdate > '1995-03-15' GROUP BY 1, 2, 3 \
         ORDER BY 4 DESC, 1 LIMIT 10",
    ),
    (
        4,
        r#"{"metrics": ["late orders"], "by": ["o_orderpriority"], "period": "1993-Q3"}"#,
        "SELECT o_orderpriority, COUNT(*) FROM orders WHERE o_orderdate >= '1993-07-01' \
         AND o_orderdate < '1993-10-01' AND EXISTS (SELECT * FROM lineitem WHERE l_orderkey = \
         o_orderkey \
         AND l_commitdate < l_receiptdate) GROUP BY 1 ORDER BY 1",
    ),
    (
        5,
        r#"{"metrics": ["local revenue"], "by": ["supplier_nation"],
            "where": "supplier_region = 'ASIA'",
            "period": "1994", "order": "local revenue:desc"}"#,
        "SELECT sn.n_name, {R} FROM {J} WHERE c_nationkey = s_nationkey AND sr.r_name = 'ASIA' \
         AND o_orderdate >= '1994-01-01' AND o_orderdate < '1995-01-01' GROUP BY 1 ORDER BY 2 DESC",
    ),
    (
        6,
        r#"{"metrics": ["forecast"],
            "where": "l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24",
            "period": "1994"}"#,
        "SELECT SUM(l_extendedprice * l_discount) FROM lineitem WHERE l_shipdate LIKE '1994%' \
         AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24",
    ),
    (
        7,
        r#"{"metrics": ["revenue"], "by": ["supplier_nation", "customer_nation", "year"],
            "where":
    "supplier_nation IN ('FRANCE','GERMANY') AND customer_nation IN ('FRANCE','GERMANY')",
            "period": "1995..1996"}"#,
        "SELECT substr(l_shipdate, 1, 4), sn.n_name, cn.n_name, {R} FROM {J} \
         WHERE sn.n_name IN ('FRANCE', 'GERMANY') AND cn.n_name IN ('FRANCE', 'GERMANY') \
         AND l_shipdate BETWEEN '1995-01-01' AND '1996-12-31' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
    ),
    (
        8,
        r#"{"metrics": ["market share"], "by": ["year"], "where": "customer_region = 'AMERICA'",
            "period": "1995..1996"}"#,
        "SELECT substr(o_orderdate, 1, 4), SUM(CASE WHEN sn.n_name = 'BRAZIL' \
         THEN l_extendedprice * (1 - l_discount) END) / {R} FROM {J} WHERE cr.r_name = 'AMERICA' \
         AND o_orderdate BETWEEN '1995-01-01' AND '1996-12-31' GROUP BY 1 ORDER BY 1",
    ),
    (
        9,
        r#"{"metrics": ["profit"], "by": ["supplier_nation"], "grain": "year",
            "where": "p_name LIKE '%green%'"}"#,
        "SELECT substr(o_orderdate, 1, 4), sn.n_name, \
         SUM(l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity) FROM {J} \
         WHERE p_name LIKE '%green%' GROUP BY 1, 2 ORDER BY 1, 2",
    ),
    (
        10,
        r#"{"metrics": ["returned revenue"], "by": ["c_custkey", "c_name", "customer_nation"],
            "period": "1993-Q4", "order": "returned revenue:desc", "limit": 20}"#,
        "SELECT c_custkey, c_name, cn.n_name, {R} FROM {J} WHERE o_orderdate >= '1993-10-01' \
         AND o_orderdate < '1994-01-01' AND l_returnflag = 'R' GROUP BY 1, 2, 3 ORDER BY 4 DESC \
         LIMIT 20",
    ),
    (
        11,
        r#"{"metrics": ["stock value"], "by": ["ps_partkey"],
            "where": "supplier_nation = 'GERMANY'",
            "compare": "share_of_total", "order": "stock value:desc"}"#,
        "WITH v AS (SELECT ps_partkey AS k, SUM(ps_supplycost * ps_availqty) AS v FROM partsupp, \
         supplier, \
         nation WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = 'GERMANY' \
         GROUP BY 1) SELECT k, v, v / (SELECT SUM(v) FROM v) FROM v ORDER BY 2 DESC, 1",
    ),
    (
        12,
        r#"{"metrics": ["urgent lines", "other lines"], "by": ["l_shipmode"],
            "where": "l_shipmode IN ('MAIL', 'SHIP')", "period": "1994"}"#,
        "SELECT l_shipmode, SUM(o_orderpriority IN ('1-URGENT', '2-HIGH')), \
         SUM(o_orderpriority NOT IN ('1-URGENT', '2-HIGH')) FROM {J} \
         WHERE l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate \
         AND l_shipdate < l_commitdate AND l_receiptdate LIKE '1994%' GROUP BY 1 ORDER BY 1",
    ),
    (
        13,
        r#"{"metrics": ["customers", "orders"], "by": ["c_custkey"]}"#,
        "SELECT c_custkey, 1, COUNT(o_orderkey) FROM customer LEFT JOIN orders ON o_custkey = \
         c_custkey \
         GROUP BY 1 ORDER BY 1",
    ),
    (
        14,
        r#"{"metrics": ["promo share"], "period": "1995-09"}"#,
        "SELECT 100.0 * SUM(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - \
         l_discount) END) \
         / {R} FROM {J} WHERE l_shipdate LIKE '1995-09%'",
    ),
    (
        15,
        r#"{"metrics": ["revenue"], "by": ["s_suppkey", "s_name"], "period": "1996-Q1",
            "order": "revenue:desc", "limit": 1}"#,
        "SELECT s_suppkey, s_name, {R} FROM {J} WHERE l_shipdate >= '1996-01-01' \
         AND l_shipdate < '1996-04-01' GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 1",
    ),
    (
        16,
        r#"{"metrics": ["suppliers"], "by": ["p_brand", "p_type", "p_size"],
            "where": "p_brand <> 'Brand#45' AND p_size IN (49, 14, 23, 45, 19, 3, 36, 9)",
            "order": "suppliers:desc"}"#,
        "SELECT p_brand, p_type, p_size, COUNT(DISTINCT ps_suppkey) FROM partsupp, part, supplier \
         WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey AND p_brand <> 'Brand#45' \
         AND p_size IN (49, 14, 23, 45, 19, 3, 36, 9) \
         AND s_comment NOT LIKE '%Customer%Complaints%' GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3",
    ),
    (
        17,
        r#"{"metrics": ["yearly price", "mean quantity"], "by": ["p_brand"],
            "where": "p_container = 'MED BOX'"}"#,
        "SELECT p_brand, SUM(l_extendedprice) / 7.0, AVG(l_quantity) FROM {J} \
         WHERE p_container = 'MED BOX' GROUP BY 1 ORDER BY 1",
    ),
    (
        18,
        r#"{"metrics": ["quantity"], "by": ["c_name", "o_orderkey", "o_orderdate", "o_totalprice"],
            "order": "o_totalprice:desc", "limit": 100}"#,
        "SELECT c_name, o_orderkey, o_orderdate, o_totalprice, SUM(l_quantity) FROM {J} \
         GROUP BY 1, 2, 3, 4 ORDER BY 4 DESC, 1, 2 LIMIT 100",
    ),
    (
        19,
        r#"{"metrics": ["discounted revenue"]}"#,
        "SELECT {R} FROM {J} WHERE l_shipmode IN ('AIR', 'REG AIR') \
         AND l_shipinstruct = 'DELIVER IN PERSON' \
         AND ((p_brand = 'Brand#12' AND l_quantity BETWEEN 1 AND 11 AND p_size BETWEEN 1 AND 25) \
         OR (p_brand = 'Brand#23' AND l_quantity BETWEEN 10 AND 20 AND p_size BETWEEN 1 AND 30) \
         OR (p_brand LIKE 'Brand#3_' AND l_quantity BETWEEN 20 AND 30))",
    ),
    (
        20,
        r#"{"metrics": ["half quantity"], "by": ["l_partkey", "l_suppkey"], "period": "1994"}"#,
        "SELECT l_partkey, l_suppkey, 0.5 * SUM(l_quantity) FROM lineitem WHERE l_shipdate LIKE \
         '1994%' \
         GROUP BY 1, 2 ORDER BY 1, 2",
    ),
    (
        21,
        r#"{"metrics": ["waiting lines"], "by": ["s_name"],
            "where": "supplier_nation = 'SAUDI ARABIA'",
            "order": "waiting lines:desc", "limit": 100}"#,
        "SELECT s_name, COUNT(*) FROM {J} WHERE o_orderstatus = 'F' AND l_receiptdate > \
         l_commitdate \
         AND sn.n_name = 'SAUDI ARABIA' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 100",
    ),
    (
        22,
        r#"{"metrics": ["customers", "balance"], "by": ["country_code"],
            "where": "country_code IN ('13', '31', '23', '29', '30', '18') AND c_acctbal > 0"}"#,
        "SELECT substr(c_phone, 1, 2), COUNT(*), SUM(c_acctbal) FROM customer \
         WHERE substr(c_phone, 1, 2) IN ('13', '31', '23', '29', '30', '18') AND c_acctbal \
         > 0 \
         GROUP BY 1 ORDER BY 1",
    ),
    // Measures of three tables in one request.
    (
        0,
        r#"{"metrics": ["stock value", "revenue", "orders", "balance"]}"#,
        "SELECT (SELECT SUM(ps_supplycost * ps_availqty) FROM partsupp), {R}, \
         (SELECT COUNT(*) FROM orders), (SELECT SUM(c_acctbal) FROM customer) FROM lineitem",
    ),
];

#[test]
fn the_measures_of_tpch_equal_statements_written_by_hand() {
    let source = Source {
        file: "tpch.semantics.yml".to_owned(),
        text: include_str!("tpch.semantics.yml").to_owned(),
    };
    let semantics = Semantics::read(&[source]).unwrap();
    let database = database();
    for (query, text, by_hand) in QUERIES {
        let text = RequestText::from_json(text).unwrap();
        let request = text.read(day("1998-12-01"), semantics.week_start).unwrap();
        let compiled = compile_for(&semantics, &request, &Dialect::Sqlite);
        let sql = compiled.unwrap_or_else(|error| panic!("Q{query}: {error}")).sql;
        let by_hand = by_hand.replace("{J}", JOINED).replace("{R}", REVENUE);
        let expected = rows(&database, &by_hand);
        let found = rows(&database, &sql);
        assert!(!expected.is_empty(), "Q{query} has no rows");
        assert_eq!(found.len(), expected.len(), "Q{query}: {sql}");
        for (one, other) in found.iter().zip(&expected) {
            assert!(
                one.iter().zip(other).all(|(one, other)| is_near(one, other)),
                "Q{query}: {sql}\n{one:?}\n{other:?}"
            );
        }
    }
}

/// Equal texts, or numbers that differ by the order of a sum alone.
fn is_near(one: &str, other: &str) -> bool {
    one == other
        || match (one.parse::<f64>(), other.parse::<f64>()) {
            (Ok(one), Ok(other)) => (one - other).abs() <= 1e-9 * one.abs().max(1.0) + 2e-6,
            _ => false,
        }
}
