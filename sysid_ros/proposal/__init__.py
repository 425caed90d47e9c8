# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Proposes an experiment file from a model and recordings: ``sysid_ros init``."""

from sysid_ros.proposal.propose import ModelTopic, propose
