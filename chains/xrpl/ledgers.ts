import { readerOf, bodyOf, type Ask } from './answers';
import { rippleEpoch } from './chain';
import type { Fields } from './signing';
import { transfersOf, type Unclear, type XrplTransfer } from './transfers';

/** A validated ledger, as a follower takes it. It is final: no other ledger has its index. */
export type XrplLedger = Readonly<{
  height: number;
  hash: string;
  parentHash: string;
  /** Unix seconds that it states: rounded by up to ten seconds, and always later than its parent's. */
  time: number;
  transfers: readonly XrplTransfer[];
  unclear: readonly Unclear[];
  /** Every transaction in it, failed ones included. */
  txIds: readonly string[];
}>;

const read = readerOf('ledger');
export type Header = Pick<XrplLedger, 'height' | 'hash' | 'parentHash' | 'time'>;

/** The header of an answer, if it is of a validated ledger. Throws NODE_UNREACHABLE otherwise. */
function headerOf(body: Fields): Header {
  const ledger = read.fields(body, 'ledger');
  for (const [part, name] of [
    [body, 'validated'],
    [ledger, 'closed'],
  ] as const)
    if (!read.yes(part, name)) throw read.wrong(part, name, 'sign of a validated ledger');
  const hash = read.hash(ledger, 'ledger_hash');
  if (hash !== body.ledger_hash) throw read.wrong(body, 'ledger_hash', 'hash of the ledger that came with it');
  return {
    height: read.whole(ledger, 'ledger_index'),
    hash,
    parentHash: read.hash(ledger, 'parent_hash'),
    time: read.whole(ledger, 'close_time') + rippleEpoch,
  };
}

/** The newest validated ledger. */
export const readHead = async (ask: Ask): Promise<Header> =>
  headerOf(await bodyOf(ask, 'ledger', { ledger_index: 'validated' }));

/** The answer about the validated ledger at `height`; null: the node has none there. */
async function askAt(ask: Ask, height: number, options: Fields): Promise<Fields | null> {
  const { refused, body } = await ask('ledger', { ledger_index: height, ...options }, ['lgrNotFound']);
  if (refused !== null) return null;
  // The open and the closed ledger have indexes too, above the newest validated one.
  if (!read.yes(body, 'validated')) return null;
  if (headerOf(body).height !== height) throw read.wrong(body, 'ledger_index', 'index that was asked for');
  return body;
}

/** null above the newest validated ledger, and below the oldest that the node keeps. */
export async function readLedger(ask: Ask, height: number): Promise<XrplLedger | null> {
  const body = await askAt(ask, height, { transactions: true, expand: true });
  if (!body) return null;
  const transactions = read.list(read.fields(body, 'ledger'), 'transactions');
  const all = transactions.map((entry) => {
    if (!read.yes(entry, 'validated')) throw read.wrong(entry, 'validated', 'sign of a validated transaction');
    const txId = read.hash(entry, 'hash');
    return { txId, ...transfersOf(txId, read.fields(entry, 'tx_json'), read.fields(entry, 'meta')) };
  });
  return {
    ...headerOf(body),
    transfers: all.flatMap((one) => one.transfers),
    unclear: all.flatMap((one) => one.unclear),
    txIds: all.map((one) => one.txId),
  };
}

/** The hash of the validated ledger at `height`; null as `readLedger`. */
export async function readHash(ask: Ask, height: number): Promise<string | null> {
  const body = await askAt(ask, height, {});
  return body && headerOf(body).hash;
}

/** Header and transaction ids alone. null as `readLedger`. */
export async function readIds(ask: Ask, height: number): Promise<(Header & { txIds: readonly string[] }) | null> {
  const body = await askAt(ask, height, { transactions: true, expand: false });
  return body && { ...headerOf(body), txIds: read.texts(read.fields(body, 'ledger'), 'transactions') };
}
