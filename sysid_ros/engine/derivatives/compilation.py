# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The compiled entry points, kept on disk for the next process.

Compilation, a minute or more, once, is begun ahead of a fit, or told as a stage of it.

numba keeps a compiled function as long as the file that defines it is unchanged, and does not look
at the files of what it calls and takes. The entry points are therefore closures over a digest of
these files: a change of any of them makes numba compile again.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numba
import numpy as np
from numba.core import event

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import (
    LOOK,
    OPTIONS_OF_WHOLES,
    STILL_WAITING,
    WAITING,
    compiled_in,
    digest_of,
    keeping,
    kept_in,
    source_files,
    still_waiting,
    turn,
)
from sysid_ros.engine.compiled import interpolate as interpolate_rows
from sysid_ros.engine.derivatives import forward_rollout, rollout
from sysid_ros.engine.derivatives.compiling_time import compiling_in, progress_in
from sysid_ros.engine.derivatives.directions import (
    BatchDirections,
    ChangingTables,
    all_covered,
    model_directions,
)
from sysid_ros.engine.derivatives.model_changes import model_derivative
from sysid_ros.engine.derivatives.sensors import readings
from sysid_ros.engine.mechanics import no_touches, tables_of

_SMALLEST = """<mujoco><worldbody><body><joint name="hinge"/><geom size="1"/></body></worldbody>
<actuator><motor joint="hinge"/></actuator><sensor><jointpos joint="hinge"/></sensor></mujoco>"""

COMPILING = "compiling the derivatives"
if not OPTIONS_OF_WHOLES:
    COMPILING += f" for many minutes (numba {numba.__version__}; with 0.58 to 0.68 for one or two)"
BACKGROUND, IN_TURN = "--background", "--in-turn"
# Gives way to the nodes; much more, and on a busy machine the fit would wait for minutes.
NICENESS = 2
_COMPILED = "numba:compile"  # numba's own event, of what was not found on disk
_ROOM = __name__.rpartition(".")[0]


class EntryPoints(NamedTuple):
    """The compiled functions of the pass; arguments as of the functions of the same name."""

    differentiate_rollouts: Callable[..., None]  # rollout.differentiate_rollouts
    interpolate: Callable[..., None]  # compiled.interpolate
    simulate_rollouts: Callable[..., None]  # forward_rollout.simulate_rollouts


@lru_cache(maxsize=1)
def entry_points() -> EntryPoints:
    """The entry points, ready to be called.

    Has them compiled, which takes a minute, unless they were kept on disk; waits where
    another process is compiling them.
    """
    entries = _kept_on_disk(_compile_apart)
    with turn(entries.differentiate_rollouts):
        _run_once(*entries)
    return entries


def compile_here(*, in_turn: bool) -> None:
    """Compile in this process, unless it is done; ``in_turn`` for one that waits with its turn."""
    entries = _kept_on_disk(None)
    folder = kept_in(entries.differentiate_rollouts)
    with (
        nullcontext() if in_turn else turn(entries.differentiate_rollouts),
        nullcontext() if folder is None else compiling_in(Path(folder)),
    ):
        _run_once(*entries)


@lru_cache(maxsize=1)
def _compile_apart() -> None:
    """Compile in a process that ends: numba and LLVM keep 400 MB of what they worked with."""
    folder = kept_in(_kept_on_disk(None).differentiate_rollouts)
    # A session of its own: Ctrl-C is for who waits, and asks it to stop.
    with (
        event.trigger_event(WAITING, folder),
        subprocess.Popen(
            [sys.executable, "-m", __package__, IN_TURN],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process,
    ):
        try:
            while process.poll() is None:
                still_waiting(folder)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(LOOK)
        except BaseException:
            process.kill()
            raise


def hashed_files() -> list[Path]:
    """The files whose change makes the entry points compile anew."""
    own = compiled_in(Path(__file__).parent, Path(__file__).parents[1] / "mechanics")
    return own + [Path(file) for file in source_files()]


def compilable(array: FloatArray) -> FloatArray:
    """The array as the entry points are compiled for; others would be compiled for half a minute.

    numba tells arrays that may not be written from those that may.
    """
    return np.require(array, np.float64, ("C_CONTIGUOUS", "WRITEABLE"))


def _kept_on_disk(apart: Callable[[], object] | None) -> EntryPoints:
    """The entry points, not loaded yet; ``apart`` compiles them where they are not kept."""
    digest = digest_of(*hashed_files())

    def differentiate_rollouts(  # type: ignore[no-untyped-def]
        tables, model, readings, directions, rollouts, buffers, out, violation
    ):
        len(digest)
        rollout.differentiate_rollouts(
            tables, model, readings, directions, rollouts, buffers, out, violation
        )

    def interpolate(  # type: ignore[no-untyped-def]
        derivatives, rows, weights, slots, samples, columns, total, out
    ):
        len(digest)
        interpolate_rows(derivatives, rows, weights, slots, samples, columns, total, out)

    def simulate_rollouts(  # type: ignore[no-untyped-def]
        tables, readings, steps, control, room, states, out, whole
    ):
        len(digest)
        forward_rollout.simulate_rollouts(
            tables, readings, steps, control, room, states, out, whole
        )

    return EntryPoints(
        keeping(differentiate_rollouts, apart),
        keeping(interpolate, apart),
        keeping(simulate_rollouts, apart),
    )


def _run_once(
    differentiate_rollouts: Callable[..., Any],
    interpolate: Callable[..., Any],
    simulate_rollouts: Callable[..., Any],
) -> None:
    """Call all once, with arguments of the types that every fit has, which loads or compiles."""
    model = mujoco.MjModel.from_xml_string(_SMALLEST)
    tables, steps = tables_of(model), 1
    read = readings(model, np.zeros(1, dtype=np.int64))
    one, states, control = np.array([steps]), np.zeros((steps + 1, 2)), np.zeros((steps, 1))
    directions = BatchDirections(
        np.zeros((1, 2, 1)), np.zeros(0, dtype=np.int64), np.zeros((steps, 0, 1))
    )
    derivatives = np.zeros((steps, 1, 1))
    differentiate_rollouts(
        tables,
        model_directions(tables, model_derivative(ChangingTables.of(model), [], [])),
        read,
        directions,
        rollout.Rollouts(one, states, control, no_touches(steps), all_covered(steps)),
        rollout.new_buffers(tables, 1, 0),
        derivatives,
        np.zeros((steps, 2)),
    )
    first = np.zeros(1, dtype=np.int64)
    rows, weights = np.zeros((1, 4), dtype=np.int64), np.ones((1, 4))
    interpolate(derivatives, rows, weights, first, first, first, np.zeros(1), np.zeros((1, 1)))
    room = forward_rollout.new_room(tables)
    simulate_rollouts(tables, read, one, control, room, states, np.zeros((steps, 1)), one.copy())


def start_compiling() -> subprocess.Popen[bytes]:
    """Start a process that compiles the derivatives, or finds them compiled and ends.

    A fit that comes meanwhile waits for it. Whoever ends it early only loses time.
    """
    return subprocess.Popen(
        [sys.executable, "-m", __package__, BACKGROUND],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@contextmanager
def compilation_told(
    tell: Callable[[str], None], stage: str = ""
) -> Iterator[Callable[[str], None]]:
    """Tell of compilation as of a stage, wherever it happens, also in another process.

    Args:
      tell: Takes the name of a stage that begins.
      stage: The present one, if it has been told.

    Yields:
      Takes the stages of what is done meanwhile; the present one is told again after a compilation.
    """
    watch = _CompilationWatch(tell, stage)
    with ExitStack() as stack:
        for kind in (_COMPILED, WAITING, STILL_WAITING):
            stack.enter_context(event.install_listener(kind, watch))
        yield watch.stage


class _CompilationWatch(event.Listener):
    """Hears when something begins and ends that the work waits for; within it may be more."""

    def __init__(self, tell: Callable[[str], None], stage: str) -> None:
        self._tell = tell
        self._stage = stage
        self._depth = 0
        self._told = ""

    def stage(self, text: str) -> None:
        """Tell of a stage and remember it."""
        self._stage = text
        self._tell(text)

    def on_start(self, event: Any) -> None:
        if not _is_ours(event):
            return
        if event.kind != STILL_WAITING:
            self._depth += 1
        if self._depth == 1:
            self._tell_progress(event)

    def on_end(self, event: Any) -> None:
        if not _is_ours(event):
            return
        self._depth -= 1
        if self._depth == 0 and self._stage:
            self._told = ""
            self._tell(self._stage)

    def _tell_progress(self, event: Any) -> None:
        """Tell how far a compilation is, where that says something new."""
        kept = event.kind in (WAITING, STILL_WAITING) and event.data is not None
        said = f"{COMPILING}, {progress_in(Path(event.data))}" if kept else COMPILING
        if said != self._told:
            self._told = said
            self._tell(said)


def _is_ours(event: Any) -> bool:
    """Tell the entry points, and what they call, from other functions that numba compiles."""
    if event.kind in (WAITING, STILL_WAITING):
        return True
    return str(event.data["dispatcher"].py_func.__module__).startswith(_ROOM)
