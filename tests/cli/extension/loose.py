"""An extension that fails with a secret on its lips: where the gateway is not looking, or before it is there."""

import gc
import os
import threading
import warnings

from daimon.extension import Kit


class _Unclean:
    def __del__(self) -> None:
        raise RuntimeError(os.environ["LOOSE"])


def _fail() -> None:
    raise RuntimeError(os.environ["LOOSE"])


def extend(kit: Kit) -> None:
    if os.environ.get("LOOSE_AT_ONCE"):
        _fail()
    warnings.warn(os.environ["LOOSE"], stacklevel=1)
    thread = threading.Thread(target=_fail)
    thread.start()
    thread.join()
    _Unclean()
    gc.collect()
