/** Spans of time that lists can be limited to. */
export const SPANS = [
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
  { value: '90d', label: 'Last 90 days' },
];

export const STATES = ['open', 'new', 'escalating', 'regressed', 'ongoing', 'resolved', 'ignored'];
