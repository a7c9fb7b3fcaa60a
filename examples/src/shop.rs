//! The example database: three years of a small mail-order shop, the same bytes on every run.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};

use crate::data::{DEPARTMENTS, FIRST, LAST, OPINIONS, PLACES, TRADES};
use crate::random::Random;

/// The reason why the database was not made.
#[derive(Debug, thiserror::Error)]
pub enum ShopError {
    /// SQLite cannot write the database.
    #[error("`{path}`: {source}")]
    Sqlite {
        /// The file that was written.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// The finished file cannot be moved to its place.
    #[error("`{path}`: {source}")]
    File {
        /// The file that was written.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

const SCHEMA: &str = "
PRAGMA page_size = 4096;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
BEGIN;
CREATE TABLE categories (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    parent_id INTEGER REFERENCES categories (id)
);
CREATE TABLE suppliers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    city TEXT NOT NULL,
    country TEXT NOT NULL
);
CREATE TABLE products (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    category_id INTEGER NOT NULL REFERENCES categories (id),
    supplier_id INTEGER NOT NULL REFERENCES suppliers (id),
    price REAL NOT NULL,
    cost REAL NOT NULL,
    stock INTEGER NOT NULL,
    discontinued INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE customers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT,
    city TEXT NOT NULL,
    country TEXT NOT NULL,
    segment TEXT NOT NULL,
    signup_date DATE NOT NULL
);
CREATE TABLE employees (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    title TEXT NOT NULL,
    manager_id INTEGER REFERENCES employees (id),
    hire_date DATE NOT NULL,
    salary INTEGER NOT NULL
);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    employee_id INTEGER REFERENCES employees (id),
    order_date DATE NOT NULL,
    shipped_date DATE,
    status TEXT NOT NULL,
    payment_method TEXT NOT NULL
);
CREATE TABLE order_items (
    order_id INTEGER NOT NULL REFERENCES orders (id),
    product_id INTEGER NOT NULL REFERENCES products (id),
    quantity INTEGER NOT NULL,
    unit_price REAL NOT NULL,
    discount REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (order_id, product_id)
);
CREATE TABLE reviews (
    id INTEGER PRIMARY KEY,
    product_id INTEGER NOT NULL REFERENCES products (id),
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    rating INTEGER NOT NULL,
    comment TEXT,
    review_date DATE NOT NULL
);
CREATE INDEX orders_by_customer ON orders (customer_id);
CREATE INDEX items_by_product ON order_items (product_id);
CREATE VIEW order_totals AS
SELECT o.id AS order_id, o.customer_id, o.order_date, o.status,
       ROUND(SUM(i.quantity * i.unit_price * (1 - i.discount)), 2) AS total
FROM orders o JOIN order_items i ON i.order_id = o.id
GROUP BY o.id, o.customer_id, o.order_date, o.status;
";

const CUSTOMERS: i64 = 240;
const SUPPLIERS: i64 = 16;
const EMPLOYEES: i64 = 18;
const ORDERS: i64 = 1_500;
const REVIEWS: i64 = 600;

/// 2022-01-01 and 2024-12-31, in days since 1970-01-01.
const OPENED: i64 = 18_993;
const CLOSED: i64 = 20_088;

/// Writes the database to `path`, or leaves what was there as it was.
///
/// # Errors
/// When the folder cannot be written.
pub fn make_shop(path: &Path) -> Result<(), ShopError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let made = fill(&temporary)
        .map_err(|source| ShopError::Sqlite { path: path.to_owned(), source })
        .and_then(|()| {
            std::fs::rename(&temporary, path)
                .map_err(|source| ShopError::File { path: path.to_owned(), source })
        });
    if made.is_err() {
        // Nothing was promised about the temporary file, which may not even exist.
        drop(std::fs::remove_file(&temporary));
    }
    made
}

fn fill(path: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open(path)?;
    connection.execute_batch(SCHEMA)?;
    let mut shop = Shop { db: &connection, random: Random::new(2_022) };
    let categories = shop.categories()?;
    shop.suppliers()?;
    let products = shop.products(&categories)?;
    shop.customers()?;
    shop.employees()?;
    let bought = shop.orders(&products)?;
    shop.reviews(&bought)?;
    connection.execute_batch("COMMIT; VACUUM;")
}

/// A product as orders need it: its price in cents, and how well it sells.
struct Product {
    id: i64,
    cents: i64,
    demand: i64,
}

struct Shop<'a> {
    db: &'a Connection,
    random: Random,
}

impl Shop<'_> {
    fn person(&mut self) -> (String, String) {
        let first = *self.random.pick(&FIRST);
        let last = *self.random.pick(&LAST);
        let number = self.random.between(10, 99);
        (
            format!("{first} {last}"),
            format!("{}.{}{number}@mail.example", first.to_lowercase(), last.to_lowercase()),
        )
    }

    /// Near countries are named first and drawn more often.
    fn place(&mut self) -> (&'static str, &'static str) {
        let most = PLACES.len() as i64 - 1;
        let index = self.random.between(0, most).min(self.random.between(0, most));
        let (country, cities) = PLACES[usize::try_from(index).unwrap_or_default()];
        (*self.random.pick::<&str>(cities), country)
    }

    /// Departments, then their categories; gives the ids of the categories in order.
    fn categories(&mut self) -> rusqlite::Result<Vec<i64>> {
        let mut insert = self.db.prepare("INSERT INTO categories VALUES (?1, ?2, ?3)")?;
        let mut next = DEPARTMENTS.len() as i64;
        let mut ids = Vec::new();
        for (department, (name, _)) in (1_i64..).zip(DEPARTMENTS) {
            insert.execute(params![department, name, None::<i64>])?;
        }
        for (department, (_, categories)) in (1_i64..).zip(DEPARTMENTS) {
            for (name, _) in categories {
                next += 1;
                insert.execute(params![next, name, department])?;
                ids.push(next);
            }
        }
        Ok(ids)
    }

    fn suppliers(&mut self) -> rusqlite::Result<()> {
        let mut insert = self.db.prepare("INSERT INTO suppliers VALUES (?1, ?2, ?3, ?4)")?;
        for id in 1..=SUPPLIERS {
            let (city, country) = self.place();
            let name = format!("{} {}", self.random.pick(&LAST), self.random.pick(&TRADES));
            insert.execute(params![id, name, city, country])?;
        }
        Ok(())
    }

    fn products(&mut self, categories: &[i64]) -> rusqlite::Result<Vec<Product>> {
        let mut insert =
            self.db.prepare("INSERT INTO products VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
        let goods = DEPARTMENTS.iter().flat_map(|(_, categories)| categories.iter());
        let mut products = Vec::new();
        for (category, (_, names)) in categories.iter().zip(goods) {
            for (name, price) in *names {
                let id = products.len() as i64 + 1;
                let cents = price * 100 + self.random.pick(&[0, 49, 90, 99]);
                let cost = cents * self.random.between(45, 75) / 100;
                let stock = if self.random.percent(8) { 0 } else { self.random.between(3, 400) };
                let supplier = self.random.between(1, SUPPLIERS);
                insert.execute(params![
                    id,
                    name,
                    category,
                    supplier,
                    money(cents),
                    money(cost),
                    stock,
                    i64::from(self.random.percent(7))
                ])?;
                products.push(Product { id, cents, demand: self.random.between(1, 10) });
            }
        }
        Ok(products)
    }

    fn customers(&mut self) -> rusqlite::Result<()> {
        let mut insert =
            self.db.prepare("INSERT INTO customers VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
        for id in 1..=CUSTOMERS {
            let (name, email) = self.person();
            let email = (!self.random.percent(6)).then_some(email);
            let (city, country) = self.place();
            let segment = *self.random.pick(&[
                "consumer",
                "consumer",
                "consumer",
                "business",
                "business",
                "wholesale",
            ]);
            let signup = date(self.random.between(OPENED - 365, CLOSED - 60));
            insert.execute(params![id, name, email, city, country, segment, signup])?;
        }
        Ok(())
    }

    /// One director, three managers, the others below them.
    fn employees(&mut self) -> rusqlite::Result<()> {
        let mut insert =
            self.db.prepare("INSERT INTO employees VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
        for id in 1..=EMPLOYEES {
            let (title, manager, salary) = match id {
                1 => ("Director", None, self.random.between(98, 110)),
                2..=4 => (
                    ["Sales Manager", "Purchasing Manager", "Warehouse Manager"][id as usize - 2],
                    Some(1),
                    self.random.between(62, 75),
                ),
                5..=11 => ("Sales Agent", Some(2), self.random.between(36, 50)),
                12..=14 => ("Buyer", Some(3), self.random.between(40, 52)),
                _ => ("Warehouse Worker", Some(4), self.random.between(29, 38)),
            };
            let hired = date(self.random.between(OPENED - 3_000, CLOSED - 200));
            let salary = salary * 1_000 + self.random.between(0, 9) * 100;
            insert.execute(params![id, self.person().0, title, manager, hired, salary])?;
        }
        Ok(())
    }

    /// Orders with their items; gives who bought what, and when, of what was delivered.
    fn orders(&mut self, products: &[Product]) -> rusqlite::Result<Vec<(i64, i64, i64)>> {
        let mut order =
            self.db.prepare("INSERT INTO orders VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
        let mut item = self.db.prepare("INSERT INTO order_items VALUES (?1, ?2, ?3, ?4, ?5)")?;
        let mut days: Vec<i64> = (0..ORDERS).map(|_| self.random.between(OPENED, CLOSED)).collect();
        days.sort_unstable();
        let mut bought = Vec::new();
        for (id, day) in (1_i64..).zip(days) {
            // The smaller of two draws: some customers order far more often than others, and a few
            // never.
            let customer =
                self.random.between(1, CUSTOMERS).min(self.random.between(1, CUSTOMERS + 20));
            let agent = (!self.random.percent(30)).then(|| self.random.between(5, 11));
            let status = self.status(day);
            let ships = matches!(status, "delivered" | "shipped" | "returned");
            let shipped = ships.then(|| date(day + self.random.between(1, 6)));
            let payment =
                *self.random.pick(&["card", "card", "card", "transfer", "wallet", "invoice"]);
            order.execute(params![id, customer, agent, date(day), shipped, status, payment])?;
            for product in self.basket(products) {
                let quantity = if self.random.percent(60) { 1 } else { self.random.between(2, 8) };
                let discount = *self.random.pick(&[0.0, 0.0, 0.0, 0.0, 0.05, 0.1, 0.2]);
                item.execute(params![id, product.id, quantity, money(product.cents), discount])?;
                if status == "delivered" {
                    bought.push((product.id, customer, day));
                }
            }
        }
        Ok(bought)
    }

    /// The last orders are still on their way.
    fn status(&mut self, day: i64) -> &'static str {
        match (self.random.between(1, 100), day > CLOSED - 15) {
            (1..=6, _) => "cancelled",
            (_, true) if self.random.percent(50) => "pending",
            (_, true) => "shipped",
            (7..=10, _) => "returned",
            _ => "delivered",
        }
    }

    /// One to five products, no two the same.
    fn basket<'p>(&mut self, products: &'p [Product]) -> Vec<&'p Product> {
        let size = self.random.between(1, 3) + self.random.between(0, 2);
        let mut basket: Vec<&Product> = Vec::new();
        while (basket.len() as i64) < size {
            let product = self.random.pick(products);
            if self.random.between(1, 10) <= product.demand
                && basket.iter().all(|other| other.id != product.id)
            {
                basket.push(product);
            }
        }
        basket
    }

    fn reviews(&mut self, bought: &[(i64, i64, i64)]) -> rusqlite::Result<()> {
        let mut insert = self.db.prepare("INSERT INTO reviews VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
        for id in 1..=REVIEWS {
            let (product, customer, day) = *self.random.pick(bought);
            let rating = *self.random.pick(&[1, 2, 3, 3, 4, 4, 4, 5, 5, 5]);
            let comment =
                self.random.percent(70).then(|| *self.random.pick(OPINIONS[rating as usize - 1]));
            let day = day + self.random.between(7, 40);
            insert.execute(params![id, product, customer, rating, comment, date(day)])?;
        }
        Ok(())
    }
}

fn money(cents: i64) -> f64 {
    cents as f64 / 100.0
}

/// Days since 1970-01-01 as YYYY-MM-DD (Howard Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms", `civil_from_days`).
fn date(days: i64) -> String {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_follow_the_calendar() {
        assert_eq!(
            [date(0), date(OPENED), date(CLOSED), date(19_782)],
            ["1970-01-01", "2022-01-01", "2024-12-31", "2024-02-29"]
        );
    }

    #[test]
    fn two_runs_write_the_same_bytes_and_leave_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two] = ["one.sqlite", "two.sqlite"].map(|name| folder.path().join(name));
        std::fs::write(&two, "something older").unwrap();
        make_shop(&one).unwrap();
        make_shop(&two).unwrap();
        assert!(std::fs::read(&one).unwrap() == std::fs::read(&two).unwrap(), "the files differ");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn keys_hold_and_every_table_has_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.sqlite");
        make_shop(&path).unwrap();
        let db = Connection::open(&path).unwrap();
        let broken: i64 = db
            .query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(broken, 0);
        for table in [
            "categories",
            "suppliers",
            "products",
            "customers",
            "employees",
            "orders",
            "order_items",
            "reviews",
            "order_totals",
        ] {
            let rows: i64 = db
                .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))
                .unwrap();
            assert!(rows >= 10, "{table}: {rows}");
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(make_shop(&folder.path().join("none/shop.sqlite")).is_err());
    }
}
