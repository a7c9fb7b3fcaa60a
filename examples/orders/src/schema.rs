//! The tables, the view that joins them, and the indexes.
//!
//! Ten dimensions: of the order its customer (with nation, region and market segment), date,
//! priority, status and clerk; of its first line the supplier and the ship mode. Money is in REAL
//! columns with two digits.

/// The bytes "TPCH", by which a file names the program that made it (`PRAGMA application_id`).
pub(crate) const APPLICATION: i64 = 0x5450_4348;

/// Run on the empty file. Its whole content goes where nobody looks yet: a crash loses nothing that
/// a rollback could save.
pub(crate) const SETTINGS: &str = "
PRAGMA page_size = 4096;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA foreign_keys = OFF;
PRAGMA temp_store = FILE;
PRAGMA cache_size = -32768;
";

pub(crate) const TABLES: &str = "
CREATE TABLE regions (
    region_key INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE nations (
    nation_key INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    region_key INTEGER NOT NULL REFERENCES regions (region_key)
);
CREATE TABLE market_segments (
    segment_key INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE customers (
    customer_key INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    nation_key INTEGER NOT NULL REFERENCES nations (nation_key),
    segment_key INTEGER NOT NULL REFERENCES market_segments (segment_key),
    account_balance REAL NOT NULL
);
CREATE TABLE dates (
    date DATE PRIMARY KEY NOT NULL,
    year INTEGER NOT NULL,
    quarter INTEGER NOT NULL,
    month INTEGER NOT NULL,
    month_name TEXT NOT NULL,
    day INTEGER NOT NULL,
    weekday TEXT NOT NULL
);
CREATE TABLE priorities (
    priority_key INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE statuses (
    status_key INTEGER PRIMARY KEY,
    code TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE clerks (
    clerk_key INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE suppliers (
    supplier_key INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    nation_key INTEGER NOT NULL REFERENCES nations (nation_key),
    account_balance REAL NOT NULL
);
CREATE TABLE ship_modes (
    ship_mode_key INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE orders (
    order_key INTEGER PRIMARY KEY,
    customer_key INTEGER NOT NULL REFERENCES customers (customer_key),
    order_date DATE NOT NULL REFERENCES dates (date),
    shipped_date DATE NOT NULL,
    priority_key INTEGER NOT NULL REFERENCES priorities (priority_key),
    status_key INTEGER NOT NULL REFERENCES statuses (status_key),
    clerk_key INTEGER NOT NULL REFERENCES clerks (clerk_key),
    supplier_key INTEGER NOT NULL REFERENCES suppliers (supplier_key),
    ship_mode_key INTEGER NOT NULL REFERENCES ship_modes (ship_mode_key),
    line_count INTEGER NOT NULL,
    quantity INTEGER NOT NULL,
    returned_quantity INTEGER NOT NULL,
    list_price REAL NOT NULL,
    discount_amount REAL NOT NULL,
    revenue REAL NOT NULL,
    total_price REAL NOT NULL
);
CREATE VIEW orders_10dim AS
SELECT o.order_key, o.order_date, o.shipped_date, d.year, c.name AS customer, s.name AS \
  market_segment, n.name AS nation,
       r.name AS region, p.name AS priority, t.name AS status, k.name AS clerk, u.name AS \
         supplier, m.name AS ship_mode,
       o.line_count, o.quantity, o.returned_quantity, o.list_price, o.discount_amount, o.revenue, \
         o.total_price
FROM orders o
JOIN dates d ON d.date = o.order_date
JOIN customers c ON c.customer_key = o.customer_key
JOIN market_segments s ON s.segment_key = c.segment_key
JOIN nations n ON n.nation_key = c.nation_key
JOIN regions r ON r.region_key = n.region_key
JOIN priorities p ON p.priority_key = o.priority_key
JOIN statuses t ON t.status_key = o.status_key
JOIN clerks k ON k.clerk_key = o.clerk_key
JOIN suppliers u ON u.supplier_key = o.supplier_key
JOIN ship_modes m ON m.ship_mode_key = o.ship_mode_key;
";

/// Tables with the columns that get an index. Of `orders` those that pick few rows: the others pick
/// a tenth or more, where a scan is faster. Of the dimensions those that questions narrow by:
/// without their figures SQLite takes a year for ten days, and joins every customer with every one
/// of them.
pub(crate) const INDEXED: [(&str, &str); 9] = [
    ("orders", "customer_key"),
    ("orders", "order_date"),
    ("orders", "clerk_key"),
    ("orders", "supplier_key"),
    ("customers", "nation_key"),
    ("customers", "segment_key"),
    ("suppliers", "nation_key"),
    ("nations", "region_key"),
    ("dates", "year"),
];

/// Estimates for the planner and for the host, from a bounded look at each index.
pub(crate) const FINISH: &str = "PRAGMA analysis_limit = 1000; ANALYZE;";
