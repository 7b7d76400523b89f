// One event stream for all tabs of a browser: browsers open six connections to a host over HTTP/1.1, and a stream
// in every tab would take them all. The tab that holds the lock reads the stream and passes on what it hears.
import { listen, type ServerEvent } from './events';
import { authorization } from './token';

type OnEvent = (event: ServerEvent) => void;
type OnState = (connected: boolean) => void;
type Message = { event: ServerEvent } | { connected: boolean } | { ask: true };

/** A name for tabs with the same token: another token may not be allowed to read the stream. */
function nameOf(token: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < token.length; at += 1) hash = Math.imul(hash ^ token.charCodeAt(at), 0x01000193);
  return `toolmark-events-${(hash >>> 0).toString(36)}`;
}

/** Stays connected until aborted, with one stream for all tabs where the browser can share one. */
export async function listenShared(
  path: string,
  signal: AbortSignal,
  onEvent: OnEvent,
  onState: OnState,
): Promise<void> {
  // Locks need a secure context: HTTPS, or this machine.
  if (typeof BroadcastChannel === 'undefined' || !navigator.locks)
    return listenWhileVisible(path, signal, onEvent, onState);
  const name = nameOf(authorization()['Authorization'] ?? '');
  const channel = new BroadcastChannel(name);
  let isReader = false;
  let isConnected = false;
  const tell = (message: Message) => signal.aborted || channel.postMessage(message);
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (isReader) {
      if ('ask' in data) tell({ connected: isConnected });
    } else if ('event' in data) onEvent(data.event);
    else if ('connected' in data) onState(data.connected);
  };
  signal.addEventListener('abort', () => channel.close(), { once: true });
  tell({ ask: true });
  const read = () => {
    isReader = true;
    return listen(
      path,
      signal,
      (event) => {
        tell({ event });
        onEvent(event);
      },
      (connected) => {
        isConnected = connected;
        tell({ connected });
        onState(connected);
      },
    );
  };
  try {
    await navigator.locks.request(name, { signal }, read);
  } catch {
    // Aborted while waiting, or the browser refuses locks here.
    if (!signal.aborted) await listenWhileVisible(path, signal, onEvent, onState);
  }
}

/** Reads a stream of its own, closed while the tab is hidden. */
async function listenWhileVisible(
  path: string,
  signal: AbortSignal,
  onEvent: OnEvent,
  onState: OnState,
): Promise<void> {
  let wasHidden = false;
  while (!signal.aborted) {
    if (document.hidden) {
      wasHidden = true;
      await visibilityChange(signal);
      continue;
    }
    const pause = new AbortController();
    const abort = () => pause.abort();
    const change = () => {
      if (!document.hidden) return;
      wasHidden = true;
      abort();
    };
    signal.addEventListener('abort', abort, { once: true });
    document.addEventListener('visibilitychange', change);
    // What happened meanwhile is not known: pages look again.
    if (wasHidden) onEvent({ event: 'change', data: '{}' });
    wasHidden = false;
    await listen(path, pause.signal, onEvent, onState);
    document.removeEventListener('visibilitychange', change);
    signal.removeEventListener('abort', abort);
  }
}

function visibilityChange(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const over = () => {
      document.removeEventListener('visibilitychange', over);
      signal.removeEventListener('abort', over);
      done();
    };
    document.addEventListener('visibilitychange', over);
    signal.addEventListener('abort', over);
  });
}
