//! The ten dimension tables.

use rusqlite::{Connection, params};
use tpchgen::dates::{MIN_GENERATE_DATE, TOTAL_DATE_RANGE, TPCHDate};
use tpchgen::distribution::Distributions;
use tpchgen::generators::{
    ClerkName, CustomerGenerator, NationGenerator, OrderStatus, RegionGenerator, SupplierGenerator,
};
use tpchgen::text::TextPool;

use crate::Progress;
use crate::scale::Scale;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// 1970-01-01 was a Thursday.
const WEEKDAYS: [&str; 7] =
    ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

/// The key of a name in a list, counted from one. `None` breaks the NOT NULL of the column that it
/// is for.
pub(crate) fn key(names: &[&str], name: &str) -> Option<i64> {
    (1..).zip(names).find_map(|(key, other)| (*other == name).then_some(key))
}

/// The key of a status: its place in the table.
pub(crate) fn status_key(status: OrderStatus) -> i64 {
    match status {
        OrderStatus::Open => 1,
        OrderStatus::Pending => 2,
        OrderStatus::Fulfilled => 3,
    }
}

/// Fills the ten dimension tables, and reports each when it is full.
pub(crate) fn fill(
    db: &Connection,
    scale: Scale,
    distributions: &Distributions,
    pool: &TextPool,
    report: &mut dyn FnMut(Progress),
) -> rusqlite::Result<()> {
    let mut reported = |table, rows| report(Progress::Dimension { table, rows });
    reported("regions", regions(db, distributions, pool)?);
    reported("nations", nations(db, distributions, pool)?);
    reported(
        "market_segments",
        names(db, "market_segments", distributions.market_segments().get_values())?,
    );
    reported("customers", customers(db, scale, distributions, pool)?);
    reported("dates", dates(db)?);
    reported("priorities", priorities(db, distributions.order_priority().get_values())?);
    reported("statuses", statuses(db)?);
    reported("clerks", clerks(db, scale)?);
    reported("suppliers", suppliers(db, scale, distributions, pool)?);
    reported("ship_modes", names(db, "ship_modes", distributions.ship_modes().get_values())?);
    Ok(())
}

/// A table of keys from one on and names.
fn names(db: &Connection, table: &str, names: &[&str]) -> rusqlite::Result<u64> {
    let mut insert = db.prepare(&format!("INSERT INTO {table} VALUES (?1, ?2)"))?;
    for (key, name) in (1_i64..).zip(names) {
        insert.execute(params![key, name])?;
    }
    Ok(names.len() as u64)
}

/// TPC-H writes `1-URGENT`: the digit is the key already.
fn priorities(db: &Connection, values: &[&str]) -> rusqlite::Result<u64> {
    let plain: Vec<&str> =
        values.iter().map(|value| value.split_once('-').map_or(*value, |(_, name)| name)).collect();
    names(db, "priorities", &plain)
}

fn statuses(db: &Connection) -> rusqlite::Result<u64> {
    let mut insert = db.prepare("INSERT INTO statuses VALUES (?1, ?2, ?3)")?;
    let all = [
        (OrderStatus::Open, "open"),
        (OrderStatus::Pending, "partly shipped"),
        (OrderStatus::Fulfilled, "fulfilled"),
    ];
    for (status, name) in all {
        insert.execute(params![status_key(status), status.as_str(), name])?;
    }
    Ok(all.len() as u64)
}

fn regions(
    db: &Connection,
    distributions: &Distributions,
    pool: &TextPool,
) -> rusqlite::Result<u64> {
    let mut insert = db.prepare("INSERT INTO regions VALUES (?1, ?2)")?;
    let mut rows = 0;
    for region in RegionGenerator::new_with_distributions_and_text_pool(distributions, pool) {
        insert.execute(params![region.r_regionkey, region.r_name])?;
        rows += 1;
    }
    Ok(rows)
}

fn nations(
    db: &Connection,
    distributions: &Distributions,
    pool: &TextPool,
) -> rusqlite::Result<u64> {
    let mut insert = db.prepare("INSERT INTO nations VALUES (?1, ?2, ?3)")?;
    let mut rows = 0;
    for nation in NationGenerator::new_with_distributions_and_text_pool(distributions, pool) {
        insert.execute(params![nation.n_nationkey, nation.n_name, nation.n_regionkey])?;
        rows += 1;
    }
    Ok(rows)
}

fn customers(
    db: &Connection,
    scale: Scale,
    distributions: &Distributions,
    pool: &TextPool,
) -> rusqlite::Result<u64> {
    let mut insert = db.prepare("INSERT INTO customers VALUES (?1, ?2, ?3, ?4, ?5)")?;
    let segments = distributions.market_segments().get_values();
    let mut rows = 0;
    let all = CustomerGenerator::new_with_distributions_and_text_pool(
        scale.factor(),
        1,
        1,
        distributions,
        pool,
    );
    for customer in all {
        insert.execute(params![
            customer.c_custkey,
            customer.c_name.to_string(),
            customer.c_nationkey,
            key(segments, customer.c_mktsegment),
            customer.c_acctbal.as_f64(),
        ])?;
        rows += 1;
    }
    Ok(rows)
}

fn suppliers(
    db: &Connection,
    scale: Scale,
    distributions: &Distributions,
    pool: &TextPool,
) -> rusqlite::Result<u64> {
    let mut insert = db.prepare("INSERT INTO suppliers VALUES (?1, ?2, ?3, ?4)")?;
    let mut rows = 0;
    let all = SupplierGenerator::new_with_distributions_and_text_pool(
        scale.factor(),
        1,
        1,
        distributions,
        pool,
    );
    for supplier in all {
        insert.execute(params![
            supplier.s_suppkey,
            supplier.s_name.to_string(),
            supplier.s_nationkey,
            supplier.s_acctbal.as_f64(),
        ])?;
        rows += 1;
    }
    Ok(rows)
}

fn clerks(db: &Connection, scale: Scale) -> rusqlite::Result<u64> {
    let mut insert = db.prepare("INSERT INTO clerks VALUES (?1, ?2)")?;
    for number in 1..=scale.clerks() as i32 {
        insert.execute(params![number, ClerkName::new(number).to_string()])?;
    }
    Ok(scale.clerks())
}

/// Every day on which anything can happen: 1992-01-01 to 1998-12-31.
fn dates(db: &Connection) -> rusqlite::Result<u64> {
    let mut insert = db.prepare("INSERT INTO dates VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
    for offset in 0..TOTAL_DATE_RANGE {
        let date = TPCHDate::new(MIN_GENERATE_DATE + offset);
        let (year, month, day) = date.to_ymd();
        let name = MONTHS.get(month as usize - 1);
        let weekday = WEEKDAYS.get(date.to_unix_epoch() as usize % WEEKDAYS.len());
        insert.execute(params![
            date.to_string(),
            1_900 + year,
            (month + 2) / 3,
            month,
            name,
            day,
            weekday
        ])?;
    }
    Ok(TOTAL_DATE_RANGE as u64)
}
