"""The way in and the way out: the inbox, the channels and who keeps them up, the outbox, webhooks."""

import os
from dataclasses import dataclass
from functools import partial

from daimon import keeper
from daimon.abi.ids import HOME_SPACE
from daimon.boot.ground import Ground
from daimon.boot.kernel import Kernel
from daimon.gateway.channels.local import LocalChannel
from daimon.gateway.delivery import Desk
from daimon.gateway.forwarding import Forwarding
from daimon.gateway.hooks.posted import Postings
from daimon.gateway.hooks.ready import Shelf
from daimon.gateway.hooks.receive import Behind, Receiver
from daimon.gateway.inbox import Inbox
from daimon.gateway.outbox import Postman
from daimon.gateway.reception import ChannelReception, Hall
from daimon.gateway.supervisor import Supervisor
from daimon.gateway.switchboard import Switchboard
from daimon.gateway.typing import Typing
from daimon.kernel.roster import Roster
from daimon.lines import Lines
from daimon.mind import Mind


@dataclass(frozen=True, slots=True)
class Post:
    inbox: Inbox
    lines: Lines
    forwarding: Forwarding
    postman: Postman
    hall: Hall
    supervisor: Supervisor
    showing: Typing
    board: Switchboard
    shelf: Shelf
    receiver: Receiver


def make_post(ground: Ground, mind: Mind, roster: Roster, kernel: Kernel) -> Post:
    journal, clock, ids, redactor = ground.journal, ground.clock, ground.ids, ground.redactor
    inbox = Inbox(journal, kernel.scheduler, clock, ids, redactor, ground.settings.gateway.max_event_bytes)
    lines = Lines(ground.settings, ground.vault, os.environ, clock, journal)
    forwarding = Forwarding(roster, lambda: mind.settings.asking.to, lambda name: postman.reaches(name))
    postman = Postman(Desk(journal, clock, redactor), (LocalChannel(),), inbox, ground.feed, ground.random, forwarding.where)
    hall = Hall(inbox, roster, journal, journal, journal, clock, ids, postman.poke)
    supervisor = Supervisor(clock, ground.random, redactor, postman.line_changed)
    showing, postings = Typing(journal, (), ground.feed, clock), Postings()
    board = Switchboard(postman, supervisor, showing, postings, lambda name: ChannelReception(name, hall))
    board.change((*lines.all(), *ground.kit.channels))
    shelf = Shelf(journal, HOME_SPACE, partial(keeper.ensure_hook_secret, ground.vault), partial(keeper.drop_hook_secrets, ground.vault))
    behind = Behind(journal, shelf, kernel.scheduler, clock, ids, redactor, keeper.hook_secrets(ground.vault), forwarding.whom)
    return Post(inbox, lines, forwarding, postman, hall, supervisor, showing, board, shelf, Receiver(behind, postings))
