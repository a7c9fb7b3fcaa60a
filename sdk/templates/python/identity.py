"""What the roles of the plugin share."""

from syrch_plugin import Plugin


class Identity(Plugin):
    name = "{{name}}"
    version = "0.1.0"
    summary = "a plugin in Python"
