"""ireebench: the fastest correct IREE kernel for a model's argmax, argmin or GEMV, and the tuning spec to ship."""

__version__ = "0.1.0"
