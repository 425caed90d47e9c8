# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Check that gyroscopes, accelerometers, twists and forces show the motion that positions show.

Where every joint's position is measured, or a free body's pose, the model's kinematics alone say
what a sensor on a body must read: masses do not enter, but for the size of forces between bodies.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence import Recorded, Samples, least_between, pose_of
from sysid_ros.engine.elements import BALL, FREE
from sysid_ros.engine.signals import zero_phase

_S = mujoco.mjtSensor
_TESTED = tuple(
    int(kind)
    for kind in (
        _S.mjSENS_GYRO,
        _S.mjSENS_ACCELEROMETER,
        _S.mjSENS_VELOCIMETER,
        _S.mjSENS_FRAMELINVEL,
        _S.mjSENS_FRAMEANGVEL,
        _S.mjSENS_FRAMELINACC,
        _S.mjSENS_FRAMEANGACC,
        _S.mjSENS_FORCE,
        _S.mjSENS_TORQUE,
    )
)
_IN_BODY = tuple(int(kind) for kind in (_S.mjSENS_GYRO, _S.mjSENS_VELOCIMETER))
_IN_WORLD = tuple(int(kind) for kind in (_S.mjSENS_FRAMELINVEL, _S.mjSENS_FRAMEANGVEL))
_TURNING = tuple(
    int(kind) for kind in (_S.mjSENS_GYRO, _S.mjSENS_FRAMEANGVEL, _S.mjSENS_FRAMEANGACC)
)
_BETWEEN_BODIES = (int(_S.mjSENS_FORCE), int(_S.mjSENS_TORQUE))
_XBODY = int(mujoco.mjtObj.mjOBJ_XBODY)
_CUTOFF = 5.0  # Hz, of the low-pass on either side
_RATE_SHARE = 0.15  # of the slowest signal's rate, the low-pass at most
_GRID = 8.0  # grid points per period of the low-pass
_LEAST_ROWS = 50
_SAME_FRAME = 1e-9  # of a velocity's power, that axes of body and world differ by at the least
_LAGS = np.linspace(-0.3, 0.3, 61)  # s


@dataclass(frozen=True)
class Agreement:
    """Agreement of a sensor with what the measured motion says it must read."""

    label: str  # the sensor
    turns: bool  # whether it measures turning, in radians
    weighs: bool  # whether it measures a force or a torque, which follows masses to be found
    correlation: float  # cosine between both, over all axes and recordings
    slope: float  # measured per expected
    # (k, k) product of each measured (row) and each expected axis, over the lengths of both; its
    # trace is the correlation
    axes: FloatArray
    # the correlation of a velocity if it is one in the axes of the world rather than of the body,
    # or the other way round; 0 of others
    other_frame: float
    # the correlation of an accelerometer if gravity points up in the poses' frame; 0 of others
    upside_down: float
    # 95 % interval, from tenths of the recordings, of the share of a velocity that is in the other
    # frame: 0 if it is in the axes of its own, 1 if it is in those of the other; all numbers
    # where nothing tells
    in_other: tuple[float, float]
    lag: float  # by how much the measured sensor is late [s], with which the correlation is largest
    lag_interval: tuple[float, float]  # 95 % interval of the lag, from tenths of the recordings
    lagged: float  # the correlation at that lag, means subtracted
    unlagged: float  # the same without a lag


@dataclass(frozen=True)
class _Pair:
    """One recording of a sensor: times (n,), measured and expected (n, k).

    ``framed`` is what is expected in the other frame, of velocities, and ``nearby`` the same by how
    the frame is turned a little earlier and later; zero of others. ``upside`` is what is expected
    where gravity points the other way.
    """

    times: FloatArray
    measured: FloatArray
    expected: FloatArray
    framed: FloatArray
    nearby: FloatArray
    upside: FloatArray


@dataclass(frozen=True)
class SmoothMotion:
    """A recorded motion behind a low-pass, on an even grid, with signals beside it."""

    times: FloatArray  # (n,) s
    qpos: FloatArray  # (n, nq)
    qvel: FloatArray  # (n, nv)
    qacc: FloatArray  # (n, nv)
    others: tuple[FloatArray, ...]  # (n, k) each
    inside: slice  # away from the ends, which the low-pass bends

    def states(self, model: mujoco.MjModel) -> Iterator[mujoco.MjData]:
        """The model at each instant, with positions, velocities and what follows from them.

        Accelerations are set, and what follows from these is not computed. It is one object.
        """
        data = mujoco.MjData(model)
        for qpos, qvel, qacc in zip(self.qpos, self.qvel, self.qacc, strict=True):
            data.qpos[:], data.qvel[:] = qpos, qvel
            mujoco.mj_fwdPosition(model, data)
            mujoco.mj_fwdVelocity(model, data)
            data.qacc[:] = qacc
            yield data


def agreements(recorded: Recorded) -> list[Agreement]:
    """Compare every vector sensor that the measured positions determine.

    Args:
      recorded: What was recorded, mistakes in positions repaired.
    """
    model = recorded.model
    sensors = [
        sensor
        for sensor in range(model.nsensor)
        if int(model.sensor_type[sensor]) in _TESTED
        and any(model.sensor(sensor).name in signals for signals in recorded.vectors)
    ]
    if not sensors:
        return []
    pairs: dict[int, list[_Pair]] = {sensor: [] for sensor in sensors}
    for number in range(len(recorded.recordings)):
        _compare(recorded, number, pairs)
    return [
        _agreement(str(model.sensor(sensor).name), int(model.sensor_type[sensor]), found)
        for sensor, found in pairs.items()
        if sum(len(pair.times) for pair in found) >= _LEAST_ROWS
    ]


def _compare(recorded: Recorded, number: int, pairs: dict[int, list[_Pair]]) -> None:
    """Add what one recording says of each sensor, measured and expected."""
    model = recorded.model
    vectors = recorded.vectors[number]
    present = [sensor for sensor in pairs if model.sensor(sensor).name in vectors]
    told = [vectors[str(model.sensor(sensor).name)] for sensor in present]
    motion = smooth_motion(recorded, number, range(model.njnt), told)
    if motion is None:
        return
    expected = _expected(model, motion)
    for sensor, measured in zip(present, motion.others, strict=True):
        first, width = int(model.sensor_adr[sensor]), int(model.sensor_dim[sensor])
        own = slice(first, first + width)
        said = (one[motion.inside, own] for one in expected)
        pairs[sensor].append(_Pair(motion.times[motion.inside], measured[motion.inside], *said))


def smooth_motion(
    recorded: Recorded, number: int, joints: Iterable[int], others: Sequence[Samples]
) -> SmoothMotion | None:
    """Compute the motion that one recording's positions show, with other signals beside it.

    Args:
      recorded: What was recorded.
      number: Of the recording.
      joints: Numbers of those whose positions are needed; all else stays as the model has it.
      others: Signals of the recording, low-pass filtered alike.

    Returns:
      ``None`` where one of the joints is not measured, or too little is.
    """
    model = recorded.model
    sources = _position_sources(recorded, number, joints)
    if sources is None:
        return None
    signals = [*sources.values(), *others]
    start = max(float(one.times[0]) for one in signals)
    end = min(float(one.times[-1]) for one in signals)
    slowest = max(float(np.median(np.diff(one.times))) for one in signals)
    cutoff = min(_CUTOFF, _RATE_SHARE / slowest)
    step = 1.0 / (_GRID * cutoff)
    times = np.arange(start, end, step)
    edge = int(2.0 / (cutoff * step))
    if len(times) < 2 * edge + _LEAST_ROWS:
        return None
    qpos: FloatArray = np.tile(np.asarray(model.qpos0), (len(times), 1))
    for joint, one in sources.items():
        values, first = _smooth(one, times, cutoff), int(model.jnt_qposadr[joint])
        qpos[:, first : first + values.shape[1]] = values
    for row in qpos:
        mujoco.mj_normalizeQuat(model, row)
    qvel: FloatArray = np.zeros((len(times), model.nv))
    for i in range(1, len(times) - 1):
        mujoco.mj_differentiatePos(model, qvel[i], 2.0 * step, qpos[i - 1], qpos[i + 1])
    qacc = np.gradient(qvel, step, axis=0)
    beside = tuple(_smooth(one, times, cutoff) for one in others)
    return SmoothMotion(times, qpos, qvel, qacc, beside, slice(edge, -edge))


def _upside_down(model: mujoco.MjModel) -> mujoco.MjModel:
    """A copy under gravity of the opposite direction."""
    turned = copy.copy(model)
    turned.opt.gravity = -np.asarray(model.opt.gravity)
    return turned


def _position_sources(
    recorded: Recorded, number: int, joints: Iterable[int]
) -> dict[int, Samples] | None:
    """Samples (n, width of the joint's qpos) of joints; ``None`` where one is not measured."""
    model = recorded.model
    sources: dict[int, Samples] = {}
    for joint in joints:
        if int(model.jnt_type[joint]) in (FREE, BALL):
            found = pose_of(model, joint, recorded.vectors[number])
        else:
            found = recorded.recordings[number].get(recorded.positions.get(joint, ""))
        if found is None:
            return None
        sources[joint] = found
    return sources


def _smooth(one: Samples, times: FloatArray, cutoff: float) -> FloatArray:
    """A signal on a grid, low-pass filtered, (n, k); averaged first where sampled more often."""
    step = float(times[1] - times[0])
    fine = max(1, int(step / float(np.median(np.diff(one.times)))))
    dense = times[0] + step / fine * np.arange(len(times) * fine)
    columns = one.values.reshape(len(one.times), -1).T
    raw = np.stack([np.interp(dense, one.times, column) for column in columns])
    smooth = zero_phase(raw, min(0.99, 2.0 * cutoff * step / fine), order=3)
    return np.ascontiguousarray(smooth[:, ::fine].T)


def _expected(
    model: mujoco.MjModel, motion: SmoothMotion
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Compute every sensor's readings during a motion (n, nsensordata), and in the other frame.

    The third are those by how it is turned one period of the low-pass earlier and later, of which
    the noise is another; the last what is read where gravity points the other way.
    """
    turned = _upside_down(model)
    readings, upside = np.empty((2, len(motion.times), model.nsensordata))
    turns: dict[int, list[FloatArray]] = {}
    for i, data in enumerate(motion.states(model)):
        mujoco.mj_sensorPos(model, data)
        mujoco.mj_sensorVel(model, data)
        mujoco.mj_rnePostConstraint(model, data)
        mujoco.mj_sensorAcc(model, data)
        readings[i] = data.sensordata
        mujoco.mj_rnePostConstraint(turned, data)
        mujoco.mj_sensorAcc(turned, data)
        upside[i] = data.sensordata
        for sensor, turn in _to_other_frame(model, data):
            turns.setdefault(sensor, []).append(turn)
    framed, nearby = np.zeros_like(readings), np.zeros_like(readings)
    for sensor, rows in turns.items():
        own = slice(int(model.sensor_adr[sensor]), int(model.sensor_adr[sensor]) + 3)
        turn = np.array(rows)
        around = 0.5 * (np.roll(turn, int(_GRID), axis=0) + np.roll(turn, -int(_GRID), axis=0))
        framed[:, own] = np.einsum("nij,nj->ni", turn, readings[:, own])
        nearby[:, own] = np.einsum("nij,nj->ni", around, readings[:, own])
    return readings, framed, nearby, upside


def _to_other_frame(model: mujoco.MjModel, data: mujoco.MjData) -> Iterator[tuple[int, FloatArray]]:
    """Each velocity's sensor with the turn from its axes to those of the other frame, (3, 3)."""
    for sensor in range(model.nsensor):
        kind, at = int(model.sensor_type[sensor]), int(model.sensor_objid[sensor])
        if kind in _IN_BODY:
            yield sensor, data.site_xmat[at].reshape(3, 3).copy()
        elif kind in _IN_WORLD and int(model.sensor_objtype[sensor]) == _XBODY:
            yield sensor, data.xmat[at].reshape(3, 3).T.copy()


def _agreement(label: str, kind: int, pairs: list[_Pair]) -> Agreement:
    measured = np.concatenate([pair.measured for pair in pairs])
    expected = np.concatenate([pair.expected for pair in pairs])
    product, power = float(np.sum(measured * expected)), float(np.sum(expected**2))
    size = max(float(np.linalg.norm(measured)) * power**0.5, 1e-300)
    framed = np.concatenate([pair.framed for pair in pairs])
    alike = max(float(np.linalg.norm(measured) * np.linalg.norm(framed)), 1e-300)
    upside = np.concatenate([pair.upside for pair in pairs])
    down = max(float(np.linalg.norm(measured) * np.linalg.norm(upside)), 1e-300)
    accelerates = kind == int(_S.mjSENS_ACCELEROMETER)
    cosines = np.array([_cosines(pair) for pair in pairs])
    whole = cosines[:, 0].sum(axis=0)
    lags = [_best_lag(one) for own in cosines[:, 1:] for one in own]
    lag = _best_lag(whole)
    spread = 2.26 * float(np.std(lags)) / len(lags) ** 0.5 if len(lags) > 1 else 0.0
    cosine = whole[0] / np.sqrt(np.maximum(whole[1] * whole[2], 1e-300))
    return Agreement(
        label,
        kind in _TURNING,
        kind in _BETWEEN_BODIES,
        product / size,
        product / max(power, 1e-300),
        (measured.T @ expected) / size,
        float(np.sum(measured * framed)) / alike,
        float(np.sum(measured * upside)) / down if accelerates else 0.0,
        _in_other(pairs),
        lag,
        (lag - spread, lag + spread),
        float(np.interp(lag, _LAGS, cosine)),
        float(np.interp(0.0, _LAGS, cosine)),
    )


def _in_other(pairs: list[_Pair]) -> tuple[float, float]:
    """95 % interval of the share of velocities that is in the other frame.

    The measured is a factor times what its own frame expects and the part of what the other expects
    that is not: however little both differ, only that part tells them apart. Noise of the measured
    orientation is a difference of both as well, and looks like a turn that the measured does not
    follow, as if it were in the other frame. So what both differ by a little earlier and later is
    the instrument (Sargan 1958), which has the slow turns and not the noise.
    """
    parts = [
        tuple(x[part] for x in (pair.measured, pair.expected, pair.framed, pair.nearby))
        for pair in pairs for part in _tenths(pair)
    ]  # fmt: skip
    moments = np.array([[[np.sum(a * b) for b in (e, f - e, m)] for a in (e, g - e)]
                        for m, e, f, g in parts])  # fmt: skip
    whole = moments.sum(axis=0)
    table = whole[:, :2]
    if np.linalg.det(table) <= _SAME_FRAME * whole[0, 0] ** 2 or len(moments) < 2:
        return -np.inf, np.inf
    factor, other = np.linalg.solve(table, whole[:, 2])
    rest = np.linalg.solve(table, (moments @ (-factor, -other, 1.0)).T)[1]
    error = float(np.linalg.norm(rest)) * (len(rest) / (len(rest) - 1)) ** 0.5
    ends = np.array([other - 2.26 * error, other + 2.26 * error]) / (factor or 1e-300)
    return float(ends.min()), float(ends.max())


def _tenths(pair: _Pair) -> list[slice]:
    edges = np.linspace(0, len(pair.measured), 11).astype(int)
    return [slice(first, last) for first, last in itertools.pairwise(edges)]


def _cosines(pair: _Pair) -> FloatArray:
    """Products of measured and expected at every lag, and the power of either.

    Returns:
      Of all and of each tenth, (11, 3, lags).
    """
    parts = [slice(None), *_tenths(pair)]
    centred = [pair.measured[part] - pair.measured[part].mean(axis=0) for part in parts]
    found: FloatArray = np.empty((len(parts), 3, len(_LAGS)))
    for i, lag in enumerate(_LAGS):
        columns = [np.interp(pair.times - lag, pair.times, column) for column in pair.expected.T]
        late = np.stack(columns, axis=1)
        for own, part, measured in zip(found, parts, centred, strict=True):
            expected = late[part] - late[part].mean(axis=0)
            own[:, i] = np.sum(measured * expected), np.sum(measured**2), np.sum(expected**2)
    return found


def _best_lag(products: FloatArray) -> float:
    """Return the lag of the largest cosine in size."""
    cosine = np.abs(products[0]) / np.sqrt(np.maximum(products[1] * products[2], 1e-300))
    return least_between(_LAGS, -cosine)
