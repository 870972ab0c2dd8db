"""Decide which addresses may be requested: only http and https, and no private network by accident."""

import ipaddress
import re
import socket
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

from chameleon.errors import WebError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], Sequence[str]]
Kind = Literal["public", "private", "forbidden"]

MAX_URL_CHARS = 8_000

_METADATA_NAMES = ("metadata.google.internal", "metadata.goog", "instance-data.ec2.internal")
_METADATA, _PRIVATE, _SPECIAL = (
    [ipaddress.ip_network(network) for network in text.split()]
    for text in (
        # Servers that return a cloud machine's credentials, besides the link-local one; never requested.
        "fd00:ec2::254 100.100.100.200 168.63.129.16",
        # Private machines and networks: reachable if allowed (for example a local SearXNG).
        "127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 ::1/128 fc00::/7",
        # Special in IANA's registries, which this version of Python may not know.
        "192.0.0.0/24 192.88.99.0/24 3fff::/20 5f00::/16 64:ff9b:1::/48 2001::/32 fec0::/10"
        " ::ffff:0:0:0/96 ::/96",
    )
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_ALLOWED_HOST = re.compile(
    r"\*|(?:https?://)?(?P<host>(?:\[[\da-f:.]+\]|[^\s:/@*\[\]]+)(?::\d{1,5})?)/?|[\da-f:.]*:[\da-f:.]*",
    re.IGNORECASE,
)
_UNFIT_CHARS = re.compile(r"[\x00-\x20\x7f-\x9f\\\u2028\u2029]")


class Target(NamedTuple):
    """An address that looks allowed; `host` is lower case, without brackets or a final dot."""

    url: str
    scheme: str
    host: str
    port: int

    @property
    def origin(self) -> tuple[str, str, int]:
        """Return the scheme, host and port that a request would go to."""
        return self.scheme, self.host, self.port

    @property
    def host_and_port(self) -> str:
        """Return "host:port", as `may_be_private` spells it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def may_be_private(self, allowed: Iterable[str]) -> bool:
        """Return whether the host may be in a private network.

        `allowed` lists hosts as "host" or "host:port", IPv6 in brackets before a port, or "*" for all.
        """
        names = {"*", self.host, f"[{self.host}]", self.host_and_port}
        return any(name.strip().rstrip(".").lower() in names for name in allowed)


def allowed_by(variable: str) -> list[str]:
    """Return the hosts listed in a value, without their schemes. Raises `WebError` for anything else."""
    hosts = []
    for name in variable.replace(",", " ").split():
        if (match := _ALLOWED_HOST.fullmatch(name)) is None:
            what = f"CHAMELEON_WEB_PRIVATE names {name[:60]!r}, which is not a host"
            raise WebError(what, hint="Write host or host:port, with commas between several.")
        hosts.append(match["host"] or name)
    return hosts


def checked_url(address: str) -> Target:
    """Return the parts of an address. Raises `WebError` for one that is visibly not allowed.

    Refused: schemes other than http and https, user names and passwords, no host, control characters and
    backslashes (two parsers may then see two hosts), and more than 8,000 characters. The IP
    addresses of the host are checked when the connection is made.
    """
    from urllib3.exceptions import LocationParseError
    from urllib3.util import parse_url

    if len(address) > MAX_URL_CHARS:
        raise WebError(f"an address of {len(address):,} characters is too long")
    if _UNFIT_CHARS.search(address):
        raise WebError("an address contains control characters, spaces or backslashes")
    rest = address.partition("://")[2]
    try:
        url = parse_url(address)
        host = (url.host or "").strip("[]").rstrip(".").lower()
        host.encode("idna")  # raises UnicodeError for a name that cannot be looked up
    except (LocationParseError, UnicodeError, ValueError):
        raise WebError("an address cannot be read", hint="Write it as https://host/path.") from None
    if url.scheme not in ("http", "https"):
        scheme = (url.scheme or "")[:20] or "an address without a scheme"
        raise WebError(f"only http and https are supported, not {scheme}")
    if url.auth or "@" in re.split(r"[/?#]", rest, maxsplit=1)[0]:
        raise WebError("an address with a user name or password is not allowed", where=host)
    if not host or not rest:  # urllib3 reads "http:host" in its own way
        raise WebError("an address has no host")
    if "%" in host or url.port == 0:
        raise WebError("an address has an invalid host or port")
    port = url.port or {"http": 80, "https": 443}[url.scheme]
    return Target(str(url._replace(fragment=None)), url.scheme, host, port)


def kind_of(address: Address) -> Kind:
    """Return whether an address is on the public internet, in a private network, or forbidden.

    Link-local (with the clouds' metadata servers), multicast, unspecified and reserved addresses are
    forbidden. An IPv6 address that carries an IPv4 address has the kind of that one.
    """
    if isinstance(address, ipaddress.IPv6Address):
        carried = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            carried = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if carried:
            return kind_of(carried)
    groups = (_METADATA, _PRIVATE, _SPECIAL)
    metadata, private, special = (any(address in network for network in group) for group in groups)
    if private and not metadata:
        return "private"
    return "forbidden" if metadata or special or address.is_multicast or not address.is_global else "public"


def kind_on_its_face(host: str) -> Kind | None:
    """Return the kind of a number or a well-known name, or None for a name that must be looked up."""
    if host == "localhost" or host.endswith(".localhost"):
        return "private"
    if host in _METADATA_NAMES:
        return "forbidden"
    number = as_number(host)
    return None if number is None else kind_of(number)


def as_number(host: str) -> Address | None:
    """Return the address that a host spells, also in old notations (2852039166, 0x7f.1); None for a name."""
    try:
        entries = socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        return None
    return ipaddress.ip_address(entries[0][4][0])


def look_up(host: str, port: int) -> Sequence[str]:
    """Return the addresses that the system finds for a host, in its order. Raises `OSError` for none."""
    if number := as_number(host):
        return [str(number)]
    try:
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as problem:
        raise OSError(socket.EAI_NONAME, "the name is too long or malformed") from problem
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


def check_kind(where: str, kind: Kind, *, private: bool, only_private: bool = False, left: str = "") -> None:
    """Raise `WebError` for a host of a kind that is not allowed.

    Args:
        where: the host's name and port, for the error.
        private: it may be in a private network.
        only_private: it must be, because a key goes over plain http.
        left: the host whose redirect leads there, or "".
    """
    if kind == "forbidden" or (kind == "private" and not private):
        what = "the address is in a private or special network"
        what += f", by a redirect from {left}" if left else ""
        option = "" if left else "allow_private: true for a module's endpoint, or "
        hint = f"If it is your own server, allow it: {option}CHAMELEON_WEB_PRIVATE={where}."
        raise WebError(what, where=where, hint=hint if kind == "private" else "")
    if kind == "public" and only_private:
        raise WebError("a key would be sent unencrypted", where=where, hint="Use https.")


def check_addresses(where: str, addresses: Sequence[str], **rules: Any) -> None:
    """Raise `WebError` if one of a host's addresses may not be connected to, by the rules of `check_kind`.

    All are checked, because an attacker may give a name one public and one private address.
    """
    for address in addresses:
        number = as_number(address)
        check_kind(where, kind_of(number) if number else "forbidden", **rules)
