"""The keys of a sweep definition file, as pydantic models; imported only when a file is read."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(ge=1)]
Text = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Knobs(_Strict):
    """Values to try in place of the space's own, by knob."""

    SG: list[Count] | None = None
    PR: list[Count] | None = None
    ST: list[Count] | None = None
    TH: list[Count] | None = None
    SG2: list[Count] | None = None
    PR2: list[Count] | None = None
    TH2: list[Count] | None = None
    RW: list[Count] | None = None
    SR: list[Count] | None = None
    WPE: list[Count] | None = None
    DIST: list[Count] | None = None
    VEC: list[Count] | None = None


class ProtocolKeys(_Strict):
    """Overrides of the measurement protocol."""

    warmup: Annotated[int, Field(ge=0)] | None = None
    invocations: Count | None = None
    seconds: Annotated[float, Field(gt=0)] | None = None
    rounds: Count | None = None
    processes: Annotated[int, Field(ge=0)] | None = None
    finalists: Count | None = None
    cache: list[Literal["hot", "cold"]] | None = None


class File(_Strict):
    """A sweep definition file."""

    description: Text
    op: Literal["argmax", "argmin", "gemv"]
    models: list[Text] | None = None
    suite: Text | None = None
    shapes: list[Text] | None = None
    problems: Text | None = None
    dtype: Text | None = None
    index_dtype: Literal["i32", "i64"] | None = None
    padded: bool = True
    variants: list[Text] | None = None
    target: Text | None = None
    limit: Count | None = None
    seed: int = 0
    timer: Text | None = None
    baselines: list[Text] | None = None
    configs: list[Text] | None = None
    knobs: Knobs | None = None
    protocol: ProtocolKeys | None = None


# What each key may be, for messages; a key inside a table by its last name.
ALLOWED: dict[str, str] = {
    "description": "a sentence that says what the sweep is for",
    "op": "argmax, argmin or gemv",
    "models": 'a list of names, globs or prefixes, such as ["llama3", "gpt-2"]',
    "suite": 'the name of a suite, such as "published"',
    "shapes": 'a list of shapes, such as ["32x131072"], with key dtype',
    "problems": "the name of a problem file, relative to this one",
    "dtype": "an element type: f16, bf16, f32 (gemv also q4_0, nf4)",
    "index_dtype": "i32 or i64",
    "padded": "true or false",
    "variants": 'a list of variants, such as ["vd", "vd_split"]',
    "target": 'a target, such as "gfx942", or "auto"',
    "limit": "a positive whole number: candidates a problem and variant",
    "seed": "a whole number",
    "timer": "the name of a timer",
    "baselines": "a list of baselines; an empty one for none",
    "configs": 'a list of configurations, such as ["SG=4,PR=2048"]',
    "knobs": "a table of knobs, each a list of positive whole numbers",
    "protocol": "a table of warmup, invocations, seconds, rounds, processes, finalists, cache",
    "warmup": "a whole number, 0 or more",
    "processes": "a whole number, 0 or more",
    "seconds": "a number above 0",
    "cache": 'a list of "hot" and "cold"',
    "invocations": "a positive whole number",
    "rounds": "a positive whole number",
    "finalists": "a positive whole number",
}
KEYS: dict[str, tuple[str, ...]] = {
    "": tuple(File.model_fields),
    "knobs": tuple(Knobs.model_fields),
    "protocol": tuple(ProtocolKeys.model_fields),
}
