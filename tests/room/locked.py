"""An extension with a channel that its service does not let in until the test says so."""

from daimon.extension import Kit
from daimon.testing.channel import FakeChannel, FakeService

SERVICE = FakeService(is_locked=True)


def extend(kit: Kit) -> None:
    kit.channels.append(FakeChannel("pigeon", service=SERVICE))
