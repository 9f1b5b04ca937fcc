import { isToken, type Currency } from '../chains/assets';
import type { Sighting } from '../chains/chain';

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
  const sources = signed.accounts.length
    ? signed.accounts
    : signed.outputs.map(({ units }) => ({ address: signed.from, units }));
  const given = totals(sources.map(({ address, units }) => [address, BigInt(units)]));
  const gotten = totals(signed.outputs.map(({ address, units }) => [address, BigInt(units)]));
  const left = moves.filter(({ currency, from }) => currency === signed.currency && given.has(from));
  if (!left.length) return 'failed';
  const isAsSigned =
    areSame(totals(left.map(({ from, units }) => [from, units])), given) &&
    areSame(totals(left.map(({ to, units }) => [to, units])), gotten);
  return isAsSigned ? 'done' : 'differs';
}

function totals(parts: ReadonlyArray<readonly [address: string, units: bigint]>): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const [address, units] of parts) sums.set(address, (sums.get(address) ?? 0n) + units);
  return sums;
}

const areSame = (some: ReadonlyMap<string, bigint>, others: ReadonlyMap<string, bigint>): boolean =>
  [...some, ...others].every(([address]) => (some.get(address) ?? 0n) === (others.get(address) ?? 0n));
