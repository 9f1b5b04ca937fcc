/** Limits of what may be sent, as a form has them. */
export type Limits = Readonly<{ dailyUsd: string | null; hourlyCount: number | null; approvalUsd: string | null }>;
/** Texts of fields; an empty one is no limit. */
export type TypedLimits = Readonly<Record<keyof Limits, string>>;

export const typedOf = ({ dailyUsd, hourlyCount, approvalUsd }: Limits): TypedLimits => ({
  dailyUsd: dailyUsd ?? '',
  hourlyCount: hourlyCount === null ? '' : String(hourlyCount),
  approvalUsd: approvalUsd ?? '',
});

/** Whether a text is a count that the API takes, or empty. */
export const isCount = (text: string): boolean => /^(\d{0,6}|1000000)$/.test(text.trim());

/** What was changed of the limits that a form was opened with. The rest is not sent: somebody else may have changed it
 *  meanwhile. Counts must be counts. */
export function changedLimits(typed: TypedLimits, shown: Limits): Partial<Limits> {
  const before = typedOf(shown);
  const isChanged = (name: keyof Limits): boolean => typed[name].trim() !== before[name];
  const count = typed.hourlyCount.trim();
  return {
    ...(isChanged('dailyUsd') ? { dailyUsd: typed.dailyUsd.trim() || null } : {}),
    ...(isChanged('hourlyCount') ? { hourlyCount: count === '' ? null : Number.parseInt(count, 10) } : {}),
    ...(isChanged('approvalUsd') ? { approvalUsd: typed.approvalUsd.trim() || null } : {}),
  };
}
