import unittest

from roles.calibrator import {{name_pascal}}Calibrator
from syrch_plugin import Signals


class Calibrate(unittest.TestCase):
    def test_failed_attempts_cost_confidence(self) -> None:
        claims = [(0.5, Signals()), (0.5, Signals(syntax_errors=1)), (0.5, Signals(execution_errors=9))]
        self.assertEqual({{name_pascal}}Calibrator().calibrate(claims), [0.5, 0.4, 0.0])
