"""What waited at the way out before something opened gets nothing of it; what comes afterwards does."""

from tests.net.rig import Rig, drained

GET = b"GET http://open.test/x HTTP/1.1\r\nHost: open.test\r\nConnection: close\r\n\r\n"


async def test_what_was_asked_before_is_not_heard_after(rig: Rig) -> None:
    asked = [await rig.connected() for _ in range(8)]
    for number, (_, writer) in enumerate(asked):
        writer.write(GET if number % 2 else GET[:20])
    await rig.egress.hush()
    with rig.open("open.test"):
        for _, writer in asked[::2]:
            writer.write(GET[20:])
        said = [await drained(reader) for reader, _ in asked]
    for _, writer in asked:
        writer.close()
    assert not [answer for answer in said if answer.startswith(b"HTTP/1.1 200")]
    assert not [attempt for attempt in rig.egress.taken() if attempt.outcome == "passed"]


async def test_what_comes_after_it_is_served(rig: Rig) -> None:
    await rig.egress.hush()
    with rig.open("open.test"):
        assert (await rig.said(GET)).startswith(b"HTTP/1.1 200")
