import { entryIdOf, type Account, type Json, type Settings } from './state';
import type { Transaction } from './transactions';

/** What becomes of a transaction in a ledger: the rules of a payment of XRP and of AccountSet. Each names the page of
 *  the node's documentation (xrpl.org) that has it. */

/** Where a transaction is applied. `isOpen`: provisionally, by the server that it was given to. */
export type Place = Readonly<{
  index: number;
  isOpen: boolean;
  networkId: number;
  settings: Settings;
  get: (address: string) => Account | undefined;
  /** Ids of what this ledger has already. */
  has: (hash: string) => boolean;
  /** Drops that this payment of issued currency delivers. */
  delivers: (hash: string) => string | undefined;
  /** Whether `by` has said that it takes deposits of this account. */
  isPreauthorized: (account: string, by: string) => boolean;
}>;

/** `changed` null: it stays outside of the ledger. `delivered`: as `delivered_amount` shows it. */
export type Outcome = Readonly<{
  result: string;
  changed: ReadonlyMap<string, Account> | null;
  delivered?: unknown;
}>;

const flag = { canonical: 0x8000_0000, noDirect: 0x1_0000, partial: 0x2_0000, limitQuality: 0x4_0000 };
/** lsfRequireDestTag and lsfDepositAuth (page accountroot), by the numbers that AccountSet names them (page
 *  accountset). */
const requiresTag = 0x2_0000;
export const depositAuth = 0x100_0000;
const flagsByNumber: Readonly<Record<number, number>> = { 1: requiresTag, 9: depositAuth };
const uint = (value: unknown): number => (typeof value === 'number' ? value : 0);
const namedFlag = (number: unknown): number => flagsByNumber[uint(number)] ?? 0;

const outside = (result: string): Outcome => ({ result, changed: null });

/** Pages common-fields (NetworkID) and tel-codes. */
function networkFault({ networkId }: Place, { NetworkID: named }: Json): string | null {
  if (networkId <= 1024) return named === undefined ? null : 'telNETWORK_ID_MAKES_TX_NON_CANONICAL';
  if (named === undefined) return 'telREQUIRES_NETWORK_ID';
  return named === networkId ? null : 'telWRONG_NETWORK';
}

/** Page tem-codes: what no server takes. Tickets, several signers, other types and issued currencies of strangers are
 *  real, and not simulated. */
function malformed(json: Json, isDelivery: boolean): string | null {
  const { TransactionType: type, Account: from, Destination: to, Amount: amount, Fee: fee } = json;
  if (typeof fee !== 'string') return 'temBAD_FEE';
  if (json.TicketSequence !== undefined || json.Delegate !== undefined || json.Sponsor !== undefined)
    return 'temDISABLED';
  const flags = uint(json.Flags) & ~flag.canonical;
  if (type === 'AccountSet') {
    const { SetFlag: set, ClearFlag: clear } = json;
    if (set !== undefined && set === clear) return 'temINVALID_FLAG';
    return [set, clear].every((one) => one === undefined || namedFlag(one) > 0) ? null : 'temDISABLED';
  }
  if (type !== 'Payment') return 'temDISABLED';
  if (isDelivery) return null;
  if (typeof amount !== 'string' || json.DeliverMin !== undefined) return 'temDISABLED';
  if (BigInt(amount) <= 0n) return 'temBAD_AMOUNT';
  if (from === to) return 'temREDUNDANT';
  if (json.SendMax !== undefined) return 'temBAD_SEND_XRP_MAX';
  if (json.Paths !== undefined) return 'temBAD_SEND_XRP_PATHS';
  if (flags & flag.partial) return 'temBAD_SEND_XRP_PARTIAL';
  if (flags & flag.limitQuality) return 'temBAD_SEND_XRP_LIMIT';
  if (flags & flag.noDirect) return 'temBAD_SEND_XRP_NO_DIRECT';
  return flags === 0 ? null : 'temINVALID_FLAG';
}

/** Drops that a server wants at the least (page transaction-cost, local load cost). */
export const leastFee = ({ baseFee, loadFactor }: Settings): bigint => BigInt(Math.ceil(baseFee * loadFactor));

/** Why a transaction cannot be in this ledger, before anything of what it does is looked at. */
function notNow(place: Place, { hash, json, signer }: Transaction, sender: Account): string | null {
  const sequence = uint(json.Sequence);
  // Page ter-codes, terPRE_SEQ; page tef-codes for the others.
  if (sequence > sender.Sequence) return 'terPRE_SEQ';
  if (place.has(hash)) return 'tefALREADY';
  if (sequence < sender.Sequence) return 'tefPAST_SEQ';
  // Page reliable-transaction-submission: never in a ledger above its LastLedgerSequence.
  if (json.LastLedgerSequence !== undefined && place.index > uint(json.LastLedgerSequence)) return 'tefMAX_LEDGER';
  const fee = BigInt(json.Fee as string);
  // Page tel-codes, telINSUF_FEE_P: the server's own threshold, which no closed ledger asks for.
  if (place.isOpen && fee < leastFee(place.settings)) return 'telINSUF_FEE_P';
  // Page transaction-cost, insufficient XRP.
  if (BigInt(sender.Balance) < fee && (place.isOpen || sender.Balance === '0')) return 'terINSUF_FEE_B';
  // Page tef-codes: there are no regular keys here.
  return signer === json.Account ? null : 'tefBAD_AUTH_MASTER';
}

const reserveOf = ({ reserveBase, reserveInc }: Settings, owned: number): bigint =>
  BigInt(reserveBase) + BigInt(owned) * BigInt(reserveInc);

/** What a payment of XRP fails for, once it is in a ledger and has cost its fee; null: nothing. */
function paymentFault(place: Place, json: Json, sender: Account): string | null {
  const { settings, get } = place;
  const receiver = get(String(json.Destination));
  const amount = BigInt(json.Amount as string);
  const fee = BigInt(json.Fee as string);
  // Page tec-codes, tecNO_DST_INSUF_XRP; page accounts, creating accounts.
  if (!receiver && amount < reserveOf(settings, 0)) return 'tecNO_DST_INSUF_XRP';
  // Page tec-codes, tecDST_TAG_NEEDED; page source-and-destination-tags, requiring tags.
  if (receiver && receiver.Flags & requiresTag && json.DestinationTag === undefined) return 'tecDST_TAG_NEEDED';
  // Page reserves: the reserve can be spent on fees, and on nothing else.
  const reserve = reserveOf(settings, sender.OwnerCount);
  const kept = reserve > fee ? reserve : fee;
  if (BigInt(sender.Balance) < amount + kept) return 'tecUNFUNDED_PAYMENT';
  return receiver && !takesDeposit(place, json, receiver) ? 'tecNO_PERMISSION' : null;
}

/** Page depositauth: from strangers such an account takes no more than the base reserve, while it has no more. */
function takesDeposit({ settings, isPreauthorized }: Place, json: Json, receiver: Account): boolean {
  if (!(receiver.Flags & depositAuth) || isPreauthorized(String(json.Account), String(json.Destination))) return true;
  const most = reserveOf(settings, 0);
  return BigInt(json.Amount as string) <= most && BigInt(receiver.Balance) <= most;
}

const plus = (account: Account, drops: bigint): Account => ({
  ...account,
  Balance: (BigInt(account.Balance) + drops).toString(),
});

/** Moves XRP; a new account begins with the index of its ledger as its sequence (page accountroot). */
function move(place: Place, changed: Map<string, Account>, from: string, to: string, drops: bigint): void {
  const giver = changed.get(from) ?? place.get(from)!;
  const fresh: Account = { Balance: '0', Sequence: place.index, OwnerCount: 0, Flags: 0 };
  changed.set(from, plus(giver, -drops));
  changed.set(to, plus(changed.get(to) ?? place.get(to) ?? fresh, drops));
}

/** The maker of the only market: XRP that issued currency is exchanged for comes from him. */
type Maker = Readonly<{ maker: string }>;

/** Applies a transaction to a ledger: whether and how it gets in. */
export function apply(place: Place, transaction: Transaction, { maker }: Maker): Outcome {
  const { hash, json } = transaction;
  const delivers = place.delivers(hash);
  const fault = networkFault(place, json) ?? malformed(json, delivers !== undefined);
  if (fault) return outside(fault);
  const from = String(json.Account);
  const sender = place.get(from);
  if (!sender) return outside('terNO_ACCOUNT');
  const refusal = notNow(place, transaction, sender);
  if (refusal) return outside(refusal);

  const fee = BigInt(json.Fee as string);
  const balance = BigInt(sender.Balance);
  const charged: Account = { ...plus(sender, -(fee > balance ? balance : fee)), Sequence: sender.Sequence + 1 };
  const changed = new Map([[from, charged]]);
  // Page tec-codes, tecINSUFF_FEE: it pays what there is.
  if (balance < fee) return { result: 'tecINSUFF_FEE', changed };
  if (json.TransactionType === 'AccountSet') {
    const Flags = (charged.Flags | namedFlag(json.SetFlag)) & ~namedFlag(json.ClearFlag);
    changed.set(from, { ...charged, Flags });
    return { result: 'tesSUCCESS', changed };
  }
  const to = String(json.Destination);
  if (delivers !== undefined) {
    // Page partial-payments: success, however little is delivered. Tokens change no balance of an account.
    if (typeof json.Amount !== 'string') return { result: 'tesSUCCESS', changed, delivered: json.Amount };
    move(place, changed, maker, to, BigInt(delivers));
    return { result: 'tesSUCCESS', changed, delivered: delivers };
  }
  const failure = paymentFault(place, json, sender);
  if (failure) return { result: failure, changed };
  move(place, changed, from, to, BigInt(json.Amount as string));
  return { result: 'tesSUCCESS', changed, delivered: json.Amount };
}

const shown = ['Balance', 'Flags', 'OwnerCount', 'Sequence'] as const;

/** Metadata of a transaction in a ledger (page metadata). `delivered_amount` is for its reader alone, and not part of
 *  what is hashed. */
export function metaOf(outcome: Outcome, before: (address: string) => Account | undefined, position: number): Json {
  const nodes = [...outcome.changed!].map(([address, after]) => {
    const was = before(address);
    const head = { LedgerEntryType: 'AccountRoot', LedgerIndex: entryIdOf(address) };
    if (!was) {
      const NewFields = { Account: address, Balance: after.Balance, Sequence: after.Sequence };
      return { id: head.LedgerIndex, node: { CreatedNode: { ...head, NewFields } } };
    }
    const FinalFields = { Account: address, ...Object.fromEntries(shown.map((name) => [name, after[name]])) };
    const differing = shown.filter((name) => was[name] !== after[name]);
    const PreviousFields = Object.fromEntries(differing.map((name) => [name, was[name]]));
    const { PreviousTxnID, PreviousTxnLgrSeq } = was;
    const last = PreviousTxnID === undefined ? {} : { PreviousTxnID, PreviousTxnLgrSeq };
    return { id: head.LedgerIndex, node: { ModifiedNode: { ...head, FinalFields, PreviousFields, ...last } } };
  });
  nodes.sort((a, b) => (a.id < b.id ? -1 : 1));
  return {
    AffectedNodes: nodes.map(({ node }) => node),
    TransactionIndex: position,
    TransactionResult: outcome.result,
    ...(outcome.delivered === undefined ? {} : { delivered_amount: outcome.delivered }),
  };
}
