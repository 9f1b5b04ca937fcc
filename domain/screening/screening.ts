import type { NetworkId } from '../chains/assets';

/** Screening of where a payment's money came from. It only looks: nothing here blocks or moves funds.
 *  Contract: 2.9, 4.5. */

/** `clear`: every source was looked at, and none is known for a risk. `skipped` and `unavailable` are not `clear`. */
export const screenStatuses = ['clear', 'flagged', 'unavailable', 'skipped'] as const;
type ScreenStatus = (typeof screenStatuses)[number];

/** From the least to the worst; of scores and of severities alike. */
export const riskBands = ['low', 'medium', 'high', 'severe'] as const;
export type RiskBand = (typeof riskBands)[number];

/** A screen as it is stored and answered; what does not apply is absent. Contract: 2.9. */
export type Screen = Readonly<{
  status: ScreenStatus;
  /** 0 to 100. */
  riskScore?: number;
  riskBand?: RiskBand;
  severity?: RiskBand;
  categories?: readonly string[];
  checkedAt: string;
  reason?: string;
  skipCause?: string;
}>;
/** What a screen came to, before it is stored. */
export type Verdict = Omit<Screen, 'checkedAt'>;

/** What one provider says of one address. A `score` of 0: it knows nothing against it. */
export type Finding =
  | Readonly<{ outcome: 'answered'; score: number; categories: readonly string[] }>
  | Readonly<{ outcome: 'unavailable'; reason: string }>;

export interface ScreeningProvider {
  readonly name: string;
  /** Throws nothing for a provider that does not answer, or answers nonsense: that is `unavailable`. */
  screen(address: string, network: NetworkId): Promise<Finding>;
}

/** Addresses that the deposits of one network came from. */
export type Trace = Readonly<{
  network: NetworkId;
  addresses: readonly string[];
  /** Of these deposits not every source is among `addresses`. */
  incomplete: readonly string[];
}>;

/** Why a screen is made: a payment was credited, or its merchant asked. */
export type ScreenCause = 'credit' | 'merchant';

export const bandOf = (score: number): RiskBand =>
  score >= 75 ? 'severe' : score >= 50 ? 'high' : score >= 25 ? 'medium' : 'low';

/** Severe whatever the score. */
const severeCategories: ReadonlySet<string> = new Set(['sanctions', 'terrorism_financing', 'child_abuse_material']);

/** The one spelling of a category: `Child abuse material` is `child_abuse_material`. */
export const categoryOf = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');

const severityOf = (score: number, categories: readonly string[]): RiskBand =>
  categories.some((category) => severeCategories.has(category)) ? 'severe' : bandOf(score);

export const isSevere = (verdict: Pick<Screen, 'severity'>): boolean => verdict.severity === 'severe';

/** All findings as one: the worst decides, and nothing is `clear` while any of them is missing. */
export function conclude(findings: readonly Finding[]): Verdict {
  let score = 0;
  const categories = new Set<string>();
  let missing: string | undefined;
  for (const finding of findings) {
    if (finding.outcome === 'unavailable') missing ??= finding.reason;
    else if (finding.score > 0) {
      score = Math.max(score, finding.score);
      for (const category of finding.categories) categories.add(category);
    }
  }
  if (score > 0) {
    const matched = [...categories].sort();
    const result = { riskScore: score, riskBand: bandOf(score), severity: severityOf(score, matched) };
    const reason = missing === undefined ? {} : { reason: `Not every source could be screened: ${missing}` };
    return { status: 'flagged', ...result, categories: matched, ...reason };
  }
  if (missing !== undefined) return { status: 'unavailable', reason: missing };
  return { status: 'clear', riskScore: 0, riskBand: 'low', categories: [] };
}

export const notConfigured: Verdict = {
  status: 'skipped',
  reason: 'Screening is not set up on this service',
  skipCause: 'provider_not_configured',
};
export const noDeposit: Verdict = { status: 'unavailable', reason: 'There is no deposit to trace' };
export const noSource: Verdict = { status: 'unavailable', reason: 'The source address cannot be determined' };
export const nodeAway: Verdict = { status: 'unavailable', reason: 'The source address could not be looked up in time' };
