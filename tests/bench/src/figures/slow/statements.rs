//! Twenty slow statements, written as people write them. They were written for the rules, so that
//! what is measured over them is **in-sample**.

/// A statement and what makes it slow.
pub(super) struct Slow {
    pub(super) kind: &'static str,
    pub(super) sql: &'static str,
}

const fn slow(kind: &'static str, sql: &'static str) -> Slow {
    Slow { kind, sql }
}

/// Over `orders_10dim`. Money is in reals there, whose sums are not the same for every plan: these
/// statements count and add whole numbers.
pub(super) const SQLITE: [Slow; 12] = [
    slow(
        "correlated count",
        "SELECT m.name, (SELECT COUNT(*) FROM orders AS o WHERE o.ship_mode_key = m.ship_mode_key \
         AND o.quantity > 100) AS large, (SELECT SUM(o.returned_quantity) FROM orders AS o \
         WHERE o.ship_mode_key = m.ship_mode_key) AS returned FROM ship_modes AS m",
    ),
    slow(
        "correlated maximum",
        "SELECT COUNT(*) AS n FROM orders AS o WHERE o.quantity = (SELECT MAX(q.quantity) \
         FROM orders AS q WHERE q.clerk_key = o.clerk_key)",
    ),
    slow(
        "EXISTS without an index",
        "SELECT d.date FROM dates AS d WHERE EXISTS (SELECT 1 FROM orders AS o \
         WHERE o.shipped_date = d.date AND o.quantity > 250)",
    ),
    slow(
        "NOT EXISTS without an index",
        "SELECT COUNT(*) AS n FROM dates AS d WHERE NOT EXISTS (SELECT 1 FROM orders AS o \
         WHERE o.shipped_date = d.date AND o.priority_key = 1)",
    ),
    slow(
        "count that is compared with zero",
        "SELECT d.date FROM dates AS d WHERE d.year = 1995 AND (SELECT COUNT(*) FROM orders AS o \
         WHERE o.shipped_date = d.date) > 0",
    ),
    slow(
        "IN with a join",
        "SELECT n.name FROM nations AS n WHERE n.nation_key IN (SELECT c.nation_key \
         FROM customers AS c JOIN orders AS o ON o.customer_key = c.customer_key \
         WHERE o.quantity > 10)",
    ),
    slow(
        "OR across tables",
        "SELECT COUNT(*) AS n, SUM(o.quantity) AS quantity FROM orders AS o \
         JOIN customers AS c ON c.customer_key = o.customer_key \
         JOIN suppliers AS s ON s.supplier_key = o.supplier_key \
         WHERE c.name = 'Customer#000000007' OR o.clerk_key = 15",
    ),
    slow(
        "OR in a join",
        "SELECT COUNT(*) AS n FROM customers AS c JOIN orders AS o ON o.customer_key = \
         c.customer_key OR o.line_count = c.customer_key WHERE c.nation_key = 7 \
         AND c.segment_key = 2",
    ),
    slow(
        "function on a date",
        "SELECT COUNT(*) AS n, MAX(o.quantity) AS most FROM orders AS o WHERE strftime('%Y-%m', \
         o.order_date) = '1995-03'",
    ),
    slow(
        "function on a date, joined",
        "SELECT c.name, o.quantity FROM orders AS o JOIN customers AS c ON c.customer_key = \
         o.customer_key WHERE date(o.order_date) BETWEEN '1995-03-01' AND '1995-03-03' \
         AND strftime('%Y', o.shipped_date) = '1995'",
    ),
    slow(
        "DISTINCT over a join",
        "SELECT DISTINCT n.name FROM nations AS n JOIN customers AS c ON c.nation_key = \
         n.nation_key JOIN orders AS o ON o.customer_key = c.customer_key WHERE o.quantity > 10",
    ),
    slow(
        "CTE used twice",
        "WITH w AS (SELECT customer_key, order_date, quantity, clerk_key FROM orders) \
         SELECT COUNT(*) AS n FROM w AS a JOIN w AS b ON b.customer_key = a.customer_key \
         WHERE a.clerk_key = 15 AND b.quantity > 100",
    ),
];

/// Over the tables of [`TPCH`].
pub(super) const POSTGRES: [Slow; 8] = [
    slow(
        "correlated count",
        "SELECT s.name, (SELECT COUNT(*) FROM lineitem AS l WHERE l.suppkey = s.suppkey \
         AND l.returnflag = 'R') AS n FROM supplier AS s",
    ),
    slow(
        "correlated maximum",
        "SELECT COUNT(*) AS n FROM lineitem AS l WHERE l.quantity = (SELECT MAX(m.quantity) \
         FROM lineitem AS m WHERE m.partkey = l.partkey)",
    ),
    slow(
        "NOT IN",
        "SELECT COUNT(*) AS n FROM orders AS o WHERE o.orderdate < DATE '1992-01-08' \
         AND o.orderkey NOT IN (SELECT l.orderkey FROM lineitem AS l WHERE l.quantity < 50)",
    ),
    slow(
        "OR in a join",
        "SELECT COUNT(*) AS n FROM orders AS o JOIN lineitem AS l ON l.orderkey = o.orderkey OR \
         l.partkey = o.custkey WHERE o.orderdate = DATE '1995-03-01'",
    ),
    slow(
        "OR across tables",
        "SELECT COUNT(*) AS n, SUM(l.quantity) AS quantity FROM customer AS c \
         JOIN orders AS o ON o.custkey = c.custkey JOIN lineitem AS l ON l.orderkey = o.orderkey \
         WHERE c.custkey = 17 OR o.orderkey = 4711",
    ),
    slow(
        "function on a date",
        "SELECT COUNT(*) AS n, MAX(l.quantity) AS most FROM lineitem AS l WHERE EXTRACT(YEAR \
         FROM l.shipdate) = 1998 AND date_trunc('month', l.shipdate) = DATE '1998-03-01'",
    ),
    slow(
        "format of a date",
        "SELECT l.returnflag, COUNT(*) AS n FROM lineitem AS l WHERE to_char(l.shipdate, \
         'YYYY-MM') = '1995-03' GROUP BY l.returnflag",
    ),
    slow(
        "DISTINCT over a join",
        "SELECT DISTINCT c.custkey, c.name FROM customer AS c \
         JOIN orders AS o ON o.custkey = c.custkey JOIN lineitem AS l ON l.orderkey = o.orderkey \
         WHERE l.quantity > 5",
    ),
];

/// A schema like that of TPC-H with 400,000 lines, and a role that reads it.
pub(super) const TPCH: &str = "
CREATE TABLE customer (custkey int PRIMARY KEY, name text NOT NULL, nationkey int NOT NULL);
CREATE TABLE supplier (suppkey int PRIMARY KEY, name text NOT NULL, nationkey int NOT NULL);
CREATE TABLE orders (orderkey int PRIMARY KEY, custkey int NOT NULL, orderdate date NOT NULL, \
  clerk int NOT NULL);
CREATE TABLE lineitem (orderkey int NOT NULL, linenumber int NOT NULL, partkey int NOT NULL, \
  suppkey int NOT NULL,
    quantity int NOT NULL, returnflag text NOT NULL, shipdate date NOT NULL, PRIMARY KEY \
      (orderkey, linenumber));
INSERT INTO customer SELECT n, 'Customer#' || n, n % 25 FROM generate_series(1, 8000) n;
INSERT INTO supplier SELECT n, 'Supplier#' || n, n % 25 FROM generate_series(1, 100) n;
INSERT INTO orders SELECT n, (n::bigint * 7919 % 8000)::int + 1, DATE '1992-01-01' + (n::bigint * \
  104729 % 2406)::int, n % 100
    FROM generate_series(1, 100000) n;
INSERT INTO lineitem SELECT o.orderkey, k, ((o.orderkey * 4 + k)::bigint * 15485863 % 20000)::int \
  + 1, (o.orderkey + k * 37) % 100 + 1,
    ((o.orderkey * 4 + k)::bigint * 32452843 % 50)::int + 1, (ARRAY['A', 'N', 'R'])[(o.orderkey + \
      k) % 3 + 1], o.orderdate + k * 17
    FROM orders o, generate_series(1, 4) k;
CREATE INDEX orders_by_customer ON orders (custkey);
CREATE INDEX lineitem_by_part ON lineitem (partkey);
CREATE INDEX lineitem_by_shipdate ON lineitem (shipdate);
CREATE ROLE reader LOGIN;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
ANALYZE;
";
