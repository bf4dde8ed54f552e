# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What programs say of themselves: descriptions, reports, profiles."""
import json
import os

import pytest
import torch

import tilewright


def test_descriptions(mlp):
    _, program = mlp
    assert program.inputs[0].dtype == "f32" and program.inputs[0].kind == "tensor"
    assert program.outputs[0].sizes == (4, 8) and program.target == "cpu"
    assert "f32[4, 16]" in repr(program)
    report = program.report
    assert report.dispatches and "kernels" in str(report)
    assert all({"name", "ops", "source", "calls", "target"} <= set(each) for each in report.dispatches)
    for text in (tilewright.Program.__doc__, tilewright.compile.__doc__, tilewright.load.__doc__):
        assert "Errors: TW-" in text
    assert "InputError" in tilewright.State.__doc__


def test_profiles_inside_each_other(mlp):
    _, program = mlp
    x = torch.randn(4, 16)
    with program.profile() as outer:
        program(x)
        with program.profile() as inner:
            program(x)
            program(x)
        program(x)
    program(x)
    assert inner.rows and all(row["calls"] == 2 for row in inner.rows)
    assert outer.rows and all(row["calls"] == 4 for row in outer.rows)
    with program.profile() as again:
        program(x)
    assert again.rows and all(row["calls"] == 1 for row in again.rows)


def test_a_profile_is_of_one_block(mlp):
    _, program = mlp
    profile = program.profile()
    with pytest.raises(tilewright.InputError, match="ends that has not begun"):
        profile.__exit__()
    with profile:
        with pytest.raises(tilewright.InputError, match="begins that has begun"):
            profile.__enter__()
        program(torch.randn(4, 16))
    assert profile.rows and all(row["calls"] == 1 for row in profile.rows)


def test_profile(mlp, tmp_path):
    _, program = mlp
    x = torch.randn(4, 16)
    with program.profile() as profile:
        for _ in range(3):
            program(x)
    program(x)  # is not seen
    assert profile.rows and all(row["calls"] == 3 for row in profile.rows)
    assert abs(sum(row["percent"] for row in profile.rows) - 100) < 1e-6
    assert profile.rows[0]["name"] in str(profile)
    profile.save_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert len(events) == 3 * len(profile.rows) and all(event["dur"] >= 0 for event in events)
    (tmp_path / "link").symlink_to("trace.json")
    profile.save_trace(tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and sorted(os.listdir(tmp_path)) == ["link", "trace.json"]
    profile.save_trace(os.devnull)
