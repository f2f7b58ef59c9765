"""The search space: knobs, named constraints, strategies."""
