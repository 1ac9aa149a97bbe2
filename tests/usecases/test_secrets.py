"""What is shown of a log has no secrets in it, and everything else."""

from pathlib import Path

import httpx
import pytest
from jieda.log.lines import MASK
from jieda.usecases.secrets import SECRETS, masked

from tests.support.cost import assert_linear
from tests.support.server import ROOT

HEX = "0123456789abcdef" * 3

SECRET_LINES = {
    "private key in lines": (
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqh\nAgEAAoIBAQC7VJTU\n-----END PRIVATE KEY-----",
        "\nMIIEvQIBADANBgkqh\nAgEAAoIBAQC7VJTU\n",
    ),
    "private key": ("'-----BEGIN RSA PRIVATE KEY-----MIIEpAIBAAK", "MIIEpAIBAAK"),
    "password in an address": (
        "redis.exceptions.AuthenticationError: redis://app:hunter2@10.0.0.7:6379/0",
        "hunter2",
    ),
    "token in an address": (
        "fatal: https://x1y2z3x1y2z3x1y2z3@git.example.com/a.git not found",
        "x1y2z3x1y2z3x1y2z3",
    ),
    "Authorization header": ("> Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
    "bearer token": ("curl: sent 'Bearer 8f3kd03kd93kd93kd93kd'", "8f3kd03kd93kd93kd93kd"),
    "cookie": ("Set-Cookie: session=abc; Path=/", "session=abc; Path=/"),
    "password": ('connect failed: {"user": "a", "db_password": "two words"}', "two words"),
    "password of somebody": ("mount -o user=a,pass=hunter2 failed", "hunter2"),
    "password called pass": ("connect: pass=hunter2 refused", "hunter2"),
    "password in a statement": (
        "STATEMENT:  ALTER USER app WITH ENCRYPTED PASSWORD 'hunter 2';",
        "hunter 2",
    ),
    "password in XML": ("bad server: <id>a</id><password>hunter2</password>", "hunter2"),
    "password in an address of Go": ("open app:hunter2@tcp(10.0.0.7:3306)/shop: refused", "hunter2"),
    "password of netrc": ("machine api.wandb.ai login user password hunter2", "hunter2"),
    "Chinese name of a secret": ("数据库密码=Hunter2Secret 无效", "Hunter2Secret"),
    "Chinese sentence with a secret": ("登录失败，默认密码是 letmein，请修改", "letmein"),
    "key": ("WANDB_API_KEY=" + HEX[:40], HEX[:40]),
    "key of any name": (f"+ ray job submit -- train.py --wandb-key {HEX[:40]} --lr 1", HEX[:40]),
    "token": ("RuntimeError: env HF_TOKEN=abcdefgh12345678abcd rejected", "abcdefgh12345678abcd"),
    "password on a command line": ("+ python train.py --db-password hunter2 --lr 1e-6", "hunter2"),
    "token on a command line": ("ray job submit --auth-token 1234abcd5678efgh9012", "1234abcd5678efgh9012"),
    "password of a client": ("Command 'mysql -uroot -P3306 -pS3cretPw shop' returned 1", "S3cretPw"),
    "login of a client": ("+ curl -sS -u user:hunter2 https://x.example", "hunter2"),
    "address of a webhook": (
        "404 for url: https://hooks.slack.com/services/T00000000/B00000000/XXXX1234abcd",
        "T00000000/B00000000/XXXX1234abcd",
    ),
    "signed address": ("GET https://b.s3.amazonaws.com/k?X-Amz-Signature=ab12&x=1 403", "ab12"),
    "login with a key": (f"$ wandb login {HEX[:40]}", HEX[:40]),
    "AWS access key": ("InvalidAccessKeyId: AKIAIOSFODNN7EXAMPLE does not exist", "AKIAIOSFODNN7EXAMPLE"),
    "access key of a Chinese cloud": ("oss2: LTAI5tExampleExample01 is disabled", "LTAI5tExampleExample01"),
    "GitHub token": ("remote: ghp_aBcD1234aBcD1234aBcD1234 was revoked", "ghp_aBcD1234aBcD1234aBcD1234"),
    "Hugging Face token": ("401 for hf_abcdefABCDEF0123456789 on meta/model", "hf_abcdefABCDEF0123456789"),
    "ModelScope token": (
        "modelscope: ms-0f1e2d3c-1234-5678-9abc-0123456789ab denied",
        "ms-0f1e2d3c-1234-5678-9abc-0123456789ab",
    ),
    "OpenAI-style key": (
        "openai.AuthenticationError: Incorrect API key provided: sk-proj-aB3_aB3-aB3aB3aB3aB3.",
        "sk-proj-aB3_aB3-aB3aB3aB3aB3",
    ),
    "Google key": (f"key AIza{HEX[:35]} is restricted", f"AIza{HEX[:35]}"),
    "Slack token": ("slack: xoxb-1234567890-abcdef invalid_auth", "xoxb-1234567890-abcdef"),
    "Telegram token": (
        "telegram: 110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw is not valid",
        "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw",
    ),
    "token of another maker": (f"groq: gsk_{HEX[:40]} is not valid", f"gsk_{HEX[:40]}"),
    "JSON web token": (
        "jwt expired: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    ),
}
"""For each row of the table a line that has such a secret, and the secret."""


@pytest.mark.parametrize("name", SECRETS)
def test_each_kind_of_secret_is_masked_and_the_rest_of_its_line_stays(name: str) -> None:
    line, secret = SECRET_LINES[name]
    assert masked(line) == line.replace(secret, MASK)
    assert SECRETS[name].search(line), "another row masks it"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("password=hunter2", "password=***"),
        ("password: 'unfinished", "password: '***"),
        ("{'secret_key': 'abc', 'lr': 1}", "{'secret_key': '***', 'lr': 1}"),
        ("MYSQL_PWD=x AWS_SECRET_ACCESS_KEY=a/b+c", "MYSQL_PWD=*** AWS_SECRET_ACCESS_KEY=***"),
        ("https://oauth2:glpat-aB1_aB1_aB1_aB1_aB1_@git.example.com", "https://oauth2:***@git.example.com"),
        ("headers={'Authorization': 'Bearer abc'}", "headers={'Authorization': 'Bearer ***'}"),
        ("connect(user='a', password=b'hunter2')", "connect(user='a', password=b'***')"),
        ("{'Authorization': b'Bearer abc'}", "{'Authorization': b'Bearer ***'}"),
        ("secret=('hunter2',) api_key=SecretStr('x')", "secret=('***',) api_key=SecretStr('***')"),
        ("password=ab&1234 passwd=x(K&9]d{2 lr=1", "password=*** passwd=*** lr=1"),
        ("?password=ab1&user=c2 Pwd=ab1;Database=c2", "?password=***&user=c2 Pwd=***;Database=c2"),
        ("connect(password=hunter2)", "connect(password=***)"),
        ('<add key="DbPassword" value="x y" /> 秘钥：abc', '<add key="DbPassword" value="***" /> 秘钥：***'),
        (
            "SECRET_KEY_BASE=ab Ocp-Apim-Subscription-Key: cd",
            "SECRET_KEY_BASE=*** Ocp-Apim-Subscription-Key: ***",
        ),
        ("create user a identified by 'x'", "create user a identified by '***'"),
        ("DB_PASS=x ansible_become_pass: y", "DB_PASS=*** ansible_become_pass: ***"),
        ("X-Auth-Token: abc", "X-Auth-Token: ***"),
        ("wandb: api key " + HEX[:40], "wandb: api key ***"),
        ('{"auths":{"r.io":{"auth":"dXNlcjpwYXNzd29yZA=="}}}', '{"auths":{"r.io":{"auth":"***"}}}'),
        ("client-key-data: LS0tLS1CRUdJTiA=", "client-key-data: ***"),
        (
            "Command '['docker', 'login', '-u', 'a', '-p', 'hunter2', 'r.io']' failed",
            "Command '['docker', 'login', '-u', 'a', '-p', '***', 'r.io']' failed",
        ),
        ("redis-cli -h x -a hunter2 ping", "redis-cli -h x -a *** ping"),
        (
            "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=693a91f6-7c said 400",
            "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=*** said 400",
        ),
        (f"glpat-aB1_aB1_aB1_aB1_aB1_ expired, 401 nvapi-{HEX[:30]}", "*** expired, 401 ***"),
        ("wandb: wandb_v1_abcDEF123abcDEF123, 403 for pypi-AgEIcHlwaS5vcmcCJDU", "wandb: ***, 403 for ***"),
        ("hvs.CAESIabcdefghij0123 dapi0123456789abcdef0123456789abcdef", "*** ***"),
        ("sk-aaaaaaaaaaaaaaaa1 and hf_bbbbbbbbbbbbbbbb2", "*** and ***"),
        (
            "连接失败：地址为redis://:p@hunter2@10.0.0.7:6379/0",
            "连接失败：地址为redis://:***@10.0.0.7:6379/0",
        ),
        ("请求头Authorization: Basic dXNlcjpwYXNz", "请求头Authorization: Basic ***"),
        ("password：hunter2", "password：***"),
        ("密码：错误，口令：Hunter2Secret。", "密码：错误，口令：***。"),
        ("密码: S3cret! 密码已重置为：a1b2，密码是 123456。", "密码: *** 密码已重置为：***，密码是 ***。"),
        ('{"user": "a", "pass": "S3cret!x"}', '{"user": "a", "pass": "***"}'),
        ("url?pass=1qaz2wsx&a=1 (pass='hunter2')", "url?pass=***&a=1 (pass='***')"),
        ("command failed: sshpass -p S3cretPw ssh root@a", "command failed: sshpass -p *** ssh root@a"),
        (
            "https://open.feishu.cn/open-apis/bot/v2/hook/0f1e2d3c-1234-5678 said 400",
            "https://open.feishu.cn/open-apis/bot/v2/hook/*** said 400",
        ),
        ("https://api.telegram.org/bot123:AAE4-x said 401", "https://api.telegram.org/bot*** said 401"),
        (
            r'{"log": "{\"password\": \"two words\", \"lr\": 1}"}',
            r'{"log": "{\"password\": \"***\", \"lr\": 1}"}',
        ),
        (r'"password": "hun\"ter2", "lr": 1', '"password": "***", "lr": 1'),
        (r"got 'a\nhf_abcdefABCDEF0123456789'", r"got 'a\n***'"),
        ("next=token%3Dhf_abcdefABCDEF0123456789", "next=token%3D***"),
        (
            "Command '['train', '--api-key', 'hunter2', '--lr', '1']'",
            "Command '['train', '--api-key', '***', '--lr', '1']'",
        ),
        ("password=none-of-yours", "password=***"),
        ('if password == "hunter2"', 'if password == "***"'),
        (f"wandb login --relogin {HEX[:40]}", "wandb login --relogin ***"),
        (f"swanlab login -k {HEX[:40]}", "swanlab login -k ***"),
        (f"Namespace(wandb_key='{HEX[:40]}', lr=1)", "Namespace(wandb_key='***', lr=1)"),
        (
            f"wandb.login(key='{HEX[:40]}'), not oss_key={HEX[:24]}.",
            "wandb.login(key='***'), not oss_key=***.",
        ),
        (f"['train.py', '--wandb-key', '{HEX[:40]}']", "['train.py', '--wandb-key', '***']"),
        (f"  wandb_key .......... {HEX[:40]}", "  wandb_key .......... ***"),
        ("  db_password .......... hunter2", "  db_password .......... ***"),
        (
            "https://b.oss-cn-beijing.aliyuncs.com/k?Expires=1&Signature=a%3D",
            "https://b.oss-cn-beijing.aliyuncs.com/k?Expires=1&Signature=***",
        ),
    ],
)
def test_secrets_are_masked_in_the_forms_that_logs_have(line: str, shown: str) -> None:
    assert masked(line) == shown


@pytest.mark.parametrize(
    "line",
    [
        "tokenizer.eos_token='<|im_end|>' pad_token: <|endoftext|> eos_token_id=151645",
        "max_tokens_per_gpu=4096 num_tokens: 1234567890123456789",
        "KeyError: 'password'",
        "TypeError: login() missing 1 required positional argument: 'password'",
        "Access denied for user 'app'@'10.0.0.3' (using password: YES)",
        "password=None api_key: null, secret == none. {'api_key':false}",
        "commit 0123456789abcdef0123456789abcdef01234567",
        "ssh://git@github.com:22/a.git and http://10.0.0.7:8000/v1",
        "AssertionError: risk-free-assertion-of-16-characters",
        "Bearer authentication is required",
        "mysql -u root -p shop and mysqld --port=3306 -P 3306",
        "the task sk-learn failed",
        "forward_pass: 12.3 ms, pass: 3 fail: 1, -Rpass=loop2vec",
        "pass=3/10 pass=True, tests pass=12 pass=12.345ms pass=98.5% pass=1.25e-05 pass=120/120_tests pass=0x7f3a2b1c",
        '{"pass": true, "fail": 0} {"pass": "forward"} {"pass": 1234567} fwd_pass=fp8_linear2 -pass=loop2vec',
        "密码是空的，密码是 base64 编码，密钥为 2048 位，令牌是 None，密码是否正确，密码为8-16位",
        "curl --negotiate -u : https://a:8080 && docker run -u 1000:1000 -p 80:80 curlimages/curl",
        "client-key: /root/.minikube/client.key",
        "Invalid api key: check your settings",
        "--input-key messages_2_of_the_prompt --ssh-key /root/.ssh/id_ed25519 sort_key=data/train2/part.parquet",
        "  wandb_key .......... None",
        "waiting for the password ... done",
        "mysql -u <user> -p <password> and restart; a user identified by its id",
    ],
)
def test_what_is_no_secret_stays(line: str) -> None:
    assert masked(line) == line


@pytest.mark.parametrize(
    "unit",
    [
        "-",
        "--a",
        "--api-",
        "bearer ",
        "token=",
        "token ",
        'password="\\',
        'password=\\"',
        "a.",
        "--login ",
        "mysql ",
        "mysql -a ",
        "curl -a ",
        "machine a login ",
        "password=a&1",
        "password=(",
        "x-a",
        "gsk_",
        "密码=",
        "密码是",
        "identified by '",
        "<password>",
        "a:a@",
        "pass=",
        "pass=1",
        "pass=a1",
        "a://b:",
        "-eyJaaaaaaaa",
        " ",
        "\\",
    ],
)
def test_a_line_without_end_costs_what_it_is_long(unit: str) -> None:
    assert_linear(lambda size: masked(unit * (size // len(unit))), 2000)


def test_a_log_is_matched_as_it_is_and_shown_without_its_secrets(client: httpx.Client) -> None:
    log = (
        'Traceback (most recent call last):\n  File "roll/a.py", line 1, in f\n'
        "    self.node2pg[node_rank]  # password=hunter2\nKeyError: 1\n\n"
        "ValueError: no quota for api_key=hunter2-of-tenant\n"
    )
    answers = [
        client.post("/api/v1/diagnose", json={"text": log}),
        client.post("/api/v1/diagnose.txt", content=log),
    ]
    assert answers[0].json()["matches"][0]["id"] == "roll/node2pg-keyerror"
    assert [answer.text.count("hunter2") for answer in answers] == [0, 0]
    assert MASK in answers[0].text
    # The page shows the paste again, for its owner to change; what it found in it is masked there as well.
    page = client.post("/en/diagnose", data={"text": log}).text
    assert page.count("hunter2") == log.count("hunter2")


@pytest.mark.parametrize(
    "above",
    [
        "训练跑到一半，总是在同一台机器上挂掉，重试还是挂在那台\n{}",
        "{}Traceback (most recent call last):\nFrobError: no gear\n",
    ],
    ids=["an entry fits", "no entry fits"],
)
@pytest.mark.parametrize("prefix", ["", "2026-03-02 08:11:07 "])
@pytest.mark.parametrize("kind", ["PRIVATE KEY", "PGP PRIVATE KEY BLOCK"])
def test_no_line_of_a_private_key_is_shown_or_left_in_a_cached_page(
    above: str, kind: str, prefix: str, client: httpx.Client
) -> None:
    lines = [
        f"-----BEGIN {kind}-----",
        "MIIEvQIBADANBgkqh",
        "AgEAAoIBAQC7VJTU",
        f"-----END {kind}-----",
    ]
    log = above.format("".join(f"{prefix}{line}\n" for line in lines))
    page = client.post("/en/diagnose", data={"text": log}, headers={"Accept": "text/html,*/*"})
    assert page.headers["cache-control"] == "private, no-cache"
    for answer in (page, client.post("/api/v1/diagnose", json={"text": log})):
        assert not [line for line in lines[1:3] if line in answer.text]


def samples() -> list[Path]:
    return sorted((ROOT / "content/samples").rglob("*.log"))


def test_the_logs_that_we_ship_have_nothing_to_mask() -> None:
    """A pattern that is too greedy would hide what a reader recognizes an error by."""
    logs = {path.name: path.read_text(encoding="utf-8") for path in samples()}
    assert logs
    assert {name for name, text in logs.items() if masked(text) != text} == set()
