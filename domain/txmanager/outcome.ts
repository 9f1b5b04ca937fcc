import { isToken, type Currency } from '../chains/assets';
import type { Sighting, TokenMove } from '../chains/chain';

/** A transaction of ours as it was signed. `accounts`: of a batch, what each account gives. */
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
  const expected = expectedOf(signed);
  const sources = new Set(expected.map(({ from }) => from));
  const left = moves.filter(({ currency, from }) => currency === signed.currency && sources.has(from));
  if (!left.length) return 'failed';
  for (const one of expected) {
    const n = left.findIndex(({ from, to, units }) => from === one.from && to === one.to && units === one.units);
    if (n < 0) return 'differs';
    left.splice(n, 1);
  }
  return left.length ? 'differs' : 'done';
}

function expectedOf({ currency, from, outputs, accounts }: SignedMoves): TokenMove[] {
  const to = outputs[0]!.address;
  if (accounts.length)
    return accounts
      .map((one) => ({ currency, from: one.address, to, units: BigInt(one.units) }))
      .filter(({ units }) => units > 0n);
  return outputs.map(({ address, units }) => ({ currency, from, to: address, units: BigInt(units) }));
}
