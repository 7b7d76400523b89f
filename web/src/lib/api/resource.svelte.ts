// One answer of the server with its loading and error states.
import { asApiError, type ApiError } from './error';

export class Resource<T> {
  data = $state.raw<T | null>(null);
  error = $state.raw<ApiError | null>(null);
  loading = $state(false);
  #request = 0;

  /** Keeps what is shown until the new answer is there. The last request wins. */
  async load(fetcher: () => Promise<T>): Promise<void> {
    const request = ++this.#request;
    this.loading = true;
    this.error = null;
    try {
      const data = await fetcher();
      if (request === this.#request) this.data = data;
    } catch (problem) {
      if (request === this.#request) this.error = asApiError(problem);
    } finally {
      if (request === this.#request) this.loading = false;
    }
  }

  clear(): void {
    this.#request += 1;
    this.data = null;
    this.error = null;
    this.loading = false;
  }
}
