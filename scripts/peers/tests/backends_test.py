"""What other people's packages are asked for, and what keeps the host out of their times; no GPU, and PyTorch only pretended."""

import contextlib
import io
import pathlib
import sys
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import backends  # noqa: E402
import late  # noqa: E402
import peers  # noqa: E402
import versus  # noqa: E402


class MissingTest(unittest.TestCase):
    def test_an_absent_package_is_a_sentence(self):
        with mock.patch.object(backends, "is_found", lambda _module: False):
            self.assertIsNone(backends.missing(["torch_flash", "three_kernels"]))
            self.assertEqual(backends.missing(["torch_flash", "fa3"]), "fa3 is FlashAttention-3, whose module "
                             "flash_attn_interface is not installed; install tokenspeed-fa3")
        with mock.patch.object(backends, "is_found", lambda _module: True):
            self.assertIsNone(backends.missing(["fa3", "fa4"]))

    def test_a_module_of_a_package_that_is_absent_is_not_found(self):
        self.assertFalse(backends.is_found("no_such_package.at_all"))
        self.assertTrue(backends.is_found("json.decoder"))

    def test_peers_ends_with_3(self):
        err = io.StringIO()
        with mock.patch.object(peers, "import_torch", lambda: None), contextlib.redirect_stderr(err), \
                mock.patch.object(backends, "is_found", lambda _module: False):
            self.assertEqual(peers.main(["-o", "/nowhere/rows.csv", "--backends", "fa3"]), 3)
        self.assertIn("peers.py: fa3 is FlashAttention-3", err.getvalue())

    def test_versus_goes_on_without(self):
        err = io.StringIO()
        with mock.patch.object(backends, "is_found", lambda _module: False), contextlib.redirect_stderr(err):
            self.assertEqual(versus.peers_here(), ["torch_flash", "torch_cudnn"])
        self.assertIn("versus.py: fa3 is FlashAttention-3", err.getvalue())
        with mock.patch.object(backends, "is_found", lambda _module: True):
            self.assertIn("fa3", versus.peers_here())


class Tensor:
    """Remembers how it was turned."""

    def __init__(self, name):
        self.name = name

    def transpose(self, first, second):
        return Tensor(f"{self.name}^{first}{second}")


class FlashAttentionTest(unittest.TestCase):
    def attention(self, mask, returned):
        asked = {}

        def flash_attn_func(q, k, v, causal):
            asked.update(tensors=[tensor.name for tensor in (q, k, v)], causal=causal)
            return returned

        module = types.SimpleNamespace(flash_attn_func=flash_attn_func)
        with mock.patch.dict(sys.modules, {"flash_attn_interface": module}):
            backend = backends.open_backend(None, types.SimpleNamespace(backend="fa3", mask=mask))
        with backend.chosen():
            return backend.run(*map(Tensor, "qkv")).name, asked

    def test_heads_and_rows_change_places_on_the_way_in_and_out(self):
        self.assertEqual(self.attention("causal", Tensor("o")), ("o^12", {"tensors": ["q^12", "k^12", "v^12"], "causal": True}))

    def test_an_output_with_statistics(self):
        self.assertEqual(self.attention("full", (Tensor("o"), "lse")),
                         ("o^12", {"tensors": ["q^12", "k^12", "v^12"], "causal": False}))


class Marks:
    def __init__(self, log, name, done=False):
        self.log, self.name, self.done = log, name, done

    def record(self):
        self.log.append(self.name)

    def query(self):
        return self.done


class HolderTest(unittest.TestCase):
    def enqueue(self, begun):
        log = []
        torch = types.SimpleNamespace(cuda=types.SimpleNamespace(_sleep=lambda cycles: log.append(cycles)))
        holder = late.Holder(torch)
        taken = holder.enqueue(lambda: log.append("evict"), Marks(log, "before", begun), lambda: log.append("run"),
                               Marks(log, "after"))
        return taken, log, holder

    def test_the_gpu_is_held_before_all_of_a_sample(self):
        taken, log, holder = self.enqueue(begun=False)
        self.assertTrue(taken)
        self.assertEqual(log[1:], ["evict", "before", "run", "after"])
        self.assertEqual(log[0], int(late.LEAST_HOLD_S * holder.cycles_per_s))

    def test_a_sample_that_began_too_early_is_not_taken(self):
        self.assertFalse(self.enqueue(begun=True)[0])

    def test_it_is_held_for_what_the_host_takes_and_no_longer_than_a_limit(self):
        holder = self.enqueue(begun=False)[2]
        holder.enqueue_s = [1e-3] * 8
        self.assertAlmostEqual(holder.hold_s(), late.LEAST_HOLD_S + late.HOLD_SLACK * 1e-3)
        holder.enqueue_s = [1.0]
        self.assertEqual(holder.hold_s(), late.LONGEST_HOLD_S)


class FlagsTest(unittest.TestCase):
    def test_drift_is_of_the_last_third_against_the_first(self):
        self.assertAlmostEqual(late.drift_percent([100.0] * 4 + [50.0] * 4 + [104.0] * 4), 4)
        self.assertIsNone(late.drift_percent([1.0] * 5))

    def test_flags_are_written_as_attnprof_writes_them(self):
        self.assertEqual(peers.flags_of(4.0, (1, 2), True), "drift;throttled")
        self.assertEqual(peers.flags_of(-4.0, None, False), "drift;few_samples")
        self.assertEqual(peers.flags_of(None, (1, 2), False), "")
        self.assertEqual(peers.flags_of(3.0, (1, 2), False), "")


class BatchTest(unittest.TestCase):
    """What batch_ns asks the GPU for, with a holder that is late when it is told."""

    def sizes(self, taken_of_each):
        asked = []

        def batch(done, _eviction):
            asked.append(done)
            return [100.0] * taken_of_each.pop(0)

        bench = peers.Bench.__new__(peers.Bench)
        bench.torch = types.SimpleNamespace(
            cuda=types.SimpleNamespace(get_device_properties=lambda _: types.SimpleNamespace(L2_cache_size=1)),
            ones=lambda *_, **__: None, float32=None)
        bench.rules = {"samples_before_stopping": 32}
        bench.backend = types.SimpleNamespace(chosen=contextlib.nullcontext)
        bench.warm_up, bench.batch_ns = lambda: None, batch
        return bench.samples_ns(0.9, 60), asked

    def test_samples_that_were_late_are_taken_again(self):
        samples, asked = self.sizes([30, 0, 2])
        self.assertEqual((len(samples), asked), (32, [0, 30, 30]))

    def test_a_host_that_is_always_late_is_a_failed_case(self):
        with self.assertRaisesRegex(RuntimeError, "the host is late with every sample"):
            self.sizes([0] * peers.MOST_LATE_BATCHES)


if __name__ == "__main__":
    unittest.main()
