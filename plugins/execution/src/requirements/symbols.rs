//! Operators that stand in words: `status is not cancelled`, `price at least 50`.

/// Words of operators, the longer ones first, and the operator that they are.
const OPERATORS: &[(&str, &str)] = &[
    ("is greater than or equal to", ">="),
    ("greater than or equal to", ">="),
    ("more than or equal to", ">="),
    ("is less than or equal to", "<="),
    ("less than or equal to", "<="),
    ("is not equal to", "<>"),
    ("does not equal", "<>"),
    ("not equal to", "<>"),
    ("is not less than", ">="),
    ("is not more than", "<="),
    ("not less than", ">="),
    ("not more than", "<="),
    ("no less than", ">="),
    ("no more than", "<="),
    ("is at least", ">="),
    ("at least", ">="),
    ("is at most", "<="),
    ("at most", "<="),
    ("is greater than", ">"),
    ("greater than", ">"),
    ("is more than", ">"),
    ("more than", ">"),
    ("is higher than", ">"),
    ("higher than", ">"),
    ("is above", ">"),
    ("above", ">"),
    ("is over", ">"),
    ("over", ">"),
    ("exceeds", ">"),
    ("is after", ">"),
    ("after", ">"),
    ("is less than", "<"),
    ("less than", "<"),
    ("fewer than", "<"),
    ("is lower than", "<"),
    ("lower than", "<"),
    ("is below", "<"),
    ("below", "<"),
    ("is under", "<"),
    ("under", "<"),
    ("is before", "<"),
    ("before", "<"),
    ("is equal to", "="),
    ("equal to", "="),
    ("equals", "="),
    ("is not", "<>"),
    ("isn't", "<>"),
    ("other than", "<>"),
    ("is", "="),
];
/// Words behind `is` or `is not` with which the operator is another one.
const OTHERS: &[&str] =
    &["null", "empty", "blank", "in", "between", "like", "one", "not", "true", "false", "missing"];

/// Writes the condition with its operators as signs, and the words behind one as a text in quotes.
/// A text in quotes stays as it is.
pub(crate) fn write_operators(condition: &str) -> String {
    let words: Vec<&str> = condition.split_whitespace().collect();
    let mut written = String::new();
    let mut in_quotes = false;
    let mut at = 0;
    while at < words.len() {
        let rest = &words[at..];
        let operator = operator(rest).filter(|_| !in_quotes);
        let size = operator.map_or(1, |(size, _)| size);
        let sign = operator.map_or(words[at], |(_, sign)| sign);
        in_quotes ^= words[at].matches('\'').count() % 2 == 1;
        at += size;
        written += " ";
        written += sign;
        let is_sign = ["=", "<>", "!=", "<", ">", "<=", ">="].contains(&sign) && !in_quotes;
        let size = if is_sign { count_words(&words[at..]) } else { 0 };
        if size > 0 {
            let text = words[at..at + size].join(" ").replace('\'', "\'\'");
            written += &format!(" '{text}'");
            at += size;
        }
    }
    written
}

/// The operator with which the words begin, and the number of its words.
fn operator(words: &[&str]) -> Option<(usize, &'static str)> {
    OPERATORS.iter().find_map(|(phrase, sign)| {
        let size = phrase.split(' ').count();
        let begins = words.len() > size
            && phrase.split(' ').zip(words).all(|(one, other)| other.eq_ignore_ascii_case(one));
        let is_other = matches!(*phrase, "is" | "is not" | "isn't")
            && words.get(size).is_some_and(|next| OTHERS.contains(&&*next.to_lowercase()));
        (begins && !is_other).then_some((size, *sign))
    })
}

/// The number of bare words of a value: up to the next condition, and none if a name, a number or
/// anything in quotes or brackets is among them.
fn count_words(words: &[&str]) -> usize {
    let value = words.iter().take_while(|word| {
        !["and", "or"].contains(&&*word.to_lowercase()) && operator(&[**word, ""]).is_none()
    });
    let size = value.clone().count();
    let is_bare = value.clone().all(|word| word.chars().all(|c| c.is_alphabetic() || c == '-'));
    if is_bare && size <= 4 { size } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_in_words_become_signs() {
        for (condition, written) in [
            ("status is not cancelled", "status <> 'cancelled'"),
            ("price at least 50", "price >= 50"),
            ("price is at most 50 and status is paid", "price <= 50 and status = 'paid'"),
            ("country is New Zealand", "country = 'New Zealand'"),
            ("price over 50", "price > 50"),
            ("status = paid", "status = 'paid'"),
            ("email is not null", "email is not null"),
            ("country is in (1, 2)", "country is in (1, 2)"),
            ("name = 'this is not it'", "name = 'this is not it'"),
            ("a.x > b_avg", "a.x > b_avg"),
            ("", ""),
            ("is", "is"),
        ] {
            assert_eq!(write_operators(condition).trim(), written);
        }
    }
}
