// What only single-file reports have: what `toolmark check` and `toolmark grade` write.
import type { Axis, AxisName, Finding, Place, Severity, Verdict } from './types';

export interface CheckFinding extends Finding {
  tool: string;
  objection: string | null;
  session: string | null;
  session_name: string | null;
  place: Place;
  show: string | null;
}

export interface CheckTool {
  tool: string;
  calls: number;
  axes: Record<AxisName, Axis>;
  destructive: string | null;
}

export interface CheckGroup {
  by: string;
  name: string;
  sessions: number;
  affected: number;
  calls: number;
  faults: number;
  per_100_calls: number | null;
  per_session: number | null;
  failed: string;
  repeated: string;
}

export interface Proof {
  role: string;
  call: number | null;
  place: Place | null;
  excerpt: string;
}

export interface CheckReport {
  verdict: Verdict;
  sessions: number;
  sub_agents: number;
  calls: number;
  files: number;
  elapsed: string | null;
  rates: string;
  counts: Record<Severity, number> & { known: number | null; gone: number | null };
  rules: { code: string; name: string; severity: Severity; axis: string; count: number; shown: number }[];
  findings: CheckFinding[];
  total: CheckTool;
  tools: CheckTool[];
  legend: string;
  gates: { verdict: Verdict; gate: string; value: string; besides: string | null }[];
  changes: { trend: string; kind: string; rates: string }[];
  groups: CheckGroup[];
  destructive: {
    total: number;
    items: { announced: string; effect: string; place: Place | null; call: string; said: string | null }[];
  };
  judge?: {
    counts: { rubric: string; of: number; agrees: number; disagrees: number; alone: number; unknown: number }[];
    total: number;
    items: { title: string; place: Place | null; why: string; reason: string; evidence: Proof[] }[];
  };
}

export interface MadeCall {
  n: number;
  tool: string;
  status: string;
  args: string | null;
}

export interface AlignedRow {
  gap?: string;
  state?: string;
  sign?: string;
  is_first?: boolean;
  expected?: string | null;
  call?: MadeCall | null;
  why?: string | null;
}

export interface GraderAnswer {
  name: string;
  verdict: Verdict;
  cause: string | null;
  standing: string;
  spec: string | null;
  reason: string;
  parts: { verdict: Verdict; text: string; reason: string | null }[];
  aligned: { rows: AlignedRow[]; elided: string | null; divergence: string | null; repair: string[] } | null;
  evidence: { role: string; text: string; call: MadeCall | null; excerpt: string | null; place: Place | null }[];
  evidence_total: number;
  metrics: { name: string; value: string }[];
  contrast: string | null;
  notes: string[];
}

export interface WayEntry {
  kind: string;
  step: number | null;
  text: string | null;
  call: MadeCall | null;
  role: string | null;
  result: string | null;
  ms: number | null;
}

export interface Outcome {
  title: string;
  case: string;
  target: string | null;
  trial: number;
  verdict: Verdict;
  score: number | null;
  why: string;
  reason: string;
  trace: { file: string; id: string | null } | null;
  spec: string | null;
  is_short: boolean;
  graders: GraderAnswer[];
  timeline: { entries: WayEntry[]; more: number } | null;
}

export interface GradeReport {
  verdict: Verdict;
  name: string;
  spec: string;
  dialect: string;
  elapsed: string | null;
  cases: number;
  passed: number;
  failed: number;
  unknown: number;
  score: number | null;
  threshold: number | null;
  aggregates: { name: string; value: string }[];
  ks: number[];
  trials: { case: string; passed: string; interval: string; at: (number | null)[]; hat: (number | null)[] }[];
  trials_total: number;
  outcomes: Outcome[];
}
