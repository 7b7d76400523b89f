/** The pages of the navigation, with the key that follows `g`. */
export const PAGES = [
  { name: 'feed', title: 'Feed', key: 'f', data: '/api/v1/issues' },
  { name: 'sessions', title: 'Sessions', key: 's', data: '/api/v1/sessions' },
  { name: 'tools', title: 'Tools', key: 't', data: '/api/v1/tools' },
  { name: 'runs', title: 'Runs', key: 'r', data: '/api/v1/runs' },
  { name: 'guard', title: 'Guard', key: 'u', data: '/api/v1/guard' },
] as const;
