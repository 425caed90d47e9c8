# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The recordings of an experiment as sequences of its models, ready to be fitted."""

from __future__ import annotations

from sysid_ros.dataset.contact_free import passing, without_contacts
from sysid_ros.dataset.fit_inputs import FitInputs, FitSource, fit_settings, torque_settings
from sysid_ros.dataset.input_digests import compiled_digest, setting_digests
from sysid_ros.dataset.kept_recordings import reading_of
from sysid_ros.dataset.loading import (
    load_dataset,
    mapped_recordings,
    mapped_sequence,
    model_of,
    model_with_payload,
    refers_to_geoms,
)
from sysid_ros.dataset.recorded_noise import noise_of
from sysid_ros.dataset.repeats import Repeat, repeated_recordings
from sysid_ros.dataset.sequences import (
    Dataset,
    declared_noise,
    model_sequences,
    unusable,
)
