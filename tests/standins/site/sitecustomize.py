"""Lets what is for AMD GPUs run on the CPU, in tests only: this folder is on PYTHONPATH beside the stand-ins."""

from dataclasses import replace

from ireebench.measure.baselines import figures
from ireebench.measure.timers import table

table.TIMERS["rocprofv3"] = replace(table.TIMERS["rocprofv3"], devices=("hip", "cpu"))
figures.FIGURES |= {n: replace(f, devices=("hip", "cpu")) for n, f in figures.FIGURES.items() if n != "published"}
