"""Attention while a person is asked: a Ctrl-C that comes just before the wait for a key begins is noticed all the same.

Python runs the handlers of signals between its instructions, and a whole `input` is one instruction. The system interrupts a wait, and
then Python looks up; but a signal that comes after the last look and before the wait only leaves a mark, and the wait goes on until the
next key. So a thread hears of every signal through the descriptor that the interpreter writes to, and interrupts the main thread with one
that means nothing, again and again, until the question is over. It sleeps as long as no signal comes.

Handlers belong to the main thread; elsewhere nothing is done.
"""

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

NUDGE = signal.SIGURG
"""By default it is ignored: one that comes too late harms nobody."""
FIRST_S, LONGEST_S = 0.02, 1.0


@contextmanager
def attentive() -> Iterator[None]:
    main = threading.main_thread()
    if threading.current_thread() is not main:
        yield
        return
    ear, mouth = socket.socketpair()
    mouth.setblocking(False)  # as the interpreter demands
    handler = signal.signal(NUDGE, _nothing)
    descriptor = signal.set_wakeup_fd(mouth.fileno(), warn_on_full_buffer=False)
    thread = threading.Thread(target=_nudge, args=(ear, main.ident), name="attention", daemon=True)
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(descriptor)
        mouth.close()
        thread.join()
        ear.close()
        signal.signal(NUDGE, handler)


def _nudge(ear: socket.socket, main: int) -> None:
    """Until the other end is closed."""
    pause_s: float | None = None
    while True:
        ear.settimeout(pause_s)
        try:
            if not (heard := ear.recv(64)):
                return
        except TimeoutError:
            signal.pthread_kill(main, NUDGE)
            pause_s = min(2 * (pause_s or FIRST_S), LONGEST_S)
            continue
        if pause_s is None and any(number != NUDGE for number in heard):
            pause_s = FIRST_S


def _nothing(number: int, frame: FrameType | None) -> None:
    pass
