# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters that evidence names are proposed once, also where they were proposed before."""

from __future__ import annotations

from dataclasses import replace

from sysid_ros.proposal.candidate import with_first
from sysid_ros.proposal.masses import centre_candidate, mass_candidate


def test_what_evidence_names_replaces_the_usual_one_and_nothing_else() -> None:
    usual = (mass_candidate("hand", 1.0), mass_candidate("arm", 2.0))
    heavy = replace(mass_candidate("hand", 1.0), high=30.0, guessed=True)
    centre = centre_candidate("hand", "com_x", 0.0, 0.1)
    assert with_first([heavy, centre], usual) == (heavy, centre, usual[1])
    assert with_first([], usual) == usual
