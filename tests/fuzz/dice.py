"""Choices at random, all of them from one generator."""

import numpy as np


class Draw:
    """Choices from one generator."""

    def __init__(self, seed, number):
        self.rng = np.random.default_rng([seed, number])

    def chance(self, p):
        return bool(self.rng.random() < p)

    def one(self, *options):
        return options[int(self.rng.integers(len(options)))]

    def between(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def power(self, low, high):
        return float(10.0 ** self.rng.uniform(low, high))

    def weighted(self, **shares):
        names = list(shares)
        p = np.array(list(shares.values()), dtype=float)
        return names[int(self.rng.choice(len(names), p=p / p.sum()))]
