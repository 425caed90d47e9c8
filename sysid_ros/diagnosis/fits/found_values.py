# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The values that a fit of a few windows found, where other fits of the same recordings begin."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from sysid_ros.diagnosis.fits.window_scores import WindowScores
from sysid_ros.engine.parameters import ParameterDict, written_by


@dataclass(frozen=True)
class FoundValues:
    """The values that a fit of a few windows found: of friction, damping, armature and delays.

    Attributes:
      values: By kind of element, its name and attribute; of those that are inside their bounds, as
        at one nothing tells a search which way to go.
    """

    values: Mapping[tuple[str, str, str], float] = field(default_factory=dict)

    @classmethod
    def of(cls, windows: WindowScores | None, fitted: ParameterDict) -> FoundValues:
        """The values that windows were fitted with; none without windows.

        Args:
          windows: Fitted.
          fitted: What was, by the names that the windows have.
        """
        if windows is None:
            return cls()
        places = {
            one.name: written_by(one)
            for one in fitted.free()
            if one.size == 1 and one.name not in windows.held
        }
        return cls({
            (place.element, element, place.attribute): windows.value(name)
            for name, place in places.items()
            for element in place.names
        })  # fmt: skip

    def begin(self, params: ParameterDict, left: Collection[str] = ()) -> bool:
        """Begin a fit here, inside the bounds of its parameters; tell whether it moved any.

        Args:
          params: The fit's; changed in place.
          left: Names of those that stay where they are.
        """
        moved = False
        for one in params.free():
            place = written_by(one)
            keys = [(place.element, name, place.attribute) for name in place.names]
            known = [self.values[key] for key in keys if key in self.values]
            if known and one.size == 1 and one.name not in left:
                one.update_from_vector(np.clip([np.mean(known)], *one.get_bounds()))
                moved = True
        return moved


UNKNOWN = FoundValues()
