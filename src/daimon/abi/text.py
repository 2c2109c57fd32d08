"""Text that can be written: whether it can, and what becomes of it where it cannot. Loads nothing, for processes that must be small."""


def clean(text: str) -> str:
    """Lone surrogates, which no encoding can write, become replacement characters."""
    if text.isascii():  # known without looking at it
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def is_text(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
