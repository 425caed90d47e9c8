# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The predicted worth of a designed motion, kept beside its file until a recording is fitted."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from sysid_ros.arrays import FloatArray
from sysid_ros.errors import DataError
from sysid_ros.files import FormError, Record, matrix, optional, read_regular, write_json


@dataclass(frozen=True)
class MotionForecast:
    """The information that a recording of a motion is predicted to carry."""

    motion: str  # SHA-256 of the motion's file
    told_by: str  # where the information comes from
    duration: float  # s
    names: tuple[str, ...]  # of p parameters
    information: FloatArray  # of one recording, (p, p), without priors
    # by which noise counts more in it than was assumed at first, as earlier forecasts showed
    noise_factor: float = 1.0
    # information (p, p) of the fit that the motion was designed after
    known: FloatArray | None = None
    recordings: tuple[str, ...] = ()  # SHA-256 of the recordings of that fit

    def __post_init__(self) -> None:
        count = len(self.names)
        for given in (self.information, self.known):
            if given is not None and given.shape != (count, count):
                raise FormError(f"the information is not of the {count} parameters named")
        if not self.noise_factor > 0.0 or not self.duration > 0.0:
            raise FormError("noise_factor and duration must be positive")


_FORM = Record(MotionForecast, information=matrix(), known=optional(matrix()))


def forecast_path(motion: Path) -> Path:
    """The file beside a motion that holds its forecast."""
    return motion.with_suffix(".forecast.json")


def motion_digest(motion: Path) -> str:
    """SHA-256 of a motion's file.

    Raises:
      OSError: It cannot be read.
    """
    return hashlib.sha256(read_regular(motion)).hexdigest()


def write_forecast(motion: Path, forecast: MotionForecast) -> Path:
    """Write a forecast beside its motion and return its path.

    Raises:
      OutputError: It cannot be written.
    """
    path = forecast_path(motion)
    write_json(path, _FORM.write(forecast))
    return path


def read_forecast(motion: Path) -> MotionForecast:
    """Read the forecast that lies beside a motion.

    Raises:
      DataError: There is none, or it is of another motion.
    """
    path = forecast_path(motion)
    try:
        digest = motion_digest(motion)
        found = _FORM.read(json.loads(read_regular(path)), "")
    except FileNotFoundError as error:
        raise DataError(f"there is no {error.filename}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path} is not a motion's forecast: {error}") from None
    if found.motion != digest:
        raise DataError(f"{path.name} is the forecast of another motion than {motion.name}")
    return found
