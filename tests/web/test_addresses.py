"""Which addresses are asked: on their face, and where they lead."""

import ipaddress
from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chameleon.errors import WebError
from chameleon.web import Web, WebLimits
from chameleon.web.addresses import check_addresses, checked_url, kind_of, kind_on_its_face, look_up
from tests.web.servers import Answer, WebServer, numeric

KINDS = {
    "private": """127.0.0.1 127.255.255.254 10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1
        100.64.0.1 ::1 fc00::1 fd12:3456::1 ::ffff:127.0.0.1 ::ffff:10.1.2.3 64:ff9b::127.0.0.1 2002:7f00:1::
        2002:a00:1::1""",
    "forbidden": """0.0.0.0 0.1.2.3 169.254.169.254 169.254.0.1 224.0.0.1 239.255.255.255 240.0.0.1
        255.255.255.255 192.0.2.1 198.18.0.1 203.0.113.7 100.100.100.200 :: fe80::1 fe80::1%eth0 fec0::1
        ff02::1 fd00:ec2::254 2001:db8::1 ::ffff:169.254.169.254 ::ffff:0.0.0.0 64:ff9b::a9fe:a9fe
        64:ff9b:1::1 2002:a9fe:a9fe::1 ::7f00:1 100::1 2001:0:a9fe:a9fe::1""",
    "public": """1.1.1.1 8.8.8.8 172.15.255.255 172.32.0.1 192.167.255.255 100.63.255.255 100.128.0.1
        169.253.0.1 223.255.255.255 2606:4700::1111 ::ffff:8.8.8.8 64:ff9b::8.8.8.8""",
}
ON_ITS_FACE = {
    "private": "localhost a.localhost. 127.0.0.1 [::1] 10.0.0.7 127.1 0x7f.1 2130706433 0177.0.0.1",
    "forbidden": """169.254.169.254 2852039166 0xa9fea9fe 0.0.0.0 0 [fe80::1] [::ffff:169.254.169.254]
        [fd00:ec2::254] 224.0.0.1 255.255.255.255 metadata.google.internal.""",
    "public": "8.8.8.8 134744072 [2606:4700:4700::1111]",
    None: "example.org searx.lan 1.2.3.4.5 999.999.999.999 0xfg",
}


def test_addresses_are_of_their_kind_and_special_ones_are_forbidden_whatever_is_allowed() -> None:
    for kind, addresses in KINDS.items():
        for address in addresses.split():
            assert kind_of(ipaddress.ip_address(address)) == kind, address
    for address in KINDS["forbidden"].split():
        with pytest.raises(WebError, match="private or special"):
            check_addresses("a.example", [address], private=True)
    for face, hosts in ON_ITS_FACE.items():
        for host in hosts.split():
            assert kind_on_its_face(checked_url(f"http://{host}/").host) == face, host


@given(st.ip_addresses(v=4))
def test_no_wrapping_makes_an_address_better(inner: ipaddress.IPv4Address) -> None:
    """IPv4-mapped, NAT64 and 6to4 spellings are never more public than what they carry."""
    order = ["public", "private", "forbidden"]
    number = int(inner)
    for wrapped in (
        ipaddress.IPv6Address(0xFFFF << 32 | number),
        ipaddress.IPv6Address(int(ipaddress.IPv6Address("64:ff9b::")) | number),
        ipaddress.IPv6Address(0x2002 << 112 | number << 80 | 1),
    ):
        assert order.index(kind_of(wrapped)) >= order.index(kind_of(inner))


@given(st.ip_addresses())
def test_what_is_not_global_is_never_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    special = address.is_multicast or address.is_link_local or address.is_unspecified or address.is_loopback
    if special or (isinstance(address, ipaddress.IPv4Address) and not address.is_global):
        assert kind_of(address) != "public"


@settings(max_examples=50)
@given(st.ip_addresses(v=4))
def test_decimal_octal_and_short_spellings_are_seen_through(inner: ipaddress.IPv4Address) -> None:
    """The check is on what is connected to, so it does not matter how a number was written."""
    a, b, c, d = (int(part) for part in str(inner).split("."))
    number = int(inner)
    spellings = [
        str(number), hex(number), f"0{number:o}", f"0x{a:x}.{b}.{c}.{d}", f"0{a:o}.0{b:o}.0{c:o}.0{d:o}",
        f"{a}.{b << 16 | c << 8 | d}", f"{a}.{b}.{c << 8 | d}", f"{a}.{b}.{c}.0x{d:02x}", str(inner),
    ]  # fmt: skip
    for spelling in spellings:
        found = numeric(spelling, 80)
        if kind_of(inner) == "public":
            assert found == [str(inner)]
            check_addresses(spelling, found, private=False)
        else:
            with pytest.raises(WebError):
                check_addresses(spelling, found, private=False)


def test_this_machine_is_not_asked_under_any_name() -> None:
    def resolve(name: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"] if name == "localhost" else numeric(name, port)

    numbers = "127.0.0.1 127.1 2130706433 0x7f000001 017700000001 [::1] [::ffff:127.0.0.1]"
    names = "[0:0:0:0:0:ffff:7f00:1] localhost LOCALHOST １２７.0.0.1 ⓛocalhost 127。0。0。1"
    for host in f"{numbers} {names}".split():
        with pytest.raises(WebError, match=r"private or special network|cannot be read"):
            Web(resolve=resolve).fetch(f"http://{host}:9/")


def test_a_name_with_one_bad_address_is_refused() -> None:
    assert look_up("127.0.0.1", 80) == ["127.0.0.1"], "the system's resolver gives each address once"
    with pytest.raises(WebError, match="private or special network"):
        check_addresses("two.example", ["8.8.8.8", "127.0.0.1"], private=False)
    with pytest.raises(WebError):
        check_addresses("odd.example", ["not an address"], private=True)


NO_WEB_ADDRESSES = {
    "only http and https": ["file:///etc/passwd", "ftp://example.org/", "javascript:alert(1)",
                            "data:text/html,x", "//example.org/path", "example.org", ""],
    "no host": ["http://", "http:///path", "http:example.com", "https:/example.com", "http:a@example.com"],
    "user name": ["https://user:sesame@example.org/", "https://user@example.org/", "https://@example.org/",
                  "https://8.8.8.8@127.0.0.1/"],
    "control characters": ["https://example.org\\@evil.example/", "https://exam ple.org/",
                           "https://example.org/\r\nHost: evil", "https://example.org/\x00"],
    "invalid host or port": ["https://example.org:0/"],
    "host or port": ["https://[fe80::1%25eth0]/"],
    "cannot be read": ["https://example.org:99999/", "https://example.org:port/", "https://[::1/", "https://a..example/",
                       f"https://{'a' * 64}.example/"],
    "too long": ["https://example.org/" + "a" * 8_000],
}  # fmt: skip


@pytest.mark.parametrize("reason", NO_WEB_ADDRESSES)
def test_addresses_that_are_no_web_addresses_are_refused(reason: str) -> None:
    for address in NO_WEB_ADDRESSES[reason]:
        with pytest.raises(WebError, match=reason) as caught:
            checked_url(address)
        assert "sesame" not in str(caught.value)


def test_ordinary_addresses_pass() -> None:
    for address, host in {
        "https://example.org": "example.org",
        "HTTPS://EXAMPLE.org./x?y=@z#part": "example.org",
        "http://example.org:8080/a@b": "example.org",
        "https://bücher.example/": "xn--bcher-kva.example",
        "https://xn--bcher-kva.example/": "xn--bcher-kva.example",
        "http://[2606:4700::1111]/": "2606:4700::1111",
        "http://a_b.example/": "a_b.example",
    }.items():
        url = checked_url(address)
        assert url.host == host and "#" not in url.url


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_a_web_error(text: str) -> None:
    for address in (text, f"http://{text}", f"https://{text}/"):
        try:
            url = checked_url(address)
        except WebError as error:
            assert str(error)
        else:
            assert url.scheme in ("http", "https") and url.host and "#" not in url.url


def nobody(host: str, port: int) -> Sequence[str]:
    raise OSError(-2, "Name or service not known")


@example("*.example", "/", "q")
@example("a.example", "/", "\ud800")
@given(st.text("ab1.*-_%:[]@#?&+ é１。\\", max_size=12), st.text(max_size=8), st.text(max_size=8))
def test_asking_any_address_is_a_web_error_where_nobody_is(host: str, path: str, query: str) -> None:
    web = Web(WebLimits(retries=0), resolve=nobody)
    with pytest.raises(WebError):
        web.fetch(f"http://{host}/{path}", params={"q": query})


def test_private_hosts_are_allowed_by_name_and_port() -> None:
    target = checked_url("http://LOCALHOST.:8080/")
    for allowed in ("localhost:8080", "localhost", "localhost.", "*"):
        assert target.may_be_private([allowed])
    for allowed in ("", "LOCALHOST.:8081", "127.0.0.1", "host"):
        assert not target.may_be_private([allowed])


def test_a_name_is_looked_up_once_a_request_and_that_address_is_checked_and_connected_to() -> None:
    """DNS rebinding: a second look-up would find another machine, and the next request is checked anew."""
    asked: list[str] = []

    def resolve(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["169.254.169.254"]

    with WebServer({"/": Answer(b"first")}) as server:
        name = f"rebind.example:{server.port}"
        web = Web(WebLimits(seconds=2), [name], resolve=resolve)
        assert web.fetch(f"http://{name}/").body == b"first"
        assert asked == ["rebind.example"] and server.asked[0].headers["host"] == name
        with pytest.raises(WebError, match="private or special"):
            web.fetch(f"http://{name}/")
    assert len(server.asked) == 1
