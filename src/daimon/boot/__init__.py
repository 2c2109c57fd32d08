"""Every part put together: the only place that chooses what stands behind a port.

`life.running` is the whole life of one Daimon in this process, and its table of contents. Each other file makes one group of parts, in
this order, of those made before:

    ground       the home, the vault, the journal, time and ids: what everything stands on
    knowledge    memory, and the models that think
    workplace    boxes, workspaces, files, services: where commands run
    gate         the tools, and what decides on each call
    kernel       the turns, and who runs them
    post         the way in and out: inbox, outbox, channels
    heart        what happens by itself: automations, summaries, backups
    control      what the owner asks of the whole: how it is, settings read again
    upkeep       who changes how the home is set up, for the page
    serving      the API on its sockets

A part that holds something open closes it through the exit stack that it is handed, so all is taken down in the opposite order. Homes that
nobody runs are opened by `daimon.offline`, which does not load any of this.
"""

from daimon.boot.life import Daimon as Daimon
from daimon.boot.life import running as running
from daimon.boot.user import become as become
from daimon.config import home_at as home_at
from daimon.config import settings_of as settings_of
