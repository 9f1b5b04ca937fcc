import { readerOf, type Ask } from './answers';
import { readHead, readIds, type Header } from './ledgers';
import type { Fields } from './signing';
import { transfersOf } from './transfers';

/** Ledgers in which a transaction can be: from the newest validated one when it was signed to its last. */
export type Window = Readonly<{ first: number; last: number }>;

export type ValidatedSighting = Readonly<{
  state: 'validated';
  height: number;
  ledgerHash: string;
  /** `tesSUCCESS`, or the code of a failure that has cost its fee. */
  result: string;
  success: boolean;
  feeDrops: bigint;
}>;

/** Where a transaction of ours is. `validated` and `absent` are final. `pending`: a node has it, in no validated ledger
 *  yet, and a ledger may still take it. `through`: the last ledger of its window. `unknown` proves nothing. */
export type XrplSighting =
  | ValidatedSighting
  | Readonly<{ state: 'pending' }>
  | Readonly<{ state: 'absent'; through: Header; headHeight: number }>
  | Readonly<{ state: 'unknown'; reason: string }>;

/** The most ledgers that a node searches at once (xrpl.org: tx). */
const widest = 1000;
const read = readerOf('tx');

type Validated = Readonly<{ height: number; ledgerHash: string; transaction: Fields; meta: Fields }>;

function validatedOf(txId: string, body: Fields): Validated | null {
  if (read.hash(body, 'hash') !== txId) throw read.wrong(body, 'hash', 'id that was asked for');
  if (!read.yes(body, 'validated')) return null;
  return {
    height: read.whole(body, 'ledger_index'),
    ledgerHash: read.hash(body, 'ledger_hash'),
    transaction: read.fields(body, 'tx_json'),
    meta: read.fields(body, 'meta'),
  };
}

function seen({ height, ledgerHash, transaction, meta }: Validated): ValidatedSighting {
  const result = read.text(meta, 'TransactionResult');
  const [success, feeDrops] = [result === 'tesSUCCESS', read.drops(transaction, 'Fee')];
  return { state: 'validated', height, ledgerHash, result, success, feeDrops };
}

/** Looks for a transaction, and proves that it is nowhere where it is: its last ledger must be validated, and all
 *  ledgers of its window must be known and without it. What is `absent` can never be validated any more, whoever sends
 *  it. Of what a node says without showing a ledger nothing counts then: it answers from a cache, for half an hour
 *  after each question, that it has a transaction which no ledger can take any more (XRPLF/rippled, TransactionMaster),
 *  and its index learns of a ledger's transactions after the ledger is validated. */
export async function lookUp(ask: Ask, txId: string, { first, last }: Window): Promise<XrplSighting> {
  if (last < first || last - first > widest) throw new RangeError(`No window: ${first} to ${last}`);
  // Before the search: a ledger that is validated meanwhile was not searched.
  const head = await readHead(ask);
  const asked = { transaction: txId, binary: false, min_ledger: first, max_ledger: last };
  const { refused, body } = await ask('tx', asked, ['txnNotFound']);
  const found = refused === null ? validatedOf(txId, body) : null;
  if (found) return seen(found);
  if (head.height >= last) return readWindow(ask, txId, { first, last }, head.height);
  if (refused === null) return { state: 'pending' };
  return { state: 'unknown', reason: `Ledger ${last} is not validated yet` };
}

/** The ledgers of a window one by one, each the parent of the next. */
async function readWindow(ask: Ask, txId: string, { first, last }: Window, headHeight: number): Promise<XrplSighting> {
  let before: Header | null = null;
  for (let height = first; height <= last; height += 1) {
    const ledger = await readIds(ask, height);
    if (!ledger) return { state: 'unknown', reason: `The node does not have ledger ${height}` };
    if (before !== null && ledger.parentHash !== before.hash)
      return { state: 'unknown', reason: `Ledger ${height} is not the child of ledger ${height - 1}` };
    if (ledger.txIds.includes(txId))
      return { state: 'unknown', reason: `Ledger ${height} has the transaction, which the node does not find` };
    before = ledger;
  }
  return { state: 'absent', through: before!, headHeight };
}

/** Where a transaction is, without a window: nothing of it is proven absent. */
export async function sightingOf(ask: Ask, txId: string): Promise<ValidatedSighting | { state: 'pool' | 'unknown' }> {
  const { refused, body } = await ask('tx', { transaction: txId, binary: false }, ['txnNotFound']);
  if (refused !== null) return { state: 'unknown' };
  const found = validatedOf(txId, body);
  return found ? seen(found) : { state: 'pool' };
}

async function find(ask: Ask, txId: string): Promise<Validated | null> {
  const { refused, body } = await ask('tx', { transaction: txId, binary: false }, ['txnNotFound']);
  return refused === null ? validatedOf(txId, body) : null;
}

/** Second look before credit: what the transfer brought in the ledger with this hash, in drops. null: it is not in
 *  that ledger, or not as it was. */
export async function verify(
  ask: Ask,
  wanted: Readonly<{ txId: string; index: number; to: string; tag: string | null }>,
  ledgerHash: string,
): Promise<bigint | null> {
  const found = await find(ask, wanted.txId);
  if (found?.ledgerHash !== ledgerHash) return null;
  const { transfers } = transfersOf(wanted.txId, found.transaction, found.meta);
  const same = transfers.find(({ index, to, tag }) => index === wanted.index && to === wanted.to && tag === wanted.tag);
  return same?.units ?? null;
}

/** Who sent a transaction, and the tag to send money back with: the source tag that it carries. null: no validated
 *  ledger of the node has it. */
export async function readSender(
  ask: Ask,
  txId: string,
): Promise<Readonly<{ address: string; tag: string | null }> | null> {
  const found = await find(ask, txId);
  if (!found) return null;
  const { transaction } = found;
  return {
    address: read.text(transaction, 'Account'),
    tag: transaction.SourceTag === undefined ? null : String(read.whole(transaction, 'SourceTag')),
  };
}
