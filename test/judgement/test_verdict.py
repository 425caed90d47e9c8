# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What a fit was good for, by its scores and by what it could determine."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import mujoco
import numpy as np
import pytest
import yaml
from outcomes import fit_result, score
from outcomes import outcome as synthetic

from sysid_ros.engine.estimation.error_growth import GrowingErrors
from sysid_ros.engine.estimation.fit_result import FitResult
from sysid_ros.engine.estimation.torque_findings import TorqueFindings
from sysid_ros.engine.least_squares import FitStatus
from sysid_ros.engine.parameters import (
    AT_LOWER_BOUND,
    DRIFTS,
    AttributeModifier,
    modifier_to_dict,
)
from sysid_ros.experiment import parse_experiment
from sysid_ros.judgement.outcome import (
    AppliedParameter,
    JointTorque,
    Judgement,
    Outcome,
    Score,
    SequenceFit,
    SignalFit,
)
from sysid_ros.judgement.verdict import (
    result_warnings,
    scored_warnings,
    warnings,
    with_verdict,
)


def result(*, opened: bool) -> FitResult:
    made = fit_result(np.random.default_rng(0))
    flags = ("unidentifiable",) if opened else ()
    last = len(made.parameters) - 1
    return replace(
        made,
        parameters=tuple(
            replace(p, flags=flags if i == last else ()) for i, p in enumerate(made.parameters)
        ),
    )


def outcome_with(
    fit: FitResult, training: Score | None, validation: Score | None, **changes: object
) -> Outcome:
    made = replace(synthetic(), fit=fit, training=training, validation=validation)
    return replace(made, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("training", "validation", "opened", "judgement", "words"),
    [
        ((1.0, 0.5), (1.0, 0.6), False, Judgement.IMPROVED, "falls from 1 to 0.6 rad (40 % less)."),
        ((1.0, 0.5), None, False, Judgement.IMPROVED, "nothing was held out to confirm it"),
        ((1.0, 0.5), (1.0, 0.97), False, Judgement.NO_IMPROVEMENT, "1 to 0.97 rad"),
        ((1.0, 0.99), (1.0, 1.2), False, Judgement.NO_IMPROVEMENT, "1 to 1.2 rad"),
        ((1.0, 0.5), (1.0, 1.2), False, Judgement.OVERFIT, "training error falls from 1 to 0.5"),
        ((1.0, 0.5), (1.0, 0.6), True, Judgement.NOT_IDENTIFIABLE, "link2_mass"),
        ((1.0, 0.5), (np.nan, 0.6), False, Judgement.IMPROVED, "as it was breaks off"),
        ((np.nan, 0.5), None, False, Judgement.IMPROVED, "as it was breaks off"),
        ((1.0, 0.5), (1.0, np.nan), False, Judgement.OVERFIT, "training error falls from 1 to 0.5"),
        ((1.0, 0.5), (np.nan, np.nan), False, Judgement.OVERFIT, "training error falls"),
    ],
)
def test_every_judgement_has_its_reason(
    training: tuple[float, float],
    validation: tuple[float, float] | None,
    opened: bool,
    judgement: Judgement,
    words: str,
) -> None:
    held_out = score(*validation) if validation else None
    made = outcome_with(result(opened=opened), score(*training), held_out)
    assert with_verdict(made).judgement is judgement
    sentence = with_verdict(made).verdict
    assert words in sentence
    assert sentence.startswith(judgement.value.replace("_", " ").capitalize())


def test_an_interval_as_wide_as_the_bounds_determines_nothing() -> None:
    made = result(opened=False)
    one = replace(made.parameters[0], lower=0.0, upper=20.0, value=0.01, standard_error=1.0)
    for error, judged in ((1.0, Judgement.IMPROVED), (10.0, Judgement.NOT_IDENTIFIABLE)):
        parameters = (replace(one, standard_error=error), *made.parameters[1:])
        told = outcome_with(replace(made, parameters=parameters), score(1.0, 0.5), score(1.0, 0.6))
        assert with_verdict(told).judgement is judged
        named = f"1 of {len(parameters)} parameters are not determined ({one.name})"
        assert (named in with_verdict(told).verdict) == (judged is Judgement.NOT_IDENTIFIABLE)


@pytest.mark.parametrize("tenfold", [0.0374, 0.374, 9.6, 34.0])
def test_a_length_of_windows_is_told_as_an_experiment_takes_it(tenfold: float) -> None:
    fit = replace(result(opened=False), growing=GrowingErrors(tenfold=tenfold, length=100.0))
    told = with_verdict(outcome_with(fit, score(1.0, 0.5), None)).verdict
    written = told[told.index("windows: {") : told.index("}") + 1]
    assert yaml.safe_load(written)["windows"]["length"] == float(f"{tenfold:.1g}")


def test_what_was_learned_of_all_signals_is_told_where_positions_got_worse() -> None:
    fit = replace(result(opened=False), noise={"a": 1.0, "b": 1e-3})
    learned = replace(score(0.5, 0.6), rmse_initial={"a": 0.5, "b": 1.0}, rmse={"a": 0.6, "b": 0.1})
    held_out = replace(learned, rmse={"a": 0.6, "b": 2.0})
    made = outcome_with(fit, learned, held_out)
    assert with_verdict(made).judgement is Judgement.OVERFIT
    assert "falls from 707.1 to 70.71 times the noise of all" in with_verdict(made).verdict


def test_an_overfit_of_what_changes_over_the_recordings_names_it() -> None:
    fit = result(opened=False)
    changing = replace(fit.parameters[0], flags=(DRIFTS,))
    fit = replace(fit, parameters=(changing, *fit.parameters[1:]))
    made = outcome_with(fit, score(1.0, 0.5), score(1.0, 1.2))
    named = f"{changing.name} changes over the recordings: warm the robot up before"
    assert named in with_verdict(made).verdict


def test_no_error_is_told_of_a_simulation_that_broke_off_at_first() -> None:
    learned = replace(score(0.5, 0.3), rmse_initial={"a": math.nan}, rmse_all_initial=math.nan)
    made = with_verdict(outcome_with(result(opened=False), learned, score(0.5, 0.6)))
    assert made.verdict.startswith("Overfit")
    assert "no longer breaks off" in made.verdict
    assert "nan" not in made.verdict and "inf" not in made.verdict


def test_nothing_scored_is_not_judged() -> None:
    assert with_verdict(outcome_with(result(opened=False), None, None)).judgement is None


def _ended(status: FitStatus) -> Callable[[Outcome], Outcome]:
    return lambda made: replace(made, fit=replace(made.fit, status=status))


def _flagged(flag: str) -> Callable[[Outcome], Outcome]:
    def change(made: Outcome) -> Outcome:
        first, *others = made.fit.parameters
        return replace(
            made, fit=replace(made.fit, parameters=(replace(first, flags=(flag,)), *others))
        )

    return change


def _scored(**changes: float) -> Callable[[Outcome], Outcome]:
    def change(made: Outcome) -> Outcome:
        assert made.validation is not None
        return replace(made, validation=replace(made.validation, **changes))

    return change


def _torque_unexplained(made: Outcome) -> Outcome:
    found = TorqueFindings(
        base=(), bodies=(), joints=(), row_cutoff=18.0, rows=100, masked=0.0, blocks=25,
        inflation=1.0, notes=(), advice=(),
    )  # fmt: skip
    return replace(_scored(rmse_still_all=0.7)(made), fit=replace(made.fit, torque=found))


def _asks(rmse: float, rmse_initial: float) -> Callable[[Outcome], Outcome]:
    torque = JointTorque("wrist", "N m", 2.0, rmse, rmse_initial)
    return lambda made: replace(made, torques=(torque,))


def _two_kinds(made: Outcome) -> Outcome:
    """Positions that get much better, torques that get worse."""
    better = replace(
        score(1.0, 0.2),
        rmse={"a": 0.2, "t": 4.0},
        rmse_initial={"a": 1.0, "t": 2.0},
        units={"a": "rad", "t": "N m"},
    )
    return replace(made, validation=better, fit=replace(made.fit, noise={"a": 0.01, "t": 2.0}))


def _doubted(clause: str) -> Callable[[Outcome], Outcome]:
    return lambda made: replace(made, doubts=(clause,))


def _with_undriven(made: Outcome) -> Outcome:
    return replace(made, undriven=("gripper",))


def _lost(made: Outcome) -> Outcome:
    made = _ended(FitStatus.STALLED)(made)
    return replace(made, fit=replace(made.fit, growing=GrowingErrors(tenfold=0.374, length=3.995)))


def _accelerations(left: float, noise: float, before: float = 1.1) -> Callable[[Outcome], Outcome]:
    """Accelerations of 1 m/s^2 beside positions, of which a fit leaves some besides noise.

    Before the fit their error was ``before`` times as large.
    """
    times = np.arange(0.0, 20.0, 0.01)
    white = noise * np.random.default_rng(0).standard_normal(times.size)
    shown = np.sqrt(2.0) * np.sin(5.0 * times)
    signal = SignalFit("b", "m/s^2", times, shown + white, 0.0 * shown, (1.0 - left) * shown)
    sequence = SequenceFit("held out", "validation", (signal,), np.array([0.0]))
    scored = replace(
        score(1.0, 0.6),
        rmse={"a": 0.6, "b": signal.rmse},
        rmse_initial={"a": 1.0, "b": before * signal.rmse},
        units={"a": "rad", "b": "m/s^2"},
        rmse_still={"a": 9.0, "b": float(np.std(signal.measured))},
    )
    fit = {"a": 0.01, "b": noise}
    return lambda made: replace(
        made, validation=scored, sequences=(sequence,), fit=replace(made.fit, noise=fit)
    )


CASES: list[tuple[Callable[[Outcome], Outcome], str]] = [
    (_doubted("two nodes publish"), "Suspect data: two nodes publish. The held-out error goes"),
    (
        _with_undriven,
        "Undriven: no signal drives actuator 'gripper'; intervals hold only if it was told zero. ",
    ),
    (_ended(FitStatus.CANCELED), "Canceled early: these are the best parameters so far. "),
    (
        _lost,
        "Windows too long: the simulation leaves the recording within windows of 4 s, as an error "
        "of their start grows tenfold every 0.37 s, whatever the parameters are: shorten them to "
        "about that, windows: {length: 0.4}; the fit ended with STALLED. ",
    ),
    (_ended(FitStatus.STALLED), "Not converged: the fit ended with STALLED. "),
    (_ended(FitStatus.TIME_LIMIT), "Not converged: the fit ended with TIME_LIMIT. "),
    (_ended(FitStatus.MAX_ITERATIONS), "Not converged: the fit ended with MAX_ITERATIONS. "),
    (
        _asks(1.0, 0.5),
        "Contradicted by the measured torque: the torque that it asks for misses the measured by "
        "50 % of its size, the initial model's by 25 %. ",
    ),
    (_asks(2.2, 6.0), "Contradicted by the measured torque: the torque that it asks for misses"),
    (
        _scored(rmse_mean_all=0.55),
        "No better than standing still: holding the recording's mean predicts as well (0.55 rad). ",
    ),
    (
        _scored(rmse_still_all=0.6),
        "No better than standing still: a robot that never leaves its start predicts as well",
    ),
    (
        _scored(rmse_still_all=0.7),
        "Mostly unexplained: 86 % of the motion is still not explained. The held-out error goes",
    ),
    (_torque_unexplained, "Mostly unexplained: 86 % of the torque is still not explained."),
    (
        _accelerations(0.7, 0.1),
        "Mostly unexplained: 70 % of what is measured in m/s^2 is still not explained, hardly",
    ),
    (_two_kinds, "Mixed: that of torques and forces rises by 100 %. The held-out error goes"),
    (
        lambda made: replace(made, implausible=("a link of lead",)),
        "Implausible: a link of lead. The held-out error goes from 1 to 0.6 rad.",
    ),
    (_flagged("at upper bound"), "At a bound: shoulder_armature ends at its upper bound (0.00213"),
]


@pytest.mark.parametrize(("change", "words"), CASES)
def test_what_speaks_against_a_fit_comes_first(
    change: Callable[[Outcome], Outcome], words: str
) -> None:
    good = outcome_with(result(opened=False), score(1.0, 0.5), score(1.0, 0.6))
    assert with_verdict(good).judgement is Judgement.IMPROVED
    found = with_verdict(change(good))
    assert found.verdict.startswith(words)
    assert found.judgement is not Judgement.IMPROVED
    assert "% less" not in found.verdict


@pytest.mark.parametrize(
    "change",
    [
        _asks(0.4, 0.5),
        _asks(0.52, 0.5),  # within what the data can tell
        _scored(rmse_mean_all=1.3, rmse_still_all=1.4),
        _ended(FitStatus.CONVERGED),
        _accelerations(0.3, 0.1),
        _accelerations(0.7, 0.1, before=2.0),  # as where errors of starts grow
        _accelerations(0.0, 3.0),  # of a sensor that tells little but noise
    ],
)
def test_what_does_not_speak_against_a_fit_is_not_said(
    change: Callable[[Outcome], Outcome],
) -> None:
    good = outcome_with(result(opened=False), score(1.0, 0.5), score(1.0, 0.6))
    assert with_verdict(change(good)).verdict.startswith("Improved: the held-out error falls")


def test_the_gravest_of_several_comes_first_and_all_are_named() -> None:
    made = outcome_with(result(opened=True), score(1.0, 0.5), score(1.0, 0.6))
    for change in (_ended(FitStatus.STALLED), _with_undriven, _doubted("two nodes publish")):
        made = change(made)
    sentence = with_verdict(made).verdict
    named = ("Suspect data: two nodes", "gripper", "STALLED", "link2_mass", "from 1 to 0.6 rad")
    places = [sentence.index(words) for words in named]
    assert places == sorted(places)


def test_many_warnings_of_one_kind_become_one_line_with_their_number() -> None:
    made = result(opened=False)
    at_bounds = replace(
        made, parameters=tuple(replace(p, flags=("at lower bound",)) for p in made.parameters)
    )
    (line,) = result_warnings(replace(at_bounds, unidentifiable=()))
    assert line.startswith(
        f"{len(made.parameters)} parameters are at a bound ({made.parameters[0].name}"
    )
    open_ones = replace(made, unidentifiable=tuple(f"only {i} is determined" for i in range(14)))
    (line,) = result_warnings(open_ones)
    assert line.startswith("14 combinations of parameters are left open by the data")


def test_what_ends_at_zero_is_not_told_to_go_further() -> None:
    one = replace(result(opened=False).parameters[0], flags=("at lower bound",))
    for lower, said in ((0.0, "the data wants none of it, or"), (0.1, "may want it further out,")):
        made = replace(result(opened=False), parameters=(replace(one, lower=lower),))
        assert said in result_warnings(replace(made, unidentifiable=()))[0]


SERVO = """<mujoco><worldbody><body><joint name="horn" damping="0.1"/><geom size=".1"/></body>
  </worldbody><actuator><position {} joint="horn" kp="20" kv="{}"/></actuator></mujoco>"""


@pytest.mark.parametrize(
    ("kv", "free", "named", "told"),
    [
        (0.5, "damping", 'name="servo"', True),
        (0.0, "damping", 'name="servo"', False),
        (0.5, "kv", 'name="servo"', False),
        (0.5, "damping", "", False),
    ],
)
def test_damping_that_ends_at_zero_beside_that_of_a_servo_names_its_kv(
    kv: float, free: str, named: str, told: bool
) -> None:
    names = {"damping": ("joint", "horn"), "kv": ("actuator", "servo")}
    own = [
        AppliedParameter(f"horn_{key}", (0.0,), modifier_to_dict(AttributeModifier(*at, key)))
        for key, at in names.items()
        if key in ("damping", free)
    ]
    one = replace(
        result(opened=False).parameters[0], name="horn_damping", lower=0.0, flags=(AT_LOWER_BOUND,)
    )
    made = outcome_with(replace(result(opened=False), parameters=(one,)), score(1.0, 0.5), None)
    said = warnings(
        parse_experiment("model: a.xml\nsequences: [bag]\nsignals: []\nparameters: []"),
        replace(made, applied=tuple(own)),
        mujoco.MjModel.from_xml_string(SERVO.format(named, kv)),
    )
    assert any("let kv of 'servo' be found in its place" in one for one in said) == told
    assert not any("let kv of ''" in one for one in said)


def test_an_absent_effect_at_zero_is_not_what_a_verdict_begins_with() -> None:
    made = outcome_with(result(opened=False), score(1.0, 0.5), score(1.0, 0.6))
    flagged = _flagged("at lower bound")(made)
    assert with_verdict(flagged).judgement is Judgement.AT_BOUND
    absent = replace(flagged, absent=(flagged.fit.parameters[0].name,))
    assert with_verdict(absent).judgement is Judgement.IMPROVED


@pytest.mark.parametrize(
    ("after", "words"), [(0.0026, "99.7 % less"), (1e-4, "99.9 % less"), (0.0, "100 % less")]
)
def test_what_is_left_is_not_rounded_away(after: float, words: str) -> None:
    made = outcome_with(result(opened=False), score(1.0, after), score(1.0, after))
    assert words in with_verdict(made).verdict


def test_what_was_not_scored_is_no_reason_to_hold_something_out() -> None:
    assert scored_warnings(None, None) == ()
