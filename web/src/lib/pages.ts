/** The pages of the navigation, with the key that follows `g`. */
export const PAGES = [
  { name: 'feed', title: 'Feed', key: 'f', data: '/api/v1/issues' },
  { name: 'sessions', title: 'Sessions', key: 's', data: '/api/v1/sessions' },
  { name: 'tools', title: 'Tools', key: 't', data: '/api/v1/tools' },
  { name: 'runs', title: 'Runs', key: 'r', data: '/api/v1/runs' },
  { name: 'guard', title: 'Guard', key: 'u', data: '/api/v1/guard' },
] as const;

/** Those that a report may have, in the order they are read. */
export const REPORT_PAGES = [
  { name: 'grade', title: 'Grade', key: 'r', data: '/api/v1/grade' },
  { name: 'check', title: 'Check', key: 'k', data: '/api/v1/check' },
  ...PAGES.filter(({ name }) => name !== 'guard'),
  { name: 'compare', title: 'Compare', key: 'p', data: '/api/v1/compare' },
] as const;
