"""Words as the catalogue compares them: folded, without their endings, with what people say in their place. Pure.

Folding takes away case and accents. Endings go lightly: two words that share a beginning and differ in how they end are taken for one,
which is wrong now and then and does no harm in a ranking. Words that stand in every other sentence count for nothing, so a greeting has no
words at all. `AKIN` are words that people use for each other when they speak of work; each of a group leads to the others, for less.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

MOST_WORDS = 160
"""Of a text that is compared: a page that was pasted behind a request does not make it slower, or another one."""
LEAST_PLURAL, LEAST_STEM = 3, 4
"""Letters that stay."""
_WORD = re.compile(r"[^\W_]+")
_PLURAL = re.compile(r"(?:(?<=x|z)es|(?<=ch|sh|ss)es|(?<=[^su])s)$")
_ENDINGS = re.compile(
    r"(?:i[sz](?:e[dsr]?|ing|ations?)|ations?|ators?|ating|ates?|ated|ions?|ings?|ments?|ers?|ors?|ed|ies|ied|es|en|ly|als?|s|e|y)$"
)
_COMMON = """
a about above after again ahead all also always am an and another any anybody anyone anything are around as ask at away back be because
been before being best better between both but by bye came can cannot check could day days did do does doing done down each else even ever
every everything feel few find for from get gets getting give go goes going gone good got great had happen happened has have having he
hello help her here hey hi him his how i if im in into is isn it its just keep kind know last later least let lets like little long look
looking lot made make makes making many may maybe me mean might mine month more morning most much must my need needs never new next nice
night no nobody nor not nothing now of off ok okay old on once one only onto or other our out over own part people please put quick
quickly really right said same say saying says see seem set she shall should show sit so some somebody someone something soon start still
stuff such sure take talk tell than thank thanks that thats the their them then there these they thing things think this those though
through time to today tomorrow tonight too took try turn two under until up us use used using very via want wants was way we week weeks
well were what whatever when where whether which while who whole whom whose why will wish with without won work works would year years yes
yesterday yet you your yours yourself s t d ll m re ve don doesn didn der die das den dem des ein eine einen einem einer und oder aber ist
sind war bin bist hast hat habe haben mein meine dein bitte danke mal mir mich dir dich uns wir ihr sie er es ich du zu zum zur im in an
am auf aus bei mit nach von vor fur uber wie was wer wo wann warum kannst konntest kann nicht kein keine noch schon so doch ja nein hallo
heute morgen jetzt gut guten le la les un une des et ou est sont je tu il elle nous vous ils mon ma mes ton ta tes pour avec dans sur par
que qui quoi bonjour merci oui non pas de du au aux ce cette el los las una y o es son yo mi tu por para con en que hola gracias si
"""
_AKIN = """
mail email inbox | photo picture image snapshot pic | film movie video clip | song music audio track tune | meeting appointment call
standup | summarise summarize summary recap digest gist condense shorten | fix repair debug bug broken crash fault troubleshoot fail error
| repo repository git codebase | database db sql query table | translate translation language english german french spanish | invoice bill
receipt | expense spending cost money | buy purchase order shopping | price cost cheap fare | pay payment transfer | trip travel journey
holiday vacation itinerary | flight plane airline airport | hotel room accommodation stay | train rail | recipe cook cooking dish meal
dinner lunch | food grocery groceries ingredient | workout exercise gym training fitness | doctor medical health symptom | medicine
medication pill drug prescription | car vehicle auto | house home flat apartment | job career position vacancy hiring | resume cv | letter
cover | contract agreement lease | law legal lawyer court | tax taxes vat | slide deck presentation powerpoint pptx keynote | spreadsheet
excel sheet xlsx workbook csv | document doc docx word | pdf scan | chart graph plot diagram visualise visualize | logo icon branding |
website site web page homepage | blog article post essay | tweet social twitter mastodon linkedin | newsletter subscriber campaign |
advert ad ads marketing promotion | server host vm machine | deploy release rollout ship | container docker image kubernetes pod | log
logs trace | test tests unit spec | speed slow performance latency fast profile | security vulnerability secure attack hole | password
credential secret login | backup restore archive | delete remove erase clean tidy | rename name | find search locate | duplicate dedupe
double twice | merge combine join | split separate divide | convert turn transform export format | compress shrink smaller size reduce |
crop trim cut | extract pull scrape parse | compare diff difference versus | calendar schedule agenda | remind reminder | task todo chore
| plan planning roadmap | goal target objective | note notes | book read reading novel | learn study exam quiz flashcard lesson teach |
child kid kids son daughter baby toddler | dog cat pet vet | plant garden gardening | weather forecast rain temperature | news headline |
stock share portfolio invest investment | budget finance | bank account statement | salary wage payroll | customer client user | ticket
support complaint issue | review feedback critique | survey questionnaire poll | interview candidate applicant | onboarding newcomer hire
| shift roster rota | birthday party celebration wedding | gift present | speech talk toast | poem story fiction | grammar spelling typo
proofread edit | rewrite rephrase reword polish | voice speech dictation transcribe transcript subtitle caption | map route directions
drive | printer print | wifi network router internet | phone mobile sms | smart light lamp heating thermostat | energy electricity power |
api endpoint rest | schema migration migrate | changelog release notes | commit branch pull request | regex pattern | script automate
automation | cron periodic | alert monitor monitoring | dependency package library upgrade update outdated | licence license copyright |
accessibility screenreader contrast | science paper citation reference bibliography literature | statistics statistical significance
regression | data dataset
"""


def words(text: str) -> list[str]:
    return _WORD.findall(folded(text))[:MOST_WORDS]


def folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in apart if not unicodedata.combining(sign))


@lru_cache(16_384)
def stem(word: str) -> str:
    """The ending of a plural, then at most two others: `translations` and `translating` come to `transl`."""
    word = f"{word[:-3]}y" if word.endswith("ies") and len(word) > LEAST_STEM else _cut(_PLURAL, word, LEAST_PLURAL)
    for _ in range(2):
        word = _cut(_ENDINGS, word, LEAST_STEM)
    return word[:-1] if len(word) > LEAST_PLURAL and word[-1] == word[-2] else word


def _cut(ending: re.Pattern[str], word: str, least: int) -> str:
    shorter = ending.sub("", word)
    return shorter if len(shorter) >= least else word


def terms(text: str) -> list[str]:
    """What is left to compare, in its order."""
    return [short for word in words(text) if word not in COMMON and len(word) > 1 and (short := stem(word)) not in COMMON]


def _groups(table: str) -> Iterable[frozenset[str]]:
    return (frozenset(map(stem, group.split())) for group in table.split("|") if group.strip())


def _akin(groups: Iterable[frozenset[str]]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for group in groups:
        for each in group:
            found[each] = found.get(each, frozenset()) | (group - {each})
    return found


COMMON = frozenset(_COMMON.split())
AKIN = _akin(_groups(_AKIN))
