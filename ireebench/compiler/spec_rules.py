"""Rules that a tuning spec must keep, checked on its text before any compiler sees it.

The rules are the compiler's (IREE 3.13, `iree_codegen.tuning_spec_*` verifiers and "Tuning" in IREE's documentation);
what it prints when one is broken has changed between releases, so its messages are not looked at. Text, because a spec
that breaks a rule does not parse.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ireebench.compiler.configured import balanced

ENTRY = "__kernel_config"
ENTRYPOINT = "iree_codegen.tuning_spec_entrypoint"
DEFAULT_ENTRYPOINT = "iree_codegen.tuning_spec_with_default_entrypoint"
NAMED_SEQUENCES = "transform.with_named_sequence"


@dataclass(frozen=True, slots=True)
class Stale:
    """A spelling of older specs that IREE 3.13 does not know: `change` says what to write, `since` where it went."""

    pattern: str
    change: str
    since: str


STALE = (
    Stale(
        r"\bpipeline = ((?:LLVMGPU|LLVMCPU|SPIRV|CPU)\w+)",
        "'pipeline = {0}' is gone: pipelines are attributes, as in 'pipeline = #iree_gpu.pipeline<VectorDistribute>'",
        "",
    ),
    Stale(
        r"\b(prefetch_shared_memory) =",
        "'{0}' (true or false) is gone: write 'prefetch_num_stages = 2' for true, and nothing for false",
        "iree-org/iree#22818",
    ),
    Stale(
        r"\b(subgroup_[mn]_count) =",
        "'{0}' is gone: write 'subgroup_basis = [[counts], [dimensions]]', one count a loop",
        "iree-org/iree#21912",
    ),
)


@dataclass(frozen=True, slots=True)
class Sequence:
    """A named sequence of a spec, as text."""

    name: str
    arguments: tuple[str, ...]
    results: str
    attributes: str
    body: str


def _without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*", "", text)


def _sequences(text: str) -> Iterator[Sequence]:
    for match in re.finditer(r"transform\.named_sequence\s+(?:private\s+)?@([\w$.-]+)\s*\(", text):
        arguments = balanced(text, match.end() - 1)
        head = match.end() - 1 + len(arguments)
        results = re.compile(r"\s*->\s*(\([^)]*\)|[!\w.]+)").match(text, head)
        at = results.end() if results else head
        attributes = re.compile(r"\s*attributes\s*(?=\{)").match(text, at)
        dictionary = balanced(text, attributes.end()) if attributes else ""
        at = attributes.end() + len(dictionary) if attributes else at
        brace = text.find("{", at)
        yield Sequence(
            match[1],
            tuple(a.strip() for a in re.split(r",(?![^{]*\})", arguments[1:-1]) if a.strip()),
            results[1].strip("()") if results else "",
            dictionary,
            balanced(text, brace) if brace >= 0 else "",
        )


def _module_attributes(text: str) -> str:
    module = re.search(r"\bmodule\b[^{]*?\battributes\s*(?=\{)", text)
    return balanced(text, module.end()) if module else ""


def _is_entry_shaped(sequence: Sequence) -> bool:
    one_any_op = len(sequence.arguments) == 1 and "!transform.any_op" in sequence.arguments[0]
    marked = bool(re.search(r"transform\.(readonly|consumed)", "".join(sequence.arguments)))
    return one_any_op and marked and sequence.results.strip() == "!transform.any_op"


def _op_names(body: str) -> list[str]:
    """The transform ops of a body; `!transform.any_op` is a type."""
    return re.findall(r"(?<![!\w.])transform\.([\w.]+)", body)


def _default_entry_problems(sequences: list[Sequence], text: str) -> Iterator[str]:
    """What `tuning_spec_with_default_entrypoint` promises and the spec does not keep."""
    entry = next((s for s in sequences if s.name == ENTRY), None)
    promise = f"the module says '{DEFAULT_ENTRYPOINT}'"
    if entry is None:
        kind = "is a function" if re.search(rf"func\.func\s+@{ENTRY}\b", text) else "is missing"
        yield f"{promise}, and its named sequence '@{ENTRY}' {kind}: the entry must be a named sequence of that name"
        return
    if ENTRYPOINT not in entry.attributes:
        yield f"{promise}, and '@{ENTRY}' lacks the unit attribute '{ENTRYPOINT}'"
    others = [s.name for s in sequences if s.name != ENTRY and ENTRYPOINT in s.attributes]
    if others:
        yield f"{promise}, so '@{ENTRY}' must be the only entry point; '@{others[0]}' is marked as one too"
    ops = _op_names(entry.body)
    matches = ops.count("foreach_match")
    if matches != 1:
        yield (
            f"{promise}, so '@{ENTRY}' must hold exactly one foreach_match and its yield; it holds {matches}: "
            f"put all matchers into one foreach_match"
        )
    for extra in sorted({op for op in ops if op not in ("foreach_match", "yield")}):
        yield f"{promise}, so '@{ENTRY}' must hold one foreach_match and a yield; it holds 'transform.{extra}' too"


def _entry_problems(text: str) -> Iterator[str]:
    sequences, module = list(_sequences(text)), _module_attributes(text)
    if sequences and NAMED_SEQUENCES not in module:
        yield f"the module has named sequences and lacks the attribute '{NAMED_SEQUENCES}'"
    if DEFAULT_ENTRYPOINT in module:
        yield from _default_entry_problems(sequences, text)
    for sequence in sequences:
        if ENTRYPOINT not in sequence.attributes:
            continue
        if re.search(rf"{re.escape(ENTRYPOINT)}\s*=", sequence.attributes):
            yield f"'{ENTRYPOINT}' on '@{sequence.name}' must be a unit attribute: write it with no value"
        if not _is_entry_shaped(sequence):
            yield (
                f"entry point '@{sequence.name}' must take one !transform.any_op, marked readonly or consumed, "
                f"and return one !transform.any_op"
            )
    if sequences and DEFAULT_ENTRYPOINT not in module and not any(ENTRYPOINT in s.attributes for s in sequences):
        yield f"no named sequence is marked '{ENTRYPOINT}': IREE would run nothing of it"


def _stale_problems(text: str) -> Iterator[str]:
    for stale in STALE:
        match = re.search(stale.pattern, text)
        if match:
            line = text.count("\n", 0, match.start()) + 1
            reference = f" ({stale.since})" if stale.since else ""
            yield f"line {line}: {stale.change.format(match[1])}{reference}"


RULES: tuple[Callable[[str], Iterator[str]], ...] = (_stale_problems, _entry_problems)


def broken_rules(spec: str) -> tuple[str, ...]:
    """Every rule that the spec's text breaks, each as one line that says what to write; empty if it keeps them all."""
    text = _without_comments(spec)
    return tuple(problem for rule in RULES for problem in rule(text))
