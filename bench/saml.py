"""Time to read a SAML response, and time and memory for hostile ones.

    python -m bench.saml [--responses 300]

Times are compared with `minimum`: one parse, one canonicalization, one digest and one RSA verification. Each hostile
document ("bomb") is read in a new process with all modules imported, whose growth is its memory. The limits are 50 ms
and 64 MB.
"""

import argparse
import hashlib
import multiprocessing
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from lxml import etree

from postern.protocols.saml.response import read_response
from postern.protocols.saml.trace import SamlRejected
from tests.peers.identity_provider import IdentityProvider, keys
from tests.protocols.saml.conftest import NOW, REQUEST, connection_with, valid_response
from tests.protocols.saml.test_bombs import BOMBS

LIMIT_MS = 50
LIMIT_MB = 64
VARIANTS = {
    "signed assertion": {},
    "signed response": {"sign_assertion": False, "sign_response": True},
    "both signed": {"sign_response": True},
    "both signed, encrypted": {"sign_response": True, "encrypt_for": keys("sp").certificate},
}


def timed(count: int, work: Callable[[], object]) -> tuple[float, float]:
    """Median and 95th percentile in milliseconds."""
    durations: list[float] = []
    for _ in range(count):
        start = time.perf_counter()
        work()
        durations.append((time.perf_counter() - start) * 1000)
    return statistics.median(durations), statistics.quantiles(durations, n=20)[-1]


def minimum(raw: bytes) -> Callable[[], object]:
    """A function that does the least that every reader must do: parse, canonicalize, hash and verify once."""
    private = keys().private
    assert isinstance(private, rsa.RSAPrivateKey)
    public = private.public_key()
    signature = private.sign(raw, padding.PKCS1v15(), hashes.SHA256())

    def work() -> None:
        root = etree.fromstring(raw)
        hashlib.sha256(etree.tostring(root, method="c14n", exclusive=True)).digest()
        public.verify(signature, raw, padding.PKCS1v15(), hashes.SHA256())

    return work


def reading(raw: bytes | str, *, certificates: int = 1) -> Callable[[], object]:
    """A function that reads a response with this number of pinned certificates; the last one is the right one."""
    idp = IdentityProvider()
    other_certificates = [keys(f"other {n}").pem for n in range(certificates - 1)]
    connection = connection_with(idp, idp_certificates=(*other_certificates, idp.certificate))

    def work() -> None:
        read_response(raw, connection=connection, expected_request_ids={REQUEST}, now=NOW)

    return work


def measure_bomb(name: str, results: "multiprocessing.Queue[tuple[float, float]]") -> None:
    """Read a bomb; puts milliseconds and the peak growth of this process in MB into `results`."""
    work = reading(BOMBS[name][0], certificates=10)
    reading(valid_response(IdentityProvider(now=NOW)))()
    Path("/proc/self/clear_refs").write_text("5")  # Reset the peak (proc(5)).
    before, start = memory("VmRSS"), time.perf_counter()
    try:
        work()
    except SamlRejected:
        milliseconds = (time.perf_counter() - start) * 1000
        results.put((milliseconds, memory("VmHWM") - before))


def memory(field: str) -> float:
    """A memory field of this process in MB, such as `VmRSS`."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{field}:"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--responses", type=int, default=300)
    count = parser.parse_args().responses
    print(f"{'':36}{'median ms':>10}{'p95 ms':>10}{'ratio':>8}")
    for name, options in VARIANTS.items():
        raw = valid_response(IdentityProvider(now=NOW, **options))
        minimum_median, minimum_p95 = timed(count, minimum(raw))
        median, p95 = timed(count, reading(raw))
        print(f"{name + ', minimum':36}{minimum_median:10.2f}{minimum_p95:10.2f}{1:8.1f}")
        print(f"{name:36}{median:10.2f}{p95:10.2f}{median / minimum_median:8.1f}")
    print(f"\n{'bomb, ten certificates pinned':36}{'ms':>10}{'MB':>10}")
    context = multiprocessing.get_context("spawn")
    worst_ms = worst_mb = 0.0
    for name in BOMBS:
        results = context.Queue()
        process = context.Process(target=measure_bomb, args=(name, results))
        process.start()
        milliseconds, megabytes = results.get(timeout=60)
        process.join()
        worst_ms, worst_mb = max(worst_ms, milliseconds), max(worst_mb, megabytes)
        print(f"{name:36}{milliseconds:10.2f}{megabytes:10.1f}")
    print(f"{'worst':36}{worst_ms:10.2f}{worst_mb:10.1f}   limits: {LIMIT_MS} ms, {LIMIT_MB} MB")


if __name__ == "__main__":
    main()
