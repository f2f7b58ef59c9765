"""What can be wrong with a trace: one class, because the remedy is in the message."""

from __future__ import annotations

from pathlib import Path

from ireebench.errors import UserError


class TraceError(UserError):
    """A trace that holds no kernel times, or that is no trace. The message names the file, the cause and the remedy."""


class MissingTraceError(TraceError):
    """A trace that was named and is not there."""

    exit_code = 2


def unknown_columns(path: Path, columns: tuple[str, ...], missing: list[str]) -> TraceError:
    """A CSV file whose columns no generation has."""
    seen = ", ".join(columns[:12]) + (", ..." if len(columns) > 12 else "")
    if "\ufffd" in seen or not seen.isprintable():
        return TraceError(f"{path}: not text, nor a rocpd database; give the files that rocprofv3 --kernel-trace wrote")
    seen = f"{seen[:400]}..." if len(seen) > 400 else seen  # a line of something else may be a megabyte
    return TraceError(
        f"{path}: unknown column set, without {', '.join(missing)} (seen: {seen or 'none'}); known are kernel_trace, "
        "kernel_stats, counter_collection and memory_copy_trace of rocprofv3 (ROCm 6.2 to 7.x) and rocprof's "
        "results.csv; re-run with rocprofv3 --kernel-trace --output-format csv, or convert a database with "
        "rocpd convert -i FILE.db --output-format csv"
    )
