# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The report of a library result, in one call."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import scipy

from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.problem import ResidualFunction
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.errors import ModelError
from sysid_ros.files import replace_file, translated_os_errors

if TYPE_CHECKING:
    from sysid_ros.judgement import Outcome
    from sysid_ros.video import Video


@dataclass(frozen=True)
class Report:
    """A report that can be shown, written, or taken apart."""

    outcome: Outcome  # everything the report shows, as data
    # the animation in it, or why there is none; ``None`` where none was asked for
    video: Video | None = None

    def build(self) -> str:
        """The report as one HTML document that loads nothing."""
        # The library can be used without the packages that render reports.
        from sysid_ros.report import render_report

        return render_report(self.outcome, video=self.video)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the document to the file ``path``.

        Raises:
          OutputError: It cannot be written.
        """
        replace_file(Path(path), self.build())


def default_report(
    models_sequences: Sequence[ModelSequences],
    initial_params: ParameterDict,
    opt_params: ParameterDict,
    residual_fn: ResidualFunction,
    opt_result: scipy.optimize.OptimizeResult,
    title: str = "SysID",
    save_path: str | os.PathLike[str] | None = None,
    build_model: Any = None,
    generate_videos: bool = True,
) -> Report:
    """Report what :func:`sysid_ros.engine.estimation.optimize` found.

    Measured, initial and fitted signals, parameters with intervals and bounds, correlations, what
    the data leaves open, and how the optimizer went.

    Args:
      models_sequences: The models with their recordings, as ``residual_fn`` has them.
      initial_params: Parameters before the fit.
      opt_params: Parameters after it.
      residual_fn: The function that was minimized.
      opt_result: What ``optimize`` returned.
      title: The report's title.
      save_path: A folder, made where it does not exist, to write ``report.html`` into.
      build_model: Accepted as in ``mujoco.sysid``; the residual function knows its models.
      generate_videos: Draw the measured robot with the initial and the fitted one as ghosts, of the
        first recording; without a screen by EGL, or as ``MUJOCO_GL`` says. Where that does not work
        the report says why.

    Returns:
      The report: ``build()`` gives its HTML, ``save(path)`` writes it.

    Raises:
      OutputError: The folder or the file cannot be written.
    """
    from sysid_ros.sysid.library_outcome import library_outcome

    outcome = library_outcome(
        models_sequences, initial_params, opt_params, residual_fn, opt_result, title
    )
    report = Report(outcome, _video(models_sequences[0], outcome) if generate_videos else None)
    if save_path is not None:
        folder = Path(save_path)
        with translated_os_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        report.save(folder / "report.html")
    return report


def _video(shown: ModelSequences, outcome: Outcome) -> Video:
    """The animation of the first recording, or why there is none."""
    from sysid_ros.exports import write_model
    from sysid_ros.video import Video, drawing

    with tempfile.TemporaryDirectory(prefix="sysid_ros_") as folder:
        try:
            model = write_model(shown.spec, Path(folder))
        except ModelError as error:
            return Video(None, f"the model cannot be written: {error}")
        with drawing(model, outcome.sequences) as video:
            return video()
