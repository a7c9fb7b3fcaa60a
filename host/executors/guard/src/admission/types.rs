//! The types that a statement may name: those of the engine that hold plain values, and structures
//! of them.

use sqlparser::ast::{
    ArrayElemTypeDef, CharacterLength, DataType, ExactNumberInfo, Ident, ObjectName,
    ObjectNamePart, StructField, TimezoneInfo,
};
use sqlparser::tokenizer::Span;
use syrch_core::{SqlError, SqlErrorKind};

use super::Walk;
use super::rules::Form;

/// Characters of a padded type.
const LONGEST: u64 = 10_000;

impl Walk<'_> {
    /// Accepts the types that are listed here, and refuses all others.
    pub(super) fn admit_data_type(&self, data_type: &mut DataType) -> Result<(), SqlError> {
        use DataType as T;
        let is_listed = match &mut *data_type {
            T::Custom(name, modifiers) => return self.admit_custom_type(name, modifiers),
            T::Array(ArrayElemTypeDef::AngleBracket(element))
                if self.rules.has(Form::Structures) =>
            {
                return self.admit_data_type(element);
            }
            T::Map(key, value, _) if self.rules.has(Form::Structures) => {
                self.admit_data_type(key)?;
                return self.admit_data_type(value);
            }
            T::Struct(fields, _) if self.rules.has(Form::Structures) => {
                for StructField { field_name, field_type, options } in fields {
                    self.absent(options.is_none(), "OPTIONS")?;
                    field_name.as_mut().map_or(Ok(()), |name| self.quote_ident(name))?;
                    self.admit_data_type(field_type)?;
                }
                return Ok(());
            }
            T::Array(
                ArrayElemTypeDef::SquareBracket(element, _)
                | ArrayElemTypeDef::Qualified(element, _),
            ) => {
                return self.admit_data_type(element);
            }
            T::Character(length) | T::Char(length) => match length {
                None => true,
                Some(CharacterLength::IntegerLength { length, unit }) => {
                    *length <= LONGEST && unit.is_none()
                }
                Some(CharacterLength::Max) => false,
            },
            T::CharacterVarying(length) | T::CharVarying(length) | T::Varchar(length) => {
                !matches!(length, Some(CharacterLength::Max))
            }
            T::Bit(length) | T::BitVarying(length) | T::VarBit(length) => {
                length.is_none_or(|length| length <= LONGEST)
            }
            T::Numeric(info)
            | T::Decimal(info)
            | T::Dec(info)
            | T::Float(info)
            | T::Double(info) => match info {
                ExactNumberInfo::None
                | ExactNumberInfo::Precision(_)
                | ExactNumberInfo::PrecisionAndScale(..) => true,
            },
            T::Time(_, zone) | T::Timestamp(_, zone) => match zone {
                TimezoneInfo::None
                | TimezoneInfo::WithTimeZone
                | TimezoneInfo::WithoutTimeZone
                | TimezoneInfo::Tz => true,
            },
            T::SmallInt(None)
            | T::Int(None)
            | T::Int2(None)
            | T::Int4(None)
            | T::Int8(None)
            | T::Integer(None)
            | T::BigInt(None) => true,
            T::Uuid
            | T::Float4
            | T::Float8
            | T::Real
            | T::DoublePrecision
            | T::Bool
            | T::Boolean
            | T::Date
            | T::Interval { fields: _, precision: _ }
            | T::JSON
            | T::JSONB
            | T::Text
            | T::Bytea
            | T::TsVector
            | T::TsQuery
            | T::GeometricType(_) => true,
            // Whatever else the parser knows is of some engines only, or resolves names.
            other => {
                let name = other.to_string().to_lowercase();
                !self.rules.is_postgres() && self.rules.types.has(&name)
            }
        };
        if is_listed { Ok(()) } else { Err(self.type_error(&data_type.to_string())) }
    }

    fn admit_custom_type(
        &self,
        name: &mut ObjectName,
        modifiers: &[String],
    ) -> Result<(), SqlError> {
        let shown = name.to_string();
        let parts = self.admit_object_name(name)?;
        let plain = match parts[..] {
            [plain] => plain,
            ["pg_catalog", plain] if self.rules.is_postgres() => plain,
            _ => return Err(self.type_error(&shown)),
        };
        let plain = plain.to_ascii_lowercase();
        if !self.rules.types.has(&plain)
            || !modifiers
                .iter()
                .all(|modifier: &String| modifier.bytes().all(|byte| byte.is_ascii_digit()))
            || !modifiers.iter().all(|modifier: &String| {
                modifier.parse().is_ok_and(|length: u64| length <= LONGEST)
            })
        {
            return Err(self.type_error(&shown));
        }
        // Unquoted, since `"decimal"` is no type where `decimal` is one.
        *name = ObjectName(vec![ObjectNamePart::Identifier(Ident::new(plain))]);
        Ok(())
    }

    fn type_error(&self, shown: &str) -> SqlError {
        let message = format!(
            "type `{}` is refused: it is not among those that statements may use",
            syrch_core::text::clip(shown, 64)
        );
        self.refuse(SqlErrorKind::Denied, "type", message, Span::empty())
    }
}
