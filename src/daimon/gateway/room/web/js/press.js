// What is pressed stays where it is until it is let go: what the gateway answers meanwhile arrives afterwards. A button that is drawn anew
// between the press and its end would never be clicked.

const MOST_MS = 10000;
let held = null;

// When nothing is pressed.
export const released = () => held ?? Promise.resolve();

addEventListener('pointerdown', ({ button, isPrimary }) => {
  if (held || button || !isPrimary) return;
  held = new Promise((done) => {
    const over = new AbortController();
    const end = () => { over.abort(); setTimeout(() => { held = null; done(); }); };  // the click comes before that
    const timer = setTimeout(end, MOST_MS);
    over.signal.addEventListener('abort', () => clearTimeout(timer));
    for (const kind of ['pointerup', 'pointercancel']) addEventListener(kind, end, { capture: true, signal: over.signal });
  });
}, { capture: true });
