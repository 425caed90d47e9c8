# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""URDF files: their meshes are found where ROS users keep them, and every link keeps its name."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest
from urdf_robot import MESH, urdf, write_bag, write_mesh, write_package

from sysid_ros.cli import main
from sysid_ros.engine.elements import is_servo, is_velocity_servo
from sysid_ros.errors import ErrorCode, ExperimentError, ModelError
from sysid_ros.excitation import read_urdf_limits
from sysid_ros.experiment import load_experiment, parse_experiment, with_folders
from sysid_ros.experiment.packages import Packages
from sysid_ros.pipeline.experiment_run import run_experiment
from sysid_ros.robots.added_servos import with_commanded_servos
from sysid_ros.robots.source import load_model, model_from_description, with_free_base

EXPERIMENT = """
model: {model}
sequences: [bag]
signals:
  - {{effort: shoulder, topic: /joint_states, field: "effort[shoulder]", interpolation: hold}}
  - {{qpos: shoulder, topic: /joint_states, field: "position[shoulder]"}}
  - {{sensor: imu_rate, type: gyro, at: imu_link, topic: /imu, field: angular_velocity}}
fit: {{landscapes: 0, model_error: false}}
parameters:
  - {{joint: shoulder, damping: {{max: 1.0}}}}
"""


@pytest.fixture(autouse=True)
def no_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AMENT_PREFIX_PATH", "ROS_PACKAGE_PATH"):
        monkeypatch.delenv(name, raising=False)


def test_a_commanded_position_gets_a_servo_and_its_joint_must_be_there(tmp_path: Path) -> None:
    (write_package(tmp_path / "swing_description") / "swing.urdf").write_text(urdf())
    model = load_model(tmp_path / "swing_description" / "swing.urdf")
    text = EXPERIMENT.format(model="swing.urdf").replace("effort: shoulder", "servo: shoulder")
    signals = parse_experiment(text, path=tmp_path / "experiment.yaml").signals
    assert signals[0].name == "shoulder_servo"
    with_servo = with_commanded_servos(model, signals)
    served = with_servo.spec.compile()
    assert not model.spec.actuators
    assert is_servo(served, served.actuator("shoulder_servo").id)
    other = parse_experiment(text.replace("{servo:", "{velocity_servo:"), path=tmp_path / "e")
    with pytest.raises(ModelError, match=r"on 'shoulder'; map it as {actuator: shoulder_servo,"):
        with_commanded_servos(with_servo, other.signals)
    wrong = parse_experiment(text.replace("servo: shoulder", "servo: sholder"), path=tmp_path / "e")
    with pytest.raises(ModelError, match="unknown joint 'sholder'; nearest: 'shoulder'"):
        with_commanded_servos(model, wrong.signals)


def test_a_commanded_velocity_gets_a_servo_that_euler_steps_do_not_run_away_with(
    tmp_path: Path,
) -> None:
    (write_package(tmp_path / "swing_description") / "swing.urdf").write_text(urdf())
    model = load_model(tmp_path / "swing_description" / "swing.urdf")
    text = EXPERIMENT.format(model="swing.urdf").replace("effort:", "velocity_servo:")
    signals = parse_experiment(text, path=tmp_path / "experiment.yaml").signals
    served = with_commanded_servos(model, signals).spec.compile()
    servo = served.actuator(signals[0].name)
    assert is_velocity_servo(served, servo.id)
    served.jnt_actfrclimited[:] = False
    served.actuator_gainprm[servo.id, 0] *= 1e3  # as a stiff one on a light joint
    served.actuator_biasprm[servo.id, 2] *= 1e3
    data = mujoco.MjData(served)
    data.ctrl[servo.id] = 0.1
    mujoco.mj_step(served, data, 400)
    assert data.joint("shoulder").qvel[0] == pytest.approx(0.1, rel=1e-3)
    assert served.opt.timestep <= 5e-4  # in which light joints follow such servos


def meshes(folder: Path, packages: Packages | None = None, mesh: str = MESH) -> list[str]:
    """The mesh files of the robot when its URDF lies in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "swing.urdf").write_text(urdf(mesh=mesh))
    spec = load_model(folder / "swing.urdf", packages).spec
    return [str(Path(mesh.file).resolve()) for mesh in spec.meshes]


def test_links_keep_their_names_and_drawn_meshes_are_not_missed(tmp_path: Path) -> None:
    package = write_package(tmp_path / "swing_description")
    (package / "swing.urdf").write_text(urdf())
    model = load_model(package / "swing.urdf")
    assert [body.name for body in model.spec.bodies] == ["world", "base_link", "arm", "imu_link"]
    assert not model.warnings


@pytest.mark.parametrize("place", ["urdf", ".", "../other/robots"])
def test_packages_beside_the_file_are_found(tmp_path: Path, place: str) -> None:
    package = write_package(tmp_path / "src" / "swing_description")
    assert meshes(package / place) == [str(package / "meshes" / "arm.stl")]


def test_a_package_is_known_by_its_manifest(tmp_path: Path) -> None:
    clone = write_package(tmp_path / "swing_ros2-main")
    assert meshes(clone / "urdf") == [str(clone / "meshes" / "arm.stl")]


@pytest.mark.parametrize("given", ["ws", "ws/src", "ws/src/robots/checkout"])
def test_package_path_takes_packages_and_workspaces(tmp_path: Path, given: str) -> None:
    package = write_package(tmp_path / "ws" / "src" / "robots" / "checkout")
    packages = Packages.of([tmp_path / given])
    assert meshes(tmp_path / "elsewhere", packages) == [str(package / "meshes" / "arm.stl")]


def test_workspaces_may_link_to_packages(tmp_path: Path) -> None:
    package = write_package(tmp_path / "clone")
    workspace = tmp_path / "ws" / "src"
    workspace.mkdir(parents=True)
    (workspace / "swing").symlink_to(package)
    (workspace / "circle").symlink_to(tmp_path / "ws")
    packages = Packages.of([tmp_path / "ws"])
    assert meshes(tmp_path / "elsewhere", packages) == [str(package / "meshes" / "arm.stl")]


def test_sourced_installations_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = write_package(tmp_path / "install" / "share" / "swing_description")
    prefixes = f"{tmp_path / 'other'}:{tmp_path / 'install'}"
    monkeypatch.setenv("AMENT_PREFIX_PATH", prefixes)
    assert meshes(tmp_path / "elsewhere") == [str(package / "meshes" / "arm.stl")]
    monkeypatch.delenv("AMENT_PREFIX_PATH")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "install" / "share"))
    assert meshes(tmp_path / "elsewhere") == [str(package / "meshes" / "arm.stl")]


@pytest.mark.parametrize(
    "spelling",
    [
        "meshes/arm.stl",
        "./meshes/../meshes/arm.stl",
        "file://{}/meshes/arm.stl",
        "{}/meshes/arm.stl",
        "$(find swing_description)/meshes/arm.stl",
        "model://swing_description/meshes/arm.stl",
    ],
)
def test_other_spellings_of_a_mesh(tmp_path: Path, spelling: str) -> None:
    package = write_package(tmp_path / "swing_description")
    found = meshes(package, mesh=spelling.format(package))
    assert found == [str(package / "meshes" / "arm.stl")]


def test_files_made_for_mujoco_work_as_they_are(tmp_path: Path) -> None:
    write_mesh(tmp_path / "assets" / "arm.stl")
    text = urdf().replace(
        '<robot name="swing">',
        '<robot name="swing"><mujoco><compiler meshdir="assets" fusestatic="true"/></mujoco>',
    )
    (tmp_path / "swing.urdf").write_text(text)
    spec = load_model(tmp_path / "swing.urdf").spec
    assert [mesh.file for mesh in spec.meshes] == [str(tmp_path / "assets" / "arm.stl")]
    assert spec.compile().nbody == 2  # the world and the arm


def test_meshes_that_cannot_be_used_are_left_out_and_named(tmp_path: Path) -> None:
    (tmp_path / "swing.urdf").write_text(urdf())
    model = load_model(tmp_path / "swing.urdf")
    assert not model.spec.geoms
    assert len(model.warnings) == 1
    assert MESH in model.warnings[0]
    assert "--package-path" in model.warnings[0]
    (tmp_path / "text.stl").write_text("solid arm\nfacet normal 0 0 1\nouter loop\n" + "x" * 80)
    (tmp_path / "swing.urdf").write_text(urdf(mesh="text.stl"))
    assert "binary STL" in load_model(tmp_path / "swing.urdf").warnings[0]


def test_mjcf_from_a_topic_finds_its_files_beside_the_experiment(tmp_path: Path) -> None:
    text = (
        '<mujoco><compiler meshdir="assets"/><asset><mesh name="arm" file="arm.stl"/></asset>'
        '<worldbody><body><joint/><geom type="mesh" mesh="arm"/></body></worldbody></mujoco>'
    )
    with pytest.raises(ModelError, match="does not compile"):
        model_from_description(text, "topic", Packages.of([tmp_path]))
    write_mesh(tmp_path / "assets" / "arm.stl")
    for packages in (
        Packages.of(neighbours=[None, tmp_path]),
        Packages.of([write_package(tmp_path / "empty").parent], neighbours=[tmp_path]),
    ):
        assert model_from_description(text, "topic", packages).spec.compile().nmesh == 1


def test_what_is_no_urdf_is_refused_in_one_sentence(tmp_path: Path) -> None:
    include = '<xacro:include filename="a"/>'
    for xacro in (
        f'<robot xmlns:xacro="http://www.ros.org/wiki/xacro">{include}</robot>',
        f"<robot>{include}</robot>",
        '<robot><link name="a"><inertial><mass value="${m}"/></inertial></link></robot>',
    ):
        with pytest.raises(ModelError, match="expand it first"):
            model_from_description(xacro, "/robot_description")
    with pytest.raises(
        ModelError, match=r"neither MJCF \(<mujoco>\) nor URDF \(<robot>\) but 'sdf'"
    ):
        model_from_description("<sdf/>", "/robot_description")
    said = r"begins with 'no model'; valid: MJCF \(<mujoco>\) or URDF \(<robot>\)"
    with pytest.raises(ModelError, match=f"/robot_description is no XML, it {said}"):
        model_from_description("no model", "/robot_description")
    (tmp_path / "experiment.yaml").write_text("\n# ours\nmodel: arm.xml\n")
    with pytest.raises(ModelError, match=r"experiment\.yaml is no XML, it begins with '# ours'"):
        load_model(tmp_path / "experiment.yaml")
    with pytest.raises(ExperimentError, match="there is no such folder"):
        Packages.of([tmp_path / "absent"])


def test_prefixes_need_not_be_declared_as_gazebos_often_are_not(tmp_path: Path) -> None:
    file = tmp_path / "swing.urdf"
    file.write_text('<robot name="x"><link name="a"/><sensor:camera name="eye"/></robot>')
    assert load_model(file).text.is_urdf


@pytest.mark.parametrize("model", ["swing.urdf", "{robot_description: /robot_description}"])
def test_a_urdf_is_fitted_with_sensors_it_does_not_have(tmp_path: Path, model: str) -> None:
    package = write_package(tmp_path / "somewhere" / "swing_description")
    write_bag(tmp_path / "bag", urdf(damping=0.3), damping=0.12)
    (tmp_path / "swing.urdf").write_text(urdf(damping=0.3))
    (tmp_path / "experiment.yaml").write_text(EXPERIMENT.format(model=model))
    experiment = with_folders(
        load_experiment(tmp_path / "experiment.yaml"), package_path=[str(package.parent)]
    )
    report = run_experiment(experiment, output_dir=tmp_path / "results")
    (damping,) = report.outcome.fit.parameters
    assert damping.value == pytest.approx(0.12, rel=0.01)
    fitted = {"shoulder_qpos", "imu_rate[0]", "imu_rate[1]", "imu_rate[2]"}
    assert set(report.outcome.training.rmse) == fitted
    assert not [text for text in report.outcome.warnings if "mesh" in text]
    assert report.files.model is not None
    moved = tmp_path / "moved"
    report.files.folder.rename(moved)
    for path in package.rglob("*.stl"):
        path.unlink()
    assert len(load_model(moved / "model.xml").spec.meshes) == 1
    expected = urdf(damping=0.3).replace('damping="0.3"', f'damping="{damping.value!r}"')
    assert (moved / "model.urdf").read_text() == expected


def test_check_and_fit_take_the_package_path_and_warn_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_bag(tmp_path / "bag", urdf(damping=0.3), damping=0.12, duration=3.0)
    text = EXPERIMENT.format(model="{robot_description: /robot_description}")
    file = tmp_path / "experiment.yaml"
    file.write_text(text)
    assert main(["check", str(file), "--package-path", str(tmp_path)]) in (
        0,
        ErrorCode.DATA_UNUSABLE,
    )
    assert main(["fit", str(file), "--output", str(tmp_path / "results"), "--json"]) == 0
    assert "--package-path" in capsys.readouterr().out
    file.write_text(text.replace("/robot_description", "/description"))
    assert (
        main(["fit", str(file), "--output", str(tmp_path / "results")]) == ErrorCode.BAG_UNREADABLE
    )
    assert "nearest: '/robot_description'" in capsys.readouterr().err


def test_a_link_that_nothing_carries_floats_if_its_pose_is_mapped(tmp_path: Path) -> None:
    text = EXPERIMENT.format(model="swing.urdf").replace("qpos: shoulder", "qpos: base_link")
    signals = parse_experiment(text).signals
    description = urdf(mesh="arm.obj").replace(
        '<link name="base_link"/>',
        '<link name="base_link"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"'
        ' ixy="0" ixz="0" iyz="0"/></inertial></link>',
    )
    fixed = model_from_description(description, "text")
    floating = with_free_base(fixed, signals)
    assert (fixed.spec.compile().nv, floating.spec.compile().nv) == (1, 7)
    assert "'base_link' floats" in floating.warnings[-1]


def test_a_urdf_in_latin_1_keeps_its_names(tmp_path: Path) -> None:
    text = urdf().replace('<?xml version="1.0"?>', "<?xml version='1.0' encoding='ISO-8859-1'?>")
    path = tmp_path / "swing.urdf"
    path.write_bytes(text.replace("shoulder", "épaule").encode("latin-1"))
    assert [joint.name for joint in load_model(path).spec.joints] == ["épaule"]
    assert next(iter(read_urdf_limits(path))) == "épaule"
    told = model_from_description(text.replace("shoulder", "épaule"), "/robot_description")
    assert [joint.name for joint in told.spec.joints] == ["épaule"]  # messages are in UTF-8
    path.write_bytes(text.replace("ISO-8859-1", "Klingon").encode())
    with pytest.raises(ModelError, match="unknown encoding: Klingon"):
        load_model(path)


def test_what_mujoco_warns_of_is_said_once_and_writes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = urdf(mesh="").replace('lower="-3" upper="3"', 'lower="0" upper="0"')
    warnings = model_from_description(text, "text").warnings
    assert [one for one in warnings if "equal lower and upper limits" in one] == [
        "MuJoCo: joint 'shoulder' has equal lower and upper limits, limit ignored."
    ]
    assert not (tmp_path / "MUJOCO_LOG.TXT").exists()


def test_a_flat_mesh_collides_all_the_same(tmp_path: Path) -> None:
    package = write_package(tmp_path / "swing_description")
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 .1\n"
    (package / "meshes" / "flat.obj").write_text(corners + "f 1 2 3\nf 1 3 2\nf 1 2 4\nf 1 4 2\n")
    path = tmp_path / "swing.urdf"
    path.write_text(urdf(mesh="package://swing_description/meshes/flat.obj"))
    assert load_model(path).spec.compile().ngeom == 1
