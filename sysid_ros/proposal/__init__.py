"""Proposes an experiment file from a model and recordings: ``sysid_ros init``."""

from sysid_ros.proposal.propose import Proposal, propose

__all__ = ["Proposal", "propose"]
