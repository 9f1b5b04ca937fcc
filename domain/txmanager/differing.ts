import { kinds, type Kind } from './kinds';

/** Transfers of ours that moved something else than was signed: what two operators may say of one, and what the books
 *  must say beside its usual journals. docs/decisions/0103-what-nobody-could-end.md */

/** `paid`: what it was for is over, as if it had moved what was signed. `failed`: nothing of it counts, and whoever was
 *  to pay for it has the money. */
export const decisions = ['paid', 'failed'] as const;
export type Decision = (typeof decisions)[number];

/** Base units that one account gave another, as the chain says. */
export type Moved = Readonly<{ from: string; to: string; units: string }>;

/** What is decided about. `isFromDeposits`: a refund that is sent back from the address it came to. `paysMerchant`: a
 *  sweep to a merchant's own address. */
export type Undecided = Readonly<{ kind: Kind; isFromDeposits: boolean; paysMerchant: boolean }>;

/** Why operators may not say that it has failed; null: they may. */
export function whyNotFailed({ kind, isFromDeposits, paysMerchant }: Undecided): string | null {
  if (isFromDeposits)
    return 'it was sent from the address that its money came to, and nothing is left there to send again';
  return paysMerchant ? null : kinds[kind].onlyPaid;
}

/** Does its intent end as one that has arrived? Whoever is credited instead of a sweep to his own address is settled
 *  all the same. */
export const endsWell = (decision: Decision, kind: Kind): boolean => decision === 'paid' || kinds[kind].isSettled;

/** Base units that this address gave. */
const unitsFrom = (moves: readonly Moved[], address: string): bigint =>
  moves.reduce((sum, move) => (move.from === address ? sum + BigInt(move.units) : sum), 0n);

/** Base units of an attempt's currency that have left its address: what its moves say where they differ, else what was
 *  signed, unless it has failed. */
export const unitsTaken = (
  attempt: Readonly<{ success: boolean | null; moved_units: string; moves: readonly Moved[] | null }>,
  address: string,
): bigint => {
  if (attempt.moves) return unitsFrom(attempt.moves, address);
  return attempt.success === false ? 0n : BigInt(attempt.moved_units);
};

type Part = Readonly<{ address: string; units: string }>;

/** What must be added to each account of ours so that the books say what was really moved, in base units; the rest is
 *  the platform's loss. `given`, `gotten`: what was signed, which its usual journals say that it moved; where it has
 *  failed they say nothing. `placeOf`: the account of an address, null for those of others. */
export function correctionsOf<Place extends string>(
  {
    decision,
    moves,
    given,
    gotten,
  }: Readonly<{ decision: Decision; moves: readonly Moved[]; given: readonly Part[]; gotten: readonly Part[] }>,
  placeOf: (address: string) => Place | null,
): ReadonlyMap<Place, bigint> {
  const corrections = new Map<Place, bigint>();
  const add = (parts: readonly Part[], sign: bigint): void => {
    for (const { address, units } of parts) {
      const place = placeOf(address);
      if (place !== null) corrections.set(place, (corrections.get(place) ?? 0n) + sign * BigInt(units));
    }
  };
  add(
    moves.map(({ from, units }) => ({ address: from, units })),
    -1n,
  );
  add(
    moves.map(({ to, units }) => ({ address: to, units })),
    1n,
  );
  if (decision === 'paid') {
    add(given, 1n);
    add(gotten, -1n);
  }
  return new Map([...corrections].filter(([, units]) => units !== 0n));
}

/** What the platform loses by it beyond what was signed, or in all where it has failed; below zero: what stayed. */
export const lossOf = (corrections: ReadonlyMap<string, bigint>): bigint =>
  -[...corrections.values()].reduce((sum, units) => sum + units, 0n);
