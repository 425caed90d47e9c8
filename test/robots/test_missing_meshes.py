# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""MJCF whose meshes are on another machine: what only collides or is drawn is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from sysid_ros.engine.elements import undrawn
from sysid_ros.errors import ModelError
from sysid_ros.robots import load_model

MODEL = """<mujoco><compiler meshdir="meshes"/>
  <asset><mesh name="hull" file="hull.stl"/><mesh file="sub/tip.obj"/>
    <texture name="paint" type="2d" file="paint.png"/><material name="red" texture="paint"/></asset>
  <worldbody><geom type="mesh" mesh="hull"/>
    <body name="arm">{}<joint name="hinge"/>
      <geom type="mesh" mesh="hull" material="red"/><geom type="mesh" mesh="tip"/>
      <geom type="sphere" size=".1" material="red" group="5"/></body></worldbody></mujoco>"""
INERTIA = '<inertial pos="0 0 .1" mass="2" diaginertia=".1 .1 .1"/>'


def model_file(folder: Path, inertial: str) -> Path:
    file = folder / "robot.xml"
    file.write_text(MODEL.format(inertial))
    return file


def test_meshes_of_bodies_with_an_inertia_may_be_missing(tmp_path: Path) -> None:
    loaded = load_model(model_file(tmp_path, INERTIA))
    model = loaded.spec.copy().compile()
    assert model.ngeom == 1  # the sphere
    assert model.body("arm").mass == 2.0
    meshes, textures = loaded.warnings
    assert "hull.stl" in meshes and "tip.obj" in meshes and str(tmp_path / "meshes") in meshes
    assert "paint.png" in textures


def test_a_mesh_that_a_mass_comes_from_is_named_with_its_body(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"hull\.stl.*meshes.*'arm'.*<inertial>"):
        load_model(model_file(tmp_path, ""))


@pytest.mark.parametrize("sphere", ['<geom size="0.1"/>', ""])
@pytest.mark.parametrize("inertia", [INERTIA, ""])
def test_meshes_that_are_only_drawn_are_read_where_a_mass_comes_from_them(
    tmp_path: Path, inertia: str, sphere: str
) -> None:
    (tmp_path / "shell.obj").write_text("no mesh")
    (tmp_path / "robot.xml").write_text(
        f"""<mujoco><asset><mesh name="shell" file="shell.obj"/></asset><worldbody><body name="arm">
        <joint/>{inertia}{sphere}<geom type="mesh" mesh="shell" contype="0" conaffinity="0"/></body>
        </worldbody></mujoco>"""
    )
    if not inertia:
        with pytest.raises(ModelError, match="shell"):
            load_model(tmp_path / "robot.xml")
        return
    loaded = load_model(tmp_path / "robot.xml")
    assert len(loaded.spec.geoms) == 1 + bool(sphere)
    # Scores of a fit ask for the size of each body, and do without it here.
    assert undrawn(loaded.spec).compile().ngeom == bool(sphere)
