"""Where the program starts: nothing is imported before a Ctrl-C has somewhere to go."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> None:
    """Runs the command line. A Ctrl-C while it is still being imported ends as one later does: in a word."""
    try:
        from ireebench.cli.main import main as command_line

        command_line()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(INTERRUPTED)
