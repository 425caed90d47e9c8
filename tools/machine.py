# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What a machine must have before an environment can be made on it, and what to do if not.

Only the standard library, and only syntax that Python 3.7 reads, so that an interpreter that is
too old gets a sentence instead of a SyntaxError.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

OLDEST = (3, 10)
NEWEST = (3, 14)
GLIBC = (2, 28)
"""What the ROS 2 wheels are built for (manylinux_2_28, x86-64)."""


class SetupError(Exception):
    """The environment cannot be made; the message is one sentence that says what to do."""


def require_python() -> None:
    """Go on under a Python that the wheels are built for.

    Replaces this process by one under another interpreter of the PATH where the present one is
    too old or too new.

    Raises:
      SetupError: None in the range is to be found.
    """
    if OLDEST <= sys.version_info[:2] <= NEWEST:
        return
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        found = shutil.which(f"python3.{minor}")
        if found and _succeeds([found, "-c", ""]):
            os.execv(found, [found, *sys.argv])  # noqa: S606
    raise SetupError(
        f"Python {platform.python_version()} is not supported: install one of Python "
        f"{_dotted(OLDEST)} to {_dotted(NEWEST)}, or name one with `make setup PYTHON=...`"
    )


def base_interpreter() -> str:
    """The installed Python behind this one, which may belong to a virtual environment."""
    return str(getattr(sys, "_base_executable", sys.executable))


def require_ros_wheels() -> None:
    """Check that the ROS 2 wheels run here.

    Raises:
      SetupError: This is not Linux on x86-64 with a recent enough glibc.
    """
    machine = platform.machine()
    otherwise = (
        "install ROS 2 and build with colcon (docs/install.md), or run "
        "`SYSID_ROS_NO_ROS=1 make setup` for the part that needs no ROS"
    )
    if sys.platform != "linux" or machine != "x86_64":
        raise SetupError(
            f"the ROS 2 wheels exist only for Linux on x86-64, this is {sys.platform} on "
            f"{machine}: {otherwise}"
        )
    libc, version = platform.libc_ver()
    if libc != "glibc" or tuple(int(part) for part in version.split(".")[:2]) < GLIBC:
        raise SetupError(
            f"the ROS 2 wheels need glibc {_dotted(GLIBC)} or newer, this machine has "
            f"{libc or 'another C library'} {version}: {otherwise}"
        )


def install_missing(*, compiler: bool) -> None:
    """Make sure of the venv module and, where asked, of a C++ compiler and Python's headers.

    What is missing is installed with apt-get where this user may (root, or sudo without a
    password).

    Args:
      compiler: Whether something will be compiled.

    Raises:
      SetupError: Something is missing and could not be installed; names the Debian packages.
    """
    missing = missing_packages(compiler=compiler)
    if missing:
        _apt_install(missing.values())
        missing = missing_packages(compiler=compiler)
    if missing:
        raise SetupError(
            f"this machine lacks {', '.join(missing)}: run "
            f"`sudo apt-get install {' '.join(missing.values())}`, then try again"
        )


def missing_packages(*, compiler: bool) -> dict[str, str]:
    """What this machine lacks.

    Args:
      compiler: Whether something will be compiled.

    Returns:
      The Debian package to install, by the name of what is missing.
    """
    importlib.invalidate_caches()
    python = f"python{_dotted(sys.version_info[:2])}"
    missing = {}
    if not all(importlib.util.find_spec(module) for module in ("venv", "ensurepip")):
        missing["Python's venv module"] = f"{python}-venv"
    if compiler and not (_any("c++", "g++", "clang++") and _any("cc", "gcc", "clang")):
        missing["a C++ compiler"] = "g++"
    if compiler and not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        missing["Python's C headers"] = f"{python}-dev"
    return missing


def _apt_install(packages: Iterable[str]) -> None:
    """Install with apt-get if this user may; says nothing if not, the caller looks again."""
    if not shutil.which("apt-get"):
        return
    if os.geteuid() == 0:
        prefix = []
    elif shutil.which("sudo") and _succeeds(["sudo", "-n", "true"]):
        prefix = ["sudo", "-n"]
    else:
        return
    print(f"Installing {' '.join(packages)} with apt-get", flush=True)
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    install = [*apt, "install", "-y", "--no-install-recommends", *packages]
    if not _succeeds(install):  # most often the lists of packages are old or absent
        _succeeds([*apt, "update"])
        _succeeds(install)


def clean_environment() -> dict[str, str]:
    """This process's environment without what a sourced ROS or an active venv put there.

    The wheels' start-up hook marks its work with a variable that other environments inherit,
    and PYTHONPATH of an installed ROS would shadow the wheels.
    """
    foreign = {
        "_ROS_WHEELS_BOOTSTRAP_COMPLETE",
        "LD_LIBRARY_PATH",
        "PYTHONPATH",
        "PYTHONHOME",
        "AMENT_PREFIX_PATH",
        "CMAKE_PREFIX_PATH",
        "COLCON_PREFIX_PATH",
        "VIRTUAL_ENV",
    }
    return {name: value for name, value in os.environ.items() if name not in foreign}


def _any(*programs: str) -> bool:
    return any(shutil.which(program) for program in programs)


def _succeeds(command: list[str]) -> bool:
    return (
        subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        ).returncode
        == 0
    )


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(str(part) for part in version)
