"""The extras of the wheel, for pyproject.toml: of each file beside this one that a user of the program needs."""

import pathlib

HERE = pathlib.Path(__file__).resolve().parent


def dynamic_metadata(_settings, _project):
    return {"optional-dependencies": {name: requirements(name) for name in ("cublas", "cuda", "report")}}


def requirements(name):
    lines = (HERE / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]
