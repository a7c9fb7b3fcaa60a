//! The objects that statements may use whose rows are compared: kinds of nodes, types, aggregates,
//! window functions, and the functions whose result depends on settings that the session of a bench
//! has fixed.

/// The kinds of nodes of an analysed statement, with the names that versions 13 and 14 give some of
/// them.
pub(super) const NODES: &[&str] = &[
    "AGGREF",
    "ALIAS",
    "ARRAY",
    "ARRAYCOERCEEXPR",
    "ARRAYEXPR",
    "BOOLEANTEST",
    "BOOLEXPR",
    "CASE",
    "CASEEXPR",
    "CASETESTEXPR",
    "CASEWHEN",
    "COALESCE",
    "COALESCEEXPR",
    "COERCEVIAIO",
    "COLLATE",
    "COLLATEEXPR",
    "COMMONTABLEEXPR",
    "CONST",
    "DISTINCTEXPR",
    "FROMEXPR",
    "FUNCEXPR",
    "GROUPINGFUNC",
    "GROUPINGSET",
    "JOINEXPR",
    "MINMAX",
    "MINMAXEXPR",
    "NAMEDARGEXPR",
    "NULLIFEXPR",
    "NULLTEST",
    "OPEXPR",
    "PARAM",
    "QUERY",
    "RANGETBLENTRY",
    "RANGETBLREF",
    "RELABELTYPE",
    "ROWCOMPARE",
    "ROWCOMPAREEXPR",
    "RTE",
    "RTEPERMISSIONINFO",
    "SCALARARRAYOPEXPR",
    "SETOPERATIONSTMT",
    "SORTGROUPCLAUSE",
    "SUBLINK",
    "SUBSCRIPTINGREF",
    "TARGETENTRY",
    "VAR",
    "WHEN",
    "WINDOWCLAUSE",
    "WINDOWFUNC",
];

/// The types of results, by their object ids. Their binary forms are compared.
pub(super) const OUTPUTS: &[u32] = &[
    16, 17, 20, 21, 23, 25, 114, 700, 701, 1000, 1001, 1005, 1007, 1009, 1015, 1016, 1042, 1043,
    1082, 1083, 1114, 1115, 1182, 1184, 1185, 1186, 1266, 1700, 2950, 2951, 3802,
];

/// Further types within a statement: those of literals whose type is not decided, and arrays as
/// `IN` makes them.
pub(super) const INNER: &[u32] = &[199, 705, 1014, 1021, 1022, 1183, 1187, 1231, 1270, 3807];

/// Types of dates and times: their input reads words such as `today`.
pub(super) const TIMES: &[u32] = &[1082, 1083, 1114, 1115, 1182, 1183, 1184, 1185, 1266, 1270];

/// The OIDs of `text`, `bpchar` and `varchar`.
pub(super) const TEXTS: &[u32] = &[25, 1042, 1043];

pub(super) const NUMERIC: u32 = 1700;

/// Aggregates whose result does not depend on the order of rows, as far as their numbers are exact.
pub(super) const AGGREGATES: &[&str] = &[
    "avg",
    "bit_and",
    "bit_or",
    "bool_and",
    "bool_or",
    "count",
    "every",
    "max",
    "min",
    "regr_count",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "sum",
    "var_pop",
    "var_samp",
    "variance",
];

/// Aggregates that exist for floating-point numbers alone, whose sums depend on the order of rows.
pub(super) const FLOATING: &[&str] = &[
    "corr",
    "covar_pop",
    "covar_samp",
    "regr_avgx",
    "regr_avgy",
    "regr_intercept",
    "regr_r2",
    "regr_slope",
    "regr_sxx",
    "regr_sxy",
    "regr_syy",
];

/// Window functions that give equal rows the same.
pub(super) const WINDOWS: &[&str] = &["cume_dist", "dense_rank", "percent_rank", "rank"];

/// The operators of equality under which equal values are the same in every respect, by their
/// functions. Texts are among them, since collations that call different texts equal are refused.
pub(super) const IDENTITIES: &[&str] = &[
    "booleq(bool,bool)",
    "byteaeq(bytea,bytea)",
    "date_eq(date,date)",
    "int2eq(int2,int2)",
    "int4eq(int4,int4)",
    "int8eq(int8,int8)",
    "texteq(text,text)",
    "time_eq(time,time)",
    "timestamp_eq(timestamp,timestamp)",
    "timestamptz_eq(timestamptz,timestamptz)",
    "timetz_eq(timetz,timetz)",
    "uuid_eq(uuid,uuid)",
];

/// Equality of values that are the same where their column fixes the digits behind the point, or
/// the length.
pub(super) const FIXED_IDENTITIES: &[&str] =
    &["bpchareq(bpchar,bpchar)", "numeric_eq(numeric,numeric)"];

/// The arguments of `min` and `max` whose equal values need not be the same.
pub(super) const LOOSE_EXTREMES: &[&str] = &["anyarray", "float4", "float8", "interval"];

/// Functions that show how many digits a decimal number has behind the point, or compute as many.
pub(super) const SHOWS_SCALE: &[&str] = &[
    "anytextcat(anynonarray,text)",
    "array_to_json(anyarray)",
    "array_to_json(anyarray,bool)",
    "array_to_string(anyarray,text)",
    "array_to_string(anyarray,text,text)",
    "avg(numeric)",
    "concat(any)",
    "concat_ws(text,any)",
    "div(numeric,numeric)",
    "exp(numeric)",
    "format(text,any)",
    "json_build_array(any)",
    "json_build_object(any)",
    "jsonb_build_array(any)",
    "jsonb_build_object(any)",
    "ln(numeric)",
    "log(numeric)",
    "log(numeric,numeric)",
    "log10(numeric)",
    "numeric_div(numeric,numeric)",
    "numeric_exp(numeric)",
    "numeric_ln(numeric)",
    "numeric_log(numeric,numeric)",
    "numeric_power(numeric,numeric)",
    "numeric_sqrt(numeric)",
    "pow(numeric,numeric)",
    "power(numeric,numeric)",
    "quote_literal(anyelement)",
    "quote_nullable(anyelement)",
    "scale(numeric)",
    "sqrt(numeric)",
    "stddev(numeric)",
    "stddev_pop(numeric)",
    "stddev_samp(numeric)",
    "textanycat(text,anynonarray)",
    "to_char(numeric,text)",
    "to_json(anyelement)",
    "to_jsonb(anyelement)",
    "var_pop(numeric)",
    "var_samp(numeric)",
    "variance(numeric)",
];

/// Functions of the server that depend on settings which every bench has fixed: the time zone, the
/// forms of dates and numbers, the encoding. Those that read the clock are not among them.
pub(super) const STABLE: &[&str] = &[
    "anytextcat(anynonarray,text)",
    "array_to_json(anyarray)",
    "array_to_json(anyarray,bool)",
    "array_to_string(anyarray,text)",
    "array_to_string(anyarray,text,text)",
    "concat(any)",
    "concat_ws(text,any)",
    "convert_from(bytea,name)",
    "convert_to(text,name)",
    "date(timestamptz)",
    "date_cmp_timestamptz(date,timestamptz)",
    "date_eq_timestamptz(date,timestamptz)",
    "date_ge_timestamptz(date,timestamptz)",
    "date_gt_timestamptz(date,timestamptz)",
    "date_le_timestamptz(date,timestamptz)",
    "date_lt_timestamptz(date,timestamptz)",
    "date_ne_timestamptz(date,timestamptz)",
    "date_part(text,timestamptz)",
    "date_trunc(text,timestamptz)",
    "date_trunc(text,timestamptz,text)",
    "extract(text,timestamptz)",
    "format(text)",
    "format(text,any)",
    "interval_pl_timestamptz(interval,timestamptz)",
    "json_build_array()",
    "json_build_array(any)",
    "json_build_object()",
    "json_build_object(any)",
    "jsonb_build_array()",
    "jsonb_build_array(any)",
    "jsonb_build_object()",
    "jsonb_build_object(any)",
    "make_timestamptz(int4,int4,int4,int4,int4,float8)",
    "make_timestamptz(int4,int4,int4,int4,int4,float8,text)",
    "overlaps(timestamptz,interval,timestamptz,interval)",
    "overlaps(timestamptz,interval,timestamptz,timestamptz)",
    "overlaps(timestamptz,timestamptz,timestamptz,interval)",
    "quote_literal(anyelement)",
    "quote_nullable(anyelement)",
    "textanycat(text,anynonarray)",
    "time(timestamptz)",
    "timestamp(timestamptz)",
    "timestamp_cmp_timestamptz(timestamp,timestamptz)",
    "timestamp_eq_timestamptz(timestamp,timestamptz)",
    "timestamp_ge_timestamptz(timestamp,timestamptz)",
    "timestamp_gt_timestamptz(timestamp,timestamptz)",
    "timestamp_le_timestamptz(timestamp,timestamptz)",
    "timestamp_lt_timestamptz(timestamp,timestamptz)",
    "timestamp_ne_timestamptz(timestamp,timestamptz)",
    "timestamptz(date)",
    "timestamptz(date,time)",
    "timestamptz(timestamp)",
    "timestamptz_cmp_date(timestamptz,date)",
    "timestamptz_cmp_timestamp(timestamptz,timestamp)",
    "timestamptz_eq_date(timestamptz,date)",
    "timestamptz_eq_timestamp(timestamptz,timestamp)",
    "timestamptz_ge_date(timestamptz,date)",
    "timestamptz_ge_timestamp(timestamptz,timestamp)",
    "timestamptz_gt_date(timestamptz,date)",
    "timestamptz_gt_timestamp(timestamptz,timestamp)",
    "timestamptz_le_date(timestamptz,date)",
    "timestamptz_le_timestamp(timestamptz,timestamp)",
    "timestamptz_lt_date(timestamptz,date)",
    "timestamptz_lt_timestamp(timestamptz,timestamp)",
    "timestamptz_mi_interval(timestamptz,interval)",
    "timestamptz_ne_date(timestamptz,date)",
    "timestamptz_ne_timestamp(timestamptz,timestamp)",
    "timestamptz_pl_interval(timestamptz,interval)",
    "timetz(timestamptz)",
    "to_char(float4,text)",
    "to_char(float8,text)",
    "to_char(int4,text)",
    "to_char(int8,text)",
    "to_char(interval,text)",
    "to_char(numeric,text)",
    "to_char(timestamp,text)",
    "to_char(timestamptz,text)",
    "to_date(text,text)",
    "to_json(anyelement)",
    "to_jsonb(anyelement)",
    "to_number(text,text)",
    "to_timestamp(text,text)",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_can_be_searched_by_halves() {
        for list in [
            NODES,
            AGGREGATES,
            FLOATING,
            WINDOWS,
            IDENTITIES,
            FIXED_IDENTITIES,
            LOOSE_EXTREMES,
            SHOWS_SCALE,
            STABLE,
        ] {
            assert!(list.is_sorted(), "{list:?}");
        }
        for list in [OUTPUTS, INNER, TIMES, TEXTS] {
            assert!(list.is_sorted(), "{list:?}");
        }
    }
}
