# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Messages whose senders count time in an integer of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mapped_signals import Mapping
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from sysid_ros.errors import DataError
from sysid_ros.experiment.experiment_schema import SignalConfig
from sysid_ros.recording.bags import open_recording
from sysid_ros.recording.mapping import map_recording, telling_clock
from sysid_ros.recording.mapping.dating import clock_warnings, date_topics
from sysid_ros.recording.mapping.device_time import device_stamps
from sysid_ros.recording.mapping.mapping_settings import SignalKind
from sysid_ros.recording.mapping.stamps import choose_stamps
from sysid_ros.recording.messages import Clock, FieldReader, TimeCount, TopicColumns

_TYPE = "fw_msgs/msg/Imu"
_NOW = 1_700_000_000_000_000_000
_SENT = _NOW + 5_000_000 * np.arange(2000)
_LEAST = 3_000_000  # ns from sending to receipt
_US = (_SENT - _NOW) // 1000


def received(sent=_SENT):
    """Receipt after queues of 4 ms on average, in order."""
    late = np.random.default_rng(1).exponential(4e6, len(sent)).astype(np.int64)
    return np.maximum.accumulate(sent + _LEAST + late)


def columns(count, log=None, header=None) -> TopicColumns:
    log = received() if log is None else log
    field = None if count is None else TimeCount("time_us", np.asarray(count))
    none = np.zeros((len(log), 0))
    told = "/imu", _TYPE, (), log, None, header
    return TopicColumns(*told, none, none > 0.0, (), count=field)


@pytest.mark.parametrize(
    "count",
    [
        73_200_000 + _US,
        (2**32 - 4_000_000 + _US) % 2**32,
        (50_000 + _US // 1000) % 2**16,
        ((_SENT - _NOW) * 1.00003).astype(np.int64),
        ((_SENT - _NOW) * 0.995 / 1000.0).astype(np.int64) + 5,
    ],
    ids=[
        "since boot",
        "wraps at 32 bits",
        "ms, wraps at 16 bits",
        "ns, drifts",
        "a cheap oscillator",
    ],
)
def test_a_count_of_time_is_even_where_receipt_scatters(count) -> None:
    stamps = device_stamps(columns(count))
    assert np.count_nonzero(stamps) >= 1999, "zero may be a count that nobody filled in"
    late = (stamps - _SENT - _LEAST)[stamps != 0] / 1e9
    assert abs(np.mean(late)) < 1e-3
    assert np.std(late) < 5e-4 < 5.0 * np.std(received() - _SENT) / 1e9


def test_a_count_since_the_epoch_is_taken_as_it_is_but_for_zeros() -> None:
    count = _SENT // 1000
    count[[0, 7]] = 0
    stamps = device_stamps(columns(count))
    assert stamps[[0, 7]].tolist() == [0, 0]
    np.testing.assert_array_equal(stamps[8:], _SENT[8:])


@pytest.mark.parametrize(
    ("count", "why"),
    [
        (np.arange(2000), "it goes on by 200.1 a second, which is no ns/us/ms"),
        (_US * 102 // 100, "it goes on by 1.02e.06 a second, which is no ns/us/ms"),
        (np.zeros(2000, dtype=np.int64), "0 messages have it filled in"),
        (1 + np.where(_US < 6_000_000, 2**40 + _US, _US), "it begins anew in mid-recording"),
        (73_000_000 + _US + 150_000 * (_US > 5_000_000), "it was set in mid-recording"),
    ],
)
def test_what_is_no_clock_is_refused(count, why: str) -> None:
    with pytest.raises(DataError, match=f"/imu: its 'time_us' is no clock, as {why}"):
        device_stamps(columns(count))
    assert telling_clock(columns(count)) is Clock.HEADER


@pytest.mark.parametrize(("tick", "told"), [(4_000, True), (20_000, False)])
def test_counts_that_messages_share_date_none(tick: int, told: bool) -> None:
    """Most would be left out, as copies, or two nodes be suspected."""
    values = np.sin(1e-5 * _US)[:, None]
    count = TimeCount("time_us", 73_000_000 + _US // tick * tick)
    coarse = replace(columns(None), values=values, present=values < 2.0, count=count)
    assert (telling_clock(coarse) is Clock.DEVICE) == told
    if not told:
        with pytest.raises(DataError, match="1500 messages share one with that before"):
            device_stamps(coarse)
        repeated = replace(coarse, values=np.sin(1e-5 * count.values)[:, None])
        assert telling_clock(repeated) is Clock.DEVICE


def test_a_recorder_that_was_set_is_not_bent_into_a_rate() -> None:
    log = received() + 150_000_000 * (_US > 5_000_000)
    with pytest.raises(DataError, match="or the recorder's clock was"):
        device_stamps(columns(73_000_000 + _US, log))


def test_few_messages_show_the_unit_though_receipt_scatters() -> None:
    """As at the beginning of live estimates."""
    few, log = 73_000_000 + _US[:40], received()[:40]
    late = (device_stamps(columns(few, log)) - _SENT[:40] - _LEAST) / 1e9
    assert np.abs(late).max() < 0.01


def test_without_a_count_headers_date_and_else_nothing_does() -> None:
    header = columns(None, header=_SENT)
    assert choose_stamps(header, Clock.DEVICE)[0] is Clock.HEADER
    with pytest.raises(DataError, match="fw_msgs/msg/Imu has no integer whose name says"):
        choose_stamps(columns(None), Clock.DEVICE)
    both = replace(header, count=columns(73_000_000 + _US).count)
    assert choose_stamps(both, Clock.DEVICE)[0] is Clock.DEVICE
    assert telling_clock(both) is Clock.HEADER


@pytest.mark.parametrize(
    ("definition", "count"),
    [
        ("uint64 timestamp\nuint64 timestamp_sample\nfloat32 x", "timestamp_sample"),
        ("uint32 stamp_ms\nfloat32 x", "stamp_ms"),
        ("uint32 time_boot_ms\nint32 time", "time_boot_ms"),
        ("uint32 tick", "tick"),
        ("int32 ticks\nuint32 timeout_ms\nfloat64 time\nuint32 time_constant_us", ""),
    ],
)
def test_which_integers_count_time(definition: str, count: str) -> None:
    types = {name: fields for name, (_, fields) in get_types_from_msg(definition, _TYPE).items()}
    assert FieldReader.of_type(_TYPE, "cdr", types, ()).count == count


def test_signals_are_dated_by_the_count(tmp_path) -> None:
    store = get_typestore(Stores.ROS2_KILTED)
    kind = "px4_msgs/msg/SensorCombined"
    store.register(get_types_from_msg("uint64 timestamp\nfloat32[3] gyro_rad", kind))
    with Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connection = writer.add_connection("/fmu/out/imu", kind, typestore=store)
        for us, log in zip(_US.tolist(), received().tolist(), strict=True):
            rates = np.array([np.sin(1e-6 * us), 0.0, 0.0], dtype=np.float32)
            message = store.types[kind](73_000_000 + us, rates)
            writer.write(connection, log, store.serialize_cdr(message, kind))
    signal = SignalConfig(SignalKind.SENSOR, "gyro", "/fmu/out/imu", "gyro_rad[0]")

    def mapped(clock: Clock):
        with open_recording(tmp_path / "bag") as recording:
            return map_recording(recording, Mapping([replace(signal, clock=clock)]), name="run")

    by_count, by_receipt = mapped(Clock.DEVICE), mapped(Clock.RECEIVE)
    assert by_count.quality[0].clock == "device"
    np.testing.assert_allclose(np.diff(by_count.measured[0].times), 5e-3, atol=2e-5)
    assert by_count.warnings == ()
    told = "own count of time, 'timestamp'; 'clock: device' dates its signals by that"
    assert any(told in one for one in by_receipt.warnings)


def test_a_count_since_the_epoch_may_be_off_as_headers_may() -> None:
    early = columns((_SENT - 300_000_000) // 1000)
    others = replace(columns(None), topic="/commands")
    signals = [
        SignalConfig(SignalKind.SENSOR, "x", one.topic, "x", clock=clock)
        for one, clock in ((early, Clock.DEVICE), (others, Clock.RECEIVE))
    ]
    dated = date_topics({"/imu": early, "/commands": others}, signals, [], Clock.HEADER)
    (warning,) = clock_warnings(dated)
    assert "device stamps of /imu lie 0.307 s before their receipt" in warning
