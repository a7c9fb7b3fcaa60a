"""The plugin {{name}}: `syrch-host plugin build` makes a component of what this file exports."""

# {{#roles}}
from roles.{{role}} import {{name_pascal}}{{role_pascal}}
# {{/roles}}
from syrch_plugin import export

export(
    # {{#roles}}
    {{name_pascal}}{{role_pascal}},
    # {{/roles}}
)
