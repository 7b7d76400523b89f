// All requests of the page go through here: to the server, or to the data of a single-file report.
import { ApiError, errorOf } from './error';
import { answer, type Inlined } from './inlined';
import { authorization } from './token';

export type Query = Record<string, string | number | null | undefined>;

let inlined: Inlined | null = null;

export function useInlined(data: Inlined): void {
  inlined = data;
}

export const inlinedReport = (): Inlined | null => inlined;

const API = '/api/v1';

function search(query: Query): URLSearchParams {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== '') params.set(key, String(value));
  }
  return params;
}

export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  const params = search(query);
  if (inlined) return answer(inlined, API + path, params) as T;
  const text = params.toString();
  const headers = { Accept: 'application/json', ...authorization() };
  const response = await fetch(API + path + (text && `?${text}`), { headers, ...(signal && { signal }) });
  if (!response.ok) throw await errorOf(response);
  return (await response.json()) as T;
}

export async function post<T>(path: string, body: unknown): Promise<T> {
  if (inlined) {
    throw new ApiError(405, 'read_only', 'A report is read-only.', 'Use toolmark serve or the command line.');
  }
  // The header keeps other sites from posting: a form cannot send it.
  const headers = { 'Content-Type': 'application/json', 'X-Toolmark': '1', ...authorization() };
  const response = await fetch(API + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw await errorOf(response);
  return (await response.json()) as T;
}

/** One path segment: ids come from traces and may contain anything. */
export const segment = (id: string | number): string => encodeURIComponent(String(id));
