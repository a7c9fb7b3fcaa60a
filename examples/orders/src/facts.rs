//! The table `orders`: one row for each order, with what its lines come to.

use std::fmt::Write;

use rusqlite::{Connection, Statement};
use tpchgen::distribution::Distributions;
use tpchgen::generators::{LineItemGenerator, Order, OrderGenerator};
use tpchgen::text::TextPool;

use crate::Progress;
use crate::dimensions::{key, status_key};
use crate::lines::Lines;
use crate::scale::Scale;

/// Streams all orders into the table; gives how many.
pub(crate) fn fill(
    db: &Connection,
    scale: Scale,
    distributions: &Distributions,
    pool: &TextPool,
    report: &mut dyn FnMut(Progress),
) -> rusqlite::Result<u64> {
    let orders = OrderGenerator::new_with_distributions_and_text_pool(
        scale.factor(),
        1,
        1,
        distributions,
        pool,
    );
    let lines = LineItemGenerator::new_with_distributions_and_text_pool(
        scale.factor(),
        1,
        1,
        distributions,
        pool,
    );
    let mut lines = lines.iter().peekable();
    let places = vec!["?"; COLUMNS].join(", ");
    let mut writer = Writer {
        insert: db.prepare(&format!("INSERT INTO orders VALUES ({places})"))?,
        priorities: distributions.order_priority().get_values(),
        ship_modes: distributions.ship_modes().get_values(),
        text: String::new(),
    };
    let total = scale.orders();
    let step = (total / 100).max(1);
    let mut done = 0;
    for order in orders {
        let sum = Lines::take(&mut lines, order.o_orderkey);
        writer.write(&order, sum.as_ref())?;
        done += 1;
        if done % step == 0 {
            report(Progress::Orders { done, total });
        }
    }
    Ok(done)
}

const COLUMNS: usize = 16;

struct Writer<'a> {
    insert: Statement<'a>,
    priorities: &'a [&'static str],
    ship_modes: &'a [&'static str],
    text: String,
}

impl Writer<'_> {
    /// An order without lines breaks the NOT NULL of its columns.
    fn write(&mut self, order: &Order<'_>, lines: Option<&Lines<'_>>) -> rusqlite::Result<()> {
        let clerk = self.text(order.o_clerk).trim_start_matches("Clerk#").parse::<i64>().ok();
        self.insert.raw_bind_parameter(1, order.o_orderkey)?;
        self.insert.raw_bind_parameter(2, order.o_custkey)?;
        self.bind_text(3, order.o_orderdate)?;
        self.insert.raw_bind_parameter(5, key(self.priorities, order.o_orderpriority))?;
        self.insert.raw_bind_parameter(6, status_key(order.o_orderstatus))?;
        self.insert.raw_bind_parameter(7, clerk)?;
        if let Some(lines) = lines {
            self.bind_text(4, lines.shipped)?;
            self.insert.raw_bind_parameter(8, lines.supplier)?;
            self.insert.raw_bind_parameter(9, key(self.ship_modes, lines.ship_mode))?;
            self.insert.raw_bind_parameter(10, lines.count)?;
            self.insert.raw_bind_parameter(11, lines.quantity)?;
            self.insert.raw_bind_parameter(12, lines.returned)?;
            self.insert.raw_bind_parameter(13, money(lines.list))?;
            self.insert.raw_bind_parameter(14, money(lines.discount))?;
            self.insert.raw_bind_parameter(15, money(lines.list - lines.discount))?;
        }
        self.insert.raw_bind_parameter(16, order.o_totalprice.as_f64())?;
        self.insert.raw_execute()?;
        self.insert.clear_bindings();
        Ok(())
    }

    fn bind_text(&mut self, column: usize, value: impl std::fmt::Display) -> rusqlite::Result<()> {
        self.text(value);
        self.insert.raw_bind_parameter(column, self.text.as_str())
    }

    /// The value's text, in a buffer used again for every row.
    fn text(&mut self, value: impl std::fmt::Display) -> &str {
        self.text.clear();
        // Writing into a string cannot fail.
        let _ = write!(self.text, "{value}");
        &self.text
    }
}

fn money(cents: i64) -> f64 {
    cents as f64 / 100.0
}
