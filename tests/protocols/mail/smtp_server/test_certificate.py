"""The certificate of a mail server, and its replacement while the server runs."""

import shutil
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from postern.protocols.mail.smtp_server.certificate import CertificateInvalid, ServerCertificate
from tests.peers.smtp_dialogue import RecordingHandler, smtp_dialogue, smtp_server
from tests.peers.smtp_sink import certificate, client_context


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for localhost and its key."""
    target = tmp_path / "tls.crt", tmp_path / "tls.key"
    for source, path in zip(certificate("localhost"), target, strict=True):
        shutil.copy(source, path)
    return target


async def test_a_replaced_certificate_is_used_for_new_connections(files: tuple[Path, Path]):
    served = ServerCertificate(*files)
    assert not served.reload()
    async with smtp_server(RecordingHandler(), tls=served.context, implicit_tls=True) as (_, port):
        async with smtp_dialogue(port, tls=client_context("localhost")) as client:
            new_files = certificate("new.test")
            shutil.copy(new_files[0], files[0])
            with pytest.raises(CertificateInvalid, match="are not a certificate and its"):
                served.reload()
            async with smtp_dialogue(port, tls=client_context("localhost")):
                pass
            shutil.copy(new_files[1], files[1])
            assert served.reload()
            assert (await client.ask("NOOP")).startswith("250 ")
        with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
            async with smtp_dialogue(port, tls=client_context("localhost")):
                pass
        async with smtp_dialogue(port, tls=client_context("new.test"), name="new.test"):
            pass
        files[1].unlink()
        with pytest.raises(CertificateInvalid, match=r"tls\.key: No such file"):
            served.reload()
        async with smtp_dialogue(port, tls=client_context("new.test"), name="new.test"):
            pass


def test_files_that_are_no_certificate(files: tuple[Path, Path]):
    crt, key = files
    encrypted = key.with_name("encrypted.key")
    private_key = serialization.load_pem_private_key(key.read_bytes(), None)
    encryption = serialization.BestAvailableEncryption(b"secret")
    encrypted.write_bytes(
        private_key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)
    )
    for pair in ((crt, crt), (key, key), (crt, encrypted), (crt.parent, key), (crt, key.with_name("missing"))):
        with pytest.raises(CertificateInvalid):
            ServerCertificate(*pair)
