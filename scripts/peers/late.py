"""Keeps the host out of a peer's times, and says what the GPU did meanwhile.

Events are recorded by the GPU, but a launch that the host has not enqueued yet makes it wait, and that wait would count as
the peer's time. So the GPU is held, before the cache is conditioned, for as long as the host takes to enqueue a sample; and a
sample that began before all of it was enqueued is not taken.
"""

import statistics
import time

HOLD_SLACK, LEAST_HOLD_S, LONGEST_HOLD_S = 2, 1e-4, 3e-3
DRIFT_PERCENT = 3  # of attnprof's flag
SLOWDOWN = 0x4 | 0x8 | 0x20 | 0x40 | 0x80  # NVML's reasons: power cap, slowdown, thermal, power brake


class Holder:
    """Spins on the GPU for about twice as long as a sample was last seen to take the host."""

    cycles_per_s = 2e9  # _sleep counts SM cycles; at a lower clock it holds the GPU longer, which does no harm

    def __init__(self, torch):
        self.torch, self.enqueue_s = torch, []

    def hold_s(self):
        seen = statistics.median(self.enqueue_s[-32:]) if self.enqueue_s else 0
        return min(LONGEST_HOLD_S, LEAST_HOLD_S + HOLD_SLACK * seen)

    def enqueue(self, condition, before, run, after):
        """Enqueues one sample; False where the GPU had begun it before the host was done."""
        self.torch.cuda._sleep(int(self.hold_s() * self.cycles_per_s))
        start = time.monotonic()
        condition()
        before.record()
        run()
        after.record()
        late = before.query()
        self.enqueue_s.append(time.monotonic() - start)
        return not late


class Surroundings:
    """What the driver says of the GPU while samples run: its clock, and whether a limit holds it down. Says nothing where
    the package nvidia-ml-py is absent."""

    def __init__(self, torch):
        self.clocks_mhz, self.throttled, self.nvml, self.device = [], False, None, None
        try:
            import pynvml

            pynvml.nvmlInit()
            self.device = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{torch.cuda.get_device_properties(0).uuid}".encode())
            self.nvml = pynvml
        except Exception:  # no package, no driver, no such device: nothing is said
            pass

    def look(self):
        if self.nvml is None:
            return
        nvml = self.nvml
        self.clocks_mhz.append(nvml.nvmlDeviceGetClockInfo(self.device, nvml.NVML_CLOCK_SM))
        self.throttled |= bool(nvml.nvmlDeviceGetCurrentClocksThrottleReasons(self.device) & SLOWDOWN)


def drift_percent(samples):
    """How much slower the last third of the samples is than the first; None of fewer than six."""
    third = len(samples) // 3
    if third < 2:
        return None
    return 100 * (statistics.median(samples[-third:]) / statistics.median(samples[:third]) - 1)
