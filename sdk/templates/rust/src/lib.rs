//! The plugin `{{name}}`: its settings and its roles.

{{#roles}}
mod {{role}};
{{/roles}}

syrch_plugin::settings! {
    /// What the user may set, such as `-P {{role}}.most=20`.
    pub struct Settings {
        /// The most rows, tables, attempts, questions or proposals that count as usual.
        most: u32 = 10, 1 ..= 1_000_000;
    }
}

syrch_plugin::plugin! {
    /// The plugin; a new one is made for each call of a role.
    pub struct {{name_pascal}}Plugin(Settings) = "{{name}}", "says in one line what the plugin does";
}

syrch_plugin::export!({{name_pascal}}Plugin: {{roles}});
