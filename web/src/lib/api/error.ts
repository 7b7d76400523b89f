/** What went wrong with a request, and what to do about it. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string | null = null,
  ) {
    super(message);
  }
}

const HINTS: Record<number, string> = {
  401: 'Open the address that toolmark serve printed; it contains the token.',
  403: 'The token lacks the scope for this. Ask for one with read and write.',
  404: 'It may have been removed by --retention, or the link is incomplete.',
  429: 'Wait a moment and try again.',
  503: 'The store is busy or the disk is full. See the terminal of toolmark serve.',
};

export async function errorOf(response: Response): Promise<ApiError> {
  let body: { error?: { code?: string; message?: string; hint?: string | null } } = {};
  try {
    body = await response.json();
  } catch {
    // A proxy may answer with something else; the status still says enough.
  }
  const { code, message, hint } = body.error ?? {};
  const text = message ?? `The server answered ${response.status} ${response.statusText}`.trim();
  return new ApiError(response.status, code ?? 'http', text, hint ?? HINTS[response.status] ?? null);
}

export function asApiError(problem: unknown): ApiError {
  if (problem instanceof ApiError) return problem;
  if (problem instanceof TypeError) {
    const hint = 'Is toolmark serve still running? Start it again and press Retry.';
    return new ApiError(0, 'unreachable', 'The server does not answer.', hint);
  }
  return new ApiError(0, 'page', problem instanceof Error ? problem.message : String(problem));
}
