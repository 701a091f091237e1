"""A device's roofs: bandwidths in TB/s (so that TB/s x FLOP a byte is TFLOP/s) and compute ceilings in TFLOP/s."""

import dataclasses


@dataclasses.dataclass
class Roofs:
    bandwidths: dict  # level ("hbm", "l2") -> TB/s
    ceilings: dict  # name -> TFLOP/s
    source: str


TENSOR_PEAKS = {"fp8": ("fp8 tensor", "tensor_fp8_tflops")}  # of other dtypes: the 16-bit rate


def roofs_from_meta(meta, run, dtypes):
    """Nominal roofs as the run recorded them (DeviceProfile's peaks), for rows of these dtypes; None where the file has
    none for it."""
    try:
        peaks = meta["runs"][run]["peaks"]
    except (KeyError, TypeError):
        return None
    bandwidths = {level: peaks.get(f"{level}_gbps", 0) / 1e3 for level in ("hbm", "l2")}
    ceilings = {}
    for dtype in dtypes:
        name, key = TENSOR_PEAKS.get(dtype, ("tensor", "tensor_16bit_tflops"))
        ceilings[name] = peaks.get(key, 0)
    ceilings["fp32"] = peaks.get("fp32_tflops", 0)
    return Roofs({level: tbps for level, tbps in bandwidths.items() if tbps > 0},
                 {name: tflops for name, tflops in ceilings.items() if tflops > 0}, "the run's .meta.json")


def _peaks_by_variant(rows, peaks):
    """Each distinct peak under the names of the variants that have it; cells of one peak differ by rounding alone."""
    owners = {}  # TFLOP/s -> variants
    for variant, peak in sorted(zip(rows["variant"], peaks), key=lambda pair: -pair[1]):
        known = next((other for other in owners if abs(peak / other - 1) < 0.01), float(peak))
        owners.setdefault(known, {})[variant] = True
    return {"peak of " + ", ".join(variants): tflops for tflops, variants in owners.items()}


def roofs_from_rows(rows):
    """What the columns give: the peak behind mfu_pct, and the HBM bandwidth of rows under the slope of their roof."""
    rows = rows[(rows["mfu_pct"] > 0) & (rows["roof_tflops_per_s"] > 0)]
    peaks = 100 * rows["useful_tflops_per_s"] / rows["mfu_pct"]
    sloped = rows[(rows["roof_tflops_per_s"] < 0.99 * peaks) & (rows["hbm_intensity"] > 0)]
    slopes = sloped["roof_tflops_per_s"] / sloped["hbm_intensity"]
    return Roofs({"hbm": float(slopes.median())} if len(slopes) else {}, _peaks_by_variant(rows, peaks),
                 "the rows' columns")
