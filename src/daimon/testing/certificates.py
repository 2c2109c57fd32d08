"""A certificate authority that lives for a test: servers on loopback get certificates for any name, clients trust it for as long."""

import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from functools import cached_property
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


class Certificates:
    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())

    @cached_property
    def pem(self) -> bytes:
        return self._authority.public_bytes(Encoding.PEM)

    def trusting(self) -> ssl.SSLContext:
        """For a client that trusts nobody else."""
        context = ssl.create_default_context(cadata=self.pem.decode("ascii"))
        context.verify_flags |= ssl.VERIFY_X509_STRICT  # as later Pythons do by themselves
        return context

    def serving(self, *hosts: str, age: timedelta = timedelta()) -> ssl.SSLContext:
        """For a server. `age` moves the certificate into the past."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["http/1.1"])
        with tempfile.NamedTemporaryFile() as file:
            file.write(self.pair(*hosts, age=age))
            file.flush()
            context.load_cert_chain(file.name)
        return context

    def pair(self, *hosts: str, age: timedelta = timedelta()) -> bytes:
        """For a server in another process: key and certificate, as PEM."""
        key = ec.generate_private_key(ec.SECP256R1())
        sans = x509.SubjectAlternativeName([_san(host) for host in hosts])
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        begun = _begun(hosts[0], self._authority.subject, key, age).add_extension(sans, critical=False)
        leaf = begun.add_extension(issuer, critical=False).sign(self._key, hashes.SHA256())
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return private + leaf.public_bytes(Encoding.PEM)

    @cached_property
    def _authority(self) -> x509.Certificate:
        name = _named("a test's authority")
        identifier = x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())
        return (
            _begun("a test's authority", name, self._key, timedelta())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_SIGNS, critical=True)
            .add_extension(identifier, critical=False)
            .sign(self._key, hashes.SHA256())
        )


_SIGNS = x509.KeyUsage(
    digital_signature=False,
    key_cert_sign=True,
    crl_sign=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=False,
    decipher_only=False,
)


def _named(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _begun(name: str, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, age: timedelta) -> x509.CertificateBuilder:
    now = datetime.now(UTC) - age
    builder = x509.CertificateBuilder(issuer, _named(name), key.public_key(), x509.random_serial_number())
    return builder.not_valid_before(now - timedelta(hours=1)).not_valid_after(now + timedelta(hours=12))


def _san(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)
