import type { IntentRow } from '../db/txmanager/intents';
import { isToken } from '../domain/chains/assets';
import { isTopUp } from '../domain/txmanager/kinds';

/** The token transfers that a top-up was planned for: those of its address that were planned after it and before the
 *  next one; where there is none, those that were there. */
export function transfersOf(topUp: IntentRow, all: readonly IntentRow[]): IntentRow[] {
  const address = topUp.outputs[0]!.address;
  const isHere = (one: IntentRow): boolean =>
    one.from_address === address && one.network === topUp.network && isToken(one.currency);
  const isAfter = (one: IntentRow): boolean => BigInt(one.id) > BigInt(topUp.id);
  const next = all.find((one) => isTopUp(one) && isAfter(one) && one.outputs[0]!.address === address);
  const own = all.filter((one) => isHere(one) && isAfter(one) && (!next || BigInt(one.id) < BigInt(next.id)));
  return own.length ? own : all.filter((one) => isHere(one) && one.status !== 'dead');
}
