"""Identification of MuJoCo model parameters, in the language of ``mujoco.sysid``.

A script written for ``from mujoco import sysid`` runs with ``from sysid_ros import sysid``.
"""
