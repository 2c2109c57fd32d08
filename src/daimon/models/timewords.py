"""The English of telling when: finds the words that speak of a time.

`find` needs no clock. It spells the text plainly (`_plain`), lets each rule of the table take its words in order, and joins pieces that
stand together. What may be meant in two ways, or cannot be one moment, is found as `Vague`: so nobody acts on the rest of the text as if it
were not there. Another language is another file like this one.
"""

import re
from collections.abc import Callable, Iterator
from typing import cast

from daimon.models.moment import Clock, Date, DayPart, DaysAhead, Midnight, Moment, Offset, Piece, Span, Vague, Weekday
from daimon.models.words import mend


def find(text: str) -> Moment | None:
    line, places = _plain(text)
    found = sorted(_read(line), key=lambda hit: hit[0])
    if not found:
        return None
    spans: list[Span] = []
    for (start, end), _ in found:
        if spans and _JOINT.fullmatch(line, spans[-1][1], start):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    led = [(lead.start() if (lead := _LEAD.search(line, 0, start)) else start, end) for start, end in spans]
    return Moment(tuple(p for _, pieces in found for p in pieces), tuple((places[a][0], places[b - 1][1]) for a, b in led))


def is_moment(text: str) -> bool:
    """Is the text a time and nothing else?"""
    moment = find(text)
    return moment is not None and len(moment.spans) == 1 and not any(c.isalnum() for c in moment.cut_from(text))


# -- plain words -------------------------------------------------------------------------------------------------------

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")
_ALIASES = {
    "tmrw": "tomorrow", "tmr": "tomorrow", "tomorow": "tomorrow", "tommorow": "tomorrow", "tommorrow": "tomorrow", "tonite": "tonight",
    "wensday": "wednesday", "midday": "noon", "lunchtime": "noon", "a.m": "am", "p.m": "pm", "oclock": "o'clock", "@": "at",
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
    "eleven": "11", "twelve": "12", "fifteen": "15", "twenty": "20", "thirty": "30", "forty": "40", "fifty": "50",
}  # fmt: skip
_MENDABLE = frozenset({*_DAYS, *_MONTHS, "tomorrow", "tonight", "afternoon", "evening", "minutes"} - {"march", "may"})
_KEEP = frozenset({"minute", "minuets", "evenings", "afternoons", *(f"{day}s" for day in _DAYS)})
_WORD = re.compile(r"\d{4}-\d\d?-\d\d?|\d+/\d+(?:/\d+)?|\d\d?\.\d\d?\.\d{2,4}|\d+[.:]\d+(?::\d+)?|\d+|[^\W\d_]+(?:['.][^\W\d_]+)*|[@:]")
_LEAD = re.compile(r"(?<!\S)(?:(?:for|on|at|around) )+$")
_JOINT = re.compile(r"(?: |\bat\b|\bon\b|\bin\b|\bthe\b|\bof\b|\baround\b|\bfor\b)*")


def _plain(text: str) -> tuple[str, list[Span]]:
    """Words, each followed by a blank, and for each character the span it came from. `forty five` becomes 45, `5pm` becomes `5 pm`."""
    words: list[tuple[str, Span]] = []
    for hit in _WORD.finditer(text.replace("’", "'")):
        raw = hit.group().lower()
        word = _ALIASES.get(raw) or (raw if raw in _KEEP else mend(raw, _MENDABLE))
        if words and raw.isalpha() and word.isdigit() and len(word) == 1 and words[-1][0] in ("20", "30", "40", "50"):
            ten, (start, _) = words.pop()
            words.append((str(int(ten) + int(word)), (start, hit.end())))
        else:
            words.append((word, hit.span()))
    return "".join(f"{word} " for word, _ in words), [span for word, span in words for _ in range(len(word) + 1)]


# -- rules -------------------------------------------------------------------------------------------------------------

_UNITS = {
    "second": "s", "sec": "s", "minute": "m", "min": "m", "m": "m", "hour": "h", "hr": "h", "h": "h",
    "day": "d", "week": "w", "month": "mo", "year": "y",
}  # fmt: skip
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_UNIT = rf"(?:{'|'.join(sorted(_UNITS, key=len, reverse=True))})s?"
_LENGTH = rf"(?:\d{{1,6}}(?:\.\d{{1,3}})?(?: and a half)?|half an?|a quarter of an|(?:a )?couple of|an?) {_UNIT}(?: and a half)?(?= )"
_LENGTHS = rf"{_LENGTH}(?: (?:and )?{_LENGTH})*"
_DAY = "|".join(_DAYS)
_DAY_SHORT = "mon|tues?|wed|thurs?|thu|fri|sat|sun"
_MONTH = "|".join([*_MONTHS, *(m[:3] for m in _MONTHS), "sept"])
_PART = "(?:morning|afternoon|evening|night)"
_HOUR = r"(?P<hour>\d\d?)"
_AFTER_HOUR = rf" (?:$|(?:to|about|of|that|on|in|and|or|for|today|tonight|tomorrow|this|next|{_DAY}) |:)"
_TH = "(?: (?:st|nd|rd|th))"
_DATE = rf"(?:the )?\d\d?{_TH}?(?: of)? (?:{_MONTH})"
_TIME = rf"(?:\d\d?(?:[:.]\d\d)?(?: [ap]m)?|noon|midnight|today|tonight|tomorrow|(?:next )?(?:{_DAY})|{_DATE})"
_Make = Callable[[re.Match[str]], tuple[Piece, ...]]


def _read(line: str) -> Iterator[tuple[Span, tuple[Piece, ...]]]:
    """Each rule takes its words; what an earlier one took, a later one does not see."""
    taken = bytearray(len(line))
    for rule, make in _RULES:
        for hit in rule.finditer(line):
            if any(taken[hit.start() : hit.end()]):
                continue
            taken[hit.start() : hit.end()] = b"\1" * (hit.end() - hit.start())
            if pieces := make(hit):
                yield hit.span(), pieces


def _offset(hit: re.Match[str]) -> tuple[Piece, ...]:
    seconds, days, months = 0.0, 0, 0
    for one in re.finditer(_LENGTH, f"{hit.group()} "):
        amount, unit = _amount(one.group())
        if unit in ("mo", "y"):
            if amount != int(amount):
                return (Vague(),)
            months += int(amount) * (12 if unit == "y" else 1)
        elif unit in ("d", "w") and amount == int(amount):
            days += int(amount) * (7 if unit == "w" else 1)
        else:
            seconds += amount * _SECONDS[unit]
    return (Offset(int(seconds), days, months),)


def _amount(length: str) -> tuple[float, str]:
    words = length.split()
    unit = next(u for w in words if (u := _UNITS.get(w) or _UNITS.get(w.removesuffix("s"))))
    if words[0] == "half":
        return 0.5, unit
    if "quarter" in words:
        return 0.25, unit
    number = 2.0 if "couple" in words else float(words[0]) if words[0][0].isdigit() else 1.0
    return number + (0.5 if length.endswith("and a half") or " and a half " in length else 0), unit


def _clock(hit: re.Match[str]) -> tuple[Piece, ...]:
    named = hit.groupdict()
    hour, half = named["hour"], named.get("half")
    is_24 = hour.startswith("0") or int(hour) > 12
    return (Clock(int(hour), int(named.get("minute") or 0), "am" if half == "am" else "pm" if half else "24" if is_24 else None),)


def _past(hit: re.Match[str]) -> tuple[Piece, ...]:
    by = {"half": 30, "quarter": 15}.get(hit["by"].removeprefix("a ")) or int(hit["by"])
    (clock,) = cast(tuple[Clock], _clock(hit))
    if hit["to"] == "past":
        return (Clock(clock.hour, by, clock.half),)
    return (Vague(),) if by == 30 or clock.hour < 2 else (Clock(clock.hour - 1, 60 - by, clock.half),)


def _date(hit: re.Match[str]) -> tuple[Piece, ...]:
    named = hit.groupdict()
    month = next((n for n, name in enumerate(_MONTHS, 1) if name[:3] == named["month"][:3]), None) if named.get("month") else None
    return (Date(int(named["day"]), month, int(named["year"]) if named.get("year") else None),)


def _iso(hit: re.Match[str]) -> tuple[Piece, ...]:
    year, month, day = hit["iso"].split("-")
    return (Date(int(day), int(month), int(year)),)


def _weekday(hit: re.Match[str]) -> tuple[Piece, ...]:
    day = next(n for n, name in enumerate(_DAYS) if name[:3] == hit["name"][:3])
    which = hit.groupdict().get("which") or ""
    return (Weekday(day, "next" if which == "next" else "this" if which == "this" else ""),)


def _always(*pieces: Piece) -> _Make:
    return lambda _: pieces


def _part(hit: re.Match[str]) -> tuple[Piece, ...]:
    return (DayPart[hit.group().split()[-1].upper()],)


_RULES: tuple[tuple[re.Pattern[str], _Make], ...] = tuple(
    (re.compile(rf"(?<!\S)(?:{words})(?= )"), make)
    for words, make in (
        (rf"(?:every|each) (?:other )?(?:\d+ )?(?:{_UNIT}|weekday|weekend|{_PART}|{_DAY})", _always(Vague(is_repeated=True))),
        (rf"daily|weekly|monthly|yearly|hourly|(?:on )?weekdays|(?:on )?(?:{_DAY})s", _always(Vague(is_repeated=True))),
        ("(?:the )?day after tomorrow", _always(DaysAhead(2))),
        # `the 5pm train`: a name, not a time
        (rf"(?:the|my|our|his|her|their|an?) (?:\d\d?(?:[:.]\d\d)? [ap]m|\d\d?:\d\d|(?:{_DAY}))", _always()),
        (r"in an? (?:few|bit|while|moment|second|sec|little while)(?: \w+s)?|in (?:some|several|few) \w+s", _always(Vague())),
        ("later|soon|some ?time|some ?day|eventually|yesterday|after (?:lunch|work|dinner|breakfast|school)", _always(Vague())),
        (r"(?:this|next|last) (?:week|month|year)|(?:this|next|last|on the|at the) weekend", _always(Vague())),
        (rf"last (?:{_DAY}|night)|{_LENGTHS} ago", _always(Vague())),
        (r"\d+/\d+(?:/\d+)?|\d+\.\d+\.\d+|on \d+\.\d+", _always(Vague())),
        (rf"(?:by|before|after|until|till|between|from|within|since) (?:{_TIME}|{_LENGTHS})", _always(Vague())),
        (rf"{_LENGTHS} (?:from|after|before) {_TIME}", _always(Vague())),
        (rf"{_TIME} (?:z|utc|gmt|est|edt|cst|cdt|mst|mdt|pst|pdt|bst|cet|cest)", _always(Vague())),
        (rf"in {_LENGTHS}|{_LENGTHS} from now", _offset),
        (r"(?P<iso>\d{4}-\d\d?-\d\d?)(?: t(?= \d))?", _iso),
        (rf"(?:the )?(?P<day>\d\d?){_TH}?(?: of)? (?P<month>{_MONTH})(?: (?P<year>\d{{4}}))?", _date),
        (rf"(?P<month>{_MONTH}) (?:the )?(?P<day>\d\d?){_TH}?(?: (?P<year>\d{{4}}))?", _date),
        (rf"the (?P<day>\d\d?){_TH}", _date),
        (rf"(?P<by>half|(?:a )?quarter|5|10|20) (?P<to>past|to) {_HOUR}(?: (?P<half>[ap]m))?", _past),
        (rf"{_HOUR}(?:[:.](?P<minute>\d\d))? (?P<half>[ap]m)", _clock),
        (rf"{_HOUR}:(?P<minute>\d\d)(?::\d\d)?(?: o'clock| hours)?", _clock),
        (rf"{_HOUR} o'clock", _clock),
        (rf"(?:(?<=at )|(?<=around )){_HOUR}(?:\.(?P<minute>\d\d))?(?={_AFTER_HOUR})", _clock),
        (rf"(?:(?<=day )|(?<=tomorrow )|(?<=tonight )){_HOUR}(?={_AFTER_HOUR})", _clock),
        (rf"(?:(?<=day at )|(?<=tomorrow at )|(?<=tonight at )){_HOUR}", _clock),
        (rf"(?:(?<=for )|(?<=at )){_HOUR}(?= (?:today|tonight|tomorrow|in the) )", _clock),
        (r"at \d\d?(?:\.\d\d)?", _always(Vague())),  # `at 5 Main Street`, `at 8 call mum`
        ("noon", _always(Clock(12, 0, "24"))),
        ("midnight", _always(Midnight())),
        ("tonight|this night", _always(DaysAhead(0), DayPart.NIGHT)),
        (rf"this {_PART}", lambda hit: (DaysAhead(0), *_part(hit))),
        ("today", _always(DaysAhead(0))),
        ("tomorrow", _always(DaysAhead(1))),
        (rf"(?:(?:this )?(?P<which>coming|this|next) )?(?P<name>{_DAY})", _weekday),
        (rf"(?:on|(?P<which>this|next)) (?P<name>{_DAY_SHORT})", _weekday),
        (rf"(?:early )?in the {_PART}|at {_PART}|(?:(?<=day )|(?<=tomorrow )){_PART}", _part),
    )
)
