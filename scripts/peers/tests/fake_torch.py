"""As much of PyTorch as peers.py calls, on NumPy and on a clock of its own, so that what peers.py times and checks is known.

A call of attention (of three kernels: the first of them) takes `cold_ns` of the backend that is chosen, half of that where its operands still lie in L2; reading
`least_eviction` bytes or more evicts them. Nothing else takes time between the events of a sample.
"""

import contextlib
import importlib.machinery
import types

import numpy

L2_BYTES = 1 << 16


class Tensor:
    def __init__(self, values, device):
        self.values, self.device = numpy.asarray(values), device

    def like(self, values):
        return Tensor(values, self.device)

    @staticmethod
    def bare(value):
        return value.values if isinstance(value, Tensor) else value

    nbytes = property(lambda self: self.values.nbytes)
    shape = property(lambda self: self.values.shape)
    dtype = property(lambda self: self.values.dtype)
    T = property(lambda self: self.like(self.values.T))

    def to(self, kind):
        return self.like(self.values.astype(kind))

    def double(self):
        return self.to(numpy.float64)

    def clone(self):
        return self.like(self.values.copy())

    def item(self):
        return float(self.values)

    def sum(self):
        self.device.read(self.nbytes)
        return self.like(self.values.sum())

    def square(self):
        return self.like(numpy.square(self.values))

    def abs(self):
        return self.like(numpy.abs(self.values))

    def max(self):
        return self.like(self.values.max())

    def nan_to_num(self, value):
        return self.like(numpy.nan_to_num(self.values, nan=value))

    def masked_fill_(self, mask, value):
        self.values[numpy.broadcast_to(mask.values, self.values.shape)] = value

    def transpose(self, first, second):
        return self.like(numpy.swapaxes(self.values, first, second))

    def reshape(self, *shape):
        return self.like(self.values.reshape(shape))

    def expand(self, *shape):
        return self.like(numpy.broadcast_to(self.values, shape))

    def __getitem__(self, key):
        key = tuple(Tensor.bare(part) for part in key) if isinstance(key, tuple) else Tensor.bare(key)
        return self.like(self.values[key])


for name in ("__add__", "__sub__", "__truediv__", "__matmul__", "__gt__"):
    setattr(Tensor, name, lambda self, other, name=name: self.like(getattr(self.values, name)(Tensor.bare(other))))


def attention(q, k, v, causal):
    """Of the last two axes, in fp64; K and V of as many heads as Q."""
    scores = q @ numpy.swapaxes(k, -1, -2) / numpy.sqrt(q.shape[-1])
    if causal:
        scores = numpy.where(numpy.tri(*scores.shape[-2:], k=scores.shape[-1] - scores.shape[-2], dtype=bool), scores, -numpy.inf)
    weights = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ v


class Device:
    """The clock, what lies in L2, and the backend that is chosen."""

    def __init__(self, cold_ns, wrong=(), unable=()):
        self.cold_ns, self.wrong, self.unable = cold_ns, wrong, unable
        self.now_ns, self.in_l2, self.backend, self.known = 0.0, None, None, None
        self.least_eviction = 4 * L2_BYTES

    def read(self, size):
        self.now_ns += 1e4
        if size >= self.least_eviction:
            self.in_l2 = None

    def take_call(self, q):
        """The time of a call of the chosen backend, by whether Q's array, which it may have turned, lies in L2."""
        array = id(q.values if q.values.base is None else q.values.base)
        self.now_ns += self.cold_ns[self.backend] / (2 if self.in_l2 == array else 1)
        self.in_l2 = array

    def attend(self, q, k, v, is_causal=False, attn_mask=None, enable_gqa=False):
        if self.backend is None or self.backend in self.unable:
            raise RuntimeError(f"{self.backend} does not take this")
        self.take_call(q)
        causal = is_causal or attn_mask is not None
        if self.known is None or self.known[0] != causal or not numpy.array_equal(self.known[1], q.values):  # timed often, computed once
            heads = q.values.shape[1] // k.values.shape[1] if enable_gqa else 1
            k, v = (numpy.repeat(each.values.astype(numpy.float64), heads, axis=1) for each in (k, v))
            self.known = causal, q.values, attention(q.values.astype(numpy.float64), k, v, causal)
        return Tensor(self.known[2] * (1.1 if self.backend in self.wrong else 1), self)

    def flash_attn_func(self, q, k, v, causal):
        """FlashAttention-3's package, whose tensors are [batch, rows, heads, head_dim]."""
        with self.choose("fa3"):
            return self.attend(*(tensor.transpose(1, 2) for tensor in (q, k, v)), is_causal=causal).transpose(1, 2)

    def baddbmm(self, _added, a, b, beta, alpha):
        """The first of three kernels; the two that follow take no time."""
        assert beta == 0
        with self.choose("three"):
            self.take_call(a)
        return Tensor(alpha * (a.values @ b.values), self)

    @contextlib.contextmanager
    def choose(self, backend):
        before, self.backend = self.backend, backend
        yield
        self.backend = before

    def event(self, enable_timing):
        assert enable_timing
        event = types.SimpleNamespace(at=None)
        event.record = lambda: setattr(event, "at", self.now_ns)
        event.query = lambda: False  # the host is never late
        event.elapsed_time = lambda end: (end.at - event.at) / 1e6
        return event


class Generator:
    def __init__(self, device):
        self.device = device

    def manual_seed(self, seed):
        self.random = numpy.random.default_rng(seed)
        return self


def make(device):
    """The modules that peers.py imports, by name; `torch` is the first."""
    torch, functional, bias, chosen = (types.ModuleType(name) for name in ("torch", "torch.nn.functional", "torch.nn.attention.bias", "torch.nn.attention"))
    torch.__version__, torch.version = "2", types.SimpleNamespace(cuda="13")
    torch.backends = types.SimpleNamespace(cudnn=types.SimpleNamespace(version=lambda: 9))
    torch.float16, torch.bfloat16, torch.float32, torch.float64 = numpy.float16, numpy.float32, numpy.float32, numpy.float64
    torch.Generator = Generator
    torch.randn = lambda *shape, device, generator: tensor(generator.random.standard_normal(shape))
    torch.ones = lambda size, dtype, device: tensor(numpy.ones(size, dtype))
    torch.zeros = lambda shape, dtype, device: tensor(numpy.zeros(shape, dtype))
    torch.tensor = lambda values, device: tensor(numpy.array(values))
    torch.arange = lambda size, device: tensor(numpy.arange(size))
    torch.maximum = lambda a, b: tensor(numpy.maximum(a.values, b.values))
    torch.empty = lambda shape, dtype, device: tensor(numpy.empty(shape, dtype))
    torch.baddbmm, torch.bmm = device.baddbmm, lambda a, b: tensor(a.values @ b.values)
    torch.softmax = lambda scores, dim: tensor(softmax(scores.values, dim))
    functional.scaled_dot_product_attention = device.attend
    chosen.SDPBackend = types.SimpleNamespace(FLASH_ATTENTION="flash", CUDNN_ATTENTION="cudnn", MATH="math", EFFICIENT_ATTENTION="efficient")
    chosen.sdpa_kernel = device.choose
    bias.causal_lower_right = lambda *shape: shape
    torch.nn = types.SimpleNamespace(functional=functional, attention=chosen)
    torch.cuda = types.SimpleNamespace(
        get_device_name=lambda: "none", get_device_capability=lambda: (9, 0), is_available=lambda: True, synchronize=lambda: None,
        empty_cache=lambda: None, _sleep=lambda cycles: None, OutOfMemoryError=type("OutOfMemoryError", (RuntimeError,), {}), Event=device.event,
        mem_get_info=lambda: (1 << 40, 1 << 40), get_device_properties=lambda index: types.SimpleNamespace(L2_cache_size=L2_BYTES))

    def tensor(values):
        return Tensor(values, device)

    flash_attn_interface = types.ModuleType("flash_attn_interface")
    flash_attn_interface.__spec__ = importlib.machinery.ModuleSpec("flash_attn_interface", None)
    flash_attn_interface.flash_attn_func = device.flash_attn_func
    return {"flash_attn_interface": flash_attn_interface, "torch": torch, "torch.nn": torch.nn, "torch.nn.functional": functional, "torch.nn.attention": chosen, "torch.nn.attention.bias": bias}


def softmax(scores, axis):
    with numpy.errstate(invalid="ignore"):
        weights = numpy.exp(scores - scores.max(axis=axis, keepdims=True))
        return weights / weights.sum(axis=axis, keepdims=True)
