//! A column of a result: the Arrow types that it reads, and how it reads them. Narrow numbers
//! become wide; times, intervals and nested values become texts.

use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Decimal128Builder, Float64Builder, Int64Builder, StringBuilder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Float16Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, ArrayRef, BinaryArray, NullArray, PrimitiveArray};
use arrow_schema::{DataType, Field};
use syrch_core::result_set::SQL_TYPE;

use crate::decimal;
use crate::spelling::{self, Spelled};

/// The most digits of a number without a sign and with 64 bits.
const DIGITS_OF_U64: u8 = 20;
/// The type that PostgreSQL declares for decimal numbers, which its ADBC driver sends as texts.
const NUMERIC: &str = "numeric";
/// The depth limit of a nested type.
const LEVELS: usize = 16;
/// The length limit of a type's name, in bytes.
const NAME: usize = 256;

/// A column under construction.
pub(crate) enum Column {
    Nulls(usize),
    Booleans(BooleanBuilder),
    Integers(Int64Builder),
    Reals(Float64Builder),
    Decimals(Decimal128Builder),
    Texts(StringBuilder),
    /// Decimal numbers as texts.
    Digits(StringBuilder),
    Bytes(BinaryBuilder),
}

/// The cells of a batch that were read, in the type of the column.
pub(crate) struct Read {
    pub(crate) cells: ArrayRef,
    /// The cell after them is larger than a cell may be.
    pub(crate) is_large: bool,
}

/// The name of an Arrow type for people, where the engine gives no SQL type.
pub(crate) fn type_name(data_type: &DataType) -> String {
    let name = match data_type {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => format!("decimal({precision},{scale})"),
        DataType::Dictionary(_, values) => return type_name(values),
        other if is_readable(other, LEVELS) => other.to_string(),
        _ => String::new(),
    };
    syrch_core::text::clip(&name, NAME).to_owned()
}

fn is_readable(data_type: &DataType, levels: usize) -> bool {
    let Some(levels) = levels.checked_sub(1) else { return false };
    match data_type {
        DataType::Union(..)
        | DataType::RunEndEncoded(..)
        | DataType::ListView(_)
        | DataType::LargeListView(_) => false,
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale) => *scale >= 0,
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => is_readable(field.data_type(), levels),
        DataType::Struct(fields) => {
            fields.iter().all(|field| is_readable(field.data_type(), levels))
        }
        DataType::Dictionary(_, values) => is_readable(values, levels) && !values.is_numeric(),
        _ => true,
    }
}

impl Column {
    /// An empty column for this field; `None` where its type cannot be read. Texts that are
    /// declared `numeric` are decimal numbers.
    pub(crate) fn for_field(field: &Field) -> Option<Self> {
        let data_type = field.data_type();
        if !is_readable(data_type, LEVELS) {
            return None;
        }
        Some(match data_type {
            DataType::Null => Self::Nulls(0),
            DataType::Boolean => Self::Booleans(BooleanBuilder::new()),
            DataType::UInt64 => Self::Decimals(decimals(DIGITS_OF_U64, 0)?),
            DataType::Float16 | DataType::Float32 | DataType::Float64 => {
                Self::Reals(Float64Builder::new())
            }
            DataType::Decimal32(precision, scale)
            | DataType::Decimal64(precision, scale)
            | DataType::Decimal128(precision, scale) => {
                Self::Decimals(decimals(*precision, *scale)?)
            }
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => Self::Bytes(BinaryBuilder::new()),
            whole if whole.is_integer() => Self::Integers(Int64Builder::new()),
            DataType::Utf8
                if field.metadata().get(SQL_TYPE).is_some_and(|declared| declared == NUMERIC) =>
            {
                Self::Digits(StringBuilder::new())
            }
            _ => Self::Texts(StringBuilder::new()),
        })
    }

    /// Reads the first cells of a batch and adds their sizes to those of their rows. It ends before
    /// a cell that is too large, and when its texts have more bytes than `budget`. `None` for an
    /// array of another type.
    pub(crate) fn read(
        &self,
        array: &ArrayRef,
        sizes: &mut [usize],
        cell: usize,
        budget: usize,
    ) -> Option<Read> {
        let array = array.slice(0, sizes.len());
        fn read_whole(cells: ArrayRef) -> Option<Read> {
            Some(Read { cells, is_large: false })
        }
        match self {
            Self::Nulls(_) => read_whole(Arc::new(NullArray::new(sizes.len()))),
            Self::Booleans(_) => {
                sizes.iter_mut().for_each(|size| *size += 1);
                array.as_boolean_opt()?;
                read_whole(array)
            }
            Self::Integers(_) => {
                add_width::<Int64Type>(sizes);
                read_whole(integers(&array)?)
            }
            Self::Reals(_) => {
                add_width::<Float64Type>(sizes);
                read_whole(reals(&array)?)
            }
            Self::Decimals(_) => {
                add_width::<Decimal128Type>(sizes);
                read_whole(to_decimal128(&array)?)
            }
            Self::Texts(_) | Self::Digits(_) => match array.as_string_opt::<i32>() {
                Some(texts) => {
                    let (end, is_large) = add_lengths(
                        sizes,
                        texts.iter().map(|text| text.map(str::len)),
                        cell,
                        budget,
                    );
                    Some(Read { cells: array.slice(0, end), is_large })
                }
                None => {
                    let Spelled { texts, is_large } = spelling::spell(&array, cell, budget)?;
                    add_lengths(sizes, texts.iter().map(|text| text.map(str::len)), cell, budget);
                    Some(Read { cells: Arc::new(texts), is_large })
                }
            },
            Self::Bytes(_) => bytes(&array, sizes, cell, budget),
        }
    }

    /// Takes the first rows of what was read. `None` if that is of another type, or too much.
    pub(crate) fn append(&mut self, cells: &ArrayRef, rows: usize) -> Option<()> {
        let cells = cells.slice(0, rows);
        match self {
            Self::Nulls(count) => *count += rows,
            Self::Booleans(builder) => builder.append_array(cells.as_boolean_opt()?),
            Self::Integers(builder) => builder.append_array(cells.as_primitive_opt()?),
            Self::Reals(builder) => builder.append_array(cells.as_primitive_opt()?),
            Self::Decimals(builder) => {
                // Precision and scale are those of the first batch: all have one schema.
                cells
                    .as_primitive_opt::<Decimal128Type>()?
                    .iter()
                    .for_each(|cell| builder.append_option(cell));
            }
            Self::Texts(builder) | Self::Digits(builder) => {
                builder.append_array(cells.as_string_opt()?).ok()?
            }
            Self::Bytes(builder) => builder.append_array(cells.as_binary_opt()?).ok()?,
        }
        Some(())
    }

    pub(crate) fn finish(self) -> ArrayRef {
        match self {
            Self::Nulls(count) => Arc::new(NullArray::new(count)),
            Self::Booleans(mut cells) => Arc::new(cells.finish()),
            Self::Integers(mut cells) => Arc::new(cells.finish()),
            Self::Reals(mut cells) => Arc::new(cells.finish()),
            Self::Decimals(mut cells) => Arc::new(cells.finish()),
            Self::Texts(mut cells) => Arc::new(cells.finish()),
            Self::Digits(mut cells) => decimal::decimals(cells.finish()),
            Self::Bytes(mut cells) => Arc::new(cells.finish()),
        }
    }
}

fn decimals(precision: u8, scale: i8) -> Option<Decimal128Builder> {
    Decimal128Builder::new().with_precision_and_scale(precision, scale).ok()
}

fn add_width<T: ArrowPrimitiveType>(sizes: &mut [usize]) {
    sizes.iter_mut().for_each(|size| *size += size_of::<T::Native>());
}

/// Adds lengths to the sizes of their rows, and returns how many cells may be read and whether the
/// one after them is too large. Rows from there on fit in no result.
fn add_lengths(
    sizes: &mut [usize],
    lengths: impl Iterator<Item = Option<usize>>,
    cell: usize,
    budget: usize,
) -> (usize, bool) {
    let mut end = 0;
    let mut bytes = 0_usize;
    let mut is_large = false;
    for (size, length) in sizes.iter_mut().zip(lengths) {
        let length = length.unwrap_or(0);
        bytes = bytes.saturating_add(length);
        is_large = length > cell;
        if is_large || bytes > budget {
            break;
        }
        *size += length;
        end += 1;
    }
    sizes[end..].fill(usize::MAX / 2);
    (end, is_large)
}

fn widen_array<T: ArrowPrimitiveType, W: ArrowPrimitiveType>(
    array: &ArrayRef,
    widen: impl Fn(T::Native) -> W::Native,
) -> Option<ArrayRef> {
    let widened: PrimitiveArray<W> = array.as_primitive_opt::<T>()?.unary(widen);
    Some(Arc::new(widened))
}

fn integers(array: &ArrayRef) -> Option<ArrayRef> {
    match array.data_type() {
        DataType::Int64 => Some(Arc::clone(array)),
        DataType::Int8 => widen_array::<Int8Type, Int64Type>(array, i64::from),
        DataType::Int16 => widen_array::<Int16Type, Int64Type>(array, i64::from),
        DataType::Int32 => widen_array::<Int32Type, Int64Type>(array, i64::from),
        DataType::UInt8 => widen_array::<UInt8Type, Int64Type>(array, i64::from),
        DataType::UInt16 => widen_array::<UInt16Type, Int64Type>(array, i64::from),
        DataType::UInt32 => widen_array::<UInt32Type, Int64Type>(array, i64::from),
        _ => None,
    }
}

fn reals(array: &ArrayRef) -> Option<ArrayRef> {
    match array.data_type() {
        DataType::Float64 => Some(Arc::clone(array)),
        // By its shortest spelling: 0.1 is to stay 0.1.
        DataType::Float32 => widen_array::<Float32Type, Float64Type>(array, |value| {
            value.to_string().parse().unwrap_or_else(|_| f64::from(value))
        }),
        DataType::Float16 => widen_array::<Float16Type, Float64Type>(array, f64::from),
        _ => None,
    }
}

fn to_decimal128(array: &ArrayRef) -> Option<ArrayRef> {
    match array.data_type() {
        DataType::Decimal128(..) => Some(Arc::clone(array)),
        DataType::Decimal64(..) => widen_array::<Decimal64Type, Decimal128Type>(array, i128::from),
        DataType::Decimal32(..) => widen_array::<Decimal32Type, Decimal128Type>(array, i128::from),
        DataType::UInt64 => widen_array::<UInt64Type, Decimal128Type>(array, i128::from),
        _ => None,
    }
}

fn bytes(array: &ArrayRef, sizes: &mut [usize], cell: usize, budget: usize) -> Option<Read> {
    let mut gathered = |cells: &mut dyn Iterator<Item = Option<&[u8]>>| {
        let cells: Vec<Option<&[u8]>> = cells.collect();
        let (end, is_large) =
            add_lengths(sizes, cells.iter().map(|cell| cell.map(<[u8]>::len)), cell, budget);
        let cells: BinaryArray = cells.into_iter().take(end).collect();
        Some(Read { cells: Arc::new(cells), is_large })
    };
    match array.data_type() {
        DataType::Binary => gathered(&mut array.as_binary::<i32>().iter()),
        DataType::LargeBinary => gathered(&mut array.as_binary::<i64>().iter()),
        DataType::BinaryView => gathered(&mut array.as_binary_view().iter()),
        DataType::FixedSizeBinary(_) => gathered(&mut array.as_fixed_size_binary().iter()),
        _ => None,
    }
}
