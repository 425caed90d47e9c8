"""The files of one result."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


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
            return folder / name if (folder / name).exists() else None

        return cls(
            folder=folder,
            result=folder / "result.json",
            parameters=folder / "parameters.yaml",
            model=present("model.xml"),
            residuals=present("residuals.npz"),
            report=present("report.html"),
        )
