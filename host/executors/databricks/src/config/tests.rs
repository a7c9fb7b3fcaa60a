//! Addresses and variables: what they mean, what is wrong in them, and who gets the credentials.

use super::*;

fn config(url: &str, variables: &[(&str, &str)]) -> DatabricksConfig {
    let mut config = DatabricksConfig::new(url);
    config.variables =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    config
}

fn describe_credentials(credentials: &Credentials) -> String {
    match credentials {
        Credentials::Token(token) => format!("token {}", token.expose_secret()),
        Credentials::Client { token_url, id, secret, scope, in_body } => {
            format!("{id}:{} at {token_url} for {scope}, {in_body}", secret.expose_secret())
        }
        Credentials::None(why) => format!("none: {why}"),
    }
}

const TOKEN: (&str, &str) = ("DATABRICKS_TOKEN", "dapi-sesame");

#[test]
fn an_address_names_host_warehouse_catalog_and_schema() {
    let url = "databricks://token:da%2Fpi@adb-1.2.azuredatabricks.net/sql/1.0/warehouses/\
               ab12?catalog=main&schema=my%20shop";
    let mut given = config(url, &[TOKEN, ("DATABRICKS_SCHEMA", "other")]);
    given.is_on_command_line = true;
    let one = target(&given).unwrap();
    assert_eq!(one.base.as_str(), "https://adb-1.2.azuredatabricks.net/");
    assert_eq!(
        (one.warehouse.as_str(), one.catalog.as_deref(), one.schema.as_deref()),
        ("ab12", Some("main"), Some("my shop"))
    );
    assert_eq!(
        (describe_credentials(&one.credentials), one.warnings.len()),
        ("token da/pi".to_owned(), 1)
    );
    assert_eq!(
        one.display_address(),
        "databricks://adb-1.2.azuredatabricks.net/sql/1.0/warehouses/ab12"
    );
    let local = target(&config(
        "databricks://127.0.0.1:8080/sql/1.0/endpoints/e?disposition=inline",
        &[TOKEN],
    ))
    .unwrap();
    assert_eq!((local.base.as_str(), local.is_inline), ("http://127.0.0.1:8080/", true));
    assert_eq!(local.display_address(), "databricks://127.0.0.1:8080/sql/1.0/warehouses/e");
}

#[test]
fn what_an_address_leaves_out_comes_from_variables() {
    for host in ["https://h.example/", "h.example"] {
        for (path, value) in
            [("DATABRICKS_HTTP_PATH", "/sql/1.0/warehouses/w1"), ("DATABRICKS_WAREHOUSE_ID", "w1")]
        {
            let variables =
                [("DATABRICKS_HOST", host), (path, value), TOKEN, ("DATABRICKS_CATALOG", "c")];
            let one = target(&config("databricks:", &variables)).unwrap();
            assert_eq!(
                (one.base.as_str(), one.warehouse.as_str(), one.catalog.as_deref()),
                ("https://h.example/", "w1", Some("c"))
            );
        }
    }
    let old = [
        ("DATABRICKS_SERVER_HOSTNAME", "h.example"),
        ("DATABRICKS_HTTP_PATH", "sql/1.0/warehouses/w1"),
        TOKEN,
    ];
    assert_eq!(target(&config("databricks://", &old)).unwrap().base.as_str(), "https://h.example/");
}

#[test]
fn each_kind_of_credentials_has_its_variables() {
    let url = "databricks://h.example/sql/1.0/warehouses/w";
    let client = [("DATABRICKS_CLIENT_ID", "me"), ("DATABRICKS_CLIENT_SECRET", "s1")];
    let azure = [("ARM_TENANT_ID", "t-1"), ("ARM_CLIENT_ID", "az"), ("ARM_CLIENT_SECRET", "s2")];
    let of = |variables: &[&[(&str, &str)]]| {
        describe_credentials(&target(&config(url, &variables.concat())).unwrap().credentials)
    };
    let machine = "me:s1 at https://h.example/oidc/v1/token for all-apis, false";
    fn principal(id: &str) -> String {
        format!(
            "{id} at https://login.microsoftonline.com/t-1/oauth2/v2.0/token for \
             {AZURE_SCOPE}, true"
        )
    }
    assert_eq!(of(&[&[TOKEN], &client, &azure]), "token dapi-sesame");
    assert_eq!(of(&[&client, &azure]), machine);
    assert_eq!(of(&[&azure]), principal("az:s2"));
    assert_eq!(of(&[&[TOKEN, ("DATABRICKS_AUTH_TYPE", "databricks-oauth")], &client]), machine);
    let old = [("DATABRICKS_AUTH_TYPE", "azure"), ("AZURE_TENANT_ID", "t-1")];
    assert_eq!(of(&[&old, &client]), principal("me:s1"));
}

#[test]
fn credentials_of_variables_go_to_hosts_that_the_user_names() {
    let url = "databricks://h.example/sql/1.0/warehouses/w";
    fn send(url: &str, variables: &[(&str, &str)]) -> String {
        let mut config = config(url, variables);
        config.is_untrusted = true;
        describe_credentials(&target(&config).unwrap().credentials)
    }
    assert!(send(url, &[TOKEN]).starts_with("none: "));
    assert!(send(url, &[TOKEN, ("DATABRICKS_HOST", "other.example")]).starts_with("none: "));
    assert!(
        send(
            "databricks://h.example:444/sql/1.0/warehouses/w",
            &[TOKEN, ("DATABRICKS_HOST", "h.example")]
        )
        .starts_with("none: ")
    );
    assert_eq!(send(url, &[TOKEN, ("DATABRICKS_HOST", "https://h.example")]), "token dapi-sesame");
    assert_eq!(
        send("databricks:///sql/1.0/warehouses/w", &[TOKEN, ("DATABRICKS_HOST", "h.example")]),
        "token dapi-sesame"
    );
    assert_eq!(
        send("databricks://localhost:1/sql/1.0/warehouses/w", &[TOKEN]),
        "token dapi-sesame"
    );
    assert_eq!(
        send("databricks://token:own@h.example/sql/1.0/warehouses/w", &[TOKEN]),
        "token own"
    );
}

#[test]
fn what_is_wrong_in_an_address_is_named_without_its_token() {
    fn with_token(rest: &str) -> String {
        format!("databricks://token:sesame@{rest}")
    }
    for (url, variables, part) in [
        (with_token("/sql/1.0/warehouses/w"), vec![], "DATABRICKS_HOST"),
        (with_token("h.example"), vec![], "DATABRICKS_WAREHOUSE_ID"),
        (with_token("h.example/sql/protocolv1/o/0/1-2"), vec![], "cluster"),
        (with_token("h.example/sql/1.0/warehouses/"), vec![], "HTTP path"),
        (with_token("h.example/sql/1.0/warehouses/a%2f"), vec![], "id of the warehouse"),
        (with_token("h.example/sql/1.0/warehouses/w?catalgo=x"), vec![], "catalgo"),
        (with_token("h.example/sql/1.0/warehouses/w?disposition=x"), vec![], "disposition"),
        (with_token("h ost/sql/1.0/warehouses/w"), vec![], "the host"),
        ("databricks://me:sesame@h.example/sql/1.0/warehouses/w".to_owned(), vec![], "token:TOKEN"),
        ("databricks://h.example/sql/1.0/warehouses/w".to_owned(), vec![], "DATABRICKS_TOKEN"),
        (
            "databricks:".to_owned(),
            vec![("DATABRICKS_HOST", "http://h.example"), TOKEN],
            "plain http",
        ),
        (
            "databricks://h/sql/1.0/warehouses/w".to_owned(),
            vec![("DATABRICKS_CLIENT_ID", "sesame")],
            "DATABRICKS_CLIENT_SECRET",
        ),
        (
            "databricks://h/sql/1.0/warehouses/w".to_owned(),
            vec![("DATABRICKS_AUTH_TYPE", "sesame")],
            "DATABRICKS_AUTH_TYPE",
        ),
        (
            "databricks://h/sql/1.0/warehouses/w".to_owned(),
            vec![
                ("DATABRICKS_AUTH_TYPE", "azure"),
                ("ARM_TENANT_ID", "../sesame"),
                ("ARM_CLIENT_ID", "a"),
            ],
            "ARM_TENANT_ID",
        ),
    ] {
        let config = config(&url, &variables);
        let error = target(&config).unwrap_err().to_string();
        assert!(error.contains(part) && !error.contains("sesame"), "{url}: {error}");
        assert!(!format!("{config:?}").contains("sesame"));
    }
    let fine = target(&config(&with_token("h.example/sql/1.0/warehouses/w"), &[])).unwrap();
    assert!(!format!("{fine:?}").contains("sesame"));
}
