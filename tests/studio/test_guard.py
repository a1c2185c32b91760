"""Only the browser that has the token gets anything, and only under the studio's own name."""

import httpx2
import pytest

from .conftest import Running

PATHS = ["/", "/index.json", "/assets/studio.js", "/models.json", "/c/abc", "/c/abc/live", "/nowhere"]


@pytest.mark.parametrize("path", PATHS)
def test_a_request_without_the_token_is_refused(studio: Running, path: str) -> None:
    assert httpx2.get(studio.base + path).status_code == 401
    assert (
        httpx2.get(studio.base + path, headers={"cookie": f"segue-studio-{studio.server.port}=guess"}).status_code
        == 401
    )


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", ""])
def test_a_request_for_another_host_is_refused(studio: Running, host: str) -> None:
    for path in PATHS:
        assert studio.client.get(path, headers={"host": host.format(port=studio.server.port)}).status_code == 403


def test_a_page_of_another_site_cannot_post(studio: Running) -> None:
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert studio.client.post("/open", data={"text": "[]"}, headers=headers).status_code == 403


def test_the_token_becomes_a_cookie_that_scripts_cannot_read_and_leaves_the_url(studio: Running) -> None:
    response = httpx2.get(studio.server.url("/c/x?to=a/b"), follow_redirects=False)
    assert response.status_code == 303
    assert response.headers["location"] == "/c/x?to=a%2Fb"
    cookie = response.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


def test_the_redirect_stays_on_this_host(studio: Running) -> None:
    response = httpx2.get(studio.server.url("//evil.example/x"), follow_redirects=False)
    assert response.headers["location"].startswith("/evil.example")


def test_a_program_may_use_the_token_as_a_bearer(studio: Running) -> None:
    headers = {"authorization": f"Bearer {studio.server.token}"}
    assert httpx2.get(f"{studio.base}/index.json", headers=headers).json()["documents"] is not None


@pytest.mark.parametrize("path", ["/", "/nowhere", "/c/nothing", "/assets/studio.css"])
def test_every_response_has_the_strict_policy(studio: Running, path: str) -> None:
    headers = studio.get(path).headers
    assert headers["content-security-policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


def test_assets_are_only_those_of_the_studio(studio: Running) -> None:
    for name in ("..%2fapp.py", "%2e%2e", "app.py", "../app.py"):
        assert studio.get(f"/assets/{name}").status_code == 404
