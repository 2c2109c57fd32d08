// Reads in their order. Of two that are under way at once, the older may be answered last: it would draw what is no longer so, and stay.

// Runs one at a time. What is asked for meanwhile is run once more afterwards, however often it was asked for.
export function inTurn(run) {
  let now = null, next = null;
  return function ask() {
    if (!now) return (now = run().finally(() => { now = null; }));
    next ??= now.catch(() => {}).then(() => { next = null; return ask(); });
    return next;
  };
}
