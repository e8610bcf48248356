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
    """The compiled kernel: what gives its functions by their short names, result type and types of arguments."""
    name = source.stem
    library = pathlib.Path(tempfile.mkdtemp()) / f"{name}.so"
    cc = os.environ.get("CC") or "cc"
    subprocess.run([cc, "-std=gnu11", "-O2", "-fPIC", "-shared", "-o", library, source, "-lpthread"], check=True)
    opened = ctypes.CDLL(str(library))

    def function(short, result, *arguments):
        found = getattr(opened, f"{name}_{short}")
        found.restype, found.argtypes = result, arguments
        return found

    return function


def described(function, description):
    """What a kernel says of itself."""
    found = function("describe", ctypes.POINTER(description))().contents
    if found.size != ctypes.sizeof(description):
        sys.exit("this kernel has another description than this example knows")
    print(found.about.decode(), end="")
    return found


def aligned(size, alignment):
    """Memory that begins at a multiple of `alignment`: its owner, and its address."""
    owner = ctypes.create_string_buffer(size + alignment)
    return owner, -(-ctypes.addressof(owner) // alignment) * alignment


def must(status, what):
    if status:
        sys.exit(f"{what} failed with status {status}")


def with_workspace(function, alignment, run):
    """Calls `run` with an open workspace some times, and says how long the shortest call took."""
    pointer = ctypes.c_void_p
    owner, workspace = aligned(function("workspace_size", ctypes.c_size_t)(), alignment)
    must(function("open", ctypes.c_int, pointer)(workspace), "open")
    times = []
    for _ in range(5):
        start = time.perf_counter()
        must(run(workspace), "run")
        times.append(time.perf_counter() - start)
    must(function("close", ctypes.c_int, pointer)(workspace), "close")
    del owner
    print(f"best of {len(times)} calls: {min(times) * 1e3:.3f} ms (neither pinned nor in huge pages)")


def main():
    source = pathlib.Path(sys.argv[1])
    function = load(source)
    d = described(function, Description)
    pointer = ctypes.c_void_p

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
    packed, packed_at = aligned(function("packed_size", ctypes.c_size_t)(), d.alignment)
    given = (pointer * d.products)(*[at for _, at in weights])
    must(function("pack_weights", ctypes.c_int, ctypes.POINTER(pointer), pointer)(given, packed_at), "pack_weights")
    run = function("run", ctypes.c_int, pointer, pointer, pointer, pointer)
    with_workspace(function, d.alignment, lambda workspace: run(x_at, packed_at, workspace, y_at))

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
