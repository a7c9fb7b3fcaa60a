//! What an order's lines come to.

use std::iter::Peekable;

use tpchgen::dates::TPCHDate;
use tpchgen::generators::LineItem;

/// The lines of one order, added up. Money in cents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lines<'a> {
    /// Of the first line.
    pub(crate) supplier: i64,
    /// Of the first line.
    pub(crate) ship_mode: &'a str,
    pub(crate) count: i64,
    pub(crate) quantity: i64,
    pub(crate) returned: i64,
    /// Before discount and tax.
    pub(crate) list: i64,
    /// Rounded half up once, over all lines.
    pub(crate) discount: i64,
    /// When the last line leaves.
    pub(crate) shipped: TPCHDate,
}

impl<'a> Lines<'a> {
    /// Takes the lines of an order from a stream in the order of keys. `None` if the next line is
    /// of another order.
    pub(crate) fn take(
        lines: &mut Peekable<impl Iterator<Item = LineItem<'a>>>,
        order: i64,
    ) -> Option<Self> {
        let first = lines.next_if(|line| line.l_orderkey == order)?;
        let mut sum = Self {
            supplier: first.l_suppkey,
            ship_mode: first.l_shipmode,
            count: 0,
            quantity: 0,
            returned: 0,
            list: 0,
            discount: 0,
            shipped: first.l_shipdate,
        };
        // In hundredths of a cent: a price in cents by a share in hundredths.
        let mut discount = sum.add(&first);
        while let Some(line) = lines.next_if(|line| line.l_orderkey == order) {
            discount += sum.add(&line);
        }
        sum.discount = (discount + 50) / 100;
        Some(sum)
    }

    fn add(&mut self, line: &LineItem<'_>) -> i64 {
        self.count += 1;
        self.quantity += line.l_quantity;
        self.returned += if line.l_returnflag == "R" { line.l_quantity } else { 0 };
        self.list += line.l_extendedprice.into_inner();
        self.shipped = self.shipped.max(line.l_shipdate);
        line.l_extendedprice.into_inner() * line.l_discount.into_inner()
    }
}

#[cfg(test)]
mod tests {
    use tpchgen::distribution::Distributions;
    use tpchgen::generators::{LineItemGenerator, OrderGenerator, OrderStatus};
    use tpchgen::text::TextPool;

    use super::*;

    /// The first order of TPC-H at scale one, as the specification's program writes it: six lines.
    #[test]
    fn the_first_order_adds_up() {
        let pool = TextPool::new(1 << 16, Distributions::static_default());
        let distributions = Distributions::static_default();
        let generator = LineItemGenerator::new_with_distributions_and_text_pool(
            1.0,
            1,
            1,
            distributions,
            &pool,
        );
        let mut lines = generator.iter().peekable();
        assert_eq!(Lines::take(&mut lines, 2), None);
        let first = Lines::take(&mut lines, 1).unwrap();
        let figures = (first.count, first.quantity, first.returned, first.list, first.discount);
        // 21168.23, 45983.16, 13309.60, 28955.64, 22824.48 and 49620.16, less 4, 9, 10, 9, 10 and 7
        // %.
        assert_eq!(figures, (6, 145, 0, 18_186_127, 1_467_804));
        let first = (first.supplier, first.ship_mode, first.shipped.to_string());
        assert_eq!(first, (7_706, "TRUCK", "1996-04-21".to_owned()));
        assert_eq!(Lines::take(&mut lines, 1), None);
    }

    /// The order's own status and price follow from the same lines: the two streams run side by
    /// side.
    #[test]
    fn lines_belong_to_their_orders() {
        let pool = TextPool::new(1 << 16, Distributions::static_default());
        let distributions = Distributions::static_default();
        let lines = LineItemGenerator::new_with_distributions_and_text_pool(
            0.002,
            1,
            1,
            distributions,
            &pool,
        );
        let mut lines = lines.iter().peekable();
        let orders =
            OrderGenerator::new_with_distributions_and_text_pool(0.002, 1, 1, distributions, &pool);
        for order in orders {
            let sum = Lines::take(&mut lines, order.o_orderkey).unwrap();
            let net = sum.list - sum.discount;
            let total = order.o_totalprice.into_inner();
            // Tax is 0 to 8 %, and every line rounds its own cents down.
            assert!(
                net - sum.count * 2 <= total && total <= net * 108 / 100 + 1,
                "{order}: {sum:?}"
            );
            // The specification's today is 1995-06-17.
            let all_shipped = sum.shipped.to_string().as_str() <= "1995-06-17";
            assert_eq!(
                order.o_orderstatus == OrderStatus::Fulfilled,
                all_shipped,
                "{order}: {sum:?}"
            );
        }
        assert_eq!(lines.next(), None);
    }
}
