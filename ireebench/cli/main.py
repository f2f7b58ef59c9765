"""The entry point: finds commands lazily, turns the user's mistakes into one line and an exit code."""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import traceback
from pathlib import Path

import click

from ireebench import __version__
from ireebench.errors import UserError

# name -> (module, first line of help). The line is repeated here so that `--help` imports no command.
COMMANDS: dict[str, tuple[str, str]] = {
    "models": ("ireebench.cli.models", "List the problems of the catalogue."),
    "mlir": ("ireebench.cli.mlir", "Print the MLIR of candidates."),
    "space": ("ireebench.cli.space", "List the configurations that a sweep would try."),
    "compile": ("ireebench.cli.compile_", "Compile any MLIR file under limits and report status and evidence."),
    "sweep": ("ireebench.cli.sweep", "Compile, check, time and rank candidates."),
    "compare": ("ireebench.cli.compare", "Compare variants and baselines, or two stores."),
    "conformance": (
        "ireebench.cli.conformance",
        "Show how each implementation treats ties, zeros, infinities and NaN.",
    ),
    "spec": ("ireebench.cli.spec", "Write tuning specs, and check that one applies."),
    "bundle": ("ireebench.cli.bundle", "Compile here, measure on a machine with no compiler, bring the trials home."),
    "ceiling": ("ireebench.cli.ceiling", "Measure the device's streaming-read ceiling and launch floor."),
    "trace": ("ireebench.cli.trace", "Summarise rocprof traces of any generation."),
    "isa": ("ireebench.cli.isa", "Read AMDGCN assembly: resources, loops, instruction mix, lints."),
    "emulate": ("ireebench.cli.emulate", "Execute gfx kernels on the CPU and check them."),
    "report": ("ireebench.cli.report", "Make a page, plots or tables from stored trials."),
    "best": ("ireebench.cli.best", "Print the best configuration of each problem and its spec."),
    "decode": ("ireebench.cli.decode", "Tokens a second that measured GEMVs allow."),
    "gain": ("ireebench.cli.gain", "Share of an instruction-level speedup that a higher level keeps."),
    "replay": ("ireebench.cli.replay", "Run a search strategy on recorded trials."),
    "route": ("ireebench.cli.route", "The smallest table from shape to configuration that stays near the best."),
    "doctor": ("ireebench.cli.doctor", "Say what is present and usable here, and how to get the rest."),
}


class LazyGroup(click.Group):
    """A group that imports a command's module only when the command runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports the command; None when there is no such name, and click suggests the nearest."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(COMMANDS[cmd_name][0])
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the commands with their summaries, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with the nearest names when there is no such command."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=3)
            hint = f"; nearest: {', '.join(near)}" if near else ""
            raise click.UsageError(f"no command is called '{args[0]}'{hint} (ireebench --help lists all)", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ireebench")
def cli() -> None:
    """Find the fastest correct IREE kernel for a model's argmax, argmin or GEMV, and the tuning spec to ship.

    Start with: ireebench sweep argmax --models llama3
    """


def _internal_error() -> None:
    """Keeps the traceback in a file and says where: the user gets one line."""
    if os.environ.get("IREEBENCH_TRACEBACK"):
        traceback.print_exc()
        return
    error = traceback.format_exc()
    with tempfile.NamedTemporaryFile("w", prefix="ireebench-", suffix=".log", delete=False) as log:
        log.write(error)
    last = error.strip().splitlines()[-1]
    click.echo(f"internal error: {last}; please report it with {Path(log.name)}", err=True)


def _message(error: click.ClickException) -> str:
    """click's own message as ours are: one line, no full stop, and where to look when the command line is wrong."""
    text = " ".join(error.format_message().split()).rstrip(".")
    where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else None
    return text if where is None or "--help" in text else f"{text}; {where} --help has examples"


def _end_quietly() -> None:
    """Keeps IREE's bindings from listing, at exit, what they think was leaked: it is for their authors."""
    bindings = sys.modules.get("iree._runtime_libs._runtime")
    if bindings is not None and hasattr(bindings, "disable_leak_checker"):
        bindings.disable_leak_checker()


def main() -> None:
    """Runs the command line and exits: 0 good, 1 error, 2 usage, 3 failed trials, 4 regression, 130 interrupted."""
    try:
        status = cli.main(prog_name="ireebench", standalone_mode=False)
    except UserError as e:
        click.echo(f"error: {e}", err=True)
        status = e.exit_code
    except click.exceptions.Exit as e:
        status = e.exit_code
    except click.exceptions.NoArgsIsHelpError as e:
        click.echo(e.format_message(), err=True)
        status = e.exit_code
    except click.ClickException as e:
        click.echo(f"error: {_message(e)}", err=True)
        status = e.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        status = 130
    except BrokenPipeError:
        # The reader of our output (head, less) has gone: not an error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    except Exception:
        # The last resort, for bugs of ours alone: the user gets one line, the traceback goes to a file that it names.
        _internal_error()
        status = 1
    finally:
        _end_quietly()
    sys.exit(status if isinstance(status, int) else 0)


if __name__ == "__main__":
    main()
