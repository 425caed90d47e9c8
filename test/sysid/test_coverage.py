"""The 95 % intervals are 95 % intervals: simulated experiments with fixed seeds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import scipy.signal
from sysid import pendulum

from sysid_ros.sysid.fit import FitSettings, fit
from sysid_ros.sysid.timeseries import TimeSeries

EXPERIMENTS = 100
WINDOWS = 50
NOISE = 0.004  # rad


def white(rng: np.random.Generator, n: int) -> npt.NDArray[np.float64]:
    return NOISE * rng.normal(size=n)


def correlated(rng: np.random.Generator, n: int) -> npt.NDArray[np.float64]:
    """AR(1) noise of coefficient 0.9 with the same variance."""
    innovation = rng.normal(size=n) * NOISE * np.sqrt(1 - 0.9**2)
    return np.asarray(scipy.signal.lfilter([1.0], [1.0, -0.9], innovation))


@pytest.mark.slow
@pytest.mark.parametrize("noise", [white, correlated])
def test_pooled_coverage_of_clustered_intervals(noise: object) -> None:
    assert callable(noise)
    # The simulated robot takes the same steps as the model, so that only noise is at work.
    control, clean = pendulum.recording(duration=0.5 * WINDOWS)
    covered = total = 0
    for seed in range(EXPERIMENTS):
        rng = np.random.default_rng(seed)
        data = clean.data + noise(rng, len(clean))[:, None]
        measured = TimeSeries(clean.times, data, clean.signal_mapping)
        result = fit(
            [pendulum.sequences(control, measured)],
            pendulum.parameters(),
            FitSettings(window_length=0.5),
        )
        assert result.interval_method == "clustered"
        for name, truth in pendulum.TRUTH.items():
            interval = result[name].interval(0.95)
            assert interval is not None
            covered += interval[0] <= truth <= interval[1]
            total += 1
    assert 0.92 <= covered / total <= 0.98, f"{covered} of {total}"
