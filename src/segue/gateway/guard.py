"""Which requests are served at all: a web page on the same machine, or one behind a stranger's name, is not."""

from collections.abc import Mapping, Sequence

_LOCAL = frozenset({"127.0.0.1", "localhost", "[::1]", "::1"})
FORWARDING = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")


class Guard:
    """Checks the headers of a request. ``public``: the gateway listens on an address that others can reach."""

    def __init__(self, host: str, hosts: Sequence[str], origins: Sequence[str], *, public: bool) -> None:
        self._hosts = _LOCAL | {host.lower()} | {_name(each) for each in hosts}
        self._origins = {each.rstrip("/").lower() for each in origins}
        self._public, self._any_host = public, not hosts and public
        self.has_keys = False

    def shares_with(self, origin: str) -> bool:
        """Whether web pages of an origin may use the gateway."""
        return origin.lower() in self._origins

    def is_local(self, headers: Mapping[str, str]) -> bool:
        """Whether a request is addressed to this machine, and did not come through a proxy, as far as headers say."""
        return is_loopback(_name(headers.get("host", ""))) and not any(name in headers for name in FORWARDING)

    def problem(self, headers: Mapping[str, str]) -> str | None:
        """Why a request is refused, if it is."""
        origin = headers.get("origin")
        if origin is not None and not self.shares_with(origin):
            return "requests of web pages are refused; add their origin to `origins` of [gateway]"
        host = _name(headers.get("host", ""))
        # With keys, a page that has a foreign name for this host cannot use it: it does not have a key.
        if host not in self._hosts and not (self._any_host and self.has_keys):
            return f"the host {host!r} is not one of this gateway; add it to `hosts` of [gateway]"
        if not self.has_keys and any(name in headers for name in FORWARDING):
            return "requests through a proxy need a key; add one to the configuration"
        return None


def _name(host: str) -> str:
    """The host without its port."""
    host = host.strip().lower()
    return host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    return host.lower() in _LOCAL or host.startswith("127.")
