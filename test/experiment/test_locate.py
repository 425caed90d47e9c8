# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Where bags and models are looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from sysid_ros.errors import BagError, ModelError
from sysid_ros.experiment import locate_bag, locate_model


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """An experiment's folder and one for data, a bag ``both`` and ``both.xml`` in each."""
    for name in ("experiment", "data"):
        (tmp_path / name / "bags" / "both").mkdir(parents=True)
        (tmp_path / name / "bags" / f"only_{name}").mkdir()
        (tmp_path / name / "both.xml").write_text("<mujoco/>")
        (tmp_path / name / f"only_{name}.xml").write_text("<mujoco/>")
    return tmp_path / "experiment", tmp_path / "data"


def test_bags_come_from_the_data_folder_first(folders: tuple[Path, Path]) -> None:
    here, data = folders
    file = here / "e.yaml"
    assert locate_bag("bags/both", experiment_file=file, data_dir=data) == data / "bags/both"
    assert locate_bag("bags/both", experiment_file=file, data_dir=None) == here / "bags/both"
    found = locate_bag("bags/only_experiment", experiment_file=file, data_dir=data)
    assert found == here / "bags/only_experiment"


def test_models_come_from_beside_the_experiment_first(folders: tuple[Path, Path]) -> None:
    here, data = folders
    file = here / "e.yaml"
    assert locate_model("both.xml", experiment_file=file, data_dir=data) == here / "both.xml"
    found = locate_model("only_data.xml", experiment_file=file, data_dir=data)
    assert found == data / "only_data.xml"


def test_without_a_file_the_current_folder_counts(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, _ = folders
    monkeypatch.chdir(here)
    assert locate_bag("bags/both", experiment_file=None, data_dir=None) == here / "bags/both"
    file = Path("e.yaml")
    assert locate_bag("bags/both", experiment_file=file, data_dir=None) == here / "bags/both"


def test_absolute_paths_are_taken_as_they_are(folders: tuple[Path, Path]) -> None:
    here, data = folders
    bag = here / "bags/both"
    assert locate_bag(str(bag), experiment_file=here / "e.yaml", data_dir=data) == bag


def test_a_missing_bag_says_where_it_was_looked_for(folders: tuple[Path, Path]) -> None:
    here, data = folders
    with pytest.raises(BagError) as caught:
        locate_bag("bags/bth", experiment_file=here / "e.yaml", data_dir=data)
    message = str(caught.value)
    assert message.startswith("bag 'bags/bth' not found; looked for ")
    assert message.index(str(data / "bags/bth")) < message.index(str(here / "bags/bth"))
    assert "nearest there: 'both'" in message
    (data / "bags/link").symlink_to("gone")
    with pytest.raises(BagError, match=r"bags/link \(a link to gone\), [^;]*$"):
        locate_bag("bags/link", experiment_file=here / "e.yaml", data_dir=data)


@pytest.mark.parametrize("name", ["x\0y", "x" * 5000])
def test_impossible_names_are_just_not_found(folders: tuple[Path, Path], name: str) -> None:
    with pytest.raises(BagError, match="not found"):
        locate_bag(name, experiment_file=folders[0] / "e.yaml", data_dir=folders[1])


def test_a_missing_model_and_a_folder_are_refused(folders: tuple[Path, Path]) -> None:
    here, data = folders
    with pytest.raises(ModelError, match=r"model 'only_dat.xml' not found.*'only_data.xml'"):
        locate_model("only_dat.xml", experiment_file=here / "e.yaml", data_dir=data)
    with pytest.raises(ModelError, match="model 'bags' is not a file"):
        locate_model("bags", experiment_file=here / "e.yaml", data_dir=data)


def test_packages_are_found_in_the_sourced_prefixes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "b" / "share" / "arm_description" / "urdf" / "arm.urdf"
    model.parent.mkdir(parents=True)
    model.write_text("<robot/>")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path / 'a'}:{tmp_path / 'b'}")
    uri = "package://arm_description/urdf/arm.urdf"
    assert locate_model(uri, experiment_file=None, data_dir=None) == model
    with pytest.raises(
        ModelError, match=r"package://arm/x' not found; looked for .*/a/share/arm/x"
    ):
        locate_model("package://arm/x", experiment_file=None, data_dir=None)
    monkeypatch.delenv("AMENT_PREFIX_PATH")
    with pytest.raises(ModelError, match="no ROS installation is sourced"):
        locate_model(uri, experiment_file=None, data_dir=None)
