// What the server says about itself: version, watched folders, problems, and the values of filters.
import { get, inlinedReport } from './client';
import { asApiError, type ApiError } from './error';
import type { AgentRow, Info, ProjectRow } from './types';

class Server {
  info = $state.raw<Info | null>(null);
  projects = $state.raw<ProjectRow[]>([]);
  agents = $state.raw<AgentRow[]>([]);
  error = $state.raw<ApiError | null>(null);

  async load(): Promise<void> {
    const optional = <T>(path: string, empty: T) => get<T>(path).catch(() => empty);
    try {
      this.error = null;
      const [info, projects, agents] = await Promise.all([
        inlinedReport() ? optional<Info | null>('/info', null) : get<Info>('/info'),
        optional<{ items: ProjectRow[] }>('/projects', { items: [] }),
        optional<{ items: AgentRow[] }>('/agents', { items: [] }),
      ]);
      this.info = info;
      this.projects = projects.items;
      this.agents = agents.items;
    } catch (problem) {
      this.error = asApiError(problem);
    }
  }

  /** May issues be resolved and ignored here? */
  get writable(): boolean {
    return inlinedReport() === null && this.info?.readonly !== true;
  }
}

export const server = new Server();
