#!/usr/bin/env python3
"""Uses an exported attention from Python: compile it, run it, check one row.

    layout-sweep export cohorts/siglip-attention-cpu --kernel attention.c
    python3 use_attention.py attention.c

Needs a C compiler ($CC, else cc), and beside the standard library only `use_kernel.py`, which loads kernels.
"""
import ctypes
import math
import pathlib
import random
import sys

from use_kernel import aligned, described, load, with_workspace


class Description(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("about", ctypes.c_char_p), ("isa", ctypes.c_char_p), ("threads", ctypes.c_int),
        ("causal", ctypes.c_int), ("heads", ctypes.c_long), ("kv_heads", ctypes.c_long), ("queries", ctypes.c_long),
        ("keys", ctypes.c_long), ("width", ctypes.c_long), ("value_width", ctypes.c_long), ("alignment", ctypes.c_size_t),
    ]


def main():
    function = load(pathlib.Path(sys.argv[1]))
    d = described(function, Description)

    random.seed(1)
    owners = []

    def floats(count):
        owner, address = aligned(4 * count, d.alignment)
        owners.append(owner)
        values = (ctypes.c_float * count).from_address(address)
        values[:] = [random.gauss(0, 1) for _ in range(count)]
        return values, address

    q, q_at = floats(d.heads * d.queries * d.width)
    k, k_at = floats(d.kv_heads * d.keys * d.width)
    v, v_at = floats(d.kv_heads * d.keys * d.value_width)
    o, o_at = floats(d.heads * d.queries * d.value_width)
    pointer = ctypes.c_void_p
    run = function("run", ctypes.c_int, pointer, pointer, pointer, pointer, pointer)
    with_workspace(function, d.alignment, lambda workspace: run(q_at, k_at, v_at, workspace, o_at))

    # The last query of the first head sees every key, unless there are more keys than queries and it may not.
    query = q[(d.queries - 1) * d.width : d.queries * d.width]
    seen = min(d.keys, d.queries) if d.causal else d.keys
    scores = [sum(a * b for a, b in zip(query, k[n * d.width : (n + 1) * d.width])) / math.sqrt(d.width) for n in range(seen)]
    weights = [math.exp(s - max(scores)) for s in scores]
    row = [sum(w * v[n * d.value_width + i] for n, w in enumerate(weights)) / sum(weights) for i in range(d.value_width)]
    rms = math.sqrt(sum(x * x for x in row) / len(row))
    got = o[(d.queries - 1) * d.value_width : d.queries * d.value_width]
    error = max(abs(a - b) for a, b in zip(row, got)) / rms
    print(f"largest error of the last row of the first head: {error:.1e} of its RMS")
    if not error < 1e-4:
        sys.exit("the result is wrong")


if __name__ == "__main__":
    main()
