"""Vectors for `host/grade`, by scipy, statsmodels and scikit-learn: prints `statistics.json`. See README.md beside it."""

import json
import sys

import numpy
import scipy
import sklearn
import statsmodels
from scipy.optimize import brentq
from scipy.special import betaln
from scipy.stats import binom, binomtest
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

random = numpy.random.default_rng(20)


def wilson():
    pairs = [(118, 200), (41, 47), (0, 1), (1, 1), (0, 30), (30, 30), (1, 919), (918, 919), (50_000, 100_000)]
    for _ in range(20):
        of = int(random.integers(1, 2_000))
        pairs.append((int(random.integers(0, of + 1)), of))
    return [
        {"right": right, "of": of, "interval": [float(end) for end in proportion_confint(right, of, 0.05, "wilson")]}
        for right, of in pairs
    ]


def flips():
    pairs = [(21, 8), (0, 0), (1, 0), (3, 3), (4, 3), (6, 0), (0, 9), (40, 12), (150, 130), (600, 400)]
    return pairs + [tuple(int(n) for n in random.integers(0, 80, 2)) for _ in range(20)]


def exact_mcnemar():
    cases = []
    for b, c in flips():
        p = float(mcnemar([[0, b], [c, 0]], exact=True).pvalue) if b + c else 1.0
        if b + c:
            assert abs(p - binomtest(b, b + c, 0.5).pvalue) < 1e-12
        cases.append({"b": b, "c": c, "p": p})
    return cases


def e_values():
    return [
        {"b": b, "c": c, "log_e": float(betaln(b + 1, c + 1) + (b + c) * numpy.log(2))} for b, c in flips()
    ]


def holm():
    lists = [[0.01, 0.04, 0.03, 0.005], [0.5], [0.9, 0.8, 0.02], [0.05, 0.05, 0.05]]
    lists += [[float(p) for p in random.uniform(0, 1, n) ** 3] for n in (2, 5, 12)]
    return [{"p": p, "adjusted": [float(q) for q in multipletests(p, method="holm")[1]]} for p in lists]


def power_of(questions, discordance, difference):
    """Exact and unconditional, by the p-values of scipy's binomial distribution, summed over every number of flips."""
    share = (1 + difference / discordance) / 2
    found = 0.0
    for m in range(questions + 1):
        chance = binom.pmf(m, questions, discordance)
        if chance < 1e-17:
            continue
        b = numpy.arange(m + 1)
        p = 2 * binom.cdf(numpy.minimum(b, m - b), m, 0.5)
        found += chance * binom.pmf(b, m, share)[p <= 0.05].sum()
    return float(found)


def power():
    cases = [(100, 0.12, 0.05), (300, 0.12, 0.05), (930, 0.12, 0.03), (50, 0.4, 0.2), (522, 0.08, 0.03), (40, 1.0, 0.3)]
    return [{"questions": n, "discordance": d, "difference": x, "power": power_of(n, d, x)} for n, d, x in cases]


def minimum_detectable():
    cases = [(100, 0.12), (300, 0.12), (522, 0.2)]
    least = lambda n, d: float(brentq(lambda x: power_of(n, d, x) - 0.8, 1e-9, d - 1e-9, xtol=1e-10))
    return [{"questions": n, "discordance": d, "difference": least(n, d)} for n, d in cases]


def scored(answers, steps):
    """Confidences with ties, and answers that are right less often than these say."""
    p = random.uniform(0, 1, answers)
    confidence = numpy.round((0.5 + 0.5 * p) * steps) / steps
    return confidence, random.uniform(0, 1, answers) < p


def logistic_of(confidence, right):
    """Platt's targets as weights: each answer counts as right with its target and as wrong with the rest."""
    positives, negatives = right.sum(), (~right).sum()
    target = numpy.where(right, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    clipped = numpy.clip(confidence, 1e-3, 1 - 1e-3)
    x = numpy.log(clipped / (1 - clipped))
    model = LogisticRegression(C=numpy.inf, solver="newton-cholesky", tol=1e-13, max_iter=1_000)
    model.fit(
        numpy.concatenate([x, x])[:, None],
        numpy.concatenate([numpy.ones(len(x)), numpy.zeros(len(x))]),
        sample_weight=numpy.concatenate([target, 1 - target]),
    )
    return {"slope": float(model.coef_[0, 0]), "intercept": float(model.intercept_[0])}


def calibration():
    cases = []
    for answers, steps in [(40, 12), (200, 33), (500, 1_000)]:
        confidence, right = scored(answers, steps)
        isotonic = IsotonicRegression(out_of_bounds="clip").fit(confidence, right)
        at = [float(x) for x in numpy.linspace(0, 1, 41)]
        # Ten bins; the edges of scikit-learn's belong to the bin below, so only confidences off the edges are compared.
        off = numpy.abs(confidence * 10 - numpy.round(confidence * 10)) > 1e-9
        accuracy, mean = calibration_curve(right[off], confidence[off], n_bins=10)
        cases.append({
            "confidence": [float(c) for c in confidence],
            "right": [bool(r) for r in right],
            "auroc": float(roc_auc_score(right, confidence)),
            "brier": float(brier_score_loss(right, confidence)),
            "log_loss": float(log_loss(right, numpy.clip(confidence, 1e-6, 1 - 1e-6))),
            "reliability": {"accuracy": [float(a) for a in accuracy], "mean_confidence": [float(m) for m in mean]},
            "isotonic": {
                "thresholds": [float(x) for x in isotonic.X_thresholds_],
                "values": [float(y) for y in isotonic.y_thresholds_],
                "at": at,
                "predicted": [float(y) for y in isotonic.predict(at)],
            },
            "logistic": logistic_of(confidence, right),
        })
    return cases


made = {
    "made_with": {
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "statsmodels": statsmodels.__version__,
        "scikit-learn": sklearn.__version__,
    },
    "wilson": wilson(),
    "mcnemar": exact_mcnemar(),
    "e_value": e_values(),
    "holm": holm(),
    "power": power(),
    "minimum_detectable": minimum_detectable(),
    "calibration": calibration(),
}
# One line for each set, so that a change shows where it is.
print("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(cases)}" for name, cases in made.items()) + "\n}")
