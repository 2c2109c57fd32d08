"""The far end of a connection of the box: kept after an answer, for the next request to the same site.

It belongs to that one connection, so nothing that one client left behind is ever read by another. A line with anything left over, bytes
that nobody asked for, is not used again.
"""

from dataclasses import dataclass

from daimon.net.dial import Dialler
from daimon.net.site import Site
from daimon.net.stream import Source, Stream


@dataclass(slots=True)
class Line:
    site: Site
    is_tls: bool
    stream: Stream
    source: Source
    is_used: bool = False

    @property
    def is_fit(self) -> bool:
        return self.source.is_clean and not self.stream.is_over


class Far:
    def __init__(self, dialler: Dialler) -> None:
        self._dialler = dialler
        self._line: Line | None = None

    async def reach(self, site: Site, is_tls: bool) -> Line:
        """The line of before if it still serves, else a new one. Raises Refusal."""
        line = self._line
        if line is not None and (line.site, line.is_tls) == (site, is_tls) and line.is_fit:
            line.is_used = True
            return line
        self.drop()
        plain = await self._dialler.connect(site)
        try:
            stream: Stream = await self._dialler.secure(plain, site) if is_tls else plain
        except BaseException:
            plain.abort()
            raise
        self._line = Line(site, is_tls, stream, Source(stream))
        return self._line

    def leave(self) -> None:
        """All was said: what is still on its way to the site goes out."""
        if self._line is not None:
            self._line.stream.close()
            self._line = None

    def drop(self) -> None:
        if self._line is not None:
            self._line.stream.abort()
            self._line = None
