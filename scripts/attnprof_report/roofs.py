"""A device's roofs, as `attnprof roofline` says them: bandwidths in TB/s (so that TB/s x FLOP a byte is TFLOP/s) and compute
ceilings in TFLOP/s."""

import dataclasses
import json

from . import program
from .result_rows import Refusal

SOURCES = {"ceiling": "measured ceilings", "run": "nominal peaks in .meta.json", "profile": "the device's built-in profile"}
NAMES = {"tensor": "tensor", "tensor_fp8": "fp8 tensor", "fma": "fp32"}  # in a picture


@dataclasses.dataclass
class Roofs:
    bandwidths: dict  # level ("hbm", "l2") -> TB/s
    ceilings: dict  # name -> TFLOP/s
    source: str  # in words; empty where no roof is known

    def name_is_above(self, tflops):
        """Where the name of a ceiling goes: above its line, but below where the next one's line is near."""
        return not any(tflops < other < 1.2 * tflops for other in self.ceilings.values())


def name_of(record):
    return f"{record['dtype']} tensor" if record["roof"] == "tensor" and record["dtype"] else NAMES.get(record["roof"], record["roof"])


def roofs_of(device, records):
    """Of the records of all files: of one name the first with the best source, measured before nominal."""
    ranked = sorted((record for record in records if record["device"] == device),
                    key=lambda record: list(SOURCES).index(record["roof_source"]))
    bandwidths, ceilings = {}, {}
    for record in ranked:
        if record["roof_gbps"]:
            bandwidths.setdefault(record["roof"], record["roof_gbps"] / 1e3)
        elif record["roof_tflops_per_s"]:
            ceilings.setdefault(name_of(record), record["roof_tflops_per_s"])
    return Roofs(bandwidths, ceilings, ", ".join(dict.fromkeys(SOURCES[record["roof_source"]] for record in ranked)))


def records_of(path, attnprof):
    """The roofs that the program knows for a file's rows; none where no row of it is ok. Throws Refusal."""
    done = program.run(attnprof, "roofline", path, "--format", "json")
    if done.returncode == 3:
        return []
    if done.returncode != 0:
        raise Refusal(f"{path}: its roofs cannot be told: {program.last_line(done)}")
    defaults = {"device": "", "roof": "", "dtype": None, "roof_gbps": None, "roof_tflops_per_s": None}
    try:
        return [defaults | record for record in json.loads(done.stdout)["roofs"]]
    except (ValueError, KeyError, TypeError) as error:
        raise Refusal(f"{attnprof} roofline {path} printed no roofs ({error!r}); use a program of this script's version.") from None


def ask_roofs(paths, devices, attnprof=None):
    """device -> Roofs of rows of the files, by the program. Throws Refusal (3 where there is no program)."""
    try:
        found = program.find(attnprof)
        records = [record for path in paths for record in records_of(path, found)]
    except program.NotUsable as error:
        raise Refusal(str(error), 3) from None
    return {device: roofs_of(device, records) for device in devices}
