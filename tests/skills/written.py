"""Skills as text, and as directories for the reference validator."""

from pathlib import Path

from daimon.skills.bundle import Bundle, File


def skill_md(name: str = "read-feeds", description: str = "Read feeds and tell what is new.", more: str = "", body: str = "Steps.") -> str:
    return f"---\nname: {name}\ndescription: {description}\n{more}---\n{body}\n"


def bundle(text: str | bytes, **others: str) -> Bundle:
    data = text if isinstance(text, bytes) else text.encode()
    return {"SKILL.md": File(data), **{path.replace("__", "/"): File(words.encode()) for path, words in others.items()}}


def put(folder: Path, files: Bundle) -> Path:
    for path, file in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.data)
        place.chmod(0o755 if file.is_executable else 0o644)
    return folder
