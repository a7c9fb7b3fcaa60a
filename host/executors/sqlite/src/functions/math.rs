//! The mathematical functions of the engine, which are not part of its bundled build. NULL, and
//! what is no number, gives NULL, and so does what has no result:
//! <https://sqlite.org/lang_mathfunc.html>.

use std::ffi::CStr;

use rusqlite::Connection;

use super::call::{Call, Checked, Outcome, call, register};

type Unary = fn(f64) -> f64;
type Binary = fn(f64, f64) -> f64;

/// Functions that leave whole numbers alone.
const ROUNDED: [(&CStr, Unary); 4] =
    [(c"ceil", f64::ceil), (c"ceiling", f64::ceil), (c"floor", f64::floor), (c"trunc", f64::trunc)];

const UNARY: [(&CStr, Unary); 16] = [
    (c"acos", f64::acos),
    (c"acosh", f64::acosh),
    (c"asin", f64::asin),
    (c"asinh", f64::asinh),
    (c"atan", f64::atan),
    (c"atanh", f64::atanh),
    (c"cos", f64::cos),
    (c"cosh", f64::cosh),
    (c"degrees", |x| x * (180.0 / std::f64::consts::PI)),
    (c"exp", f64::exp),
    (c"radians", |x| x * (std::f64::consts::PI / 180.0)),
    (c"sin", f64::sin),
    (c"sinh", f64::sinh),
    (c"sqrt", f64::sqrt),
    (c"tan", f64::tan),
    (c"tanh", f64::tanh),
];

/// Logarithms, of numbers above 0 only.
const LOGARITHMS: [(&CStr, Unary); 4] =
    [(c"ln", f64::ln), (c"log", f64::log10), (c"log10", f64::log10), (c"log2", f64::log2)];

const BINARY: [(&CStr, Binary); 4] =
    [(c"atan2", f64::atan2), (c"mod", |x, y| x % y), (c"pow", f64::powf), (c"power", f64::powf)];

pub(super) fn add(connection: &Connection) -> rusqlite::Result<()> {
    for (at, (name, _)) in ROUNDED.iter().enumerate() {
        register(connection, name, 1, at, call::<Rounded>)?;
    }
    for (at, (name, _)) in UNARY.iter().enumerate() {
        register(connection, name, 1, at, call::<OfOne>)?;
    }
    for (at, (name, _)) in LOGARITHMS.iter().enumerate() {
        register(connection, name, 1, at, call::<Logarithm>)?;
    }
    for (at, (name, _)) in BINARY.iter().enumerate() {
        register(connection, name, 2, at, call::<OfTwo>)?;
    }
    register(connection, c"log", 2, 0, call::<LogarithmToBase>)?;
    register(connection, c"pi", 0, 0, call::<Pi>)
}

struct Rounded;

impl Checked for Rounded {
    fn run(call: &Call<'_>) -> Outcome {
        match (call.integer(0)?, ROUNDED.get(call.data())) {
            (Some(whole), _) => call.give_number(whole),
            (None, Some((_, round))) => call.give_real(round(call.number(0)?)),
            (None, None) => {}
        }
        Ok(())
    }
}

struct OfOne;

impl Checked for OfOne {
    fn run(call: &Call<'_>) -> Outcome {
        if let Some((_, function)) = UNARY.get(call.data()) {
            call.give_real(function(call.number(0)?));
        }
        Ok(())
    }
}

struct Logarithm;

impl Checked for Logarithm {
    fn run(call: &Call<'_>) -> Outcome {
        let x = call.number(0)?;
        if let Some((_, function)) = LOGARITHMS.get(call.data()).filter(|_| x > 0.0) {
            call.give_real(function(x));
        }
        Ok(())
    }
}

/// The function `log(base, x)`.
struct LogarithmToBase;

impl Checked for LogarithmToBase {
    fn run(call: &Call<'_>) -> Outcome {
        let base = call.number(0)?;
        let x = call.number(1)?;
        // The engine has none to bases up to 1.
        if base > 1.0 && x > 0.0 {
            call.give_real(x.ln() / base.ln());
        }
        Ok(())
    }
}

struct OfTwo;

impl Checked for OfTwo {
    fn run(call: &Call<'_>) -> Outcome {
        let x = call.number(0)?;
        let y = call.number(1)?;
        if let Some((_, function)) = BINARY.get(call.data()) {
            call.give_real(function(x, y));
        }
        Ok(())
    }
}

struct Pi;

impl Checked for Pi {
    fn run(call: &Call<'_>) -> Outcome {
        call.give_real(std::f64::consts::PI);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::types::Value;

    use super::*;

    #[test]
    fn results_are_those_of_a_build_that_has_them() {
        let connection = Connection::open_in_memory().unwrap();
        add(&connection).unwrap();
        // Results of sqlite3 3.40 of Debian 12, whose build has these functions.
        for (expression, expected) in [
            ("ceil(2)", Value::Integer(2)),
            ("ceil('2')", Value::Integer(2)),
            ("ceiling(2.1)", Value::Real(3.0)),
            ("floor(-2.1)", Value::Real(-3.0)),
            ("trunc('-2.9')", Value::Real(-2.0)),
            ("sqrt(2.25)", Value::Real(1.5)),
            ("sqrt('4')", Value::Real(2.0)),
            ("sqrt('four')", Value::Null),
            ("sqrt(-1)", Value::Null),
            ("sqrt(x'34')", Value::Null),
            ("pow(2, 10)", Value::Real(1024.0)),
            ("power(2, NULL)", Value::Null),
            ("mod(7, 3)", Value::Real(1.0)),
            ("mod(-7.5, 2)", Value::Real(-1.5)),
            ("mod(1, 0)", Value::Null),
            ("log(100)", Value::Real(2.0)),
            ("log10(1000)", Value::Real(3.0)),
            ("log2(8)", Value::Real(3.0)),
            ("log(2, 8)", Value::Real(3.0)),
            ("log(0)", Value::Null),
            ("log(1, 8)", Value::Null),
            ("log(0.5, 8)", Value::Null),
            ("log(2, -8)", Value::Null),
            ("ln(exp(1))", Value::Real(1.0)),
            ("degrees(pi())", Value::Real(180.0)),
            ("radians(180) = pi()", Value::Integer(1)),
            ("acos(2)", Value::Null),
            ("atan2(0, -1) = pi()", Value::Integer(1)),
            ("sin(0)", Value::Real(0.0)),
            (
                "round(cosh(0) + sinh(0) + tanh(0) + asinh(0) + acosh(1) + atanh(0))",
                Value::Real(1.0),
            ),
        ] {
            let result: Value = connection
                .query_row(&format!("SELECT {expression}"), [], |row| row.get(0))
                .unwrap();
            assert_eq!(result, expected, "{expression}");
        }
    }
}
