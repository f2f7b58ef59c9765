"""Sweep definitions: the shipped ones load; a mistake names the file, the key and what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from ireebench.errors import BadFileError, UnknownNameError
from ireebench.space.config import Config
from ireebench.space.knobs import Place
from ireebench.sweep.definition import find_definition, load_definition, shipped
from ireebench.targets import find_target
from ireebench.variants import find_variant

HEAD = 'description = "d"\nop = "argmax"\n'
LLAMA = HEAD + 'models = ["llama3"]\n'


def test_the_shipped_definitions_load() -> None:
    assert set(shipped()) >= {
        "smoke", "argmax-published", "argmin-published", "gemv-models", "dpp-vs-shuffle", "scaling",
    }  # fmt: skip
    counts = {name: len(load_definition(find_definition(name)).problems) for name in shipped()}
    assert (counts["argmax-published"], counts["argmin-published"]) == (15, 3)
    assert counts["scaling"] == 13 + 14  # one row of 1K to 4M elements, 2 to 16K rows


def test_scaling_goes_from_1k_to_4m_elements_and_to_16k_rows() -> None:
    shapes = {p.shape for p in load_definition(find_definition("scaling")).problems}
    assert {(1, 1024), (1, 4_194_304), (16_384, 32_768)} <= shapes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LLAMA + "lmit = 3\n", "unknown key 'lmit'; allowed: description, op, models"),
        (LLAMA + 'limit = "3"\n', "key 'limit' is '3'; allowed: a positive whole number"),
        (LLAMA + "limit = 0\n", "key 'limit' is '0'"),
        (HEAD + 'models = "llama3"\n', "key 'models' is 'llama3'; allowed: a list of names"),
        ('op = "argmax"\nmodels = ["llama3"]\n', "key 'description' is missing"),
        (HEAD, "give exactly one of the keys models, suite, shapes, problems; this file gives none"),
        (LLAMA + 'suite = "published"\n', "this file gives models, suite"),
        (LLAMA + '[knobs]\nSG = ["a"]\n', "key 'knobs.SG' is 'a'; allowed: a list of positive whole numbers"),
        (LLAMA + "[knobs]\nXX = [1]\n", "unknown key 'knobs.XX'; allowed in knobs: SG, PR"),
        (LLAMA + "[protocol]\nseconds = -1\n", "key 'protocol.seconds' is '-1'; allowed: a number above 0"),
        (LLAMA + 'variants = ["vdd"]\n', "no variant matches 'vdd'; nearest: vd"),
        (LLAMA + 'target = "gfx94"\n', "no target matches 'gfx94'; nearest: gfx942"),
        (HEAD + 'models = ["lamma3"]\n', "no model matches 'lamma3'; nearest: llama3-8b"),
        (HEAD + 'shapes = ["32x0"]\ndtype = "f32"\n', "32x0"),
        (LLAMA + 'configs = ["QQ=1"]\n', "no knob is called 'QQ'"),
        (LLAMA + 'configs = ["SG=1"]\n[knobs]\nSG = [1]\n', "keys 'configs' and 'knobs' exclude each other"),
        ("op = \n", "not valid TOML"),
    ],
)
def test_a_mistake_names_the_file_and_the_key(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(BadFileError) as caught:
        load_definition(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_knobs_replace_the_values_that_a_sweep_tries(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(LLAMA + "[knobs]\nSG = [2, 4]\nTH = [8]\nPR = [2048]\n")
    definition = load_definition(path)
    place = Place(definition.problems[0], find_variant("vd"), find_target("gfx942"))
    configs = definition.configs_for(place)
    assert configs is not None
    assert {(c.sg, c.th, c.pr) for c in configs} == {(2, 8, 2048), (4, 8, 2048)}


def test_configs_replace_the_space(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(LLAMA + 'configs = ["SG=4,PR=2048"]\n[protocol]\ncache = ["hot", "cold"]\n')
    definition = load_definition(path)
    place = Place(definition.problems[0], find_variant("vd"), find_target("gfx942"))
    assert definition.configs_for(place) == (Config(sg=4, pr=2048),)
    assert definition.protocol.cache == ("hot", "cold")


def test_a_file_that_is_not_there_and_a_name_that_is_none() -> None:
    with pytest.raises(BadFileError, match="can't be read"):
        load_definition(Path("no-such.toml"))
    with pytest.raises(UnknownNameError, match="smoke"):
        find_definition("smok")
