# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Windows tile what is known and nothing else."""

from __future__ import annotations

import itertools

import numpy as np
import pendulum
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sysid_ros.engine.parameters.parameter_dict import ParameterDict
from sysid_ros.engine.windows.cutting import window_bounds
from sysid_ros.engine.windows.model_group import model_group


def test_windows_tile_the_span() -> None:
    assert window_bounds((0.0, 3.0), 1.0) == [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)]


def test_a_long_remainder_makes_a_shorter_window() -> None:
    assert window_bounds((0.0, 2.6), 1.0)[-1] == (2.0, 2.6)
    assert window_bounds((0.0, 2.4), 1.0)[-1] == (1.0, 2.0)


def test_no_length_takes_every_stretch_whole() -> None:
    assert window_bounds((0.0, 5.0), None, gaps=[(2.0, 3.0)]) == [(0.0, 2.0), (3.0, 5.0)]


def test_a_recording_shorter_than_a_window_is_one_window() -> None:
    assert window_bounds((0.0, 0.2), 1.0) == [(0.0, 0.2)]


def test_overlapping_windows_advance_by_the_rest() -> None:
    bounds = window_bounds((0.0, 1.0), 0.4, overlap=0.5)
    assert [start for start, _ in bounds] == pytest.approx([0.0, 0.2, 0.4, 0.6])


@given(
    end=st.floats(0.1, 20),
    length=st.floats(0.05, 5),
    gaps=st.lists(st.tuples(st.floats(0, 20), st.floats(0.01, 3)), max_size=4),
)
def test_windows_stay_inside_apart_and_out_of_gaps(
    end: float, length: float, gaps: list[tuple[float, float]]
) -> None:
    known_gaps = sorted((start, start + width) for start, width in gaps)
    bounds = window_bounds((0.0, end), length, gaps=known_gaps)
    for low, high in bounds:
        assert 0.0 <= low < high <= end + 1e-9
        assert high - low <= length + 1e-9
        for gap_low, gap_high in known_gaps:
            assert high <= gap_low + 1e-9 or low >= gap_high - 1e-9
    for (_, high), (low, _) in itertools.pairwise(bounds):
        assert high <= low + 1e-9


def test_the_sample_that_a_start_is_read_off_does_not_count() -> None:
    control, measured = pendulum.recording(duration=2.0, noise=1e-3)
    groups = {
        estimate: model_group(
            pendulum.sequences(control, measured),
            ParameterDict(),
            window_length=0.5,
            estimate_starts=estimate,
            velocity_filter=30.0,
        )
        for estimate in (True, False)
    }
    for free, fixed in zip(groups[True].windows, groups[False].windows, strict=True):
        assert free.n_samples - fixed.n_samples == 1
        sigma = fixed.sigma({"angle": 1e-3})
        assert np.isinf(sigma[0])
        assert np.all(sigma[1:] == 1e-3)
    (batch,) = groups[False].batches
    samples, windows = int(batch.samples.sum()), len(batch.windows)
    assert batch.squares(np.ones(samples))["angle"] == (samples - windows, samples - windows)
