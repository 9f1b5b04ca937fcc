import type { Transfer } from '../../domain/chains/chain';
import { isFields, readerOf } from './answers';
import { dropsOf } from './chain';
import type { Fields } from './signing';

/** XRP that a validated transaction brought to an account. `tag` null: it carries none, so nobody but the owner of the
 *  account is its receiver. `index`: place of the account's entry in the metadata, which is part of the ledger's
 *  hash. `type`: of the transaction. */
export type XrplTransfer = Readonly<
  Pick<Transfer, 'txId' | 'index' | 'to' | 'units'> & { from: string; tag: string | null; type: string }
>;

/** A balance rose, and the node does not say the same of it in another place: nothing is credited, somebody looks. */
export type Unclear = Readonly<Pick<XrplTransfer, 'txId' | 'index' | 'to' | 'units' | 'tag'> & { reason: string }>;

export type Read = Readonly<{ transfers: readonly XrplTransfer[]; unclear: readonly Unclear[] }>;

const none: Read = { transfers: [], unclear: [] };
const read = readerOf('transaction');

/** One entry of the ledger that a transaction changed. */
type Node = Readonly<{ type: string; before: Fields; after: Fields; isNew: boolean }>;

function nodeOf(entry: Fields): Node | null {
  const [kind, node] = Object.entries(entry)[0] ?? [];
  if (!isFields(node)) return null;
  const part = (name: string): Fields => (isFields(node[name]) ? node[name] : {});
  const isNew = kind === 'CreatedNode';
  return {
    type: String(node.LedgerEntryType),
    before: part('PreviousFields'),
    after: part(isNew ? 'NewFields' : 'FinalFields'),
    isNew,
  };
}

/** By how much the XRP of an account rose or fell; null: the entry is of another kind, or its balance stayed. */
function changeOf({ type, before, after, isNew }: Node): Readonly<{ account: string; units: bigint }> | null {
  if (type !== 'AccountRoot' || typeof after.Account !== 'string') return null;
  if (!isNew && before.Balance === undefined) return null;
  const was = isNew ? 0n : read.drops(before, 'Balance');
  return { account: after.Account, units: read.drops(after, 'Balance') - was };
}

/** The tag that money for `to` came with: of the transaction where it names its receiver, or of the escrow or payment
 *  channel that it was paid out of. */
function tagOf(transaction: Fields, nodes: readonly (Node | null)[], to: string): string | null {
  const holders = [transaction, ...nodes.map((node) => node?.after ?? {})];
  const holder = holders.find(({ Destination }) => Destination === to);
  return holder?.DestinationTag === undefined ? null : String(read.whole(holder, 'DestinationTag'));
}

/** Why what a payment says that it delivered is not what the balance says; null: both say the same. Its `Amount` is
 *  never asked: of a partial payment it is a wish (xrpl.org: partial-payments). */
function doubtOf(meta: Fields, units: bigint): string | null {
  const delivered = meta.delivered_amount;
  const drops = dropsOf(delivered);
  if (drops === units) return null;
  return drops === null
    ? `delivered_amount is ${JSON.stringify(delivered) ?? 'missing'}, and the balance rose by ${units} drops`
    : `delivered_amount is ${drops} drops, and the balance rose by ${units}`;
}

/** The XRP that a validated transaction brought, by the balances that it changed: a payment, and whatever else can
 *  deliver XRP to an account that does nothing for it (EscrowFinish, PaymentChannelClaim, AccountDelete, a deletion of
 *  an AMM or vault). Tokens change no balance of an account, and a transaction that failed only the one of its sender
 *  (`tec`). What a sender brings itself (CheckCash, OfferCreate) is no deposit: we send payments alone. Throws
 *  NODE_UNREACHABLE where the shape is wrong. */
export function transfersOf(txId: string, transaction: Fields, meta: Fields): Read {
  if (read.text(meta, 'TransactionResult') !== 'tesSUCCESS') return none;
  const from = read.text(transaction, 'Account');
  const type = read.text(transaction, 'TransactionType');
  const nodes = read.list(meta, 'AffectedNodes').map(nodeOf);
  const transfers: XrplTransfer[] = [];
  const unclear: Unclear[] = [];
  nodes.forEach((node, index) => {
    const change = node && changeOf(node);
    if (!change || change.units <= 0n || change.account === from) return;
    const { account: to, units } = change;
    const reason = type === 'Payment' && transaction.Destination === to ? doubtOf(meta, units) : null;
    const place = { txId, index, to, units, tag: tagOf(transaction, nodes, to) };
    if (reason === null) transfers.push({ ...place, from, type });
    else unclear.push({ ...place, reason });
  });
  return { transfers, unclear };
}
