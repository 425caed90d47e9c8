# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Models that are compiled once for many simulations at one point."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.simulation import Candidate, CandidateBuilder


class KeptCandidates(CandidateBuilder):
    """Makes candidates, and keeps those of the latest point and its neighbours.

    Windows that grow are simulated ten times a second, mostly at one point. Compiling a model with
    meshes takes milliseconds, and derivatives take one for each parameter.
    """

    _point: bytes = b""
    _base: Candidate | None = None

    def build(self, theta: FloatArray, known: Iterable[Candidate] = ()) -> Candidate:
        """As of the base class; a candidate of the latest point is not made anew."""
        if self._base is None or self._point != theta.tobytes():
            self._point, self._base = theta.tobytes(), super().build(theta, known)
            self._moved: dict[tuple[int, float], Candidate] = {}
            self._shared: dict[tuple[tuple[int, float], ...], Any] = {}
        return self._base

    def neighbour(self, base: Candidate, component: int, value: float) -> Candidate:
        """As of the base class; one of the latest point is not made anew."""
        if base is not self._base:
            return super().neighbour(base, component, value)
        if (component, value) not in self._moved:
            self._moved[component, value] = super().neighbour(base, component, value)
        return self._moved[component, value]

    def together(self, base: Candidate, values: Mapping[int, float]) -> Any:
        """As of the base class; one of the latest point is not made anew."""
        if base is not self._base:
            return super().together(base, values)
        key = tuple(values.items())
        if key not in self._shared:
            self._shared[key] = super().together(base, values)
        return self._shared[key]
