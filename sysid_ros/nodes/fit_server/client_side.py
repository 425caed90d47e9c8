# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Words between the action and its clients, without the imports of a fit."""

from __future__ import annotations

from sysid_ros.errors import ErrorCode
from sysid_ros_interfaces.action import FitModel

# In the goal's overrides: its bags stand in for the experiment's instead of joining them.
REPLACE_SEQUENCES = "sequences=replace"

# Shares of a goal's progress at which recordings have been read and parameters fitted.
READING, FITTED = 0.2, 0.9

_NAN = float("nan")


def failed_result(code: ErrorCode, message: str) -> FitModel.Result:
    """A result without parameters."""
    return FitModel.Result(
        error_code=int(code),
        error_msg=message,
        cost_initial=_NAN,
        cost_final=_NAN,
        holdout_rmse=_NAN,
        holdout_rmse_initial=_NAN,
    )
