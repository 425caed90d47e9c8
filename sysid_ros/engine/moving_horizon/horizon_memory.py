# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The knowledge of a moving horizon as a small file, so that a restart loses nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sysid_ros.engine.moving_horizon.arrival_cost import Share
from sysid_ros.errors import DataError
from sysid_ros.files import read_regular_text, write_json

FORMAT = 1


@dataclass(frozen=True)
class Memory:
    """All that is known of some parameters.

    Attributes:
      names: Of the scalars, (p,).
      known: Their information; ``None`` for none.
      noise: Standard deviation of every signal, in its unit.
    """

    names: tuple[str, ...]
    known: Share | None
    noise: Mapping[str, float]

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all.

        Raises:
          OutputError: It cannot be written.
        """
        known = self.known
        content: dict[str, Any] = {"format": FORMAT, "names": self.names, "noise": self.noise}
        if known is not None:
            content["known"] = {
                "theta": known.theta.tolist(),
                "hessian": known.hessian.tolist(),
                "gradient": known.gradient.tolist(),
                "squares": {name: list(pair) for name, pair in known.squares.items()},
                "windows": known.windows,
            }
        write_json(path, content)

    @classmethod
    def read(cls, path: Path) -> Memory:
        """Read a file that :meth:`write` wrote.

        Raises:
          DataError: It is none, or damaged.
        """
        try:
            content = json.loads(read_regular_text(path))
            names = tuple(str(name) for name in content["names"])
            noise = {str(name): float(level) for name, level in content["noise"].items()}
            found = content.get("known")
            if content["format"] != FORMAT:
                raise DataError(f"{path}: format {content['format']}; this version reads {FORMAT}")
            return cls(names, None if found is None else _share(found, len(names)), noise)
        except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"{path} holds no state of an estimator: {error}") from error


def _share(content: Mapping[str, Any], p: int) -> Share:
    """Information of ``p`` parameters.

    Raises:
      ValueError: Sizes differ, or something is not finite.
    """
    theta, gradient = (np.array(content[key], dtype=np.float64) for key in ("theta", "gradient"))
    hessian = np.array(content["hessian"], dtype=np.float64)
    if (theta.shape, gradient.shape, hessian.shape) != ((p,), (p,), (p, p)):
        raise ValueError(f"its arrays are not of {p} parameters")
    if not all(np.isfinite(part).all() for part in (theta, gradient, hessian)):
        raise ValueError("a number is not finite")
    squares = {name: (float(s), float(n)) for name, (s, n) in content["squares"].items()}
    return Share(0.0, theta, hessian, gradient, squares, float(content["windows"]))
