"""The measuring part of `bench-peers` for attention: alternates calls of an exported kernel and of its peers in one process."""
import ctypes
import math

from peers import PEERS, address, array, compare, described, function, must, opened
from use_attention import Description

D = described(Description)

import numpy as np  # noqa: E402

rng = np.random.default_rng(1)


def operand(*shape):
    values = array(*shape)
    values[:] = rng.standard_normal(shape, dtype=np.float32)
    return values


q = operand(D.heads, D.queries, D.width)
k = operand(D.kv_heads, D.keys, D.width)
v = operand(D.kv_heads, D.keys, D.value_width)
SHARED = D.heads // D.kv_heads
# All query-key pairs, as everybody counts them: a causal plan computes about half of these.
FLOPS = 2 * D.heads * D.queries * D.keys * (D.width + D.value_width)


def ours():
    o = array(D.heads, D.queries, D.value_width)
    workspace = opened(D.threads)
    pointer = ctypes.c_void_p
    run = function("run", ctypes.c_int, pointer, pointer, pointer, pointer, pointer)

    def call():
        must(run(address(q), address(k), address(v), workspace, address(o)), "run")
        return o

    return call


def numpy_peer():
    scores = array(D.heads, D.queries, D.keys)
    result = array(D.heads, D.queries, D.value_width)
    keys, values = (np.repeat(a, SHARED, axis=0) for a in (k, v))
    scale = np.float32(1 / math.sqrt(D.width))
    hidden = np.triu(np.full((D.queries, D.keys), -np.inf, dtype=np.float32), 1) if D.causal else None

    def call():
        np.matmul(q, keys.transpose(0, 2, 1), out=scores)
        np.multiply(scores, scale, out=scores)
        if hidden is not None:
            np.add(scores, hidden, out=scores)
        np.subtract(scores, scores.max(axis=2, keepdims=True), out=scores)
        np.exp(scores, out=scores)
        np.divide(scores, scores.sum(axis=2, keepdims=True), out=scores)
        np.matmul(scores, values, out=result)
        return result

    return call


def torch_peer():
    import torch

    torch.set_num_threads(D.threads)
    torch.set_grad_enabled(False)
    given = [torch.from_numpy(a).unsqueeze(0) for a in (q, k, v)]

    def call():
        more = {"enable_gqa": True} if SHARED > 1 else {}
        y = torch.nn.functional.scaled_dot_product_attention(*given, is_causal=bool(D.causal), **more)
        return y[0].numpy()

    return call


def reference_rows(head, count):
    """The last rows of a head in float64."""
    rows = np.arange(D.queries - count, D.queries)
    scores = q[head, rows].astype(np.float64) @ k[head // SHARED].T.astype(np.float64) / math.sqrt(D.width)
    if D.causal:
        scores[np.arange(D.keys) > rows[:, None]] = -np.inf
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ v[head // SHARED].astype(np.float64)


peers = {}
if PEERS != "numpy":
    peers["torch scaled_dot_product_attention"] = torch_peer()
peers["numpy, OpenBLAS, scores whole"] = numpy_peer()
COUNT = min(4, D.queries)
compare(D, peers, ours, reference_rows(D.heads - 1, COUNT), lambda y: y[-1, -COUNT:], FLOPS)
