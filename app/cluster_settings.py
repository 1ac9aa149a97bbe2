"""The settings of a search cluster: rows of the one table, kept apart because most who run this need none of them."""

import re

from app.values import Option, file, one_of, whole_number


def urls(text: str) -> tuple[str, ...]:
    """Addresses of servers, between spaces; no secrets in them."""
    addresses = tuple(text.split())
    if not all(re.fullmatch(r"https?://[^/?#@\s]+(/[^?#@\s]*)?", each) for each in addresses):
        raise ValueError(
            "must be http(s) addresses such as https://os1.example.com:9200, without user or password"
        )
    return addresses


def index_prefix(text: str) -> str:
    """What the names of some indexes start with."""
    if not re.fullmatch(r"[a-z][a-z0-9_-]{0,60}", text):
        raise ValueError("must be a small letter, then at most 60 small letters, digits, - or _")
    return text


def aws_region(text: str) -> str:
    """A region of AWS, or nothing."""
    if not re.fullmatch(r"([a-z]{2,}(-[a-z]+)+-\d+)?", text):
        raise ValueError("must be a region such as eu-west-1")
    return text


CLUSTER: tuple[Option, ...] = (
    Option(
        "opensearch_url",
        "",
        urls,
        "Addresses of the cluster's nodes, separated by spaces, such as https://os1.example.com:9200.",
    ),
    Option("opensearch_user", "", str, "User that the cluster knows; empty: asked without."),
    Option(
        "opensearch_password", "", str, "Password of that user; better set as a variable than as an option."
    ),
    Option(
        "opensearch_aws_region",
        "",
        aws_region,
        "Region to sign requests to AWS for, such as eu-west-1, in place of user and password; with the keys of "
        "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN. Empty: nothing is signed.",
    ),
    Option(
        "opensearch_aws_service",
        "es",
        one_of("es", "aoss"),
        "What they are signed for: es, a domain of OpenSearch Service; aoss, a serverless collection.",
    ),
    Option(
        "opensearch_ca",
        "",
        file,
        "File of certificates (PEM) to trust for https in place of the system's.",
    ),
    Option("opensearch_prefix", "jieda", index_prefix, "Start of the names of its indexes in the cluster."),
    Option("opensearch_shards", "1", whole_number(1, 100), "Shards of an index in the cluster."),
    Option("opensearch_replicas", "1", whole_number(0, 10), "Copies of each shard."),
    Option(
        "opensearch_timeout",
        "2",
        whole_number(1, 60),
        "Seconds until another node is asked; a search takes twice that at most.",
    ),
)
"""Rows of the table of settings."""
