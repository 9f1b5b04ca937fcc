/** An invariant that does not hold, by its number in docs/invariants.md. `found`: at most 20 of the offenders. */
export type Violation = Readonly<{ invariant: string; what: string; found: readonly string[] }>;
