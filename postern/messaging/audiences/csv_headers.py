"""Column names of contact files in 14 languages, and the contact fields they are mapped to.

English, Chinese, Hindi, Spanish, Arabic, French, Bengali, Portuguese, Russian, Urdu, Indonesian, German, Japanese and
Italian. To add a language, add its words to the lists below: a test checks that no name maps to two fields. Only the
contact's own fields have synonyms. Every other column becomes an attribute under its name in the file, because
templates, rules and later exports use that name.
"""

import unicodedata
from functools import lru_cache
from typing import Final, Literal

HeaderField = Literal["email", "unsubscribed"]

NAME_LIMIT: Final = 100
"""Maximum characters of a name that is compared with the lists."""

KEPT_CATEGORIES: Final = frozenset(("Lu", "Ll", "Lt", "Lm", "Lo", "Mc", "Me", "Nd", "Nl", "No", "Sm", "Sc", "Sk", "So"))
"""Unicode categories of the characters that are compared: letters, Indian vowel signs, digits and symbols."""

EMAIL: Final = (
    # English, and names in exports of other products
    *("email", "email address", "mail", "mail address", "email id", "primary email", "e-mail 1 - value"),
    # German
    *("E-Mail-Adresse", "Mailadresse", "E-Mail-Anschrift"),
    # Spanish
    *("correo", "correo electrónico", "correo-e", "dirección de correo", "dirección de correo electrónico"),
    *("dirección de email", "dirección email"),
    # French
    *("courriel", "adresse e-mail", "adresse courriel", "adresse de courriel", "adresse électronique", "mél"),
    *("adresse mail", "adresse de messagerie", "courrier électronique", "adresse de courrier électronique"),
    # Portuguese
    *("correio eletrônico", "correio electrónico", "endereço de e-mail", "endereço eletrônico", "endereço electrónico"),
    # Italian
    *("posta elettronica", "indirizzo e-mail", "indirizzo mail", "indirizzo di posta elettronica"),
    # Indonesian
    *("surel", "alamat email", "alamat surel", "pos-el"),
    # Russian
    *("почта", "эл. почта", "электронная почта", "адрес электронной почты", "адрес эл. почты", "электронный адрес"),
    *("эл. адрес", "имейл", "емейл", "мейл"),
    # Chinese, simplified and traditional
    *(
        "邮箱",
        "电子邮箱",
        "电子邮件",
        "邮件",
        "邮箱地址",
        "电子邮箱地址",
        "电子邮件地址",
        "邮件地址",
        "电邮",
        "电邮地址",
    ),
    *("電子郵件", "電子信箱", "信箱", "郵箱", "電郵", "電子郵件地址", "電郵地址"),
    # Japanese
    *("メール", "メールアドレス", "Eメール", "Eメールアドレス", "電子メール", "電子メールアドレス", "メアド"),
    # Hindi
    *("ईमेल", "ई-मेल", "इमेल", "ईमेल पता", "ई-मेल पता", "ईमेल आईडी", "ईमेल एड्रेस"),
    # Bengali
    *("ইমেইল", "ই-মেইল", "ইমেল", "ই-মেল", "ইমেইল ঠিকানা", "ই-মেইল ঠিকানা", "ইমেল ঠিকানা"),
    # Arabic
    *("البريد الإلكتروني", "بريد إلكتروني", "البريد", "الإيميل", "إيميل", "الايميل", "ايميل"),
    *("عنوان البريد الإلكتروني", "عنوان البريد"),
    # Urdu
    *("ای میل", "ای میل ایڈریس", "ای میل پتہ", "برقی پتہ"),
)

UNSUBSCRIBED: Final = (
    # English
    *("unsubscribed", "is unsubscribed", "opted out", "opt-out", "email opt-out", "unsubscribed from all email"),
    # German
    *("abgemeldet", "ausgetragen", "abbestellt"),
    # Spanish
    *("dado de baja", "dada de baja", "de baja", "desuscrito", "suscripción cancelada"),
    # French
    *("désabonné", "désabonnée", "désinscrit", "désinscrite"),
    # Portuguese
    *("descadastrado", "descadastrada", "inscrição cancelada", "desinscrito"),
    # Italian
    *("disiscritto", "disiscritta", "iscrizione annullata"),
    # Indonesian
    *("berhenti berlangganan", "batal berlangganan"),
    # Russian
    *("отписан", "отписана", "отписался", "отписалась", "отписка"),
    # Chinese, simplified and traditional
    *("已退订", "退订", "已取消订阅", "取消订阅", "已退訂", "退訂", "已取消訂閱", "取消訂閱"),
    # Japanese
    *("配信停止", "配信解除", "購読解除", "購読停止"),
    # Hindi
    *("सदस्यता समाप्त", "सदस्यता रद्द", "अनसब्सक्राइब", "अनसब्सक्राइब्ड"),
    # Bengali
    *("সদস্যতা বাতিল", "আনসাবস্ক্রাইব", "আনসাবস্ক্রাইবড"),
    # Arabic
    *("إلغاء الاشتراك", "ألغى الاشتراك", "ملغى الاشتراك", "غير مشترك"),
    # Urdu
    *("ان سبسکرائب", "رکنیت منسوخ"),
)

SUBSCRIBED: Final = (
    *("subscribed", "is subscribed", "abonniert", "suscrito", "abonné", "inscrit", "inscrito", "assinante", "iscritto"),
    *("berlangganan", "подписан", "已订阅", "已訂閱", "購読中", "सदस्य", "مشترك"),
)
"""Names that may mean the opposite of `unsubscribed`. They are not synonyms: such a column often holds a date or the
name of a form. It is used only if the caller maps it; a preview contains a notice about it."""

COMMON: Final = (
    *("prénom", "apellido", "apellidos", "sobrenome", "cognome", "straße", "größe", "città", "teléfono", "téléphone"),
    *("имя", "фамилия", "отчество", "имя и фамилия", "фио", "телефон", "город", "компания", "страна", "адрес"),
    *(
        "姓名",
        "名字",
        "姓",
        "名",
        "电话",
        "手机",
        "公司",
        "城市",
        "電話",
        "手機",
        "名前",
        "氏名",
        "会社名",
        "電話番号",
        "お名前",
    ),
    *("이메일", "이메일 주소", "이름", "성명", "전화번호", "회사"),
    *("الاسم", "الاسم الأول", "اسم العائلة", "الهاتف", "المدينة", "الشركة"),
)
"""Other frequent column names. They map to no field; they show that a header was decoded with the right encoding."""

TRUE_WORDS: Final = (
    *("true", "yes", "y", "t", "1", "ja", "wahr", "oui", "vrai", "sí", "sì", "verdadero", "sim", "verdadeiro", "vero"),
    *("ya", "benar", "да", "истина", "是", "真", "はい", "हाँ", "हां", "सत्य", "হ্যাঁ", "نعم", "صحيح", "ہاں"),
)
FALSE_WORDS: Final = (
    *("false", "no", "n", "f", "0", "nein", "falsch", "non", "faux", "falso", "não", "tidak", "salah"),
    *("нет", "ложь", "否", "假", "いいえ", "偽", "नहीं", "असत्य", "না", "لا", "خطأ", "نہیں"),
)
"""Values of a cell of `unsubscribed`, including what spreadsheets write for true and false."""


def plain_name(name: str) -> str:
    """A normalised name for comparison: without case, accents, width, spaces and punctuation (`E-Mail ` is `email`).

    Names longer than NAME_LIMIT are returned unchanged.
    """
    return _plain(name) if len(name) <= NAME_LIMIT else name


@lru_cache(maxsize=4_096)
def _plain(name: str) -> str:
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    return "".join(char for char in decomposed if unicodedata.category(char) in KEPT_CATEGORIES).casefold()


_FIELDS: Final[dict[str, HeaderField]] = {
    **{plain_name(name): "email" for name in EMAIL},
    **{plain_name(name): "unsubscribed" for name in UNSUBSCRIBED},
}
_SUBSCRIBED: Final = frozenset(map(plain_name, SUBSCRIBED))
_COMMON: Final = frozenset(map(plain_name, COMMON))
_FLAGS: Final = {
    **{plain_name(word): True for word in TRUE_WORDS},
    **{plain_name(word): False for word in FALSE_WORDS},
}


def field_of(name: str) -> HeaderField | None:
    """The contact field that a column of this name maps to, in any of the languages; None for an attribute."""
    return _FIELDS.get(plain_name(name))


def may_mean_subscribed(name: str) -> bool:
    """Whether a column of this name may mean the opposite of `unsubscribed`."""
    return plain_name(name) in _SUBSCRIBED


def is_known(name: str) -> bool:
    """Whether this is a frequent column name; a wrongly decoded name is not."""
    return plain_name(name) in _FIELDS or plain_name(name) in _COMMON


def flag_of(word: str) -> bool | None:
    """The boolean for a word that means true or false, in any of the languages; None for other text."""
    return _FLAGS.get(plain_name(word))
