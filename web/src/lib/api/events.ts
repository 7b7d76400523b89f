// Server-sent events over fetch: EventSource cannot send a token.
import { authorization } from './token';

export interface ServerEvent {
  event: string;
  data: string;
}

/** Splits complete events off a buffer and returns the rest. */
export function parseEvents(buffer: string, emit: (event: ServerEvent) => void): string {
  // A carriage return at the end may be half of a line break; it waits for the next part.
  const held = buffer.endsWith('\r') ? '\r' : '';
  const blocks = buffer
    .slice(0, buffer.length - held.length)
    .replace(/\r\n?/g, '\n')
    .split('\n\n');
  const rest = (blocks.pop() ?? '') + held;
  for (const block of blocks) {
    let event = 'message';
    const data: string[] = [];
    for (const line of block.split('\n')) {
      if (line.startsWith('event:')) event = line.slice(6).trim();
      else if (line.startsWith('data:')) data.push(line.slice(5).trimStart());
    }
    if (data.length > 0 || event !== 'message') emit({ event, data: data.join('\n') });
  }
  return rest;
}

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

/** Stays connected until aborted; waits longer after each failure. */
export async function listen(
  path: string,
  signal: AbortSignal,
  onEvent: (event: ServerEvent) => void,
  onState: (connected: boolean) => void,
): Promise<void> {
  let wait = FIRST_RETRY_MS;
  while (!signal.aborted) {
    try {
      const headers = { Accept: 'text/event-stream', ...authorization() };
      const response = await fetch(path, { headers, signal });
      if (!response.ok || !response.body) throw new Error(String(response.status));
      onState(true);
      wait = FIRST_RETRY_MS;
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let buffer = '';
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        buffer = parseEvents(buffer + part.value, onEvent);
      }
    } catch {
      // Either aborted or unreachable: the loop decides.
    }
    if (signal.aborted) return;
    onState(false);
    await new Promise((done) => setTimeout(done, wait));
    wait = Math.min(wait * 2, MAX_RETRY_MS);
  }
}
