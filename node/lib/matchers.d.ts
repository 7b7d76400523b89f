import type { Expect, Trace, TraceOptions } from "./index.js";

interface ToolmarkMatchers<R> {
  /** Asserts that an agent made the calls that were expected of it, in order. */
  toHaveTrajectory(expected: Expect, options?: TraceOptions): R;
}

/** Matchers, for `expect.extend`. */
export const matchers: {
  toHaveTrajectory(
    this: { isNot: boolean },
    trace: Trace,
    expected: Expect,
    options?: TraceOptions,
  ): Promise<{ pass: boolean; message: () => string }>;
};

declare module "vitest" {
  interface Assertion<T> extends ToolmarkMatchers<Promise<void>> {}
}

declare global {
  namespace jest {
    interface Matchers<R> extends ToolmarkMatchers<Promise<void>> {}
  }
}
