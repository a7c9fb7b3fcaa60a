//! Texts of statements and plans that several engines write and read in the same way.

/// Wraps an admitted statement so that these columns become texts by the engine's own cast of a
/// name; `None` where none does.
#[must_use]
pub fn cast_to_text(sql: &str, is_cast: &[bool], cast: fn(&str) -> String) -> Option<String> {
    if !is_cast.contains(&true) {
        return None;
    }
    let names: Vec<String> = (0..is_cast.len()).map(|index| format!("c{index}")).collect();
    let read = names.iter().zip(is_cast);
    let read: Vec<String> =
        read.map(|(name, is_cast)| if *is_cast { cast(name) } else { name.clone() }).collect();
    Some(format!("SELECT {} FROM ({sql}) AS syrch({})", read.join(", "), names.join(", ")))
}

/// Cost and rows of a plan of PostgreSQL, whose first line ends in `(cost=0.00..35.50 rows=2550
/// width=4)`.
#[must_use]
pub fn read_estimates(plan: &str) -> (Option<f64>, Option<f64>) {
    let first = plan.lines().next().unwrap_or_default();
    let number = |key: &str| {
        let (_, rest) = first.rsplit_once(key)?;
        rest.split([' ', ')']).next()?.rsplit("..").next()?.parse().ok()
    };
    (number("cost="), number(" rows="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_those_of_the_first_line() {
        let plan = "Sort  (cost=158.51..164.89 rows=2550 width=4)\n  ->  Seq Scan on a  \
                    (cost=0.00..1.50 rows=2 width=4)";
        assert_eq!(read_estimates(plan), (Some(164.89), Some(2550.0)));
        assert_eq!(read_estimates("SCAN people"), (None, None));
    }

    #[test]
    fn only_the_columns_that_are_cast_become_texts() {
        assert_eq!(cast_to_text("SELECT 1", &[false], str::to_uppercase), None);
        let cast = cast_to_text("SELECT 1, 2", &[false, true], str::to_uppercase);
        assert_eq!(cast.unwrap(), "SELECT c0, C1 FROM (SELECT 1, 2) AS syrch(c0, c1)");
    }
}
