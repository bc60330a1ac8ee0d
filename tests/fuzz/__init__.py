"""Cases drawn at random, each answered by the package and by a naive oracle.

Case number i of seed s is made from (s, i) alone:

    make fuzz CASES=100000 SEED=1
    make fuzz ONLY=4711 SEED=1

`data` holds variables in every container, `draw` makes cases, `oracle` computes them once more
without the package, `rules` says what may be refused and how close is close, `check` judges.
"""
