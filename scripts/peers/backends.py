"""Other people's attention, each as one call on tensors of [batch, heads, rows, head_dim].

A backend is opened with the case it is for; it may not take it (RuntimeError, by which its row says why). What a backend
needs beside PyTorch is a package that may be absent: `missing` says so in a sentence.
"""

import contextlib
import importlib.util
import math

MODULES = {"fa3": ("flash_attn_interface", "FlashAttention-3", "tokenspeed-fa3"),
           "fa4": ("flash_attn.cute", "FlashAttention-4", "flash-attn-4")}


class Sdpa:
    """One path of PyTorch's scaled_dot_product_attention."""

    def __init__(self, torch, case, path):
        from torch.nn.attention import SDPBackend, sdpa_kernel

        self.attention = torch.nn.functional.scaled_dot_product_attention
        self.kernel, self.path = sdpa_kernel, getattr(SDPBackend, path)
        self.settings = {}
        if case.mask == "causal" and case.q_len == case.kv_len:
            self.settings["is_causal"] = True  # top left and bottom right are one
        elif case.mask == "causal":
            from torch.nn.attention.bias import causal_lower_right

            self.settings["attn_mask"] = causal_lower_right(case.q_len, case.kv_len)
        if case.kv_heads != case.heads:
            self.settings["enable_gqa"] = True

    def chosen(self):
        """While this is entered, PyTorch takes this path or fails."""
        return self.kernel(self.path)

    def run(self, q, k, v):
        return self.attention(q, k, v, **self.settings)


class FlashAttention:
    """FlashAttention-3 or -4 from a package of its own, whose causal mask is aligned to the bottom right. Their tensors are
    [batch, rows, heads, head_dim], of any strides: no copy is made."""

    def __init__(self, _torch, case, name):
        self.attention = importlib.import_module(MODULES[name][0]).flash_attn_func
        self.causal = case.mask == "causal"

    def chosen(self):
        return contextlib.nullcontext()

    def run(self, q, k, v):
        out = self.attention(*(tensor.transpose(1, 2) for tensor in (q, k, v)), causal=self.causal)
        return (out[0] if isinstance(out, tuple) else out).transpose(1, 2)


class ThreeKernels:
    """Standard attention as three kernels of the inputs' own dtype: a matmul, a softmax, a matmul; S and P in memory.
    Under a causal mask a fourth sets the scores that a row does not see."""

    def __init__(self, torch, case, _name):
        if case.heads != case.kv_heads:
            raise RuntimeError("three kernels take as many kv heads as heads")
        self.torch, self.scale, self.unseen = torch, 1 / math.sqrt(case.head_dim), None
        if case.mask == "causal":
            rows = torch.arange(case.q_len, device="cuda")[:, None] + case.kv_len - case.q_len
            self.unseen = torch.arange(case.kv_len, device="cuda")[None, :] > rows

    def chosen(self):
        return contextlib.nullcontext()

    def run(self, q, k, v):
        torch, (batch, heads, rows, d) = self.torch, q.shape
        q, k, v = (tensor.reshape(batch * heads, -1, d) for tensor in (q, k, v))
        scores = torch.empty((), dtype=q.dtype, device=q.device).expand(batch * heads, rows, k.shape[1])
        scores = torch.baddbmm(scores, q, k.transpose(1, 2), beta=0, alpha=self.scale)
        if self.unseen is not None:
            scores.masked_fill_(self.unseen, float("-inf"))
        return torch.bmm(torch.softmax(scores, -1), v).reshape(batch, heads, rows, d)


BACKENDS = {"torch_flash": (Sdpa, "FLASH_ATTENTION"), "torch_cudnn": (Sdpa, "CUDNN_ATTENTION"),
            "torch_math": (Sdpa, "MATH"), "torch_efficient": (Sdpa, "EFFICIENT_ATTENTION"),
            "three_kernels": (ThreeKernels, ""), "fa3": (FlashAttention, "fa3"), "fa4": (FlashAttention, "fa4")}


def missing(names):
    """None, or what the first of these backends lacks whose package is absent."""
    for name in names:
        if name not in MODULES:
            continue
        module, title, package = MODULES[name]
        if not is_found(module):
            return f"{name} is {title}, whose module {module} is not installed; install {package}"
    return None


def is_found(module):
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of a parent
        return False


def open_backend(torch, case):
    kind, name = BACKENDS[case.backend]
    return kind(torch, case, name)
