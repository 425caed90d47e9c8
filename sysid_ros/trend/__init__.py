# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The course of parameters over results of several days: change points, drift, judgement."""

from __future__ import annotations

from sysid_ros.trend.dated_results import DatedResult, date_text, dated_results
from sysid_ros.trend.parameter_trend import Level, ParameterTrend
from sysid_ros.trend.trend_document import overall, trend_document
from sysid_ros.trend.trends import trends
