# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The files of one result."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from sysid_ros.exports import ASSETS, FORMATS, MODEL

RESULT = "result.json"
PARAMETERS = "parameters.yaml"
RESIDUALS = "residuals.npz"
REPORT = "report.html"
VIDEO = "video.webp"


@dataclass(frozen=True)
class ResultFolder:
    """The files of one result; ``model`` and the two after it are ``None`` where absent."""

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
    own = (RESULT, PARAMETERS, MODEL, ASSETS, RESIDUALS, REPORT, VIDEO)
    for name in (*own, *(kind.name for kind in FORMATS)):
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
