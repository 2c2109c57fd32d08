"""All operations of the API. A new group is one line here; its routes, its page in the document and its row in the docs follow."""

from daimon.gateway.automations import AutomationRoutes
from daimon.gateway.blobs import BlobRoutes
from daimon.gateway.entry import Entry
from daimon.gateway.hooks.routes import HookRoutes
from daimon.gateway.lessons import LessonRoutes
from daimon.gateway.mcp.tokens import TokenRoutes
from daimon.gateway.memories import MemoryRoutes
from daimon.gateway.operation import OperationRoutes
from daimon.gateway.parts import Parts
from daimon.gateway.people import PeopleRoutes
from daimon.gateway.permissions import PermissionRoutes
from daimon.gateway.records import RecordRoutes
from daimon.gateway.room.approvals import ApprovalRoutes
from daimon.gateway.room.automations import AutomationViews
from daimon.gateway.room.conversations import ConversationRoutes
from daimon.gateway.room.counts import CountRoutes
from daimon.gateway.room.files import FileRoutes
from daimon.gateway.room.health import HealthRoutes
from daimon.gateway.room.hooks import HookViews
from daimon.gateway.room.markdown import Markdown
from daimon.gateway.room.remembered import RememberedRoutes
from daimon.gateway.room.runs import run_routes
from daimon.gateway.room.settings import SettingsRoutes
from daimon.gateway.room.trees import TreeRoutes
from daimon.gateway.room.why import WhyRoutes
from daimon.gateway.servers import ServerRoutes
from daimon.gateway.skills import SkillRoutes
from daimon.gateway.taking import Taking
from daimon.gateway.turns import TurnRoutes
from daimon.gateway.workspaces import WorkspaceRoutes


def entries_of(parts: Parts) -> tuple[Entry, ...]:
    steward = parts.steward()
    return (
        *Taking(parts.inbox, parts.redactor, parts.access.acts).all(),
        *TurnRoutes(parts.archive, parts.store, parts.inbox, parts.clock, parts.ids).all(),
        *PermissionRoutes(parts.archive, parts.grants, parts.clock).all(),
        *RecordRoutes(parts.overview, parts.ledger, parts.accounts).all(),
        *BlobRoutes(parts.store, parts.redactor, parts.inbox.max_event_bytes).all(),
        *WorkspaceRoutes(parts.workspaces, parts.trials).all(),
        *MemoryRoutes(parts.curator).all(),
        *LessonRoutes(parts.lessons).all(),
        *AutomationRoutes(parts.clerk).all(),
        *HookRoutes(parts.hooks, parts.shelf).all(),
        *SkillRoutes(parts.librarian).all(),
        *PeopleRoutes(parts.introductions).all(),
        *ServerRoutes(parts.connectors, steward.servers).all(),
        *parts.access.all(),
        *TokenRoutes(parts.access.entrance.sessions, parts.access.origins).all(),
        *FileRoutes(parts.store, parts.redactor).all(),
        *CountRoutes(parts.archive).all(),
        *ConversationRoutes(
            parts.chats, parts.archive, parts.introductions.directory, parts.redactor, Markdown(parts.redactor.clean_known)
        ).all(),
        *WhyRoutes(parts.archive, parts.store, parts.curator, parts.redactor).all(),
        *ApprovalRoutes(parts.archive, parts.runs, parts.peek, parts.redactor.clean_known).all(),
        *run_routes(parts.archive, parts.store, parts.runs, parts.clock, parts.redactor.clean_known).all(),
        *TreeRoutes(parts.workspaces).all(),
        *RememberedRoutes(parts.curator).all(),
        *AutomationViews(parts.clerk, parts.archive, parts.around).all(),
        *HookViews(parts.hooks, parts.clerk, parts.archive, parts.base).all(),
        *HealthRoutes(parts.measured, parts.ledger, parts.overview, parts.accounts, parts.status).all(),
        *SettingsRoutes(steward, parts.overview, parts.clerk).all(),
        *OperationRoutes(parts.status, parts.reload, parts.poke, parts.readiness, parts.feed, parts.warm, parts.redactor).all(),
    )
