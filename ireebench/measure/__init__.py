"""Checks and times artifacts and baselines.

Imports the standard library, numpy, ml_dtypes and the IREE runtime only: it runs on machines with no compiler.
"""
