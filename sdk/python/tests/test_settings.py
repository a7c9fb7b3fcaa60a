"""Declarations of settings: their schema and their reader."""

from __future__ import annotations

import unittest
from typing import Literal

from syrch_plugin.settings import Mistake, NoSettings, Settings, SolverSettings, merged_schema, read_each, setting


class Sample(Settings):
    mode: Literal["fast", "slow"] = setting("fast", "A word.")
    steps: list[tuple[float, float]] = setting([(0.0, 0.5)], "A list of pairs.")
    share: float = setting(0.5, "A share.", least=0, most=1)


class Other(Settings):
    share: float = setting(0.7, "A share.", least=0, most=1)


class Declarations(unittest.TestCase):
    def test_lists_tuples_and_words_have_schemas(self) -> None:
        properties = Sample.schema()["properties"]
        self.assertEqual(properties["mode"]["enum"], ["fast", "slow"])
        self.assertEqual(properties["steps"]["items"]["prefixItems"], [{"type": "number"}] * 2)
        self.assertEqual(properties["share"]["maximum"], 1)

    def test_what_is_not_given_has_its_default(self) -> None:
        self.assertEqual(Sample.read(""), Sample())
        read = Sample.read('{"steps": [[0, 1], [0.5, 0]], "mode": "slow"}')
        self.assertEqual((read.steps, read.mode, read.share), ([(0.0, 1.0), (0.5, 0.0)], "slow", 0.5))

    def test_a_default_list_is_not_shared(self) -> None:
        Sample().steps.append((1.0, 1.0))
        self.assertEqual(Sample().steps, [(0.0, 0.5)])

    def test_mistakes_name_the_setting(self) -> None:
        cases = {
            '{"mode": "quick"}': '`mode` must be one of fast, slow, not "quick"',
            '{"share": 2}': "`share` must be from 0 to 1, not 2",
            '{"share": true}': "`share` must be of type number, not true",
            '{"steps": [[1]]}': "`steps` must be of type array, not [[1]]",
            '{"shares": 1}': "unknown setting `shares`; known are mode, steps, share",
            "[]": "settings must be a JSON object",
            "{": "settings are not JSON",
        }
        for config, message in cases.items():
            with self.subTest(config), self.assertRaises(Mistake) as raised:
                Sample.read(config)
            self.assertEqual(str(raised.exception), message)
        with self.assertRaises(Mistake):
            NoSettings.read('{"a": 1}')

    def test_each_class_of_a_plugin_reads_its_own(self) -> None:
        self.assertIn("overflow_rows", merged_schema([NoSettings, Sample, SolverSettings])["properties"])
        read = read_each([Sample, SolverSettings], '{"share": 1, "parent_rows": 7}')
        self.assertEqual(read[Sample], Sample(share=1.0))
        self.assertEqual(read[SolverSettings], SolverSettings(parent_rows=7))

    def test_one_name_has_one_declaration(self) -> None:
        with self.assertRaisesRegex(TypeError, "Other declares the setting `share` in another way"):
            merged_schema([Sample, Other])
