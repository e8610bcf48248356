"""The measuring part of `bench-peers` for chains of products: alternates calls of an exported kernel and of its peers in
one process."""
import ctypes
import math

from peers import PEERS, address, array, compare, described, function, must, opened, room
from use_kernel import Description

D = described(Description)

import numpy as np  # noqa: E402

rng = np.random.default_rng(1)
x = array(D.tokens, D.inputs, more=D.x_floats)
x[:] = rng.standard_normal(x.shape, dtype=np.float32)
weights = []
for g in range(D.products):
    w = array(D.weight_rows[g], D.weight_columns[g])
    w[:] = rng.standard_normal(w.shape, dtype=np.float32) * D.weight_rows[g] ** -0.5
    weights.append(w)
ACTIVATED = [bool(D.gelu_after[g]) for g in range(D.products)]
FLOPS = sum(2 * D.tokens * D.weight_rows[g] * D.weight_columns[g] for g in range(D.products))


def ours():
    packed = room(function("packed_size", ctypes.c_size_t)())
    y = array(D.tokens, D.outputs)
    pointer = ctypes.c_void_p
    given = (pointer * D.products)(*[address(w) for w in weights])
    must(function("pack_weights", ctypes.c_int, ctypes.POINTER(pointer), pointer)(given, packed), "pack_weights")
    workspace = opened(D.threads)
    run = function("run", ctypes.c_int, pointer, pointer, pointer, pointer)

    def call():
        must(run(address(x), packed, workspace, address(y)), "run")
        return y

    return call


def numpy_peer():
    results = [array(D.tokens, w.shape[1]) for w in weights]
    spare = [array(D.tokens, w.shape[1]) if gelu else None for w, gelu in zip(weights, ACTIVATED)]
    a, b = np.float32(math.sqrt(2 / math.pi)), np.float32(0.044715)

    def call():
        rows = x
        for w, y, t, gelu in zip(weights, results, spare, ACTIVATED):
            np.matmul(rows, w, out=y)
            if gelu:
                np.multiply(y, y, out=t)
                np.multiply(t, b, out=t)
                np.add(t, np.float32(1), out=t)
                np.multiply(t, y, out=t)
                np.multiply(t, a, out=t)
                np.tanh(t, out=t)
                np.add(t, np.float32(1), out=t)
                np.multiply(y, t, out=y)
                np.multiply(y, np.float32(0.5), out=y)
            rows = y
        return rows

    return call


def torch_peers():
    import torch

    torch.set_num_threads(D.threads)
    torch.set_grad_enabled(False)
    rows = torch.from_numpy(x)
    given = [torch.from_numpy(w) for w in weights]
    turned = [w.t().contiguous() for w in given]

    def chain(product):
        def call():
            y = rows
            for g in range(D.products):
                y = product(y, g)
                if ACTIVATED[g]:
                    y = torch.nn.functional.gelu(y, approximate="tanh")
            return y.numpy()

        return call

    peers = {
        "torch mm": chain(lambda y, g: torch.mm(y, given[g])),
        "torch linear": chain(lambda y, g: torch.nn.functional.linear(y, turned[g])),
    }
    # The forms with weights packed ahead are no public interface: they may be called otherwise in another version.
    packed_ahead = {
        "torch MKL, packed ahead": (
            lambda w: torch.ops.mkl._mkl_reorder_linear_weight(w, D.tokens),
            lambda y, ahead, w: torch.ops.mkl._mkl_linear(y, ahead, w, None, D.tokens)),
        "torch oneDNN, packed ahead": (
            lambda w: torch.ops.mkldnn._reorder_linear_weight(w, D.tokens),
            lambda y, ahead, w: torch.ops.mkldnn._linear_pointwise(y, ahead, None, "none", [], "")),
    }
    for name, (pack, product) in packed_ahead.items():
        try:
            ahead = [pack(w) for w in turned]
            call = chain(lambda y, g, ahead=ahead, product=product: product(y, ahead[g], turned[g]))
            call()
        except (RuntimeError, NotImplementedError, AttributeError) as error:
            print(f"LEFT OUT {name}: {str(error).splitlines()[0][:160]}")
            continue
        peers[name] = call
    return peers


def reference_rows(count):
    """The first rows in float64."""
    rows = x[:count].astype(np.float64)
    for w, gelu in zip(weights, ACTIVATED):
        rows = rows @ w.astype(np.float64)
        if gelu:
            rows = 0.5 * rows * (1 + np.tanh(math.sqrt(2 / math.pi) * (rows + 0.044715 * rows**3)))
    return rows


peers = {"numpy, OpenBLAS": numpy_peer()}
if PEERS != "numpy":
    peers.update(torch_peers())
compare(D, peers, ours, reference_rows(4), lambda y: y[:4], FLOPS)
