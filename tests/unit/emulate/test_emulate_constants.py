"""Constants as the compiler's IR writes them, and host code that branches, against bytes written out by hand."""

from __future__ import annotations

import pytest
from iree.compiler import ir

from ireebench.isa.emulate.constants import constant_bytes
from ireebench.isa.emulate.errors import Unsupported
from ireebench.isa.emulate.host import read_schedule


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dense<[1, -2]> : tensor<2xi32>", "01000000feffffff"),
        ("dense<1.0> : tensor<2x2xf16>", "003c003c003c003c"),
        ("dense<1> : tensor<i64>", "0100000000000000"),
        (
            "#util.composite<12xi8, [\n  dense<[258]> : tensor<1xi32>,\n  dense<0> : vector<8xi8>,\n]>",
            "02010000" + 16 * "0",
        ),
        ('#util.composite<6xi8, [dense<"0x0080"> : tensor<1xi16>, dense<-1.5> : tensor<f32>]>', "00800000c0bf"),
    ],
)
def test_pieces_lie_one_after_the_other_little_endian(text: str, expected: str) -> None:
    with ir.Context():
        assert constant_bytes(ir.Attribute.parse(text)) == bytes.fromhex(expected)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("dense<1.0> : tensor<4xbf16>", "constant of bf16 elements"),
        ("dense<1> : tensor<4xi4>", "constant of i4 elements"),
        ("#util.byte_pattern<7> : tensor<4xi8>", "constant written as #util.byte_pattern"),
        ("#util.composite<4xi8, [#util.byte_pattern<7> : tensor<4xi8>]>", "constant written as #util.byte_pattern"),
    ],
)
def test_what_is_written_in_another_way_is_named(text: str, why: str) -> None:
    with ir.Context(), pytest.raises(Unsupported, match=why):
        constant_bytes(ir.Attribute.parse(text))


HOST = """
util.global private @some : !hal.buffer
util.initializer {{
  %c0 = arith.constant 0 : index
  %c1_i64 = arith.constant 1 : i64
  %none = util.null : !hal.fence
  %length = arith.constant {length} : index
  %bytes = util.buffer.constant : !util.buffer = dense<[1, 2]> : tensor<2xi32>
  %usage = hal.buffer_usage<"Transfer"> : i32
  %memory = hal.memory_type<"DeviceLocal"> : i32
  %device = util.global.load @device : !hal.device
  %allocator = hal.device.allocator<%device : !hal.device> : !hal.allocator
  %did_import, %mapped = hal.allocator.import<%allocator : !hal.allocator>
      source(%bytes : !util.buffer)[%c0, %length] affinity(%c1_i64) type(%memory) usage(%usage) : i1, !hal.buffer
  cf.cond_br %did_import, ^bb2(%mapped : !hal.buffer), ^bb1
^bb1:
  %other = util.null : !hal.buffer
  cf.br {target}
^bb2(%buffer: !hal.buffer):
  util.global.store %buffer, @some : !hal.buffer
  {last}
}}
util.global private @device : !hal.device
util.func public @f(%view: !hal.buffer_view) {{
  %buffer = util.global.load @some : !hal.buffer
  util.return
}}
"""


def host(length: int = 8, target: str = "^bb2(%other : !hal.buffer)", last: str = "util.return") -> str:
    return HOST.format(length=length, target=target, last=last)


def test_a_global_buffer_holds_what_its_initializer_imports() -> None:
    (argument, constant) = read_schedule(host(), "f").buffers
    assert argument.kind == "input"
    assert (constant.kind, constant.size, constant.data) == ("constant", 8, bytes.fromhex("0100000002000000"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (host(length=12), "import of what is no constant of the module"),
        (host(last="cf.br ^bb2(%buffer : !hal.buffer)"), "a loop in host code"),
        (host().replace("cf.cond_br %did_import", "cf.cond_br %unknown").replace(
            "%none =", "%unknown = util.global.load @flag : i1\n  %none ="
        ) + "util.global private @flag : i1", "a global of type i1"),
        (host().replace("util.global.store %buffer, @some", "util.global.store %buffer, @another")
         + "util.global private mutable @another : !hal.buffer", "global 'some', which nothing initialises"),
    ],
)  # fmt: skip
def test_host_code_that_is_not_understood_is_named(text: str, why: str) -> None:
    with pytest.raises(Unsupported, match=why):
        read_schedule(text, "f")
