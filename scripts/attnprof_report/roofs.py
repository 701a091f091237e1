"""A device's roofs: bandwidths in TB/s (so that TB/s x FLOP a byte is TFLOP/s) and compute ceilings in TFLOP/s."""

import dataclasses


@dataclasses.dataclass
class Roofs:
    bandwidths: dict  # level ("hbm", "l2") -> TB/s
    ceilings: dict  # name -> TFLOP/s
    source: str

    def name_is_above(self, tflops):
        """Where the name of a ceiling goes: above its line, but below where the next one's line is near."""
        return not any(tflops < other < 1.2 * tflops for other in self.ceilings.values())


# What a roof is as measured: the fastest of these ceilings. Tensor cores' are of the rows' dtype.
MEASURED = {"hbm": ["hbm_read_gbps"], "l2": ["l2_read_gbps"], "fp32": ["fma_tflops"]}

TENSOR_PEAKS = {"fp8": ("fp8 tensor", "tensor_fp8_tflops")}  # of other dtypes: the 16-bit rate


LEAST_SHARE = 0.5  # of the nominal rate: mma.sync alone, where it is no faster, is not what the tensor cores do


def _tensor_roof(dtype, ceilings, peaks, arch):
    """(name, TFLOP/s) of the roof of rows of this dtype; both 16-bit dtypes have one nominal rate. The rule of
    src/roofline/rates.cpp, tensor_rate."""
    kind = "fp16" if dtype == "fp32" else dtype
    name, key = TENSOR_PEAKS.get(dtype, ("tensor", "tensor_16bit_tflops"))
    nominal = peaks.get(key, 0)
    wgmma, mma = (ceilings.get(f"{unit}_{kind}_tflops", {}).get("median") for unit in ("wgmma", "mma"))
    if wgmma:
        return f"{kind} tensor", wgmma
    if mma and not arch.startswith("sm_90") and mma > LEAST_SHARE * nominal:
        return f"{kind} tensor", mma
    return name, nominal


def roofs_from_meta(meta, run, dtypes):
    """Roofs as the run recorded them, for rows of these dtypes: its measured ceilings, and nominal peaks (DeviceProfile's)
    of what was not measured; None where the file has no peaks for it."""
    try:
        peaks = meta["runs"][run]["peaks"]
    except (KeyError, TypeError):
        return None
    bandwidths = {level: peaks.get(f"{level}_gbps", 0) / 1e3 for level in ("hbm", "l2")}
    known = meta["runs"][run].get("ceilings") or {}
    arch = (meta["runs"][run].get("environment") or {}).get("arch", "")
    ceilings = dict(_tensor_roof(dtype, known, peaks, arch) for dtype in dtypes)
    ceilings["fp32"] = peaks.get("fp32_tflops", 0)
    measured = _measured(known)
    bandwidths |= {level: measured[level] / 1e3 for level in bandwidths if level in measured}
    ceilings |= {name: measured[name] for name in ceilings if name in measured}
    return Roofs({level: tbps for level, tbps in bandwidths.items() if tbps > 0},
                 {name: tflops for name, tflops in ceilings.items() if tflops > 0},
                 "measured ceilings" if known else "nominal peaks in .meta.json")


def _measured(ceilings):
    """name of MEASURED -> the fastest of its ceilings, where there is one."""
    rates = {name: [ceilings[key]["median"] for key in keys if key in ceilings] for name, keys in MEASURED.items()}
    return {name: max(values) for name, values in rates.items() if values}


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
