// The token comes once in the fragment of the address and stays in this tab.
const KEY = 'toolmark-token';

export function takeToken(): void {
  const match = /^#token=(.+)$/.exec(location.hash);
  if (!match?.[1]) return;
  sessionStorage.setItem(KEY, decodeURIComponent(match[1]));
  history.replaceState(history.state, '', location.pathname + location.search);
}

export function authorization(): Record<string, string> {
  let token: string | null = null;
  try {
    token = sessionStorage.getItem(KEY);
  } catch {
    // Storage is unavailable in some file:// contexts.
  }
  return token ? { Authorization: `Bearer ${token}` } : {};
}
