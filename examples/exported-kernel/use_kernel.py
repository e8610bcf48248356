#!/usr/bin/env python3
"""Uses an exported kernel from Python: compile it, pack weights once, run it, check one row.

    layout-sweep export cohorts/siglip-mlp-cpu --kernel mlp.c
    python3 use_kernel.py mlp.c

Needs a C compiler ($CC, else cc) and nothing beside the standard library.
"""
import ctypes
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time


class Description(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("about", ctypes.c_char_p), ("isa", ctypes.c_char_p), ("threads", ctypes.c_int),
        ("products", ctypes.c_int), ("tokens", ctypes.c_long), ("inputs", ctypes.c_long), ("outputs", ctypes.c_long),
        ("weight_rows", ctypes.POINTER(ctypes.c_long)), ("weight_columns", ctypes.POINTER(ctypes.c_long)),
        ("gelu_after", ctypes.POINTER(ctypes.c_int)), ("x_floats", ctypes.c_size_t), ("alignment", ctypes.c_size_t),
    ]


def load(source):
    """The compiled kernel, and its functions by their short names."""
    name = source.stem
    library = pathlib.Path(tempfile.mkdtemp()) / f"{name}.so"
    cc = os.environ.get("CC") or "cc"
    subprocess.run([cc, "-std=gnu11", "-O2", "-fPIC", "-shared", "-o", library, source, "-lpthread"], check=True)
    opened = ctypes.CDLL(str(library))

    def function(short, result, *arguments):
        found = getattr(opened, f"{name}_{short}")
        found.restype, found.argtypes = result, arguments
        return found

    pointer = ctypes.c_void_p
    return {
        "describe": function("describe", ctypes.POINTER(Description)),
        "packed_size": function("packed_size", ctypes.c_size_t),
        "workspace_size": function("workspace_size", ctypes.c_size_t),
        "pack_weights": function("pack_weights", ctypes.c_int, ctypes.POINTER(pointer), pointer),
        "open": function("open", ctypes.c_int, pointer),
        "run": function("run", ctypes.c_int, pointer, pointer, pointer, pointer),
        "close": function("close", ctypes.c_int, pointer),
    }


def aligned(size, alignment):
    """Memory that begins at a multiple of `alignment`: its owner, and its address."""
    owner = ctypes.create_string_buffer(size + alignment)
    return owner, -(-ctypes.addressof(owner) // alignment) * alignment


def must(status, what):
    if status:
        sys.exit(f"{what} failed with status {status}")


def main():
    source = pathlib.Path(sys.argv[1])
    kernel = load(source)
    d = kernel["describe"]().contents
    if d.size != ctypes.sizeof(Description):
        sys.exit("this kernel has another description than this example knows")
    print(d.about.decode(), end="")

    random.seed(1)
    owners = []

    def floats(count, room, scale):
        owner, address = aligned(4 * max(count, room), d.alignment)
        values = (ctypes.c_float * count).from_address(address)
        values[:] = [random.gauss(0, scale) for _ in range(count)]
        owners.append(owner)
        return values, address

    x, x_at = floats(d.tokens * d.inputs, d.x_floats, 1)
    weights = [floats(d.weight_rows[g] * d.weight_columns[g], 0, d.weight_rows[g] ** -0.5) for g in range(d.products)]
    y, y_at = floats(d.tokens * d.outputs, 0, 0)
    packed, packed_at = aligned(kernel["packed_size"](), d.alignment)
    workspace, workspace_at = aligned(kernel["workspace_size"](), d.alignment)
    given = (ctypes.c_void_p * d.products)(*[at for _, at in weights])
    must(kernel["pack_weights"](given, packed_at), "pack_weights")
    must(kernel["open"](workspace_at), "open")
    times = []
    for _ in range(5):
        start = time.perf_counter()
        must(kernel["run"](x_at, packed_at, workspace_at, y_at), "run")
        times.append(time.perf_counter() - start)
    must(kernel["close"](workspace_at), "close")
    print(f"best of {len(times)} calls: {min(times) * 1e3:.3f} ms (neither pinned nor in huge pages)")

    row = [float(v) for v in x[: d.inputs]]
    for g, (w, _) in enumerate(weights):
        columns = d.weight_columns[g]
        row = [sum(a * w[k * columns + f] for k, a in enumerate(row)) for f in range(columns)]
        if d.gelu_after[g]:
            row = [0.5 * v * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3))) for v in row]
    rms = math.sqrt(sum(v * v for v in row) / len(row))
    error = max(abs(a - b) for a, b in zip(row, y)) / rms
    print(f"largest error of the first row: {error:.1e} of its RMS")
    if not error < 1e-4:
        sys.exit("the result is wrong")


if __name__ == "__main__":
    main()
