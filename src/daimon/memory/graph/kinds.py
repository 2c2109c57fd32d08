"""What nodes and edges are called, and what a label in a query matches.

A kind belongs to a group; a query may name either, and `Entity` for every node. The lists are what the agent is told to use and what
queries know groups of. They are no fence: another kind or type is kept as it was written, if it is written like one. Known kinds are found
however their letters are cased, so that `person` and `Person` are no two people.
"""

EVERY = "Entity"
"""The label that all nodes have."""

GROUPS: dict[str, tuple[str, ...]] = {
    "Code": ("Function", "Class", "Method", "Variable", "Type", "Interface", "Module", "Package", "File", "Test", "Endpoint"),
    "Data": ("Table", "Column", "Index", "Migration", "Schema", "View", "Database", "Dataset", "Queue"),
    "Infrastructure": ("Service", "Deployment", "ConfigMap", "Secret", "Ingress", "CronJob", "Host", "Cluster", "Pipeline"),
    "Configuration": ("EnvironmentVariable", "Flag", "Setting", "Feature"),
    "Document": ("ADR", "RFC", "Runbook", "Readme", "Changelog", "Page", "Note", "Message"),
    "People": ("Person", "Team", "Organisation", "Role", "Place", "Pet"),
    "Work": ("Decision", "Incident", "Task", "Project", "Event", "Topic"),
}

TYPES: tuple[str, ...] = (
    *("CALLS", "IMPORTS", "INHERITS", "IMPLEMENTS", "REFERENCES", "DEFINES", "CONTAINS", "TESTS"),
    *("READS", "WRITES", "FLOWS_TO", "MIGRATES", "INDEXES"),
    *("DEPENDS_ON", "DEPLOYS", "CONFIGURES", "EXPOSES", "RUNS_ON"),
    *("OWNED_BY", "OWNS", "WRITTEN_BY", "DECIDED_BY", "DECIDES", "CAUSED_BY", "FIXED_BY", "SUPERSEDES", "DOCUMENTS", "MENTIONS", "ABOUT"),
    *("KNOWS", "RELATED_TO", "MEMBER_OF", "WORKS_AT", "WORKS_ON", "LIVES_IN", "PART_OF"),
)

_GROUP = {kind: group for group, kinds in GROUPS.items() for kind in kinds}
_WRITTEN = {kind.lower(): kind for kind in (*_GROUP, *GROUPS, EVERY)}


def canonical(kind: str) -> str:
    """The kind as it is written here, if it is one of these."""
    return _WRITTEN.get(kind.lower(), kind)


def matched_by(label: str) -> frozenset[str] | None:
    """The kinds that a label of a query stands for. None: all."""
    name = canonical(label)
    return None if name == EVERY else frozenset((name, *GROUPS.get(name, ())))


def labels_of(kind: str) -> tuple[str, ...]:
    """All labels that match a node of this kind, the narrowest first."""
    return tuple(dict.fromkeys((kind, _GROUP.get(kind, kind), EVERY)))
