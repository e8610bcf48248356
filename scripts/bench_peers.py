"""The measuring part of `bench-peers`: alternates calls of an exported kernel and of its peers in one process."""
import ctypes
import math
import mmap
import os
import pathlib
import platform
import sys
import time

# The example declares what a kernel says of itself.
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "examples" / "exported-kernel"))
from use_kernel import Description  # noqa: E402

LIBRARY, NAME, PEAK, PAIRS, PEERS = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5]
ALLOWED = sorted(os.sched_getaffinity(0))
# Pools spin for a while after a call: nobody may be measured beside another's spinning workers.
SETTLE_SECONDS = 0.12

kernel = ctypes.CDLL(LIBRARY)
peak = ctypes.CDLL(PEAK)
peak.probe.restype = ctypes.c_double
peak.probe_isa.restype = ctypes.c_char_p


def function(short, result, *arguments):
    found = getattr(kernel, f"{NAME}_{short}")
    found.restype, found.argtypes = result, arguments
    return found


describe = function("describe", ctypes.POINTER(Description))
D = describe().contents
if D.size != ctypes.sizeof(Description):
    sys.exit("this kernel has another description than this script knows")
THREADS = D.threads
if THREADS > len(ALLOWED):
    sys.exit(f"the kernel has {THREADS} workers, this process may use {len(ALLOWED)} cores")
# Set before the libraries start their pools.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(THREADS)

import numpy as np  # noqa: E402
from threadpoolctl import threadpool_info, threadpool_limits  # noqa: E402


def huge(bytes_wanted):
    """Memory in 2 MiB pages where the system grants them: the mapping, and an address at a multiple of 2 MiB."""
    page = 2 << 20
    size = -(-bytes_wanted // page) * page
    mapping = mmap.mmap(-1, size + page, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    mapping.madvise(mmap.MADV_HUGEPAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(mapping))
    return mapping, -(-start // page) * page


KEPT = []


def array(*shape, room=0):
    mapping, at = huge(4 * max(math.prod(shape), room))
    KEPT.append(mapping)
    flat = np.ctypeslib.as_array((ctypes.c_float * math.prod(shape)).from_address(at))
    return flat.reshape(shape)


rng = np.random.default_rng(1)
x = array(D.tokens, D.inputs, room=D.x_floats)
x[:] = rng.standard_normal(x.shape, dtype=np.float32)
weights = []
for g in range(D.products):
    w = array(D.weight_rows[g], D.weight_columns[g])
    w[:] = rng.standard_normal(w.shape, dtype=np.float32) * D.weight_rows[g] ** -0.5
    weights.append(w)
ACTIVATED = [bool(D.gelu_after[g]) for g in range(D.products)]
FLOPS = sum(2 * D.tokens * D.weight_rows[g] * D.weight_columns[g] for g in range(D.products))


def address(a):
    return a.ctypes.data_as(ctypes.c_void_p)


def must(status, what):
    if status:
        sys.exit(f"{what} failed with status {status}")


def ours():
    _, packed = huge(function("packed_size", ctypes.c_size_t)())
    KEPT.append(_)
    _, workspace = huge(function("workspace_size", ctypes.c_size_t)())
    KEPT.append(_)
    y = array(D.tokens, D.outputs)
    pointer = ctypes.c_void_p
    given = (pointer * D.products)(*[address(w) for w in weights])
    must(function("pack_weights", ctypes.c_int, ctypes.POINTER(pointer), pointer)(given, packed), "pack_weights")
    # A worker inherits the cores of the thread that creates it.
    if THREADS > 1:
        os.sched_setaffinity(0, ALLOWED[1:THREADS])
    must(function("open", ctypes.c_int, pointer)(workspace), "open")
    os.sched_setaffinity(0, ALLOWED[:1])
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

    torch.set_num_threads(THREADS)
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


def interval(values):
    """Median with its distribution-free 95 % interval (order statistics)."""
    v, n = sorted(values), len(values)
    middle = (v[(n - 1) // 2] + v[n // 2]) / 2
    below, k = 0.0, 0
    while below + math.comb(n, k) * 0.5**n <= 0.025:
        below += math.comb(n, k) * 0.5**n
        k += 1
    return (middle, v[k - 1], v[n - k]) if k else (middle, math.nan, math.nan)


def timed(call):
    time.sleep(SETTLE_SECONDS)
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main():
    print(D.about.decode(), end="")
    print(f"machine: {platform.processor() or platform.machine()}, {len(ALLOWED)} cores allowed; {THREADS} thread(s); "
          f"python {platform.python_version()}, numpy {np.__version__}")
    peers = {"numpy, OpenBLAS": numpy_peer()}
    if PEERS != "numpy":
        import torch
        print(f"torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}")
        peers.update(torch_peers())
    with threadpool_limits(limits=THREADS):
        # Their workers are created by the first call, and inherit its cores: before this thread is pinned.
        for call in peers.values():
            call()
        mine = ours()
        wanted = reference_rows(4)
        scale = math.sqrt(float((wanted**2).mean()))
        for name, call in {"ours": mine, **peers}.items():
            error = float(np.abs(call()[:4] - wanted).max()) / scale
            print(f"check {name}: largest error of four rows {error:.1e} of their RMS")
            if not error < 1e-3:
                sys.exit(f"{name} is wrong")
        for pool in threadpool_info():
            print(f"pool: {pool['internal_api']} {pool.get('version')}, kernel {pool.get('architecture', '-')}, "
                  f"{pool['num_threads']} thread(s)")
        print(f"\n{PAIRS} rounds; in each the peak is probed, then ours and a peer are called in turn; wall time")
        print("| peer | peer / ours [95 %] | peer ms (best) | ours ms (best) | share of peak: peer, ours |")
        print("|---|---|---|---|---|")
        for name, call in peers.items():
            call(), mine()
            ratio, theirs, own, their_share, own_share = [], [], [], [], []
            for n in range(PAIRS):
                time.sleep(SETTLE_SECONDS)
                gflops = peak.probe() * THREADS
                order = (call, mine) if n % 2 else (mine, call)
                spans = {f: timed(f) for f in order}
                ratio.append(spans[call] / spans[mine])
                theirs.append(spans[call])
                own.append(spans[mine])
                their_share.append(FLOPS / spans[call] / 1e9 / gflops)
                own_share.append(FLOPS / spans[mine] / 1e9 / gflops)
            middle, low, high = interval(ratio)
            print(f"| {name} | {middle:.3f} [{low:.3f}, {high:.3f}] "
                  f"| {np.median(theirs) * 1e3:.2f} ({min(theirs) * 1e3:.2f}) | {np.median(own) * 1e3:.2f} ({min(own) * 1e3:.2f}) "
                  f"| {np.median(their_share):.3f}, {np.median(own_share):.3f} (ours, best decile {np.quantile(own_share, 0.9):.3f}) |",
                  flush=True)


main()
