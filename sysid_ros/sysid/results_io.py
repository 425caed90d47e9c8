# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The files of a fit: parameters, models and numbers, none of them a pickle."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.parameters import ParameterDict, apply_param_modifiers_spec
from sysid_ros.engine.signals import ModelSequences, save_npz
from sysid_ros.engine.uncertainty import calculate_intervals
from sysid_ros.files import translated_os_errors, write_json
from sysid_ros.sysid.model_saving import save_model


def save_results(
    experiment_results_folder: str | os.PathLike[str],
    models_sequences: Sequence[ModelSequences],
    initial_params: ParameterDict,
    opt_params: ParameterDict,
    opt_result: Mapping[str, Any],
    residual_fn: Callable[..., Any],
) -> None:
    """Write everything about a fit into a folder.

    ``params_x_0.yaml`` and ``params_x_hat.yaml`` (loaded by ``ParameterDict.load_from_disk``),
    ``result.json`` (status, message, cost, counts, and each parameter with its 95 % interval),
    ``arrays.npz`` (x, jac, grad, fun, covariance, intervals), and for every model the identified
    ``<name>.xml`` with its files in ``assets``, which loads on its own and has the start of the
    first recording as keyframe ``start``.

    Args:
      experiment_results_folder: Made where it does not exist.
      models_sequences: The models.
      initial_params: Parameters before the fit.
      opt_params: Parameters after it.
      opt_result: What :func:`optimize` returned.
      residual_fn: The residual function that was minimized.

    Raises:
      OutputError: The folder or a file cannot be written.
      ModelError: A model does not compile or lacks a file.
    """
    folder = Path(experiment_results_folder)
    with translated_os_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    initial_params.save_to_disk(folder / "params_x_0.yaml")
    opt_params.save_to_disk(folder / "params_x_hat.yaml")
    residuals, *_ = residual_fn(opt_params.as_vector(), opt_params)
    covariance, half_widths = calculate_intervals(residuals, opt_result["jac"])
    arrays = {
        "x": np.asarray(opt_result["x"]),
        "jac": np.asarray(opt_result["jac"]),
        "grad": np.asarray(opt_result["grad"]),
        "fun": np.concatenate([np.ravel(part) for part in residuals]),
        "covariance": covariance,
        "intervals": half_widths,
    }
    save_npz(folder / "arrays.npz", arrays)
    document = _document(initial_params, opt_params, opt_result, half_widths)
    write_json(folder / "result.json", document)
    for sequences in models_sequences:
        spec = apply_param_modifiers_spec(opt_params, sequences.spec)
        start = sequences.initial_state[0]
        save_model(spec, folder / f"{sequences.name}.xml", start_state=start)


def _document(
    initial: ParameterDict, found: ParameterDict, result: Mapping[str, Any], half_widths: FloatArray
) -> dict[str, Any]:
    counts = {
        name: result[name]
        for name in ("iterations", "evaluations", "jacobians", "elapsed")
        if name in result
    }
    bounds = found.bounds
    intervals = half_widths if len(half_widths) else np.full(found.size, np.inf)
    units = [unit for p in found.free() for unit in p.scalar_units()]
    rows = zip(
        found.scalar_names(),
        units,
        initial.as_vector(),
        found.as_vector(),
        bounds.lower,
        bounds.upper,
        intervals,
        bounds.flags(found.as_vector()),
        strict=True,
    )
    return {
        "status": getattr(result.get("status"), "value", result.get("status")),
        "message": str(result.get("message", "")),
        "cost": result.get("cost", np.nan),
        **counts,
        "parameters": {
            name: {
                "unit": unit,
                "initial": float(before),
                "value": float(value),
                "bounds": [lower, upper],
                **_interval(value, half, list(flags)),
            }
            for name, unit, before, value, lower, upper, half, flags in rows
        },
    }


def _interval(value: float, half: float, flags: list[str]) -> dict[str, Any]:
    """The interval, and why none is claimed: an optimum at a bound says nothing about its width."""
    if flags or not np.isfinite(half):
        return {"interval": None, "flags": flags}
    return {"interval": [float(value - half), float(value + half)], "flags": []}
