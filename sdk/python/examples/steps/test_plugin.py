import unittest

from plugin import Steps
from syrch_plugin import Signals


class Claims(unittest.TestCase):
    def test_a_claim_has_the_probability_of_its_step_less_its_errors(self) -> None:
        claims = [(0.49, 0), (0.5, 0), (1.0, 0), (0.1, 3)]
        found = Steps().calibrate([(claimed, Signals(syntax_errors=errors)) for claimed, errors in claims])
        self.assertEqual(found, [0.2, 0.5, 0.8, 0.0])
