// The shapes that /api/v1 answers with. Null means "not recorded", never zero.

export interface Page<T> {
  items: T[];
  next: string | null;
  total: number;
}

export interface Info {
  version: string;
  schema_version: number;
  started_at: string;
  demo: boolean;
  watched: WatchedFolder[];
  receivers: { http: string | null; grpc: string | null; ui: string };
  counts: { sessions: number; calls: number; failures: number; findings: number; issues: number | null };
  readonly: boolean;
  problems: { since: string; text: string; hint: string | null }[];
}

export interface WatchedFolder {
  path: string;
  host: string | null;
  exists: boolean;
  sessions: number;
  last_change: string | null;
  problem: string | null;
}

export interface ChangeCounts {
  sessions: number;
  issues: number;
  runs: number;
  guard: number;
}

export interface ProjectRow {
  project: string;
  sessions: number;
}

export interface AgentRow {
  agent: string;
  versions: string[];
  models: string[];
  sessions: number;
}

export interface Tally {
  name: string;
  count: number;
}

export interface WeekCount {
  week: string;
  count: number;
}

export interface Recovery {
  rate: number | null;
  recovered: number;
  partial?: number;
  failed?: number;
  open?: number;
  decided?: number;
}

/** Where something stands in a trace file. Older answers say `path`, newer ones `file`. */
export interface Place {
  file?: string;
  path?: string;
  line: number;
  column?: number;
}

export interface Fix {
  target: string;
  file: string | null;
  key?: string | null;
  project?: string | null;
  text: string;
  why: string;
}

export interface FixPreview extends Fix {
  diff: string;
}

export type IssueState = 'new' | 'ongoing' | 'escalating' | 'resolved' | 'regressed' | 'ignored';

export interface Issue {
  id: string;
  kind: 'failure' | 'finding';
  category: string;
  subtype: string;
  code: string | null;
  title: string;
  template: string | null;
  count: number;
  sessions: number;
  projects: (Tally | string)[];
  first_seen: string | null;
  last_seen: string | null;
  weeks: WeekCount[];
  tools: Tally[];
  models: Tally[];
  agents: Tally[];
  recovery: Recovery | null;
  lost: { tokens: number | null; duration_ms?: number | null; ms?: number | null };
  state: IssueState;
  notes: (string | { at: string; by: string | null; text: string })[];
  fix: Fix | null;
  similar: { id: string; title?: string; similarity?: number; score?: number }[];
  merged?: string[];
  same_calls: string | null;
}

export interface IssuePage extends Page<Issue> {
  of_sessions?: number;
}

export interface Representative {
  session: string;
  call_id: string | null;
  number?: number | null;
  /** The text of the call, or in older answers its number. */
  call: string | number | null;
  place: Place | null;
  arguments?: string | null;
  said?: string | null;
  result?: string | null;
  followed?: string | null;
  then?: string | null;
}

export interface IssueDetail extends Issue {
  representative: Representative | null;
  by_version?: { agent: string; version: string; weeks: WeekCount[] }[];
  by_model?: { model: string; weeks: WeekCount[] }[];
  case: unknown;
}

export interface Occurrence {
  issue: string;
  session: string;
  call_id: string | null;
  call: number | null;
  place: Place | null;
  at: string | null;
  project: string | null;
  model: string | null;
  agent: string | null;
  excerpt: string | null;
}

export interface StateChange {
  action: 'resolve' | 'ignore' | 'reopen' | 'merge' | 'note';
  until?: string;
  more?: number;
  until_escalating?: boolean;
  into?: string;
  text?: string;
  version?: string;
}

export interface Promotion {
  files: string[];
  case: string;
}

export interface Axis {
  good: number;
  total: number;
  score: number | null;
  low: number | null;
  high: number | null;
}

export type AxisName = 'selection' | 'arguments' | 'irreversibility' | 'recovery';

export interface SessionRow {
  id: string;
  source: 'file' | 'otlp' | 'both';
  host: string | null;
  agent: string | null;
  version: string | null;
  model: string | null;
  project: string | null;
  path: string | null;
  request: string | null;
  started: string | null;
  ended: string | null;
  live: boolean;
  turns: number;
  steps: number;
  calls: number | null;
  failed: number | null;
  denied: number | null;
  tokens: { total: number | null; input: number | null; output: number | null; cache: number | null };
  cost_usd: number | null;
  duration_ms: number | null;
  /** Null where a report does not know them. */
  axes: Record<AxisName, Axis> | null;
  findings: { error: number; warning: number; note: number };
  gap: string | null;
  evaluated_at: string | null;
}

export type CallStatus = 'succeeded' | 'failed' | 'denied' | 'interrupted' | 'unanswered' | 'unknown';

export interface CallTick {
  n: number;
  status: CallStatus;
  finding: boolean;
  agent: string | null;
  step: number;
  ms: number | null;
  entry?: number | null;
}

export interface SubAgent {
  id: string;
  parent_call: number | null;
  title: string | null;
  calls: number;
  failed: number;
}

export interface SessionDetail extends SessionRow {
  turns_list: { turn: number; text: string; at: string | null; context: boolean }[];
  agents_list: SubAgent[];
  fidelity: string[];
  /** What evaluators say about the session as a whole. */
  evaluations?: Evaluation[];
  strip: CallTick[];
}

export type Severity = 'error' | 'warning' | 'note';

export interface TurnEntry {
  type: 'turn';
  n: number;
  turn: number;
  text: string;
  at: string | null;
}

export interface TextEntry {
  type: 'text';
  n: number;
  step: number;
  kind: 'said' | 'thought';
  text: string;
  at: string | null;
}

export interface CallEntry {
  type: 'call';
  n: number;
  call: number;
  step: number;
  parallel: 'single' | 'first' | 'middle' | 'last';
  tool: string;
  title: string;
  status: CallStatus;
  exit: number | null;
  ms: number | null;
  at: string | null;
  findings: { code: string; severity: Severity; title: string }[];
  agent: string | null;
  sub_agent: { id: string; title: string | null; calls: number; failed: number } | null;
}

export type Entry = TurnEntry | TextEntry | CallEntry;

export interface TimelinePage {
  items: Entry[];
  total: number;
  next: number | string | null;
  agent?: string | null;
}

export interface Finding {
  code: string;
  severity: Severity;
  title: string;
  message: string;
  axis: string;
  evidence: { call: number | null; place: Place | null; excerpt: string | null }[];
  fix: string | null;
  confidence: string | number | null;
}

export type Verdict = 'pass' | 'fail' | 'unknown';

export interface Evaluation {
  evaluator: string;
  version: string;
  verdict: Verdict;
  score: number | null;
  reason: string;
  at: string | null;
}

export interface CallDetail {
  call: number;
  call_id: string | null;
  tool: string;
  title: string;
  status: CallStatus;
  status_from: string | null;
  exit: number | null;
  ms: number | null;
  started: string | null;
  ended: string | null;
  step: number;
  turn: number;
  arguments: unknown;
  arguments_text: string | null;
  result: { text: string; truncated: boolean; bytes: number } | null;
  diff: { path: string; before: string | null; after: string | null; unified: string } | null;
  file_state: 'known' | 'unknown' | null;
  findings: Finding[];
  evaluations: Evaluation[];
  place: Place | null;
  raw: { place: Place | string | null; text: string }[];
  effects: { kind: string; target: string; scope: string; reversibility: string; certainty: string }[];
  guard: { decision: string; rule: string | null; reason: string | null } | null;
}

export interface CallRef {
  call: number;
  tool: string;
  title: string;
  status: CallStatus;
}

export interface SessionDiff {
  rows: { left: CallRef | null; right: CallRef | null; same: 'equal' | 'changed' | 'added' | 'removed' }[];
}

export interface SearchHit {
  call: number | null;
  n: number;
  excerpt: string;
}

export interface ToolRow {
  tool: string;
  calls: number;
  failed: number;
  rate: number | null;
  p50: number | null;
  p95: number | null;
  p99: number | null;
  buckets: { class: string; count: number }[];
  recovery: Recovery;
  weeks: { week: string; calls: number; failed: number; p95: number | null }[];
}

export interface RunRow {
  id: string;
  dir: string;
  spec: string;
  started: string | null;
  ended: string | null;
  targets: string[];
  cases: number;
  trials: number;
  passed: number;
  failed: number;
  unknown: number;
  cost_usd: number | null;
}

export interface Trial {
  n: number;
  verdict: Verdict;
  reason: string | null;
  score: number | null;
  path: string | null;
}

export interface RunDetail extends RunRow {
  matrix: { cases: string[]; targets: string[]; cells: { case: string; target: string; trials: Trial[] }[] };
}

export interface MeasureChange {
  of: number;
  before: number;
  after: number;
  difference: number;
}

export interface CompareGroup {
  name?: string | null;
  cases: number;
  passed_before: number;
  passed_after: number;
  regressions: number;
  improvements: number;
  unknown: number;
  only_before: number;
  only_after: number;
  score: (MeasureChange & { interval: [number, number] | null }) | null;
  mcnemar: { of: number; p: number; [key: string]: unknown } | null;
  measures: Record<'calls' | 'tokens' | 'duration_ms' | 'cost_usd', MeasureChange | null>;
}

export interface CaseSide {
  verdict: Verdict;
  score: number | null;
  trials: number;
  passed: number;
  reason: string;
}

export interface FindingRef {
  code: string;
  name: string;
  severity: Severity;
  tool: string;
  message: string;
  file: string | null;
  line: number | null;
}

export interface Found {
  found: number;
  of: number;
}

export interface Comparison {
  before: string;
  after: string;
  verdict: Verdict | null;
  gates: { fail_on: string; verdict: Verdict; reason: string }[];
  graded?: {
    total: CompareGroup;
    groups: CompareGroup[];
    cases: {
      case: string;
      target: string | null;
      change: 'regression' | 'improvement' | 'unknown' | 'same';
      before: CaseSide;
      after: CaseSide;
      difference: number | null;
    }[];
    only_before: { case: string; target: string | null; verdict: Verdict }[];
    only_after: { case: string; target: string | null; verdict: Verdict }[];
  } | null;
  checked?: {
    new: FindingRef[];
    gone: FindingRef[];
    known: number;
    faults: MeasureChange | null;
    per_100_calls: MeasureChange | null;
    measures: CompareGroup['measures'];
    kinds?: {
      code: string;
      tool: string;
      bucket?: string | null;
      trend: string;
      before: Found;
      now: Found;
      p?: number | null;
    }[];
    gates?: {
      gate: string;
      tool?: string | null;
      bucket?: string | null;
      before?: Verdict | null;
      after?: Verdict | null;
    }[];
    only_before?: { id?: string | null; file: string }[] | null;
    only_after?: { id?: string | null; file: string }[] | null;
  } | null;
  notes?: string[];
}

export interface GuardDecision {
  at: string;
  host: string;
  session: string | null;
  tool: string;
  title: string;
  decision: 'allow' | 'ask' | 'deny';
  rule: string | null;
  reason: string | null;
  mode: string;
}

export interface GuardStatus {
  hosts: {
    host: string;
    installed: boolean;
    settings: string;
    accepted: boolean | null;
    last_decision: string | null;
    problem: string | null;
  }[];
}

export interface GuardReplay {
  calls: number;
  stopped: number;
  asked: number;
  rows: {
    session: string;
    call: number;
    tool: string;
    title: string;
    decision: 'ask' | 'deny';
    rule: string | null;
    reason: string | null;
  }[];
}
