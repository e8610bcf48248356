"""What the measuring parts of `bench-peers` share: the kernel that is compared, memory, and rounds of paired calls."""
import ctypes
import math
import mmap
import os
import pathlib
import platform
import sys
import time

# The examples declare what a kernel says of itself.
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "examples" / "exported-kernel"))

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


def described(description):
    """What the kernel says of itself. To be called before numpy or torch is imported: their pools take its threads."""
    d = function("describe", ctypes.POINTER(description))().contents
    if d.size != ctypes.sizeof(description):
        sys.exit("this kernel has another description than this script knows")
    if d.threads > len(ALLOWED):
        sys.exit(f"the kernel has {d.threads} workers, this process may use {len(ALLOWED)} cores")
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(d.threads)
    return d


def huge(bytes_wanted):
    """Memory in 2 MiB pages where the system grants them: the mapping, and an address at a multiple of 2 MiB."""
    page = 2 << 20
    size = -(-bytes_wanted // page) * page
    mapping = mmap.mmap(-1, size + page, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    mapping.madvise(mmap.MADV_HUGEPAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(mapping))
    return mapping, -(-start // page) * page


KEPT = []


def room(bytes_wanted):
    """The address of memory that stays."""
    mapping, at = huge(bytes_wanted)
    KEPT.append(mapping)
    return at


def array(*shape, more=0):
    """Zeros in float32; `more` floats at least lie there."""
    import numpy as np

    at = room(4 * max(math.prod(shape), more))
    flat = np.ctypeslib.as_array((ctypes.c_float * math.prod(shape)).from_address(at))
    return flat.reshape(shape)


def address(a):
    return a.ctypes.data_as(ctypes.c_void_p)


def must(status, what):
    if status:
        sys.exit(f"{what} failed with status {status}")


def opened(threads):
    """An open workspace. A worker inherits the cores of the thread that creates it; this one stays on the first."""
    workspace = room(function("workspace_size", ctypes.c_size_t)())
    if threads > 1:
        os.sched_setaffinity(0, ALLOWED[1:threads])
    must(function("open", ctypes.c_int, ctypes.c_void_p)(workspace), "open")
    os.sched_setaffinity(0, ALLOWED[:1])
    return workspace


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


def compare(d, peers, make_ours, wanted, rows, flops):
    """Checks everyone against the float64 rows `wanted`, which `rows` picks of a result, then measures in pairs.

    `peers` are calls by name; `make_ours` opens the kernel, once the peers' workers exist.
    """
    import numpy as np
    from threadpoolctl import threadpool_info, threadpool_limits

    threads = d.threads
    print(d.about.decode(), end="")
    print(f"machine: {platform.processor() or platform.machine()}, {len(ALLOWED)} cores allowed; {threads} thread(s); "
          f"python {platform.python_version()}, numpy {np.__version__}")
    if "torch" in sys.modules:
        torch = sys.modules["torch"]
        print(f"torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}")
    with threadpool_limits(limits=threads):
        # Their workers are created by the first call, and inherit its cores: before this thread is pinned.
        for call in peers.values():
            call()
        mine = make_ours()
        scale = math.sqrt(float((wanted**2).mean()))
        for name, call in {"ours": mine, **peers}.items():
            error = float(np.abs(rows(call()) - wanted).max()) / scale
            print(f"check {name}: largest error of {len(wanted)} rows {error:.1e} of their RMS")
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
                gflops = peak.probe() * threads
                order = (call, mine) if n % 2 else (mine, call)
                spans = {f: timed(f) for f in order}
                ratio.append(spans[call] / spans[mine])
                theirs.append(spans[call])
                own.append(spans[mine])
                their_share.append(flops / spans[call] / 1e9 / gflops)
                own_share.append(flops / spans[mine] / 1e9 / gflops)
            middle, low, high = interval(ratio)
            print(f"| {name} | {middle:.3f} [{low:.3f}, {high:.3f}] "
                  f"| {np.median(theirs) * 1e3:.2f} ({min(theirs) * 1e3:.2f}) | {np.median(own) * 1e3:.2f} ({min(own) * 1e3:.2f}) "
                  f"| {np.median(their_share):.3f}, {np.median(own_share):.3f} (ours, best decile {np.quantile(own_share, 0.9):.3f}) |",
                  flush=True)
