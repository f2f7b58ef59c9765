"""Problem files: what they may say, and the line that a mistake gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from ireebench.errors import BadFileError, UsageError
from ireebench.problems.select import Selection, select
from ireebench.problems.userfile import read_problems

ARGMAX = '[[problem]]\nid = "mine"\nop = "argmax"\nshape = [4, 50304]\ndtype = "bf16"\n'
GEMV = (
    '[[problem]]\nid = "mine-up"\nop = "gemv"\nshape = [11008, 4096]\ndtype = "f16"\nout_dtype = "f16"\nlayout = "kn"\n'
)


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text)
    return path


def test_a_file_may_hold_problems_of_several_ops(tmp_path: Path) -> None:
    path = write(tmp_path, ARGMAX + 'index_dtype = "i32"\ndimension = 1\nsource = "our logs"\n' + GEMV)
    (a,) = select("argmax", Selection(problems_file=path))
    assert (a.id, a.shape, a.dtype, a.index_dtype, a.source) == ("mine", (4, 50304), "bf16", "i32", "our logs")
    assert (a.shape_kind, a.model) == ("custom", "custom")
    (g,) = select("gemv", Selection(problems_file=path))
    assert (g.shape, g.layout, g.out_dtype, g.source) == ((1, 11008, 4096), "kn", "f16", str(path))


def test_names_choose_from_the_file_and_the_catalogue(tmp_path: Path) -> None:
    path = write(tmp_path, ARGMAX)
    found = select("argmax", Selection(problems_file=path, models="mine,gpt2"))
    assert [p.id for p in found] == ["gpt2", "mine"]


def test_a_file_without_the_op_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no argmin problem in this file"):
        select("argmin", Selection(problems_file=write(tmp_path, ARGMAX)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ARGMAX + "colour = 1\n", "problem[0]: unknown key 'colour'; allowed: id, op, shape, dtype, index_dtype"),
        (ARGMAX.replace("50304", '"x"'), "problem[0]: key 'shape' is 'x'; allowed: a list of 1 to 4 positive"),
        (ARGMAX.replace("50304", "50304.5"), "problem[0]: key 'shape' is '50304.5'; allowed: a list"),
        (ARGMAX.replace("argmax", "sum"), "problem[0]: key 'op' is 'sum'; allowed: one of argmax, argmin, gemv"),
        (ARGMAX.replace('dtype = "bf16"', ""), "problem[0]: key 'dtype' is missing: one of f16, bf16, f32"),
        (ARGMAX.replace('"mine"', '"My shape"'), "problem[0]: key 'id' is 'My shape'; allowed: a name of lower-case"),
        (ARGMAX.replace("bf16", "bf17"), "problem[0] 'mine': no argmax element type matches 'bf17'; nearest: bf16"),
        (ARGMAX.replace("[4,", "[-4,"), "problem[0] 'mine': shape -4x50304: dimension 0 is -4"),
        (ARGMAX.replace("[4,", "[1, 1, 1, 4,"), "has rank 5; ranks 1 to 4 are served"),
        (ARGMAX + "dimension = 0\n", "key 'dimension' is 0; only the last dimension (1) is reduced: transpose"),
        (ARGMAX + 'out_dtype = "f16"\n', "key 'out_dtype' makes no sense for argmax"),
        (GEMV + 'index_dtype = "i32"\n', "key 'index_dtype' makes no sense for gemv"),
        (GEMV.replace('"f16"\nout', '"q4_0"\nout'), "q4_0 weights are blocked along K and stored nk"),
        (GEMV.replace('out_dtype = "f16"', 'out_dtype = "f64"'), "no output type matches 'f64'"),
        (ARGMAX + ARGMAX, "problem[1] 'mine': this id is there twice for argmax"),
        (ARGMAX.replace("mine", "gpt2"), "problem[0] 'gpt2': the catalogue has a problem of this id"),
        ("x = 1\n" + ARGMAX, "key 'x': a problem file is made of [[problem]] tables"),
        ("", "a problem file is made of [[problem]] tables"),
        ("problem = 3\n", "a problem file is made of [[problem]] tables"),
        ("problem = [3]\n", "problem[0]: a [[problem]] table has keys id, op, shape"),
        ("[[problem]]\nid = \n", "not valid TOML: Invalid value (at line 2, column 6)"),
        ("a = [", "not valid TOML: Invalid value (at end of document, line 1)"),
        ("a = " + "[" * 20000, "nested too deep"),
    ],
)
def test_a_mistake_names_the_file_and_what_is_allowed(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(BadFileError) as e:
        read_problems(path)
    assert str(e.value).startswith(f"{path}: ")
    assert message in str(e.value)
    assert "\n" not in str(e.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match=r"no\.toml: can't be read: No such file"):
        read_problems(tmp_path / "no.toml")
    with pytest.raises(BadFileError, match="can't be read: Is a directory"):
        read_problems(tmp_path)


def test_a_file_that_is_no_text_or_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.toml"
    path.write_bytes(b"\x00\xff\xfe")
    with pytest.raises(BadFileError, match="byte 1 is not UTF-8"):
        read_problems(path)
    path.write_text("#" * 1_000_001)
    with pytest.raises(BadFileError, match="1000001 bytes; a problem file has at most 1000000"):
        read_problems(path)
