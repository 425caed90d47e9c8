# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The files of one result."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from sysid_ros.video import VIDEO

RESULT = "result.json"
PARAMETERS = "parameters.yaml"
MODEL = "model.xml"
ASSETS = "assets"  # folder of the files that model.xml names
URDF = "model.urdf"
ROS2_CONTROL = "ros2_control.yaml"
RANDOMIZATION = "domain_randomization.yaml"
BAM = "bam"  # folder of one file per joint
RESIDUALS = "residuals.npz"
REPORT = "report.html"


@dataclass(frozen=True)
class ResultFolder:
    """Where one result lies; ``model`` and the two after it are ``None`` where absent."""

    folder: Path
    result: Path  # result.json
    parameters: Path  # parameters.yaml
    model: Path | None  # model.xml
    residuals: Path | None  # residuals.npz
    report: Path | None  # report.html

    @classmethod
    def at(cls, folder: Path) -> ResultFolder:
        """Name the files that ``folder`` holds."""

        def present(name: str) -> Path | None:
            return folder / name if (folder / name).is_file() else None

        return cls(
            folder=folder,
            result=folder / RESULT,
            parameters=folder / PARAMETERS,
            model=present(MODEL),
            residuals=present(RESIDUALS),
            report=present(REPORT),
        )


def clear(folder: Path) -> None:
    """Remove the files of a result that was begun in ``folder``; what else is there stays."""
    for name in (
        RESULT, PARAMETERS, MODEL, URDF, ROS2_CONTROL, RANDOMIZATION, RESIDUALS, REPORT, VIDEO,
    ):  # fmt: skip
        (folder / name).unlink(missing_ok=True)
    for name in (ASSETS, BAM):
        shutil.rmtree(folder / name, ignore_errors=True)
