# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Message packages built from source against the wheels, without colcon."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from installer import Installer
from work import Work


class CMake:
    """CMake and ninja, fetched when they are first needed: 90 MB that nothing needs later."""

    def __init__(self, installer: Installer, folder: Path, requirements: Path) -> None:
        """Keep where they come from and go to."""
        self._installer = installer
        self._folder = folder
        self._requirements = requirements
        self._lock = threading.Lock()

    def programs(self, work: Work) -> tuple[Path, Path]:
        """The paths of cmake and ninja.

        Raises:
          SetupError: They could not be fetched.
        """
        cmake = self._folder / "cmake" / "data" / "bin" / "cmake"
        with self._lock:
            if not cmake.exists():
                self._installer.install(
                    work, "--target", str(self._folder), "-r", str(self._requirements)
                )
        return cmake, self._folder / "bin" / "ninja"


def build(
    work: Work, cmake: CMake, source: Path, environment: Path, scripts: Sequence[Path]
) -> list[str]:
    """Build a message package and install it over an environment's own prefix.

    Args:
      work: Runs the commands.
      cmake: Has the programs.
      source: The package.
      environment: The virtual environment with the ROS 2 wheels.
      scripts: Two CMake scripts for what the wheels need: included before anything is looked for,
        and after ``project()``.

    Returns:
      The installed files.

    Raises:
      SetupError: It does not build.
    """
    program, ninja = cmake.programs(work)
    first, after = scripts
    with tempfile.TemporaryDirectory(prefix="build_", dir=environment) as folder:
        work.run(
            str(program),
            *("-S", str(source), "-B", folder, "-G", "Ninja"),
            f"-DCMAKE_MAKE_PROGRAM={ninja}",
            f"-DCMAKE_INSTALL_PREFIX={environment}",
            f"-DCMAKE_PREFIX_PATH={environment}",
            f"-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES={first}",
            f"-DCMAKE_PROJECT_INCLUDE={after}",
            f"-DPython3_EXECUTABLE={environment / 'bin' / 'python'}",
            "-DBUILD_TESTING=OFF",
        )
        work.run(str(program), "--build", folder)
        work.run(str(program), "--install", folder)
        return (Path(folder) / "install_manifest.txt").read_text().splitlines()


def remove_installed(manifest: Path) -> None:
    """Remove the files of an earlier build, whose messages may be gone or renamed."""
    if manifest.exists():
        for file in manifest.read_text().splitlines():
            Path(file).unlink(missing_ok=True)
