/** What could not be read, or is invalid. */
export interface Diagnostic {
  severity: "error" | "skipped";
  message: string;
  file?: string;
  line?: number;
  column?: number;
}

/** The command could not do its work. */
export class ToolmarkError extends Error {
  diagnostics: Diagnostic[];
  /** What could be read, where anything could. */
  result: unknown;
}

export type Verdict = "pass" | "fail" | "unknown";

export interface Place {
  file: string;
  line: number;
  column: number;
  byte: number;
}

export interface Evidence {
  role: string;
  text?: string;
  excerpt?: string;
  call?: {
    index: number;
    step?: number;
    id?: string;
    tool: string;
    args?: string;
    status: string;
    place: Place;
  };
}

export interface Finding {
  type: "finding";
  code: string;
  name: string;
  axis: "selection" | "arguments" | "irreversibility" | "recovery";
  severity: "error" | "warning" | "info";
  confidence: "low" | "medium" | "high";
  tool: string;
  bucket?: string;
  message: string;
  remedy: string;
  session?: string;
  place: Place;
  evidence: Evidence[];
  fingerprint: string;
  new?: boolean;
}

export interface Grader {
  name: string;
  type: string;
  profile: string;
  verdict: Verdict;
  score?: number | null;
  weight: number;
  reason: string;
  evidence?: Evidence[];
}

export interface Outcome {
  type: "outcome";
  case: string;
  trial: number;
  verdict: Verdict;
  score?: number | null;
  reason: string;
  trajectory?: { id?: string; source: string; format: string } | null;
  graders: Grader[];
}

interface Shared {
  /** Read as this format instead of detecting it. */
  format?: string;
  jobs?: number;
  filesFrom?: string;
  shard?: string;
  /** Further options of the command line. */
  options?: string[];
  /** What to do about files or lines that cannot be read. Default: throw. */
  unread?: "throw" | "ignore";
}

export interface CheckOptions extends Shared {
  select?: string | string[];
  ignore?: string | string[];
  gate?: string | string[];
  baseline?: string;
}

export interface GradeOptions extends Shared {
  profile?: string;
  threshold?: number;
  case?: string | string[];
  /** Ask judges; without it their graders are unknown. */
  judge?: boolean;
}

interface Result {
  /** The last line of the command: the scorecard, or the summary. */
  summary: Record<string, unknown>;
  verdict: Verdict;
  diagnostics: Diagnostic[];
}

/** Finds what was wrong with the tool calls of sessions. */
export function check(
  paths?: string | string[],
  options?: CheckOptions,
): Promise<Result & { findings: Finding[] }>;

/** A spec: a file, or what would be in one. */
export type Spec = string | Record<string, unknown>;

/** Grades traces against a spec. */
export function grade(
  spec: Spec,
  paths?: string | string[],
  options?: GradeOptions,
): Promise<Result & { outcomes: Outcome[] }>;

/** A path of a trace, or messages of OpenAI, Anthropic or LangChain. */
export type Trace = string | readonly unknown[] | Record<string, unknown>;

/** Calls in order, or what `expect` of a spec holds. */
export type Expect = readonly unknown[] | Record<string, unknown>;

export interface TraceOptions {
  /** `openai`, `openai-responses`, `anthropic` or `langchain` for messages; else a format. */
  format?: string;
  graders?: unknown[];
  spec?: Spec;
  profile?: string;
  threshold?: number;
  judge?: boolean;
}

/** Grades one trace, or messages in memory. `text` is the alignment. */
export function gradeTrace(
  trace: Trace,
  expect?: Expect,
  options?: TraceOptions,
): Promise<{ verdict: Verdict; outcomes: Outcome[]; text: string }>;

/** The path of the binary. */
export function findBinary(): string;
