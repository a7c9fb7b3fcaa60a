"""Selects the tables of a catalog that a question needs."""

from identity import Identity
from syrch_plugin import Catalog, Linked, Linker, LinkerHost, Problem, Relevant, Settings, setting


class LinkerSettings(Settings):
    most_tables: int = setting(20, "The most tables that are shown.", least=1, most=1000)


class {{name_pascal}}Linker(Identity, Linker):
    settings: LinkerSettings

    def link(self, host: LinkerHost, problem: Problem, catalog: Catalog) -> Linked:
        """Shows the tables whose names stand in the question; without one, the catalog stays as it is."""
        question = problem.question.lower()
        named = [table for table in catalog.tables if table.name.lower() in question]
        tables = [Relevant(catalog.table_name(table), reason="the question names it") for table in named]
        return Linked(tables[: self.settings.most_tables])
