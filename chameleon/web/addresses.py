"""Which addresses may be asked: http and https only, and nothing inside somebody's network unawares."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from chameleon.errors import WebError

if TYPE_CHECKING:
    from urllib3.util import Url

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], Sequence[str]]
Kind = Literal["public", "private", "forbidden"]

EVERY_HOST = "*"
LONGEST_URL = 8_000

# Machines and networks of one's own: reachable where that is allowed (a SearXNG on this machine, say).
_PRIVATE = tuple(
    ipaddress.ip_network(network)
    for network in (
        *("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"),
        *("::1/128", "fc00::/7"),
    )
)
# Servers that give out a cloud machine's credentials, beside the link-local one; never to be asked.
_METADATA = {
    ipaddress.ip_address(address) for address in ("fd00:ec2::254", "100.100.100.200", "168.63.129.16")
}
_METADATA_NAMES = {"metadata.google.internal", "metadata.goog", "instance-data.ec2.internal"}
# Special by the registries of IANA, whatever this version of Python knows of them.
_SPECIAL = tuple(
    ipaddress.ip_network(network)
    for network in ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20", "5f00::/16", "::ffff:0:0:0/96")
)
_NAT64 = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
_IPV4_COMPATIBLE = ipaddress.IPv6Network("::/96")  # out of use since RFC 4291
_ALLOWING = (
    "If it is a server of your own, allow it: allow_private: true for a module's endpoint, "
    "or CHAMELEON_WEB_PRIVATE=host:port."
)
_OLD_NUMBER = re.compile(r"(0x[0-9a-f]*|\d+)(\.(0x[0-9a-f]*|\d+)){0,3}")
_UNFIT = re.compile(r"[\x00-\x20\x7f-\x9f\\\u2028\u2029]")


def kind_of(address: Address) -> Kind:
    """Whether an address is on the open internet, in a private network, or never to be asked.

    Link-local (with the clouds' metadata servers), multicast, unspecified and reserved addresses are
    forbidden. An IPv6 address that carries an IPv4 address is as bad as the worse of the two.
    """
    kinds = {_plain_kind(address), *(_plain_kind(inner) for inner in _carried(address))}
    if isinstance(address, ipaddress.IPv6Address) and (address.ipv4_mapped or address in _NAT64[0]):
        kinds = {_plain_kind(inner) for inner in _carried(address)}  # the wrapping itself says nothing
    return "forbidden" if "forbidden" in kinds else "private" if "private" in kinds else "public"


def _plain_kind(address: Address) -> Kind:
    if address in _METADATA or any(address in network for network in _SPECIAL):
        return "forbidden"
    if any(address.version == network.version and address in network for network in _PRIVATE):
        return "private"
    if address.is_multicast or not address.is_global:
        return "forbidden"
    if isinstance(address, ipaddress.IPv6Address) and (address.is_site_local or address in _IPV4_COMPATIBLE):
        return "forbidden"
    return "public"


def _carried(address: Address) -> list[ipaddress.IPv4Address]:
    """The IPv4 addresses inside an IPv6 address: mapped, NAT64, 6to4 and Teredo."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    found = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if any(address in network for network in _NAT64):
        found.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return [inner for inner in found if inner is not None]


def checked_url(address: str) -> Url:
    """The address as a URL that may be asked, on its face. Raises `WebError` for any other.

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
    try:
        url = parse_url(address)
        (url.host or "").strip("[]").encode("idna")
    except (LocationParseError, UnicodeError, ValueError):
        raise WebError("an address cannot be read", hint="Write it as https://host/path.") from None
    if url.scheme not in ("http", "https"):
        named = (url.scheme or "")[:20] or "an address without a scheme"
        raise WebError(f"only http and https are asked, not {named}")
    if url.auth or "@" in re.split(r"[/?#]", address.split("://", 1)[1], maxsplit=1)[0]:
        raise WebError("an address with a user name or password is not asked", where=url.host or "")
    if not url.host:
        raise WebError("an address names no host")
    if "%" in url.host or url.port == 0:
        raise WebError("an address has a host or a port that cannot be asked")
    return url._replace(fragment=None)


def origin_of(url: Url) -> tuple[str, str, int]:
    """Scheme, host and port: who would get what is sent to this address."""
    scheme = url.scheme or ""
    return scheme, bare_host(url.host or ""), url.port or {"http": 80, "https": 443}[scheme]


def bare_host(host: str) -> str:
    """A host's name in one spelling: lower case, no dot at the end, no brackets."""
    return host.strip("[]").rstrip(".").lower()


def host_and_port(address: str) -> str:
    """An address's "host:port", in the spelling of `may_be_private`."""
    _, host, port = origin_of(checked_url(address))
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def may_be_private(host: str, port: int, allowed: Iterable[str]) -> bool:
    """Whether this host is one that may lie in a private network.

    `allowed` lists hosts as "host" or "host:port", IPv6 in brackets before a port, or "*" for all.
    """
    host = bare_host(host)
    names = {EVERY_HOST, host, f"{host}:{port}", f"[{host}]:{port}", f"[{host}]"}
    return any(name.strip().rstrip(".").lower() in names for name in allowed)


def kind_on_its_face(host: str) -> Kind | None:
    """What can be told of a host without looking it up: the kind of a number or a well-known name, or None.

    Numbers count in the old spellings as well (2852039166, 0x7f.1), since the system reads them.
    """
    name = bare_host(host)
    if name == "localhost" or name.endswith(".localhost"):
        return "private"
    if name in _METADATA_NAMES:
        return "forbidden"
    try:
        return kind_of(ipaddress.ip_address(name))
    except ValueError:
        pass
    if not _OLD_NUMBER.fullmatch(name):
        return None
    try:
        return kind_of(ipaddress.IPv4Address(socket.inet_aton(name)))
    except OSError:
        return None


def look_up(host: str, port: int) -> Sequence[str]:
    """The addresses that the system finds for a host, in its order. Raises `OSError` when there are none."""
    try:
        return [str(ipaddress.ip_address(host))]
    except ValueError:
        pass  # a name, or a number in one of the old spellings, which the system reads
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as problem:
        raise OSError(socket.EAI_NONAME, "the name is too long or malformed") from problem
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def permitted(host: str, addresses: Sequence[str], *, private: bool, only_private: bool = False) -> list[str]:
    """The addresses of a host, if all of them may be connected to; raises `WebError` if one may not.

    A name with one public and one private address is how a guard is made to look at the wrong one, so one
    bad address is enough. `only_private`: a key goes over plain http, which must not leave one's network.
    """
    for address in addresses:
        try:
            kind = kind_of(ipaddress.ip_address(address))
        except ValueError:
            kind = "forbidden"
        check_kind(host, kind, private=private, only_private=only_private)
    return list(addresses)


def check_kind(host: str, kind: Kind, *, private: bool, only_private: bool = False) -> None:
    """Raise `WebError` for a host of a kind that may not be asked; the arguments are those of `permitted`."""
    if kind == "forbidden" or (kind == "private" and not private):
        raise WebError(
            "the address lies in a private or special network",
            where=host,
            hint=_ALLOWING if kind == "private" else "",
        )
    if kind == "public" and only_private:
        raise WebError("a key would be sent unencrypted", where=host, hint="Use https.")
