"""The session's own certificate authority, for TLS that must be opened.

Its certificate lies in the box, its key in this process and nowhere else: OpenSSL wants files, so it gets one that exists only in memory.
Nobody but the box trusts it. All leaves share one key, which is as secret as the other; they live for a day and are made anew before
they end. Nothing is made before it is needed.
"""

import os
import ssl
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from daimon.abi.ports import Clock
from daimon.net.site import Site

_LIFE = timedelta(days=90)
_LEAF_LIFE = timedelta(days=1)
_EARLIER = timedelta(hours=1)
"""Clocks differ, and the one in the box cannot be asked."""
_LEAVES = 256


@dataclass(frozen=True, slots=True)
class _Leaf:
    context: ssl.SSLContext
    until: datetime


class Authority:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._leaves: OrderedDict[str, _Leaf] = OrderedDict()

    @cached_property
    def pem(self) -> bytes:
        return self._certificate.public_bytes(Encoding.PEM)

    def context(self, host: str) -> ssl.SSLContext:
        """For the side that the box talks to."""
        leaf = self._leaves.pop(host, None)
        if leaf is None or leaf.until < self._clock.now():
            leaf = _Leaf(_context(self._leaf(host), self._leaf_key), self._clock.now() + _LEAF_LIFE / 2)
        self._leaves[host] = leaf
        while len(self._leaves) > _LEAVES:
            self._leaves.popitem(last=False)
        return leaf.context

    @cached_property
    def _key(self) -> ec.EllipticCurvePrivateKey:
        return ec.generate_private_key(ec.SECP256R1())

    @cached_property
    def _leaf_key(self) -> ec.EllipticCurvePrivateKey:
        return ec.generate_private_key(ec.SECP256R1())

    @cached_property
    def _certificate(self) -> x509.Certificate:
        name = _named("Daimon: TLS opened for this session")
        public = self._key.public_key()
        usage = _usage(signs_certificates=True)
        return (
            self._begun(name, name, public, _LIFE)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .sign(self._key, hashes.SHA256())
        )

    def _leaf(self, host: str) -> x509.Certificate:
        san = x509.IPAddress(ip_address(host)) if Site(host, 0).is_literal else x509.DNSName(host)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        return (
            self._begun(_named("Daimon"), self._certificate.subject, self._leaf_key.public_key(), _LEAF_LIFE)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.SubjectAlternativeName([san]), critical=False)
            .add_extension(issuer, critical=False)
            .sign(self._key, hashes.SHA256())
        )

    def _begun(self, subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, life: timedelta) -> x509.CertificateBuilder:
        now = self._clock.now()
        builder = x509.CertificateBuilder(issuer, subject, key, x509.random_serial_number())
        return builder.not_valid_before(now - _EARLIER).not_valid_after(now + life)


def _named(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _context(leaf: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file = os.memfd_create("daimon-leaf", os.MFD_CLOEXEC)
    try:
        os.write(file, private + leaf.public_bytes(Encoding.PEM))
        context.load_cert_chain(f"/proc/self/fd/{file}")
    finally:
        os.close(file)
    return context
