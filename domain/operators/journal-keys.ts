import {
  depositKey,
  feeChangeKey,
  feeGoneKey,
  holdKey,
  lossKey,
  otherEndKey,
  refundKey,
  reallocateKey,
} from '../ledger/ledger';
import { differingKey } from '../ledger/differing';
import { gasFeeKey, revertFeeKey } from '../ledger/network-fees';
import { unclaimedKey } from '../ledger/unclaimed';
import { decisions } from '../txmanager/differing';
import type { Kind } from '../txmanager/kinds';

/** Keys of the journals about a record that are in no merchant's statement, so that nothing but the key names the
 *  record. Journals of statements are found by their source. */

type Deposit = Readonly<{ network: string; txId: string; index: number }>;
type Sent = Readonly<{ id: string; kind: Kind; attempts: ReadonlyArray<{ txId: string; blockHash: string | null }> }>;

export const keysOfDeposit = (deposit: Deposit): string[] => [
  depositKey(deposit),
  reallocateKey(deposit),
  lossKey(deposit),
  unclaimedKey(deposit),
  `capital/${deposit.network}/${deposit.txId}/${deposit.index}`,
];

/** `recordId`: the record whose part in a batch is meant. */
export function keysOfIntent({ id, kind, attempts }: Sent, recordId: string): string[] {
  const own = [`${kind}/${id}`, `${kind}/${id}/${recordId}`];
  const fees = attempts.flatMap(({ txId, blockHash }) => [
    `fee/${txId}`,
    ...(blockHash === null ? [] : ofMining({ txId, blockHash })),
  ]);
  return [...own, ...own.map(feeGoneKey), ...fees];
}

const ofMining = (mined: Readonly<{ txId: string; blockHash: string }>): string[] => [
  feeChangeKey(mined),
  ...decisions.map((decision) => differingKey({ ...mined, decision })),
];

/** Of a refund or a withdrawal, whose money is held until it has arrived. */
export function keysOfHold(kind: 'refund' | 'withdrawal', id: string): string[] {
  const hold = holdKey({ kind, id });
  const ends = [`${hold}/end`, otherEndKey(`${hold}/end`)];
  return [hold, ...ends, gasFeeKey({ kind, id }), revertFeeKey({ kind, id }), refundKey(id)];
}

export const keysOfConversion = (id: string): string[] =>
  ['internal', 'accept', 'fund', 'end', 'loss'].map((step) => `conversion/${id}/${step}`);
