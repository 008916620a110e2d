from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent.parent


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"tools_{name}", ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


environment = load("environment")
lock = load("lock")
LOCK = """\
# Made by hand
alpha==1.0 ; python_full_version < '3.12' \\
    --hash=sha256:aa \\
    --hash=sha256:bb
    # via beta
alpha==2.0 ; python_full_version >= '3.12' \\
    --hash=sha256:cc
beta==3 \\
    --hash=sha256:dd
"""


def test_a_part_of_the_lock_keeps_its_hashes(tmp_path: Path) -> None:
    chosen = environment.select(LOCK, {"alpha"}, tmp_path / "new" / "part.lock").read_text()
    assert chosen.count("alpha==") == 2
    assert [name for name in ("aa", "bb", "cc", "dd") if f"sha256:{name}" in chosen] == ["aa", "bb", "cc"]


def test_uv_looks_where_pip_was_told_to_look(tmp_path: Path) -> None:
    told = {"index-url": "https://mirror.example/simple", "find-links": f"{tmp_path} /not/there", "timeout": "180"}
    assert environment.uv_variables(told, {"PATH": "/bin"}) == {
        "PATH": "/bin",
        "UV_DEFAULT_INDEX": "https://mirror.example/simple",
        "UV_FIND_LINKS": str(tmp_path),
        "UV_HTTP_TIMEOUT": "180",
    }


def test_what_uv_was_told_itself_comes_first() -> None:
    own = {"UV_DEFAULT_INDEX": "https://own.example/simple", "UV_HTTP_TIMEOUT": "5"}
    told = {"index-url": "https://mirror.example/simple", "extra-index-url": "https://other.example", "timeout": "180"}
    assert environment.uv_variables(told, own) == own


def test_pip_variables_win_over_its_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pip.conf").write_text("[global]\ntimeout = 7\nindex-url = https://file.example/simple\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("PIP_DEFAULT_TIMEOUT", "9")
    monkeypatch.setenv("PIP_INDEX_URL", "https://variable.example/simple")
    settings = environment.pip_settings()
    assert settings["index-url"] == "https://variable.example/simple"
    assert settings["default-timeout"] == "9"


def test_installing_needs_a_way_to_be_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment.shutil, "which", lambda name: None)
    with pytest.raises(environment.SetupFailed, match="no apt-get here to install postgresql"):
        environment.apt_install("postgresql")
    monkeypatch.setattr(environment.shutil, "which", lambda name: "/usr/bin/apt-get" if name == "apt-get" else None)
    monkeypatch.setattr(environment.os, "geteuid", lambda: 1000)
    with pytest.raises(environment.SetupFailed, match="only root can install postgresql"):
        environment.apt_install("postgresql")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[project]\nrequires-python = ">=3.11"\ndependencies = ["alpha>=1"]\n')
    (tmp_path / "requirements.lock").write_text(f"# pyproject: {lock.digest()}\n{LOCK}")
    return tmp_path


def test_a_lock_that_fits_passes(files: Path) -> None:
    assert lock.check() == 0


def test_a_dependency_changed_without_the_lock_is_found(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pyproject = files / "pyproject.toml"
    pyproject.write_text(pyproject.read_text().replace("alpha>=1", "alpha>=2"))
    assert lock.check() == 1
    assert "run `make lock`" in capsys.readouterr().err


def test_a_lock_that_names_a_host_is_found(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (files / "requirements.lock").open("a") as text:
        text.write("gamma @ https://mirror.example/gamma-1.tar.gz\n")
    assert lock.check() == 1
    assert "https://mirror.example" in capsys.readouterr().err
