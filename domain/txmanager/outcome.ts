import { isToken, type Currency } from '../chains/assets';
import type { Sighting, TokenMove } from '../chains/chain';
import type { Moved } from './differing';

/** A transaction of ours as it was signed. `accounts`: of a batch, what each account gives, to all outputs together. */
export type SignedMoves = Readonly<{
  currency: Currency;
  from: string;
  outputs: ReadonlyArray<Readonly<{ address: string; units: string }>>;
  accounts: ReadonlyArray<Readonly<{ address: string; units: string }>>;
}>;

/** What a mined transaction of ours did: what it was signed for, nothing, or something else. A token's contract may
 *  answer that all is well and move nothing: its event says what it moved. */
export function outcomeOf(
  { success, moves }: Pick<Extract<Sighting, { state: 'mined' }>, 'success' | 'moves'>,
  signed: SignedMoves,
): 'done' | 'failed' | 'differs' {
  if (!success) return 'failed';
  if (!isToken(signed.currency)) return 'done';
  const given = totals(sourcesOf(signed).map(({ address, units }) => [address, BigInt(units)]));
  const gotten = totals(signed.outputs.map(({ address, units }) => [address, BigInt(units)]));
  const left = leftOf(moves, signed);
  if (!left.length) return 'failed';
  const isAsSigned =
    areSame(totals(left.map(({ from, units }) => [from, units])), given) &&
    areSame(totals(left.map(({ to, units }) => [to, units])), gotten);
  return isAsSigned ? 'done' : 'differs';
}

/** What each address of ours gives. */
export const sourcesOf = (
  signed: Omit<SignedMoves, 'currency'>,
): ReadonlyArray<Readonly<{ address: string; units: string }>> =>
  signed.accounts.length ? signed.accounts : signed.outputs.map(({ units }) => ({ address: signed.from, units }));

/** Of what a transaction moved, that of its own currency which its accounts gave. */
function leftOf(moves: readonly TokenMove[], signed: SignedMoves): TokenMove[] {
  const sources = new Set(sourcesOf(signed).map(({ address }) => address));
  return moves.filter(({ currency, from }) => currency === signed.currency && sources.has(from));
}

/** The same as rows keep it, where it differs from what was signed. */
export const movedBy = (moves: readonly TokenMove[], signed: SignedMoves): Moved[] =>
  leftOf(moves, signed).map(({ from, to, units }) => ({ from, to, units: units.toString() }));

function totals(parts: ReadonlyArray<readonly [address: string, units: bigint]>): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const [address, units] of parts) sums.set(address, (sums.get(address) ?? 0n) + units);
  return sums;
}

const areSame = (some: ReadonlyMap<string, bigint>, others: ReadonlyMap<string, bigint>): boolean =>
  [...some, ...others].every(([address]) => (some.get(address) ?? 0n) === (others.get(address) ?? 0n));
