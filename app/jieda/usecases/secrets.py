"""Masks secrets in text from logs: tokens, keys and passwords. A log is matched as it was pasted, but for the
lines of private keys; only answers are masked, because people copy them into chats and issues."""

import re
from collections.abc import Mapping
from dataclasses import replace

from jieda.diagnosis.answers import Diagnosis
from jieda.han import HAN
from jieda.log.lines import MASK, PRIVATE_KEY

_OPENED = r"""\\*["']?"""
"""An optional quote before a name or a value; inside a JSON string it follows a backslash."""
_VALUE = (
    r"""(?:\\+"(?P<escaped>[^"\\]+)|"(?P<double>[^"\\]*(?:\\.[^"\\]*)*)"|'(?P<single>[^'\\]*(?:\\.[^'\\]*)*)'"""
    rf"""|{_OPENED}(?P<secret>[^\s"',;&(){{}}\[\]<>]+"""
    r"""(?:(?<!\$)[;&(){}\[\]<>]+(?=[^\s"',]{0,64}\d)(?!\w{1,40}[=(\[]|(?<=[(\[])[\d:]*[\])])[^\s"',;&(){}\[\]<>]+)*))"""
)
"""The value after a name: a quoted string, or the text up to the end of the word. A password has brackets, `&` and `;`
as well; before a name, an index or anything without digits, they are code."""
_RANDOM = (
    rf"{_OPENED}(?P<secret>"
    r"(?=[A-Za-z_\-./+]*\d)(?=[\d_\-./+]*[A-Za-z])[A-Za-z0-9_\-./+]{16,}(?<!\.)=*)"
)
"""A random value: long, of letters and digits. Training logs are full of `eos_token` and `max_tokens`, whose values
are not secret."""
_RUN = rf"{_OPENED}(?P<secret>(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{{20,}})(?![\w/-]|\.\w)"
"""A random value without punctuation, as a key is written. The name of a column, a file or a cache has more."""
_NO_VALUE = r"""(?:none|null|true|false|nil|yes|no)\.?(?:[\s"',;&(){}\[\]<>，。；、）]|$)"""
_TYPED = r"""(?:(?-i:\w{0,20}(?:Secret|Password)(?:Str|Bytes)?\()?[(\[]{0,3}[bBuUrRfF]{0,2}(?=\\*["']))?"""
"""What Python prints before a quoted value: `b'…'`, `['…']`, `SecretStr('…')`."""
_IS = rf"{_OPENED}\s*(?:[:=]{{1,2}}+>?|：|(?<=\s)\.{{4,99}}(?=\s))\s*(?!{_NO_VALUE}){_TYPED}"
_NO_WORD_BEFORE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f][0-9A-Fa-f]))"
r"""The start of a word. Not `\b`, which takes a Chinese character for a part of the word after it; an escape such as
`\n` or `%3D` before a word is not part of it either."""
_COUNT = r"(?:0x[\da-f]+|\d[\d.,:/%_-]*+[a-z%]{0,9}+(?:[+-]?\d{1,3})?)(?!\w)"
"""A number, possibly with a unit."""
_CHINESE, _ASCII = "(?:密码|口令|[密秘]钥|令牌)", r"(?a:[\w.@#$%^*+/=!?~:-])"
_OPTION = r"(?<![a-z0-9_-])--[a-z0-9_-]*"
"""The start of an option. It is tried once per run of dashes and letters, which keeps long runs cheap."""
_GIVEN = r"""["']?,?\s+(?!["']?-)"""
"""The text between an option and its value, on a command line or in a list of arguments as Python prints it."""
_ARGUMENTS = r"""["']?,?(?:[ \t]{1,9}(?!&&)[^\s|;]{1,80}){0,12}?[ \t]{1,9}["']?"""


NAMED: Mapping[str, str] = {
    "private key in lines": PRIVATE_KEY,
    "private key": r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?P<secret>[a-z0-9+/\\].*)",
    "password in an address": (
        rf"{_NO_WORD_BEFORE}[a-z][a-z0-9+.-]{{0,20}}://[^\s/:@]{{0,200}}:(?P<secret>[^\s/]+)@"
    ),
    "token in an address": rf"{_NO_WORD_BEFORE}https?://(?P<secret>[^\s/:@]{{16,}})@",
    "Authorization header": (
        rf"""{_NO_WORD_BEFORE}(?:authorization|private-token|x(?:-[a-z]{{1,20}}){{1,3}}-token){_IS}{_OPENED}(?:(?:bearer|basic|token|digest|negotiate)\s+)?(?P<secret>[^\s"',;]+)"""
    ),
    "bearer token": rf"{_NO_WORD_BEFORE}(?:bearer|api[ _-]?key(?: provided| is)?:?)\s+{_RANDOM}",
    "cookie": rf"{_NO_WORD_BEFORE}(?:set-)?cookie{_OPENED}\s*:\s*(?P<secret>.+)",
    "password": rf"(?:password|passwd|passphrase|(?<![a-z])pwd|secret|credentials?){_IS}{_VALUE}",
    # Of a `forward_pass` it is a step of a program; alone, it is one, or a count, unless it looks like a password.
    "password called pass": (
        rf"""(?<![a-z0-9_-])(?:pass=|(?<=["'])pass\\*["']\s*:\s*){_OPENED}(?P<secret>(?!{_COUNT})"""
        rf"""(?=[^\s"',;&]{{0,64}}\d)(?=[^\s"',;&]{{0,64}}[a-z])[^\s"',;&(){{}}\[\]<>]{{7,}})"""
    ),
    "password of somebody": (
        r"(?:(?<![a-z])(?:db|sql|root|admin|ssh|sudo|become|mail|smtp|redis|ldap|proxy)[_-]?"
        rf"|{_NO_WORD_BEFORE}user(?:name)?=[^\s,;&]{{1,80}}[,;&\s])p(?:ass|w){_IS}{_VALUE}"
    ),
    "password in a statement": (
        r"(?:identified\s{1,9}by|(?:with|encrypted)\s{1,9}password)\s{1,9}[\"'](?P<secret>[^\"'\n]+)"
    ),
    "password in XML": (
        r"(?:<[\w.-]{0,40}(?:password|secret)>|(?:name|key)=\"[\w.-]{0,40}password\"\s{1,9}value=\")"
        r"(?P<secret>[^<\"\n]{1,300})(?:</|\")"
    ),
    "password in an address of Go": (
        rf"{_NO_WORD_BEFORE}[\w.-]{{1,80}}:(?P<secret>[^\s:/\"']{{1,200}})@(?:tcp|unix)\("
    ),
    "password of netrc": (
        rf"{_NO_WORD_BEFORE}machine\s{{1,9}}\S{{1,200}}\s{{1,9}}login\s{{1,9}}\S{{1,80}}\s{{1,9}}password\s{{1,9}}(?P<secret>\S+)"
    ),
    # Of ASCII alone: other text there is a sentence.
    "Chinese name of a secret": rf"{_CHINESE}{_IS}{_OPENED}(?P<secret>{_ASCII}+)",
    # At the end of a clause: `密钥是 RSA 格式` describes one.
    "Chinese sentence with a secret": (
        rf"{_CHINESE}(?:已?(?:设置?|改|重置))?[是为成][：:]?\s*(?!{_NO_VALUE}){_OPENED}(?P<secret>{_ASCII}++)(?!\s?[{HAN}])"
    ),
    "key": (
        r"(?:client-key-data|(?:api|access|secret|private|account|storage|encryption|signing|ssh|subscription)[_-]?key(?:[_-]?(?:id|base))?)"
        rf"{_IS}{_VALUE}"
    ),
    "key of any name": rf"{_NO_WORD_BEFORE}key(?:{_IS}|(?<=-key){_GIVEN}){_RUN}",
    "token": rf"""(?:token|jwt|(?<![a-z])(?:[as]k|_auth)|(?<=["'])auth(?=\\*["'])){_IS}{_RANDOM}""",
    "password on a command line": (
        rf"{_OPTION}(?:password|passwd|passphrase|secret|(?:api|access|secret)[_-]?key){_GIVEN}{_VALUE}"
    ),
    "token on a command line": rf"{_OPTION}token{_GIVEN}{_RANDOM}",
    "password of a client": (
        rf"{_NO_WORD_BEFORE}(?:sshpass|(?:mysql|mariadb)(?:dump|admin|import|-dump)?)"
        rf"(?:[ \t]{{1,9}}(?-i:(?!-p))[^\s|;]{{1,80}}){{0,12}}"
        rf"[ \t]{{1,9}}(?-i:-p)(?:(?<=sshpass -p)[ \t]{{1,9}})?{_VALUE}"
    ),
    "login of a client": (
        rf"{_NO_WORD_BEFORE}(?:curl{_ARGUMENTS}(?:-u|--(?:proxy-)?user)[\"']?,?[ =]{{0,9}}{_OPENED}[^\s:\"']{{1,80}}:"
        rf"|(?:redis-cli{_ARGUMENTS}-a|docker[\"']?,?\s{{1,9}}[\"']?login{_ARGUMENTS}-p){_GIVEN}){_VALUE}"
    ),
    "address of a webhook": (
        r"(?:hooks\.slack\.com/[a-z]{1,20}/|open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/|api\.telegram\.org/bot"
        r"|qyapi\.weixin\.qq\.com/cgi-bin/webhook/[a-z]{1,20}\?key=|discord(?:app)?\.com/api/webhooks/|\.webhook\.office\.com/)"
        r"(?P<secret>[\w:/@-]+)"
    ),
    "signed address": (
        r"[?&](?:(?:x-[a-z]{3,4}-|q-)?(?:signature|credential|security-token)|sig)=(?P<secret>[^\s&\"']+)"
    ),
    "login with a key": (
        rf"{_NO_WORD_BEFORE}login\s+(?:--?\S{{1,80}}\s{{1,9}}){{0,8}}(?P<secret>(?=[a-z_-]{{0,19}}[0-9])[0-9a-z_-]{{20,}})"
    ),
}
"""Secrets known by what stands before them, in either case: patterns in which the group that is not empty is the
secret."""
SHAPED: Mapping[str, str] = {
    "AWS access key": r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}",
    "access key of a Chinese cloud": r"(?:LTAI|AKID|AKLT|ALTAK)[A-Za-z0-9]{12,}",
    "GitHub token": r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
    "Hugging Face token": r"(?:hf|api_org)_[A-Za-z0-9]{16,}",
    "ModelScope token": r"ms-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "OpenAI-style key": r"sk-[A-Za-z0-9_-]{16,}",
    "Google key": r"(?:AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,})",
    "Slack token": r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    "Telegram token": r"[0-9]{8,12}:AA[A-Za-z0-9_-]{30,}",
    "token of another maker": (
        r"(?:(?:gsk|r8|do[opr]_v1|shp(?:at|ca|pa|ss)|whsec|[rs]k_(?:live|test)|lin_api|rubygems)_[A-Za-z0-9]{16,}"
        r"|(?:xai|pplx)-[A-Za-z0-9]{16,}|npm_[A-Za-z0-9]{30,}|dapi[0-9a-f]{32}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
        r"|(?:gl(?:pat|dt|rt|cbt|ptt|soat|agent)-|nvapi-|pypi-|wandb_v1_|tgp_v1_|dckr_[op]at_|GOCSPX-|hv[bs]\.|ATATT3|AGE-SECRET-KEY-1)[A-Za-z0-9_=-]{16,})"
    ),
    "JSON web token": r"(?<![_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)?",
}
"""Secrets known by their own form, wherever a word begins."""
SECRETS: Mapping[str, re.Pattern[str]] = {
    **{name: re.compile(pattern, re.IGNORECASE) for name, pattern in NAMED.items()},
    **{name: re.compile(f"{_NO_WORD_BEFORE}(?P<secret>{pattern})") for name, pattern in SHAPED.items()},
}
"""Applied in this order, each to the output of the previous one. This is code and not content, so that no content
directory can lack it."""

_EMAIL = re.compile(
    r"(?<![A-Za-z0-9_.+-])[A-Za-z0-9_.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9-])"
)


def masked_for_others(text: str) -> str:
    """Mask secrets and e-mail addresses, in text that one reader sends to another."""
    return _EMAIL.sub(MASK, masked(text))


def masked(text: str) -> str:
    """Replace each secret in `text` with MASK."""
    for pattern in SECRETS.values():
        text = pattern.sub(_without, text)
    return text


def _without(match: re.Match[str]) -> str:
    for name, value in match.groupdict().items():
        if value:
            start, end = (edge - match.start() for edge in match.span(name))
            return f"{match[0][:start]}{MASK}{match[0][end:]}"
    return match[0]


def without_secrets(diagnosis: Diagnosis) -> Diagnosis:
    """Mask all text in a diagnosis that was taken from the log."""
    matches = (
        replace(match, matched=tuple(replace(line, text=masked(line.text)) for line in match.matched))
        for match in diagnosis.matches
    )
    where = diagnosis.elsewhere
    return replace(
        diagnosis,
        matches=tuple(matches),
        elsewhere=where and replace(where, places=tuple(map(masked, where.places))),
        errors=tuple(replace(error, message=masked(error.message)) for error in diagnosis.errors),
        query=masked(diagnosis.query),
    )
