"""The English table: how people say what reflex can do."""

import re

from daimon.models.intents import Intent, Kind, Table
from daimon.models.timewords import find, is_moment

_ARTICLES = re.compile(r"^(?:(?:the|my|our|a|an|any|some|that|this|all)\s+)+", re.IGNORECASE)
_TAIL = re.compile(r"\s+(?:again|anymore|any more|now|for me|yet|so far|exactly)$", re.IGNORECASE)
_TASK = re.compile(r"(?:to|about|of|that|for)\s|:", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:am|is|are|was|were|has|have|had|will|can|lives?|likes?|loves?|hates?|prefers?|needs?|wants?|owes?|works?|costs?|starts?|ends?)\b",
    re.IGNORECASE,
)
_NO_FACT = re.compile(r"(?:me|us|to|when|how|what|why|who|where|if|whether|the time)\b", re.IGNORECASE)
_NO_SUBJECT = re.compile(
    r"(?:(?:all|every\w*|it|that|this|me|you|us|them|last|first|second|third|next|previous|latest|newest|oldest|recent|old|new|other|wrong|one)\b\s*)+$",
    re.IGNORECASE,
)


def _query(text: str) -> str:
    return _TAIL.sub("", _ARTICLES.sub("", text)).strip()


def _is_fact(text: str) -> bool:
    return bool(_VERB.search(text)) and not _NO_FACT.match(text)


def _is_task(text: str) -> bool:
    """Something to be reminded of: it is led by `to`, `about`, …, or it names a time."""
    return bool(_TASK.match(text)) or find(text) is not None


def _is_timed(text: str) -> bool:
    """A time, then something to be told at that time."""
    moment = find(text)
    return moment is not None and moment.is_definite and moment.spans[0][0] == 0 and bool(_TASK.match(moment.cut_from(text)))


_ABOUT = "(about|on|regarding|concerning|for|of)"
_SAID = "(say|said|tell you|told you|note|noted|note down|noted down|mention|mentioned|write|wrote|write down)"
_SET = "(set|start|create|add|make|schedule|put|give me|begin|i (need|want|would like) [to (set|create|make|add|have)])"
_DROP = "(cancel|delete|remove|drop|stop|dismiss|clear)"
_BOT = "(human|person|bot|robot|machine|computer|ai|program|chatgpt|gpt|claude|gemini|llm|language model|real [person|human])"
_PENDING = "[current|pending|open|upcoming|active|other]"

_ALIASES = {
    "what's": "what is", "whats": "what is", "wats": "what is", "who's": "who is", "where's": "where is", "how's": "how is",
    "that's": "that is", "thats": "that is", "it's": "it is", "i'm": "i am", "you're": "you are", "todays": "today's",
    "i'd": "i would", "i've": "i have", "i'll": "i will", "don't": "do not", "dont": "do not", "can't": "can not",
    "thx": "thanks", "ty": "thanks", "tnx": "thanks", "pls": "please", "plz": "please", "okay": "ok",
    "u": "you", "r": "are", "ur": "your", "wat": "what", "wht": "what", "teh": "the", "halp": "help", "helo": "hello",
}  # fmt: skip
_REAL_WORDS = """
    forgot forgotten cancer cancelled canceled cancellation remote removal remaining remainder notice noticed member members remembrance
    think than tank tanks three these those score story stored storm sore stole stage slate stars smart starch steak root tiger tier liter
    late white world word wound cold could clean kids sports mode motel currency correctly pressure spending spelling seeking seating
    staying saving taking changing charging cutting reading commute compute commander comments conversing converting supplied supper
    hell hells greet alice albert shore newer ease erasure brunch property possibly chuck cheek chick crease rely replay resort woods
    wards ding favor
"""

ENGLISH = Table(
    patterns={
        Intent.HELLO: (
            "(hi|hello|hey|hiya|howdy|yo|greetings) [there|again|you|everyone|daimon|ai]",
            "[hi|hello|hey] [and] [a] [very] good (morning|afternoon|evening|day) [to you] [daimon]",
            "[hi|hello|hey] [there] [daimon] how (are|is) (you|it|things|everything|life) [doing|going] [today]",
            "what is (up|new)",
        ),
        Intent.THANKS: (
            "[ok|great|perfect|cool|nice|super|wonderful|awesome|good] [that is (perfect|great|nice|good|all|very kind)]"
            " [many] (thanks|thank you|cheers|much appreciated) [a lot|very much|so much|a bunch|again|a million|daimon]"
            " [for (your|the|all your|that|all the) (help|answer|reminder|info|time|reply|response|assistance)]",
            "i [really] appreciate (it|that|this|your help|the help)",
        ),
        Intent.BYE: (
            "[ok|thanks] (bye|bye bye|goodbye|good bye|ciao|farewell|good night|see you|see ya|so long|later)"
            " [for now|later|soon|tomorrow|then|daimon|around]",
            "[i will] (talk|speak) to you (later|soon|tomorrow)",
            "have a (good|nice|great) (day|evening|night|weekend|one) [bye|goodbye]",
            "it was (nice|great|good|a pleasure) (talking|chatting|speaking) (to|with) you",
        ),
        Intent.NEVER_MIND: (
            "never mind",
            "nevermind",
            "forget (it|that|about it|about that)",
            "no (thanks|thank you)",
            "(cancel|stop|abort|quit)",
        ),
        Intent.HELP: (
            "help [me] [out]",
            "i need [some|your] help",
            "what (can|do) you do [for me]",
            "what [else] can i (ask|say|do|tell) [you] [here|for|about]",
            "how (does (this|it|that) work|do i use (this|you|it)|can i use (this|you|it)|do you work|can you help [me])",
            "[show|list|tell|give|what are] [me] [all] [the|your] [available] (commands|options|features|skills|abilities|instructions)",
            "what are you (able to do|capable of|good (at|for))",
            "(which|what) [other] (commands|things|phrases|words|questions) (do|can) you (understand|know|do|answer|help [me] with)",
            "(which|what) [kind of|kinds of|type of|types of|sort of|sorts of] (things|questions) can i (ask|say) [to] [you]",
            "(which|what) [kind of|kinds of|type of|types of|sort of|sorts of] (things|questions) can you (do|answer|help [me] with)",
        ),
        Intent.WHO: (
            "(who|what) are you [exactly]",
            f"are you [just|really] [a|an] {_BOT} [or [a|an] {_BOT}]",
            f"am i (talking|speaking|chatting) (to|with) [a|an] {_BOT} [or [a|an] {_BOT}]",
            "[what is] your name",
            "(what|how) (should|can|do|may) i call you",
            "do you have a name",
            "(tell me [something|more]|what can you tell me) about (yourself|you)",
            "(which|what) [kind of|type of] (model|ai|bot|assistant|llm|language model) (are you|is this|am i (talking|speaking) to)",
            "(who|what) am i (talking|speaking|chatting) (to|with)",
            "(introduce yourself|state your name)",
        ),
        Intent.STATUS: (
            "[show|give|tell] [me] [a|the|your] [current|system] (status|state) [report]",
            "what is (your|the) [current] [system] (status|state) [of the system]",
            "how is (the|your) system [doing|running]",
            "is (everything|all|the system|it all) (running|working|up|ok|fine) [ok|fine|well|and running|properly]",
            "are you (running|working|up|online|busy|alive) [ok|fine|properly]",
            "system (status|check|report)",
        ),
        Intent.TIME: (
            "[the] [current] (time|date) [now]",
            "[at the moment] what time is it [right] [now|currently|at the moment]",
            "[do you know|say] what (time|day|date) it is [right] [now] [today]",
            "what is the [current|exact|local] (time|date) [right] [now|at the moment] [today]",
            "what the [current|exact|local] (time|date) is [right] [now] [today]",
            "what is the (day|date) today",
            "what is today's (date|day)",
            "(what|which) (day|date|weekday) is (it|today) [today|now]",
            "(tell|give|show) me the [current|exact|local] (time|date)",
            "do you (have|know) the [current|exact] time",
            "[what is|give me] [the] [current|exact|local] time [right] [now] (in|at) {place:place} [right now|now|at the moment]",
            "what time is it [right] [now|currently] [over|down|up] in {place:place} [right now|now|at the moment]",
            "[do you know] what (time it is|the time is) [right] [now] [over] in {place:place} [right now|now]",
            "in {place:place} what time is it [right now|now|at the moment]",
        ),
        Intent.REMEMBER: (
            "remember (that|:) [:] {text}",
            "remember (this|the following) : {text}",
            "remember {text:fact}",
            "note (that|:) [:] {text}",
            "note to self : {text}",
            "(make|take|add|write|save|keep|create) a [new] (note|memo) (that|:|saying) {text}",
            "(write|jot|note|take) [this|it] down (that|:) {text}",
            "(write|jot|note|take) down [that|:] {text:fact}",
            "(save|store|note|add) this [note|down] : {text}",
            "do not forget (that|:) {text}",
            "do not forget {text:fact}",
            "(keep|bear) in mind (that|:) {text}",
            "for the record [:] {text:fact}",
            "(add|save) to [my|the|your] (notes|memory) (that|:) {text}",
            "(add|save|put|write) {text:fact} (to|in|into) (my|the|your) (notes|memory)",
            "(memo|fact|new note) : {text}",
        ),
        Intent.RECALL: (
            f"what (did|have) i {_SAID} [to you] [earlier|before] {_ABOUT} {{query}}",
            f"[remind|show] [me] [of] (what|everything|all) i {_SAID} {_ABOUT} {{query}}",
            f"recall what i {_SAID} {_ABOUT} {{query}}",
            "what (do you|can you|you) (know|remember|recall|have) [noted|saved] (about|on|regarding) {query}",
            f"do you (know|remember|recall|have) (anything|something) {_ABOUT} {{query}}",
            f"(did|have) i {_SAID} (anything|something) {_ABOUT} {{query}}",
            f"[show|list|find|give|read|get|do i have|are there|have i got] [me] [any|all] [my|the|your] notes {_ABOUT} {{query}}",
            f"what [do] (my|your|the) notes say {_ABOUT} {{query}}",
            "search [in] [my|the|your] (notes|memory) (for|about) {query}",
            "(look up|find|search for|search) {query} in (my|the|your) (notes|memory)",
            "what (is|are) (my|our) {query:subject}",
            "where (is|are) (my|our) {query:subject}",
            "where did i (put|leave|park|hide|store) {query:subject}",
            "[what are|show|list|read|give] [me] [all] (my|the|your) notes",
            "[show|list|read] [me] [all] notes",
            "what notes do (i|you) have",
            "what do you (remember|know about me|remember about me)",
            "what (have|did) i (told|tell) you [so far]",
        ),
        Intent.FORGET: (
            f"forget (what|everything|anything|all|whatever) [that] i [ever] {_SAID} {_ABOUT} {{query:subject}}",
            f"(forget|delete|erase|remove) (what|everything|all) you (know|remember) {_ABOUT} {{query:subject}}",
            f"(forget|delete|erase|remove|drop) [my|the|that|this|your] (note|notes|memo) {_ABOUT} {{query:subject}}",
            "(delete|erase|remove|drop) (my|the) {query:subject} note",
            "forget [about] (my|the) {query:subject}",
        ),
        Intent.REMIND: (
            "remind me {body:task}",
            "{lead:moment} [please] remind me {body}",
            f"{_SET} [me] [up] [a|an|another|the] [new] reminder [for me] {{body:task}}",
            "[a] [new] reminder : {body:task}",
            "reminder {body:task}",
            "(ping|alert|nudge|notify|poke) me {body:task}",
            "tell me {body:timed}",
            "do not let me forget {body:task}",
            "i do not want to forget {body:task}",
            "i (want|need|would like|have) to be reminded {body:task}",
            f"{_SET} [me] [up] [a|an|the|my] [new] timer [for me] (for|of|to) {{length:length}}",
            f"{_SET} [me] (a|an) {{length:length}} timer",
            "timer [for] {length:length}",
            f"{_SET} [me] [up] [a|an|another|the|my] [new] alarm [for me] [to go off] {{alarm:moment}}",
            f"{_SET} [me] (a|an|the|my) {{alarm:moment}} alarm",
            "wake me [up] {alarm:moment}",
            "remind me",
            f"{_SET} [me] [up] [a|an|another|the] [new] reminder [for me]",
            f"{_SET} [me] [up] [a|an|another|the|my] [new] {{body:device}} [for me]",
        ),
        Intent.REMINDERS: (
            f"[show|list|tell|give|read|check] [me] [all] [of] [my|the|your] {_PENDING} reminders [that] [i have] [set [up]]",
            f"what (are|is) [all] [of] [my|the|your] {_PENDING} reminders",
            "(what|which|how many) reminders ((do|did) i (have|set)|are (set|there|pending|open)|have i set) [up] [for me]",
            f"(do i have|are there|have i got) [any] {_PENDING} reminders [set] [up] [for me]",
            "[what (is|do i have)|show|read|list|check] [me] [what is] [on] [my|the] ((reminder|reminders) list|list of reminders) [to me]",
            "what (do i have|is) coming up",
            "what (did i ask you|have i asked you|were you supposed) to remind me (of|about)",
            "what (will you|are you going to) remind me (of|about)",
        ),
        Intent.CANCEL: (
            f"{_DROP} [my|the|that|this] reminder",
            f"{_DROP} [my|the|that|this] {{query:device}}",
            f"{_DROP} [my|the|that|this] {{query:subject}} (reminder|alarm|timer)",
            f"{_DROP} [my|the|that|this] reminder ({_ABOUT}|to|that) {{query:subject}}",
            f"stop reminding me ({_ABOUT}|to) {{query:subject}}",
            f"do not remind me ({_ABOUT}|to) {{query:subject}}",
            f"i (no longer|do not) (need|want) (the|my|a) reminder ({_ABOUT}|to) {{query:subject}}",
            "i (no longer|do not) (need|want) (the|my) {query:subject} reminder [anymore]",
        ),
    },
    aliases=_ALIASES,
    keep=frozenset(_REAL_WORDS.split()),
    opening="(please|kindly|hey|hi|hello|ok|so|well|um|and|daimon|just|quickly|also|now|great|thanks|good (morning|evening|afternoon)"
    "|(can|could|would|will) you|would you mind|i (want|need|would like) you to|i (want|need|would like) to know|can i ask"
    "|tell me|let me know|be so kind [and|to]|do me a favour and)",
    closing="(please|thanks|thank you|thanks a lot|thank you very much|cheers|daimon|ok|would you|will you|if you can)",
    asking=r"\b(?:can|could|would|will) you\b",
    begging=frozenset({"please"}),
    clause=r"[.!?;,\n]+\s|\b(?:and|then|also|but|plus)\b",
    kinds={
        "fact": Kind(_is_fact),
        "task": Kind(_is_task),
        "timed": Kind(_is_timed),
        "moment": Kind(is_moment),
        "length": Kind(lambda text: is_moment(f"in {text}")),
        "device": Kind(lambda text: text.lower() in ("timer", "alarm")),
        "subject": Kind(lambda text: not _NO_SUBJECT.match(text), weight=0),
        "place": Kind(lambda text: len(text.split()) <= 3, weight=0),
    },
    tidy={"query": _query, "place": lambda text: _TAIL.sub("", text)},
)
