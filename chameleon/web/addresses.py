"""Which addresses may be asked: http and https only, and nothing inside somebody's network unawares."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

from chameleon.errors import WebError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], Sequence[str]]
Kind = Literal["public", "private", "forbidden"]

LONGEST_URL = 8_000

_METADATA_NAMES = ("metadata.google.internal", "metadata.goog", "instance-data.ec2.internal")
_METADATA, _PRIVATE, _SPECIAL = (
    [ipaddress.ip_network(network) for network in listed.split()]
    for listed in (
        # Servers that give out a cloud machine's credentials, beside the link-local one; never to be asked.
        "fd00:ec2::254 100.100.100.200 168.63.129.16",
        # Machines and networks of one's own: reachable where that is allowed (a SearXNG here, say).
        "127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 ::1/128 fc00::/7",
        # Special by the registries of IANA, whatever this version of Python knows of them.
        "192.0.0.0/24 192.88.99.0/24 3fff::/20 5f00::/16 64:ff9b:1::/48 2001::/32 fec0::/10"
        " ::ffff:0:0:0/96 ::/96",
    )
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_ALLOWED = re.compile(
    r"\*|(?:https?://)?(?P<host>(?:\[[\da-f:.]+\]|[^\s:/@*\[\]]+)(?::\d{1,5})?)/?|[\da-f:.]*:[\da-f:.]*",
    re.IGNORECASE,
)
_UNFIT = re.compile(r"[\x00-\x20\x7f-\x9f\\\u2028\u2029]")


class Target(NamedTuple):
    """An address that may be asked, on its face; `host` in lower case, without brackets or a last dot."""

    url: str
    scheme: str
    host: str
    port: int

    @property
    def origin(self) -> tuple[str, str, int]:
        """Return who would get what is sent there."""
        return self.scheme, self.host, self.port

    @property
    def host_and_port(self) -> str:
        """Return "host:port", in the spelling of `may_be_private`."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def may_be_private(self, allowed: Iterable[str]) -> bool:
        """Tell whether the host may lie in a private network.

        `allowed` lists hosts as "host" or "host:port", IPv6 in brackets before a port, or "*" for all.
        """
        names = {"*", self.host, f"[{self.host}]", self.host_and_port}
        return any(name.strip().rstrip(".").lower() in names for name in allowed)


def allowed_by(variable: str) -> list[str]:
    """Return the hosts that a value lists, without schemes before them. Raise `WebError` for no host."""
    hosts = []
    for name in variable.replace(",", " ").split():
        if (match := _ALLOWED.fullmatch(name)) is None:
            what = f"CHAMELEON_WEB_PRIVATE names {name[:60]!r}, which is no host"
            raise WebError(what, hint="Write host or host:port, with commas between several.")
        hosts.append(match["host"] or name)
    return hosts


def checked_url(address: str) -> Target:
    """Return the address taken apart. Raise `WebError` for one that may not be asked, on its face.

    Refused: schemes other than http and https, user names and passwords, no host, control characters and
    backslashes (two readers of such an address may see two hosts), and more than 8,000 characters. What its
    host resolves to is checked where the connection is made.
    """
    from urllib3.exceptions import LocationParseError
    from urllib3.util import parse_url

    if len(address) > LONGEST_URL:
        raise WebError(f"an address of {len(address):,} characters is too long to be asked")
    if _UNFIT.search(address):
        raise WebError("an address holds control characters, spaces or backslashes")
    rest = address.partition("://")[2]
    try:
        url = parse_url(address)
        host = (url.host or "").strip("[]").rstrip(".").lower()
        host.encode("idna")
    except (LocationParseError, UnicodeError, ValueError):
        raise WebError("an address cannot be read", hint="Write it as https://host/path.") from None
    if url.scheme not in ("http", "https"):
        named = (url.scheme or "")[:20] or "an address without a scheme"
        raise WebError(f"only http and https are asked, not {named}")
    if url.auth or "@" in re.split(r"[/?#]", rest, maxsplit=1)[0]:
        raise WebError("an address with a user name or password is not asked", where=host)
    if not host or not rest:  # urllib3 reads "http:host" in its own way
        raise WebError("an address names no host")
    if "%" in host or url.port == 0:
        raise WebError("an address has a host or a port that cannot be asked")
    port = url.port or {"http": 80, "https": 443}[url.scheme]
    return Target(str(url._replace(fragment=None)), url.scheme, host, port)


def kind_of(address: Address) -> Kind:
    """Tell whether an address is on the open internet, in a private network, or never to be asked.

    Link-local (with the clouds' metadata servers), multicast, unspecified and reserved addresses are
    forbidden. An IPv6 address that carries an IPv4 address is of that one's kind.
    """
    if isinstance(address, ipaddress.IPv6Address):
        carried = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            carried = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if carried:
            return kind_of(carried)
    metadata, private, special = (
        any(address in each for each in listed) for listed in (_METADATA, _PRIVATE, _SPECIAL)
    )
    if private and not metadata:
        return "private"
    return "forbidden" if metadata or special or address.is_multicast or not address.is_global else "public"


def kind_on_its_face(host: str) -> Kind | None:
    """Return the kind of a number or a well-known name, and None for a name that must be looked up."""
    if host == "localhost" or host.endswith(".localhost"):
        return "private"
    if host in _METADATA_NAMES:
        return "forbidden"
    number = as_number(host)
    return None if number is None else kind_of(number)


def as_number(host: str) -> Address | None:
    """Return the address that a host spells, in old ways too (2852039166, 0x7f.1); None for a name."""
    try:
        found = socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        return None
    return ipaddress.ip_address(found[0][4][0])


def look_up(host: str, port: int) -> Sequence[str]:
    """Return the addresses that the system finds for a host, in its order. Raise `OSError` for none."""
    if number := as_number(host):
        return [str(number)]
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as problem:
        raise OSError(socket.EAI_NONAME, "the name is too long or malformed") from problem
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def check_kind(where: str, kind: Kind, *, private: bool, only_private: bool = False, left: str = "") -> None:
    """Raise `WebError` for a host of a kind that may not be asked; `where` is its name and port.

    `private`: it may lie in a private network. `only_private`: it must, for a key goes over plain http.
    `left`: the host whose redirect leads there.
    """
    if kind == "forbidden" or (kind == "private" and not private):
        what = "the address lies in a private or special network"
        what += f", by a redirect from {left}" if left else ""
        ways = "" if left else "allow_private: true for a module's endpoint, or "
        hint = f"If it is a server of your own, allow it: {ways}CHAMELEON_WEB_PRIVATE={where}."
        raise WebError(what, where=where, hint=hint if kind == "private" else "")
    if kind == "public" and only_private:
        raise WebError("a key would be sent unencrypted", where=where, hint="Use https.")


def check_addresses(where: str, found: Sequence[str], **rules: Any) -> None:
    """Raise `WebError` if a host may not be connected to at one of its addresses, by `check_kind`'s rules.

    A name with one public and one private address is how a guard is made to look at the wrong one.
    """
    for address in found:
        number = as_number(address)
        check_kind(where, kind_of(number) if number else "forbidden", **rules)
