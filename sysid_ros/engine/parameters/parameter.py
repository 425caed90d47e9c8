# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One quantity to identify: its value, bounds, prior, and how it is written into a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import InertiaType
from sysid_ros.errors import ParameterError

# (MjSpec, Parameter) -> anything; the return value is ignored.
ModifierFn = Callable[[Any, "Parameter"], object]

_AT_BOUND_TOLERANCE = 1e-3  # of the width; below it a value counts as lying on its bound


class Parameter:
    """A scalar, vector or matrix to identify, with box bounds and a way into the model.

    ``value`` is what an optimizer changes; ``nominal`` stays where it is. Everything is float64,
    so that an integer nominal does not truncate what is found.

    Attributes:
      name: Unique within a :class:`ParameterDict`.
      nominal: Reference value, also the first value.
      min_value: Lower bounds, of the nominal's shape; may be ``-inf``.
      max_value: Upper bounds, of the nominal's shape; may be ``inf``.
      frozen: Whether optimizers leave it alone. Its modifier is applied all the same.
      modifier: Writes the value into a spec, called as ``modifier(spec, parameter)``.
      unit: For tables and reports, for example ``"kg m^2"``.
      prior: Mean and standard deviation of a Gaussian pull, each of the nominal's shape.
      inertia_type: How :func:`apply_body_inertia` reads the value; ``None`` elsewhere.
      scale_rot_inertia: Whether the rotational inertia follows the mass, same function.
    """

    def __init__(
        self,
        name: str,
        nominal: npt.ArrayLike,
        min_value: npt.ArrayLike,
        max_value: npt.ArrayLike,
        frozen: bool = False,
        modifier: ModifierFn | None = None,
        *,
        unit: str = "",
        prior: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    ) -> None:
        """Define a parameter that starts at its nominal value.

        Args:
          name: Identifier, unique within a ParameterDict.
          nominal: Scalar or array; a scalar becomes an array of one element.
          min_value: Lower bound, a scalar or an array of the nominal's shape.
          max_value: Upper bound, likewise.
          frozen: Exclude the parameter from optimization.
          modifier: Callback or declarative modifier that writes the value into a spec.
          unit: Unit of the value.
          prior: ``(mean, standard deviation)``, scalars or arrays of the nominal's shape.

        Raises:
          ParameterError: A number is NaN, a lower bound exceeds its upper bound, the nominal
            value lies outside its bounds, shapes differ, or a standard deviation is not positive.
        """
        self.name = name
        self.nominal: FloatArray = np.atleast_1d(np.array(nominal, dtype=np.float64))
        self.min_value = self._as_shaped("min_value", min_value)
        self.max_value = self._as_shaped("max_value", max_value)
        self.prior = None if prior is None else self._checked_prior(prior)
        self.frozen = frozen
        self.modifier = modifier
        self.unit = unit
        self.robot: str | None = None  # whose alone it is, where there are several
        self.inertia_type: InertiaType | None = None
        self.scale_rot_inertia = False
        self._check_bounds()
        self._value: FloatArray = self.nominal.copy()

    @property
    def value(self) -> FloatArray:
        """The current value, float64 of the nominal's shape; may be written in place."""
        return self._value

    @value.setter
    def value(self, value: npt.ArrayLike) -> None:
        self._value = self._as_shaped("value", value)

    @property
    def size(self) -> int:
        """Number of scalar components."""
        return int(self.nominal.size)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the value; ``(1,)`` for a scalar."""
        return self.nominal.shape

    def scalar_names(self) -> list[str]:
        """One name per component: ``"mass"``, ``"inertia[3]"``, ``"matrix[0,1]"``."""
        if self.size == 1:
            return [self.name]
        return [f"{self.name}[{','.join(map(str, i))}]" for i in np.ndindex(self.shape)]

    def scalar_units(self) -> list[str]:
        """One unit per component; ``kg, m, m, m`` names four, any other one counts for all."""
        units = self.unit.split(", ")
        return units if len(units) == self.size else [self.unit] * self.size

    def apply_modifier(self, spec: Any) -> None:
        """Write the value into ``spec`` (an MjSpec), where a modifier is set."""
        if self.modifier is not None:
            self.modifier(spec, self)

    def as_vector(self) -> FloatArray:
        """The value as a new flat array, shape (size,)."""
        return self._value.flatten()

    def as_nominal_vector(self) -> FloatArray:
        """The nominal value as a new flat array, shape (size,)."""
        return self.nominal.flatten()

    def update_from_vector(self, vector: npt.ArrayLike) -> None:
        """Set the value from a flat array of shape (size,).

        Raises:
          ParameterError: The array has another number of elements.
        """
        flat = np.array(vector, dtype=np.float64).ravel()
        if flat.size != self.size:
            raise ParameterError(
                f"Input vector length {flat.size} does not match parameter size {self.size} "
                f"of {self.name!r}"
            )
        self._value = flat.reshape(self.shape)

    def get_bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper bounds as new flat arrays, each of shape (size,)."""
        return self.min_value.flatten(), self.max_value.flatten()

    def reset(self) -> None:
        """Go back to the nominal value."""
        self._value = self.nominal.copy()

    def sample(self, rng: np.random.Generator | None = None) -> FloatArray:
        """A value drawn uniformly between the bounds, flat, shape (size,); nothing is set.

        Args:
          rng: Source of randomness; a fresh unseeded one where ``None``.

        Raises:
          ParameterError: A bound is infinite.
        """
        low, high = self.get_bounds()
        if not np.all(np.isfinite(low) & np.isfinite(high)):
            raise ParameterError(f"parameter {self.name!r} has infinite bounds: cannot sample")
        return (rng or np.random.default_rng()).uniform(low, high)

    def move_off_bound(
        self, fraction: float = 0.05, at_bound_tol: float = _AT_BOUND_TOLERANCE
    ) -> None:
        """Move components that lie on a bound inwards; others stay.

        Optimizers that start on a bound can stall there.

        Args:
          fraction: Where to put them, as a fraction of the width between the bounds.
          at_bound_tol: Distance that counts as lying on the bound, as a fraction of the width.
        """
        low, high = self.get_bounds()
        width = high - low
        bounded = np.isfinite(width)
        width = np.where(bounded, width, 0.0)
        reach = at_bound_tol * np.where(width > 0.0, width, 1.0)
        value = self.as_vector()
        at_low, at_high = value - low <= reach, high - value <= reach
        value = np.where(bounded & at_low, low + fraction * width, value)
        value = np.where(bounded & at_high, high - fraction * width, value)
        self.update_from_vector(value)

    def copy(self) -> Parameter:
        """An independent parameter; the modifier is shared, not copied."""
        other = object.__new__(type(self))  # as copy.copy, ten times as fast
        other.__dict__.update(self.__dict__)
        for name in ("nominal", "min_value", "max_value", "_value"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def moved_to(self, vector: npt.ArrayLike) -> Parameter:
        """A parameter that differs in its value alone; its other arrays are shared, to be read."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.update_from_vector(vector)
        return other

    def __deepcopy__(self, memo: Mapping[int, object]) -> Parameter:
        return self.copy()

    def __repr__(self) -> str:
        frozen = ", frozen" if self.frozen else ""
        unit = f" {self.unit}" if self.unit else ""
        if self.size == 1:
            low, high = self.min_value.item(), self.max_value.item()
            return f"{self.name}: {self._value.item():.6g}{unit} in [{low:.6g}, {high:.6g}]{frozen}"
        value = np.array2string(self._value, precision=6, separator=", ")
        return f"{self.name}: {value}{unit}{frozen}"

    def _as_shaped(self, what: str, given: npt.ArrayLike) -> FloatArray:
        """``given`` as a new float64 array of the nominal's shape; scalars are repeated."""
        array = np.array(given, dtype=np.float64)
        if array.size == 1:
            return np.full(self.shape, array.item())
        if array.size != self.size:
            raise ParameterError(
                f"parameter {self.name!r}: {what} has shape {array.shape}, the nominal value "
                f"{self.shape}"
            )
        return array.reshape(self.shape)

    def _checked_prior(
        self, prior: tuple[npt.ArrayLike, npt.ArrayLike]
    ) -> tuple[FloatArray, FloatArray]:
        mean, std = (self._as_shaped("prior", part) for part in prior)
        if not np.all(np.isfinite(mean)) or not np.all(std > 0.0):
            raise ParameterError(
                f"parameter {self.name!r}: a prior needs a finite mean and a standard deviation "
                f"above zero, got mean {mean.tolist()} and standard deviation {std.tolist()}"
            )
        return mean, std

    def _check_bounds(self) -> None:
        scalars = (self.nominal.flat, self.min_value.flat, self.max_value.flat)
        for name, nominal, low, high in zip(self.scalar_names(), *scalars, strict=True):
            if not np.isfinite(nominal) or np.isnan(low) or np.isnan(high):
                raise ParameterError(
                    f"parameter {name!r}: nominal {nominal:g}, minimum {low:g} and maximum "
                    f"{high:g} must be numbers, the nominal finite"
                )
            if low > high:
                raise ParameterError(
                    f"parameter {name!r}: its minimum {low:g} exceeds its maximum {high:g}"
                )
            if not low <= nominal <= high:
                raise ParameterError(
                    f"parameter {name!r}: the nominal value {nominal:g} lies outside its bounds "
                    f"[{low:g}, {high:g}]"
                )


def sized(what: str, value: npt.ArrayLike, size: int) -> FloatArray:
    """``value`` as a flat float64 array of ``size`` elements.

    Raises:
      ParameterError: It has another number of elements.
    """
    array = np.asarray(value, dtype=np.float64).ravel()
    if array.size != size:
        raise ParameterError(f"{what} must be a {size}-element array, got {array.size}.")
    return array
