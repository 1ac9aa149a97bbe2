"""Requests signed for AWS: as its documentation has them, and as a server that checks them wants them."""

import hashlib
import hmac
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from urllib.parse import parse_qsl, quote

import pytest
from jieda.cluster.client import (
    Access,
    Cluster,
    Refused,
    Signer,
    canonical_form,
)
from jieda.cluster.engine import ClusterEngine
from jieda.errors import SettingsError
from jieda.settings import Settings

from tests.support.cluster import ActionResult, node

PUBLISHED = ("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "us-east-1")
"""Key and region of the examples of AWS."""
MOMENT = "20150830T123600Z"
NOTHING = hashlib.sha256(b"").hexdigest()
SECRET = "not/to+be-told"


def test_the_example_of_the_documentation_has_the_published_signature() -> None:
    canonical = canonical_form(
        "GET",
        "/?Action=ListUsers&Version=2010-05-08",
        {
            "Content-Type": "application/x-www-form-urlencoded; charset=utf-8",
            "Host": "iam.amazonaws.com",
            "X-Amz-Date": MOMENT,
        },
        NOTHING,
    )
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    assert digest == "f536975d06c0309214f805bb90ccff089219ecd68b2577efef23edd43b7e1a59"
    assert Signer(*PUBLISHED, "iam").authorization(MOMENT, canonical) == (
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "
        "SignedHeaders=content-type;host;x-amz-date, "
        "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
    )


def test_the_plainest_request_of_the_test_suite_has_the_published_signature() -> None:
    canonical = canonical_form("GET", "/", {"Host": "example.amazonaws.com", "X-Amz-Date": MOMENT}, NOTHING)
    signed = Signer(*PUBLISHED, "service").authorization(MOMENT, canonical)
    assert signed.endswith("Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31")


Answer = Callable[[str, str, bytes, dict[str, str]], ActionResult]


def checking(secret: str, service: str, seen: list[str]) -> Answer:
    """A server that works out each signature from what arrived, and refuses what bears another."""

    def answer(method: str, target: str, body: bytes, headers: dict[str, str]) -> ActionResult:
        held = {name.lower(): value for name, value in headers.items()}
        scheme, _, rest = held.get("authorization", "").partition(" ")
        said = dict(part.split("=", 1) for part in rest.split(", ")) if rest else {}
        if scheme != "AWS4-HMAC-SHA256" or not said:
            return 403, {"error": {"type": "security_exception"}}
        _, day, region, asked, _ = said["Credential"].split("/")
        names = said["SignedHeaders"].split(";")
        path, _, query = target.partition("?")
        pairs = sorted(parse_qsl(query, keep_blank_values=True))
        lines = [
            method,
            quote(path, safe="/-_.~"),
            "&".join(f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}" for name, value in pairs),
            *(f"{name}:{held[name]}" for name in names),
            "",
            said["SignedHeaders"],
            hashlib.sha256(body).hexdigest(),
        ]
        digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
        key = f"AWS4{secret}".encode()
        for part in (day, region, service, "aws4_request"):
            key = hmac.new(key, part.encode(), "sha256").digest()
        text = f"AWS4-HMAC-SHA256\n{held['x-amz-date']}\n{day}/{region}/{service}/aws4_request\n{digest}"
        expected = hmac.new(key, text.encode(), "sha256").hexdigest()
        age = datetime.now(UTC) - datetime.strptime(held["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        good = expected == said["Signature"] and {"host", "x-amz-date"} <= set(names) and asked == service
        if not good or abs(age.total_seconds()) > 300 or held["x-amz-content-sha256"] != lines[-1]:
            return 403, {"error": {"type": "security_exception", "reason": held.get("authorization")}}
        seen.append(held.get("x-amz-security-token", ""))
        return 200, {"responses": []}

    return answer


def asked(url: str, service: str = "es", token: str = "") -> Cluster:
    return Cluster(Access((url,), timeout=5, signer=Signer("AKOURS", SECRET, "eu-west-1", service, token)))


@pytest.mark.parametrize("service", ["es", "aoss"])
@pytest.mark.parametrize("under", ["", "/search/here"])
def test_every_kind_of_request_is_signed_so_that_a_server_agrees(service: str, under: str) -> None:
    seen: list[str] = []
    with node(checking(SECRET, service, seen)) as url:
        cluster = asked(url + under, service)
        cluster.ask("GET", "/jieda-*/_mapping")
        cluster.ask("PUT", "/jieda-0123/_settings", {"index": {"blocks.write": True}})
        cluster.ask("DELETE", "/jieda-0123?ignore_unavailable=true")
        cluster.ask("GET", "/_cluster/health/x?wait_for_status=yellow&timeout=30s&wait_for_events=")
        cluster.bulk("/jieda-0123/_bulk?timeout=30s", '{"index":{}}\n{"id":"显存"}\n'.encode(), 5)
        cluster.searches("jieda-0123", [])
        cluster.close()
    assert seen == [""] * 6


def test_a_token_that_was_lent_is_sent_and_signed() -> None:
    seen: list[str] = []
    with node(checking(SECRET, "es", seen)) as url:
        asked(url, token="lent/for+an=hour").ask("GET", "/")
    assert seen == ["lent/for+an=hour"]


def test_who_has_the_wrong_key_is_refused_and_no_secret_is_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    signer = Signer("AKOURS", SECRET, "eu-west-1", "es", "lent-token")
    with node(checking("another", "es", [])) as url:
        access = Access((url,), timeout=5, signer=signer)
        cluster = Cluster(access)
        with pytest.raises(Refused) as refused:
            cluster.ask("GET", "/")
    told = f"{refused.value!r} {refused.value} {caplog.text} {access!r} {signer!r}"
    assert refused.value.code == 403
    assert not [secret for secret in (SECRET, "lent-token", "Signature=", "AKOURS") if secret in told]


REGION = {"JIEDA_ENGINE": "opensearch", "JIEDA_OPENSEARCH_URL": "https://os.example.com"} | {
    "JIEDA_OPENSEARCH_AWS_REGION": "eu-west-1"
}


@pytest.mark.parametrize("missing", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_a_key_that_is_not_set_is_named(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKOURS")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    assert ClusterEngine.of(Settings.load(REGION)).failure == ""
    monkeypatch.setenv(missing, "")
    with pytest.raises(SettingsError, match=f"{missing} is not set"):
        ClusterEngine.of(Settings.load(REGION))


@pytest.mark.parametrize(
    "wrong",
    [
        {"JIEDA_OPENSEARCH_USER": "jieda"},
        {"JIEDA_OPENSEARCH_AWS_REGION": "europe"},
        {"JIEDA_OPENSEARCH_AWS_SERVICE": "s3"},
    ],
)
def test_settings_that_contradict_one_another_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="OPENSEARCH_AWS"):
        Settings.load(REGION | wrong)
