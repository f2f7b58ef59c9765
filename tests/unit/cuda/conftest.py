from __future__ import annotations

from pathlib import Path

import pytest

STUB = Path(__file__).parent / "hip_stub"


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds once per session, in a cache of the tests' own."""
    base = tmp_path_factory.getbasetemp() / "ireebench-native"
    monkeypatch.setenv("XDG_CACHE_HOME", str(base / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(base / "data"))


@pytest.fixture
def host_hipcc(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `hipcc` that compiles HIP sources for the host with the stub's headers, every warning an error."""
    path = tmp_path_factory.getbasetemp() / "hipcc-stub"
    path.write_text(
        "#!/bin/bash\n"
        'if [ "$1" = --version ]; then echo "host stub 1"; exit 0; fi\n'
        "args=()\n"
        'while [ $# -gt 0 ]; do case "$1" in -x) shift;; --offload-arch=*) ;; -O3) args+=(-O1);; *) args+=("$1");; '
        "esac; shift; done\n"
        f'exec g++ -D__HIP_PLATFORM_AMD__ -I{STUB} -Wall -Wextra -Werror -Wno-unknown-pragmas -x c++ "${{args[@]}}"\n'
    )
    path.chmod(0o755)
    monkeypatch.setenv("IREEBENCH_HIPCC", str(path))
    return path
