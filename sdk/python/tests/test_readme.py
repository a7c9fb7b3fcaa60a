"""The programs of the README run."""

from __future__ import annotations

import re
import sys
import types
import unittest
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


class Readme(unittest.TestCase):
    def test_the_plugin_and_its_test_run(self) -> None:
        programs = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
        self.assertEqual(len(programs), 2)
        plugin = types.ModuleType("plugin")
        sys.modules["plugin"] = plugin
        self.addCleanup(sys.modules.pop, "plugin")
        exec(programs[0], vars(plugin))
        exec(programs[1], {})
