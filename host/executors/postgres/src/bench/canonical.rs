//! Cells as bytes that are equal exactly when the values are: the server's binary form, without
//! what it repeats. Decimal numbers lose the digits behind the point that are only shown, JSON
//! texts the space between their tokens.

use tokio_postgres::types::Type;

use super::lists;

/// The bytes of a cell; `None` where the server sent what the type does not have, or the type is
/// not one that is compared.
pub(super) fn cell(of: &Type, raw: &[u8], into: &mut Vec<u8>) -> Option<()> {
    match *of {
        Type::NUMERIC => numeric(raw, into),
        Type::JSON => json(raw, into),
        // The version of the form, then the text, whose keys are sorted and whose numbers have all
        // their digits.
        Type::JSONB => into.extend_from_slice(raw.strip_prefix(&[1])?),
        Type::FLOAT4 => {
            let number = f32::from_be_bytes(raw.try_into().ok()?);
            let number = if number.is_nan() { f32::NAN } else { number };
            into.extend(number.to_bits().to_be_bytes());
        }
        Type::FLOAT8 => {
            let number = f64::from_be_bytes(raw.try_into().ok()?);
            let number = if number.is_nan() { f64::NAN } else { number };
            into.extend(number.to_bits().to_be_bytes());
        }
        _ if is_array(of) => return array(raw, into),
        _ if lists::OUTPUTS.binary_search(&of.oid()).is_ok() => into.extend_from_slice(raw),
        _ => return None,
    }
    Some(())
}

fn is_array(of: &Type) -> bool {
    matches!(of.kind(), tokio_postgres::types::Kind::Array(_))
        && lists::OUTPUTS.binary_search(&of.oid()).is_ok()
}

/// A decimal number: 16 bits each for how many groups of four digits there are, the exponent of the
/// first, the sign, the digits that are shown behind the point, then the groups. Zeros at either
/// end do not change the value.
fn numeric(raw: &[u8], into: &mut Vec<u8>) {
    let mut words = raw.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
    let _ = words.next();
    let weight = words.next();
    let sign = words.next();
    let _ = words.next();
    let groups: Vec<u16> = words.collect();
    let mut weight = i32::from(weight.unwrap_or_default().cast_signed());
    let sign = sign.unwrap_or_default();
    let first = groups.iter().position(|group| *group != 0).unwrap_or(groups.len());
    let last = groups.iter().rposition(|group| *group != 0).map_or(first, |last| last + 1);
    weight -= i32::try_from(first).unwrap_or(i32::MAX);
    // Neither zero nor a number that is not finite has an exponent.
    if first == last {
        weight = 0;
    }
    into.extend(sign.to_be_bytes());
    into.extend(weight.to_be_bytes());
    into.extend(groups[first..last].iter().flat_map(|group| group.to_be_bytes()));
}

/// A JSON text without the space between its tokens. Keys stay as they are, also those that occur
/// twice.
fn json(raw: &[u8], into: &mut Vec<u8>) {
    let mut is_string = false;
    let mut is_escaped = false;
    for byte in raw {
        if is_string {
            into.push(*byte);
            is_string = is_escaped || *byte != b'"';
            is_escaped = !is_escaped && *byte == b'\\';
        } else if !byte.is_ascii_whitespace() {
            into.push(*byte);
            is_string = *byte == b'"';
        }
    }
}

/// An array: 32 bits each for the number of its dimensions, whether it may have a NULL, and the
/// type of its elements; for each dimension its length and first index; then the elements with
/// their lengths. All of it counts but the second, which does not change the elements.
fn array(raw: &[u8], into: &mut Vec<u8>) -> Option<()> {
    let (dimensions, rest) = raw.split_at_checked(4)?;
    let (_, rest) = rest.split_at_checked(4)?;
    into.extend_from_slice(dimensions);
    into.extend_from_slice(rest);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical_bytes(data_type: &Type, raw: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        cell(data_type, raw, &mut bytes).unwrap();
        bytes
    }

    fn words(words: &[u16]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn decimal_numbers_are_their_digits() {
        fn number(raw: &[u16]) -> Vec<u8> {
            canonical_bytes(&Type::NUMERIC, &words(raw))
        }
        // 1, 1.0000 and 1.00 with a group of zeros.
        let one = number(&[1, 0, 0, 0, 1]);
        assert_eq!(one, number(&[1, 0, 0, 4, 1]));
        assert_eq!(one, number(&[2, 0, 0, 2, 1, 0]));
        assert_eq!(one, number(&[2, 1, 0, 0, 0, 1]));
        // 10000, -1, 0.0001, NaN.
        for other in
            [&[1, 1, 0, 0, 1][..], &[1, 0, 0x4000, 0, 1], &[1, 0xffff, 0, 4, 1], &[0, 0, 0xc000, 0]]
        {
            assert_ne!(one, number(other), "{other:?}");
        }
        assert_eq!(number(&[0, 0, 0, 0]), number(&[0, 3, 0, 9]));
    }

    #[test]
    fn floating_point_numbers_are_their_bits_with_one_nan() {
        fn real(number: f64) -> Vec<u8> {
            canonical_bytes(&Type::FLOAT8, &number.to_be_bytes())
        }
        assert_eq!(real(f64::NAN), real(-f64::NAN));
        assert_ne!(real(0.0), real(-0.0));
        assert_ne!(real(0.1 + 0.2), real(0.3));
        fn small(number: f32) -> Vec<u8> {
            canonical_bytes(&Type::FLOAT4, &number.to_be_bytes())
        }
        assert_eq!(small(f32::NAN), small(-f32::NAN));
        assert_ne!(small(0.0), small(-0.0));
    }

    #[test]
    fn json_loses_space_between_tokens_alone() {
        fn json(text: &str) -> String {
            String::from_utf8(canonical_bytes(&Type::JSON, text.as_bytes())).unwrap()
        }
        assert_eq!(
            json("{ \"a b\" :\n1.0, \"a b\": \"\\\" } \\\\\" , \"c\": [ ] }"),
            "{\"a b\":1.0,\"a b\":\"\\\" } \\\\\",\"c\":[]}"
        );
        assert_ne!(json("1.00000000000000000001"), json("1.0"));
        let mut none = Vec::new();
        assert!(
            cell(&Type::JSONB, b"\x02{}", &mut none).is_none()
                && cell(&Type::POINT, &[0; 16], &mut none).is_none()
        );
    }

    #[test]
    fn arrays_are_compared_with_their_bounds() {
        fn array(raw: &[u32]) -> Vec<u8> {
            canonical_bytes(
                &Type::INT4_ARRAY,
                &raw.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<_>>(),
            )
        }
        let one = array(&[1, 0, 23, 1, 1, 4, 7]);
        assert_eq!(one, array(&[1, 1, 23, 1, 1, 4, 7]));
        for other in [
            &[1, 0, 23, 1, 2, 4, 7][..],
            &[1, 0, 23, 1, 1, 4, 8],
            &[1, 1, 23, 1, 1, u32::MAX],
            &[0, 0, 23],
        ] {
            assert_ne!(one, array(other), "{other:?}");
        }
    }
}
