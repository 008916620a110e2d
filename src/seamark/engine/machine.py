"""What this machine, or the container on it, lets us use."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

WORKER_MEGABYTES = 512
"""What a Python worker may take, with some to spare."""


@dataclass(frozen=True)
class Machine:
    cores: int
    megabytes: int


def this_machine() -> Machine:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(limit).read_text().strip()
        except OSError:
            continue
        if text.isdigit():
            memory = min(memory, int(text))
    return Machine(_quota(cores), memory >> 20)


def _quota(cores: int) -> int:
    """A container's share of the processors, in whole ones."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, min(cores, -(-int(quota) // int(period))))
    except (OSError, ValueError):
        return cores


def driver_megabytes(machine: Machine, small: bool) -> int:
    """The JVM's heap: half of what the Python workers and the rest of the machine leave, within reason."""
    left = machine.megabytes - 1024 - machine.cores * WORKER_MEGABYTES
    return max(512, min(left // 2, 1024 if small else 8192))


def local_tasks(master: str, machine: Machine) -> int | None:
    """How many tasks a local master runs at once; None when the master is elsewhere."""
    if master == "local":
        return 1
    if match := re.fullmatch(r"local\[(\d+|\*)(?:,\s*\d+)?\]", master):
        return machine.cores if match[1] == "*" else int(match[1])
    if match := re.fullmatch(r"local-cluster\[\s*(\d+)\s*,\s*(\d+)\s*,\s*\d+\s*\]", master):
        return int(match[1]) * int(match[2])
    return None


def retrying_master(master: str, machine: Machine) -> str:
    """A local master that tries a failed task again, as others do: `local[n]` gives up at the first failure."""
    if master == "local" or re.fullmatch(r"local\[(\d+|\*)\]", master):
        return f"local[{local_tasks(master, machine)},4]"
    return master


def attempts(master: str, conf_attempts: str | None) -> int:
    """How often Spark tries a task before it gives up."""
    if master == "local":
        return 1
    if match := re.fullmatch(r"local\[(?:\d+|\*)(?:,\s*(\d+))?\]", master):
        return int(match[1] or 1)
    return int(conf_attempts or 4)
