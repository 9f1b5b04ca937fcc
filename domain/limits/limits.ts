import { compare } from '../money';

/** What may leave, at the most. null: no limit. `dailyUsd`: dollars within any 24 hours; `approvalUsd`: above it a
 *  second person decides. */
export type OutboundLimits = Readonly<{
  dailyUsd: string | null;
  hourlyCount: number | null;
  approvalUsd: string | null;
}>;
export const limitNames = ['dailyUsd', 'hourlyCount', 'approvalUsd'] as const satisfies ReadonlyArray<
  keyof OutboundLimits
>;
export const noLimits: OutboundLimits = { dailyUsd: null, hourlyCount: null, approvalUsd: null };

const isHigher = (after: string | number | null, before: string | number | null): boolean =>
  before !== null && (after === null || compare(String(after), String(before)) > 0);

/** The limits that let more leave than before. */
export const loosened = (before: OutboundLimits, after: OutboundLimits): Array<keyof OutboundLimits> =>
  limitNames.filter((name) => isHigher(after[name], before[name]));

export const areSame = (one: OutboundLimits, other: OutboundLimits): boolean =>
  loosened(one, other).length === 0 && loosened(other, one).length === 0;
