//! Definitions of other tools and what becomes of them.

use super::*;

fn translate(text: &str) -> Imported {
    let imported = import(text).unwrap();
    assert_eq!(imported.problems, [], "{}", imported.text);
    imported
}

/// The text without its first lines, which are comments.
fn body(imported: &Imported) -> String {
    imported
        .text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| format!("{line}\n"))
        .collect()
}

const DBT: &str = r#"
semantic_models:
  - name: orders
    description: One row per order.
    model: ref('fct_orders')
    defaults:
      agg_time_dimension: ordered_at
    entities:
      - {name: order, type: primary, expr: order_id}
      - {name: customer, type: foreign, expr: customer_id}
      - {name: shop, type: foreign, expr: shop_id}
    dimensions:
      - {name: ordered_at, type: time, type_params: {time_granularity: day}}
      - {name: status, type: categorical, expr: order_status, label: Order state}
      - {name: is_large, type: categorical, expr: case when amount > 100 then true else false end}
      - {name: bad, type: categorical, expr: "(select 1)"}
    measures:
      - {name: amount, agg: sum}
      - {name: order_count, agg: count, expr: 1}
      - {name: large_orders, agg: sum_boolean, expr: amount > 100}
      - {name: buyers, agg: count_distinct, expr: customer_id, create_metric: true, label: Buyers}
      - {name: median_amount, agg: median, expr: amount}
      - {name: balance, agg: sum, expr: amount, non_additive_dimension: {name: ordered_at}}
  - name: customers
    model: source('crm', 'customers')
    entities:
      - {name: customer, type: primary, expr: id}
    dimensions:
      - {name: country, type: categorical}
metrics:
  - name: revenue
    label: Revenue
    type: simple
    type_params: {measure: amount}
    filter: |
      {{ Dimension('order__status') }} = 'completed'
      and {{ Dimension('customer__country') }} <> 'XX'
  - name: orders
    label: Number of orders
    type: simple
    type_params: {measure: {name: order_count}}
  - {name: average_order_value, type: ratio, type_params: {numerator: revenue, denominator: orders}}
  - name: revenue_per_buyer
    type: derived
    type_params:
      expr: r / buyers
      metrics: [{name: revenue, alias: r}, {name: buyers}]
  - name: growth
    type: derived
    type_params:
      expr: r - before
      metrics: [{name: revenue, alias: r}, {name: revenue, alias: before, offset_window: 1 month}]
  - {name: so_far, type: cumulative, type_params: {measure: amount}}
  - {name: middle, type: simple, type_params: {measure: median_amount}}
  - name: by_entity
    type: simple
    type_params: {measure: amount}
    filter: "{{ Entity('order') }} > 1"
"#;

#[test]
fn filters_of_dbt_are_read_in_full_or_not_at_all() {
    let start = DBT.find("metrics:").unwrap();
    fn metric(name: &str, filter: &str) -> String {
        format!(
            "  - name: {name}\n    type: simple\n    type_params: {{measure: amount}}\n    filter: \
             \"{filter}\"\n"
        )
    }
    let text = [
        DBT[..start].to_owned(),
        "metrics:\n".to_owned(),
        metric("large", "{{ Dimension('order__is_large') }} = true"),
        metric("recent", "{{ Dimension('order__ordered_at') }} >= '2024-01-01'"),
        metric("until", "{{ TimeDimension('order__ordered_at', 'month') }} <= '2024-03-01'"),
        metric("since", "{{ Dimension('order__ordered_at').grain('month') }} >= '2024-01-01'"),
        metric("odd", "{{ Dimension('order__bad') }} = 1"),
        "  - {name: rate, type: ratio, type_params: {numerator: until, denominator: recent}}\n"
            .to_owned(),
        "  - name: percent\n    type: derived\n    type_params:\n      expr: 100 * rate\n      \
         metrics: [{name: rate}]\n"
            .to_owned(),
    ]
    .concat();
    let imported = translate(&text);
    for line in [
        "filter: \"(CASE WHEN orders.amount > 100 THEN true ELSE false END) = true\"",
        "filter: \"orders.ordered_at >= '2024-01-01'\"",
    ] {
        assert!(imported.text.contains(line), "{}", imported.text);
    }
    let left_out = imported.left_out.join("\n");
    for expected in [
        "metric `until`: `{{ TimeDimension('order__ordered_at', 'month') }}` in a filter has no",
        "metric `since`: `{{ Dimension('order__ordered_at').grain('month') }}` in a filter has no",
        "metric `odd`: `a subquery` may not stand here",
        "metric `rate`: it is made of `until`, which is no metric here",
        "metric `percent`: it is made of `rate`, which is no metric here",
    ] {
        assert!(left_out.contains(expected), "{expected}\n{left_out}");
    }
}

#[test]
fn dbt_models_and_metrics_become_a_file() {
    let imported = translate(DBT);
    assert_eq!(
        body(&imported),
        r#"
tables:
  orders:
    source: fct_orders
    key: order_id
    time: ordered_at
    description: One row per order.
    dimensions:
      ordered_at:
        type: time
      status:
        expression: order_status
        synonyms: [Order state]
      is_large:
        expression: "case when amount > 100 then true else false end"
  customers:
    source: crm.customers
    key: id
    dimensions:
      country:

joins:
  - {from: orders.customer_id, to: customers.id}

metrics:
  revenue:
    measure: sum(amount)
    table: orders
    filter: "orders.order_status = 'completed' and customers.country <> 'XX'"
  orders:
    measure: count(*)
    table: orders
    synonyms: [Number of orders]
  average_order_value:
    ratio: [revenue, orders]
  revenue_per_buyer:
    derived: revenue / buyers
  buyers:
    measure: count(distinct customer_id)
    table: orders
"#
    );
    let left_out = imported.left_out.join("\n");
    for expected in [
        "dimension `orders.bad`: `a subquery` may not stand here",
        "entity `shop` of `orders`: no other model has it as its primary entity",
        "metric `growth`: the offset of `revenue` has no counterpart",
        "metric `so_far`: metrics of the type `cumulative` have no counterpart",
        "metric `middle`: the aggregation `median` has no counterpart",
        "metric `by_entity`: `{{ Entity('order') }}` in a filter has no counterpart",
        "measure `balance`: no metric uses it",
        "measure `large_orders`: no metric uses it",
    ] {
        assert!(left_out.contains(expected), "{expected}\n{left_out}");
    }
    assert_eq!(imported.left_out.len(), 8, "{left_out}");
}

const WREN: &str = r#"{
  "catalog": "c", "schema": "s", "dataSource": "POSTGRES",
  "models": [
    {
      "name": "Orders", "tableReference": {"schema": "sales", "table": "orders"},
      "primaryKey": "orderkey",
      "columns": [
        {"name": "orderkey", "type": "INTEGER"},
        {"name": "custkey", "type": "INTEGER"},
        {"name": "orderdate", "type": "DATE", "properties": {"displayName": "Day of order"}},
        {"name": "status", "type": "VARCHAR", "expression": "o_status"},
        {"name": "customer", "type": "Customer", "relationship": "CustomerOrders"},
        {"name": "customer_name", "type": "VARCHAR", "isCalculated": true,
         "expression": "customer.name"},
        {"name": "secret", "type": "VARCHAR", "isHidden": true}
      ],
      "properties": {"description": "Orders of customers."}
    },
    {
      "name": "Customer", "tableReference": {"table": "customer"}, "primaryKey": "custkey",
      "columns": [{"name": "custkey", "type": "INTEGER"}, {"name": "name", "type": "VARCHAR"}]
    },
    {"name": "Summary", "refSql": "select 1", "columns": []}
  ],
  "relationships": [
    {"name": "CustomerOrders", "models": ["Customer", "Orders"], "joinType": "ONE_TO_MANY",
     "condition": "Customer.custkey = Orders.custkey"},
    {"name": "Odd", "models": ["Customer", "Orders"], "joinType": "MANY_TO_MANY",
     "condition": "a = b"}
  ],
  "metrics": [
    {"name": "Revenue", "baseObject": "Orders",
     "dimension": [{"name": "status", "type": "VARCHAR"}],
     "measure": [{"name": "totalprice", "type": "DOUBLE", "expression": "sum(o_totalprice)"}]}
  ],
  "cubes": [
    {"name": "order_metrics", "baseObject": "Orders",
     "measures": [
       {"name": "turnover", "expression": "SUM(o_totalprice)", "type": "DOUBLE"},
       {"name": "order_count", "expression": "COUNT(*)", "type": "BIGINT"},
       {"name": "aov", "expression": "turnover / order_count", "type": "DOUBLE"},
       {"name": "typical", "expression": "MEDIAN(o_totalprice)", "type": "DOUBLE"}
     ]}
  ],
  "views": [{"name": "v", "statement": "select 1"}]
}"#;

#[test]
fn columns_of_a_manifest_with_other_names_are_those_of_the_table() {
    let imported = translate(
        r#"{"models": [
            {"name": "orders", "tableReference": {"table": "o"}, "primaryKey": "id", "columns": [
                {"name": "id", "type": "INTEGER", "expression": "o_id"},
                {"name": "buyer", "type": "INTEGER", "expression": "o_custkey"},
                {"name": "price", "type": "DOUBLE", "expression": "o_price"},
                {"name": "o_id", "type": "INTEGER"}]},
            {"name": "customers", "tableReference": {"table": "c"}, "primaryKey": "key",
                "columns": [{"name": "key", "type": "INTEGER", "expression": "c_key"}]}],
          "relationships": [{"name": "r", "models": ["orders", "customers"],
            "joinType": "MANY_TO_ONE", "condition": "orders.buyer = customers.key"}],
          "cubes": [{"name": "sales", "baseObject": "orders",
            "measures": [{"name": "revenue", "expression": "sum(price * 2)"}]}]}"#,
    );
    for line in [
        "key: o_id\n",
        "key: c_key\n",
        "{from: orders.o_custkey, to: customers.c_key}",
        "measure: sum(o_price * 2)",
    ] {
        assert!(imported.text.contains(line), "{}", imported.text);
    }
}

#[test]
fn a_manifest_of_wrenai_becomes_a_file() {
    let imported = translate(WREN);
    assert_eq!(
        body(&imported),
        "
tables:
  Orders:
    source: sales.orders
    key: orderkey
    time: orderdate
    description: Orders of customers.
    dimensions:
      custkey:
      orderdate:
        type: time
        synonyms: [Day of order]
      status:
        expression: o_status
  Customer:
    source: customer
    key: custkey
    dimensions:
      name:

joins:
  - {from: Orders.custkey, to: Customer.custkey}

metrics:
  totalprice:
    measure: sum(o_totalprice)
    table: Orders
  turnover:
    measure: SUM(o_totalprice)
    table: Orders
  order_count:
    measure: COUNT(*)
    table: Orders
  aov:
    derived: turnover / order_count
"
    );
    let left_out = imported.left_out.join("\n");
    for expected in [
        "model `Summary`: it is a statement",
        "dimension `Orders.customer_name`: `customer` is another table",
        "relationship `Odd`: joins of the type `MANY_TO_MANY` repeat rows",
        "measure `order_metrics.typical`: a measure is one aggregate",
        "`v` of `views`: a view is a statement",
    ] {
        assert!(left_out.contains(expected), "{expected}\n{left_out}");
    }
    assert_eq!(imported.left_out.len(), 5, "{left_out}");
}

#[test]
fn other_files_are_refused_with_the_reason() {
    for (text, expected) in [
        ("a: 1", "has neither dbt's"),
        ("- 1", "is no mapping"),
        ("{", "is no JSON"),
        ("a: [", "is no YAML"),
        ("models: [{name: a, semantic_model: {enabled: true}}]", "latest specification"),
    ] {
        let reason = import(text).unwrap_err();
        assert!(reason.contains(expected), "{text}: {reason}");
    }
}

#[test]
fn hostile_definitions_become_nothing_or_comments() {
    let text = r#"
semantic_models:
  - name: "a\e[2J"
    model: ref('x')
    measures:
      - {name: m, agg: sum, expr: "1); drop table x; --", create_metric: true}
"#;
    let imported = import(text).unwrap();
    assert!(!imported.text.contains('\u{1b}'), "{}", imported.text);
    assert!(imported.left_out.iter().any(|line| line.starts_with("measure `m`: ")), "{imported:?}");
    assert!(!imported.text.contains("measure:"), "{}", imported.text);
}
