"""Wall time of whole processes that answer at once: median of N runs.

python benchmarks/startup.py [--runs 11]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time

COMMANDS = (("--help",), ("--version",), ("models",), ("sweep", "--help"), ("space", "--help"))


def seconds(arguments: tuple[str, ...]) -> float:
    """One run of `ireebench ARGUMENTS`."""
    begin = time.monotonic()
    subprocess.run([sys.executable, "-m", "ireebench.cli.main", *arguments], capture_output=True, check=True)
    return time.monotonic() - begin


def main() -> None:
    """Prints a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=11)
    runs = parser.parse_args().runs
    print("| command | median s | fastest s |")
    print("| --- | ---: | ---: |")
    for arguments in COMMANDS:
        taken = [seconds(arguments) for _ in range(runs)]
        print(f"| `ireebench {' '.join(arguments)}` | {statistics.median(taken):.2f} | {min(taken):.2f} |")


if __name__ == "__main__":
    main()
