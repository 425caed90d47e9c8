# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A chunk of an experiment's recordings as a task that runs anywhere: read, summed and dropped."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from sysid_ros.dataset import FitInputs, FitSource
from sysid_ros.engine.estimation import FitSettings, groups_of, sums_at, survey_of
from sysid_ros.engine.problem import ChunkPoint, ChunkSums, ChunkSurvey
from sysid_ros.engine.windows import WindowGroup
from sysid_ros.processes import return_freed_memory

KEPT_BYTES = 96 << 20  # of chunks that a process keeps; the others are read again
# Roughly, of what stands in memory with each measured value, and with each control of a step.
_BYTES_PER_SAMPLE, _BYTES_PER_CONTROL = 300, 40


@dataclass(frozen=True)
class Chunk:
    """Some recordings of an experiment, and how to fit them."""

    source: FitSource
    settings: FitSettings = field(compare=False)


@dataclass(frozen=True)
class ChunkTask:
    """A chunk that is to be linearized at a point."""

    chunk: Chunk
    here: ChunkPoint


def survey_chunk(chunk: Chunk) -> ChunkSurvey:
    """Look at a chunk.

    Raises:
      SysidError: Whatever is wrong with the experiment, its model or its data.
    """
    inputs, groups = _read(chunk)
    return survey_of(groups, inputs.params, chunk.settings, inputs.known)


def run_chunk_task(task: ChunkTask) -> ChunkSums:
    """Linearize a chunk.

    Raises:
      SysidError: Whatever is wrong with the experiment, its model or its data.
    """
    inputs, groups = _read(task.chunk)
    return sums_at(groups, inputs.params, task.chunk.settings, task.here)


def _read(chunk: Chunk) -> tuple[FitInputs, list[WindowGroup]]:
    """The chunk's recordings, from the shelf where they are there."""
    shelf = _shelf()
    if chunk in shelf:
        return shelf[chunk]
    inputs = chunk.source.read()
    groups = groups_of(inputs.dataset.training, inputs.params, chunk.settings)
    # The first ones stay: what was read last would never be asked for next.
    if sum(_size(each) for _, each in [*shelf.values(), (inputs, groups)]) <= KEPT_BYTES:
        shelf[chunk] = inputs, groups
    return_freed_memory()
    return inputs, groups


def _size(groups: list[WindowGroup]) -> int:
    """About how many bytes a chunk takes."""
    return sum(
        _BYTES_PER_SAMPLE * int(batch.samples.sum())
        + _BYTES_PER_CONTROL * int(batch.steps.sum()) * (1 + int(batch.model.nu))
        for group in groups
        for batch in group.batches
    )


@lru_cache(maxsize=1)
def _shelf() -> dict[Chunk, tuple[FitInputs, list[WindowGroup]]]:
    """The chunks that this process keeps."""
    return {}
