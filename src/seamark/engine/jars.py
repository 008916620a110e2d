"""Delta's jars: resolved once by the resolver that comes with Spark, then taken from the cache."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

from seamark.engine.cache import cache_folder, locked
from seamark.engine.failure import without_credentials
from seamark.engine.java import Java
from seamark.errors import EngineError

RESOLVE_SECONDS = 600
_SYSTEM_CERTIFICATES = ("/etc/ssl/certs/java/cacerts", "/etc/pki/java/cacerts")


def spark_home() -> Path:
    """Where Spark is: `$SPARK_HOME`, else inside the pyspark package, which is not imported for this."""
    if os.environ.get("SPARK_HOME"):
        return Path(os.environ["SPARK_HOME"])
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise EngineError("pyspark is not installed", "install seamark with its dependencies")
    return Path(spec.origin).parent


def delta_package() -> str:
    """Maven's name of the Delta jar that fits the installed pyspark and delta-spark."""
    spark = ".".join(importlib.metadata.version("pyspark").split(".")[:2])
    return f"io.delta:delta-spark_{spark}_2.13:{importlib.metadata.version('delta-spark')}"


def delta_jars(java: Java, conf: Mapping[str, str]) -> tuple[Path, ...]:
    """The jars that Spark lacks for Delta; none when Spark, or the user's own settings, bring Delta along."""
    own = " ".join(conf.get(key, "") for key in ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath"))
    if "delta-spark" in own or any((spark_home() / "jars").glob("delta-spark*.jar")):
        return ()
    package = delta_package()
    folder = cache_folder() / "jars" / package.replace(":", "_")
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(folder.parent / ".lock"):
            if not folder.is_dir():
                _resolve(package, folder, java, conf)
    return tuple(sorted(folder.glob("*.jar")))


def _resolve(package: str, folder: Path, java: Java, conf: Mapping[str, str]) -> None:
    """Fill `folder`, which appears whole or not at all."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".resolving-") as name:
        work = Path(name)
        (work / "ivy.xml").write_text(_dependencies(package))
        settings = conf.get("spark.jars.ivySettings")
        if settings is None:
            settings = str(work / "settings.xml")
            Path(settings).write_text(_settings(_mirror(), conf.get("spark.jars.repositories", "")))
        (ivy,) = (spark_home() / "jars").glob("ivy-*.jar")
        command: list[str | Path] = [
            java.executable,
            *_network(java),
            "-jar",
            ivy,
            "-settings",
            settings,
            "-ivy",
            work / "ivy.xml",
        ]
        command += ["-cache", cache_folder() / "ivy", "-confs", "default", "-types", "jar", "-warn"]
        command += ["-retrieve", f"{work}/jars/[organization]_[artifact]-[revision].[ext]"]
        try:
            answer = subprocess.run(command, capture_output=True, text=True, timeout=RESOLVE_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise _unresolved(package, folder, f"no answer within {RESOLVE_SECONDS} s") from None
        if answer.returncode != 0 or not any((work / "jars").glob("*delta-spark*.jar")):
            raise _unresolved(package, folder, _reason(answer.stdout + answer.stderr))
        (work / "jars").chmod(0o755)
        (work / "jars").rename(folder)


def _dependencies(package: str) -> str:
    """What to resolve: the package with all it needs, but for what Spark has already."""
    organisation, name, revision = package.split(":")
    jars = (jar.name for jar in (spark_home() / "jars").glob("*.jar"))
    present = sorted({match[1] for jar in jars if (match := re.match(r"(.+?)-\d[^/]*\.jar$", jar))})
    excludes = "".join(f"<exclude module={quoteattr(module)}/>" for module in present)
    return (
        '<ivy-module version="2.0"><info organisation="seamark" module="jars"/>'
        '<configurations><conf name="default"/></configurations><dependencies>'
        f"<dependency org={quoteattr(organisation)} name={quoteattr(name)} rev={quoteattr(revision)}"
        f' conf="default-&gt;default"/>{excludes}</dependencies></ivy-module>'
    )


def _settings(mirror: str | None, repositories: str) -> str:
    """Maven's central repository or its mirror, and nothing that is only on this machine: a local Maven folder that
    holds half of what is needed would be believed."""
    roots = [mirror, *(part.strip() for part in repositories.split(",") if part.strip())]
    resolvers = "".join(
        f'<ibiblio name="repository-{number}" m2compatible="true" timeoutConstraint="patient"'
        + (f" root={quoteattr(root)}" if root else "")
        + "/>"
        for number, root in enumerate(roots)
    )
    return (
        '<ivysettings><settings defaultResolver="repositories"/><timeout-constraints>'
        '<timeout-constraint name="patient" connectionTimeout="20000" readTimeout="60000"/></timeout-constraints>'
        f'<resolvers><chain name="repositories">{resolvers}</chain></resolvers></ivysettings>'
    )


def _mirror() -> str | None:
    """The mirror of Maven's central repository that the user's Maven settings name, if they do."""
    try:
        tree = ElementTree.parse(Path("~/.m2/settings.xml").expanduser())  # noqa: S314 - the user's own file
    except (OSError, ElementTree.ParseError):
        return None
    for mirror in tree.iterfind(".//{*}mirror"):
        covers = {part.strip() for part in (mirror.findtext("{*}mirrorOf") or "").split(",")}
        if covers & {"*", "central", "external:*"} and "!central" not in covers:
            return (mirror.findtext("{*}url") or "").strip() or None
    return None


def _network(java: Java) -> list[str]:
    """What this machine's environment says of proxies and certificates, in Java's words."""
    words: list[str] = []
    for scheme in ("http", "https"):
        proxy = urlsplit(getproxies().get(scheme, ""))
        if proxy.hostname:
            words += [f"-D{scheme}.proxyHost={proxy.hostname}", f"-D{scheme}.proxyPort={proxy.port or 80}"]
    certificates = next((path for path in _SYSTEM_CERTIFICATES if Path(path).exists()), None)
    if java.bundled and certificates is not None:
        words.append(f"-Djavax.net.ssl.trustStore={certificates}")
    return words


def _reason(output: str) -> str:
    """The line of the resolver's output that says what went wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = (r"(?i)(exception|error|refused|timed out|unknown host|not found)", r"(?i)unresolved")
    for pattern in telling:
        for line in lines:
            if re.search(pattern, line) and "problem summary" not in line.lower():
                return without_credentials(line)
    return without_credentials(lines[-1]) if lines else "the resolver said nothing"


def _unresolved(package: str, folder: Path, reason: str) -> EngineError:
    return EngineError(
        f"the jars of {package} could not be fetched from the Maven registry: {reason}",
        "connect once, or name a mirror (`spark.jars.ivySettings` or `spark.jars.repositories` under `spark: conf:`), "
        f"or put the jars of {package} into {folder}",
    )
