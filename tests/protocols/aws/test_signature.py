"""Signature Version 4: the vectors that AWS publishes, and botocore as a second implementation."""

import re
from datetime import UTC, datetime
from urllib.parse import quote

import botocore.auth
import hypothesis.strategies as st
import pytest
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given

from postern.protocols.aws.signature import AwsCredentials, signed_headers

EXAMPLE = AwsCredentials(access_key_id="AKIDEXAMPLE", secret_access_key="wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
WHEN = datetime(2015, 8, 30, 12, 36, tzinfo=UTC)
FORM = "application/x-www-form-urlencoded"


def sign(method, url, headers=None, body=b"", *, service="service", region="us-east-1", credentials=EXAMPLE):
    return signed_headers(
        credentials,
        method=method,
        url=url,
        headers=headers or {},
        body=body,
        region=region,
        service=service,
        now=WHEN,
    )["Authorization"]


@pytest.mark.parametrize(
    ("method", "path", "headers", "body", "signature"),
    [
        # Of the test suite: get-vanilla, get-vanilla-query-order-key-case, post-vanilla, post-x-www-form-urlencoded.
        ("GET", "/", {}, b"", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        (
            "GET",
            "/?Param2=value2&Param1=value1",
            {},
            b"",
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
        ),
        ("POST", "/", {}, b"", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        (
            "POST",
            "/",
            {"Content-Type": FORM},
            b"Param1=value1",
            "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
        ),
    ],
)
def test_the_vectors_of_aws(method, path, headers, body, signature):
    authorization = sign(method, f"https://example.amazonaws.com{path}", headers, body)
    names = "content-type;host;x-amz-date" if headers else "host;x-amz-date"
    assert authorization == (
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
        f"SignedHeaders={names}, Signature={signature}"
    )


def test_the_example_of_the_aws_documentation():
    url = "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08"
    authorization = sign("GET", url, {"Content-Type": f"{FORM}; charset=utf-8"}, service="iam")
    assert authorization.endswith("Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7")


PARTS = st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=20)


@given(path=PARTS, value=PARTS, header=PARTS, body=st.binary(max_size=100), region=st.sampled_from(["eu-west-1", "x"]))
def test_botocore_computes_the_same_signature(path, value, header, body, region):
    segment = quote(path.replace(".", "-"), safe="")  # No dot segments: services other than S3 remove them.
    url = f"https://email.{region}.amazonaws.com/{segment}?b={quote(value, safe='')}&a=1"
    headers = {"Content-Type": "application/json", "X-Extra": header}
    request = AWSRequest(method="POST", url=url, data=body, headers=headers)
    request.context["timestamp"] = WHEN.strftime("%Y%m%dT%H%M%SZ")
    signer = botocore.auth.SigV4Auth(Credentials(EXAMPLE.access_key_id, EXAMPLE.secret_access_key), "ses", region)
    canonical = signer.canonical_request(_dated(request))
    expected = signer.signature(signer.string_to_sign(request, canonical), request)
    assert re.search("Signature=(.*)", sign("POST", url, headers, body, service="ses", region=region))[1] == expected


def _dated(request):
    request.headers["X-Amz-Date"] = request.context["timestamp"]
    return request


def test_the_secret_is_not_in_a_repr():
    assert "wJalr" not in repr(EXAMPLE)
