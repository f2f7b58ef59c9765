"""Lets the timers of AMD GPUs run on the CPU, in tests only: this folder is on PYTHONPATH beside the stand-in."""

from dataclasses import replace

from ireebench.measure.timers import table

table.TIMERS["rocprofv3"] = replace(table.TIMERS["rocprofv3"], devices=("hip", "cpu"))
