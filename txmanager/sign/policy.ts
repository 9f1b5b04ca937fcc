import { assetOf } from '../../domain/chains/assets';
import type { KeyRole } from '../../domain/chains/chain';
import { batchGasCeiling, gasCeiling } from '../../domain/chains/costs';
import { faultOfTag, isCarried, normalTag, sharesAccount } from '../../domain/chains/tags';
import { feeMaxAgeSeconds } from '../../domain/pricing/quote';
import { isOfMany } from '../../domain/txmanager/kinds';
import type { WaitCause } from '../../domain/txmanager/waits';
import { signedBefore } from '../../db/recovery/lost';
import { everyCurrency } from '../../db/limits/outbound';
import type { IntentRow, ShareRow } from '../../db/txmanager/intents';
import type { InsideFacts, Obligation } from '../obligation';
import { verdictOnExpiry, type ExpiryFacts } from './expiry-policy';
import { faultOfFees } from './fee-policy';
import { networkKind } from './signer';

/** The one signing policy: facts in, verdict out. It reads and changes nothing; facts.ts reads what it asks for. */

/** `first`: nothing is signed for the intent; `again`: a better price for what is signed; `anew`: what is signed is for
 *  deposits that it no longer has. */
type Round = 'first' | 'again' | 'anew';

type SignIntent = Pick<
  IntentRow,
  | 'id'
  | 'kind'
  | 'ref'
  | 'network'
  | 'currency'
  | 'from_address'
  | 'outputs'
  | 'deposit_ids'
  | 'status'
  | 'payment_id'
  | 'gas_limit'
>;

/** A sweep of many payments: its shares, and how many of their payments and deposits are what the intent says. */
export type BatchFacts = Readonly<{
  planned: SignIntent;
  shares: readonly ShareRow[];
  payments: number;
  deposits: number;
}>;

type OwnAddress = Readonly<{ address: string; role: KeyRole; merchantId: string | null }>;

export type SignFacts = Readonly<{
  round: Round;
  /** Why nothing wants it; null: something does, or it stays inside. */
  fault: string | null;
  /** Of a batch what can be moved of it now. */
  intent: SignIntent;
  isSigned: boolean;
  /** A recovery has lost what was signed for its row, and the row has not taken that over. */
  isLost: boolean;
  batch: BatchFacts | null;
  /** What its row says, where it has one. */
  obligation: Pick<Obligation, 'currency' | 'outputs' | 'fromDeposits' | 'isUnderWay' | 'row'> | null;
  /** What its kind says, where it has no row. */
  inside: InsideFacts | null;
  /** Payees of its row that are not on the whitelist now. */
  unlisted: readonly string[];
  /** Nobody has counted its row against the limits, it has not been asked whether it is within those of now, it is, or
   *  the limit that it is over. */
  limitUse: 'none' | 'open' | 'used' | Readonly<{ over: string }>;
  deposits: ReadonlyArray<
    Readonly<{ id: string; address: string; status: string; allocation: string | null; merchant_id: string | null }>
  >;
  /** Those of the addresses of its outputs and sources that are ours: registered, and derived by the seed. */
  own: readonly OwnAddress[];
  /** Registered as ours, and not what the seed derives at their role and index. */
  forged: readonly string[];
  /** Outputs that are not in the form that the network's addresses are stored in. */
  malformed: readonly string[];
  /** Why the outgoing money of its merchants is stopped; null: it is not. */
  stop: string | null;
  freezes: ReadonlyArray<Readonly<{ currency: string; reason: string }>>;
  /** `openNonce`: the lowest nonce before that of its newest transaction that is in no block. */
  wallet: 'unread' | Readonly<{ frozenReason: string | null; openNonce: number | null }>;
  price: 'unread' | null | Readonly<{ ageSeconds: number }>;
  expiry: 'unread' | null | ExpiryFacts; // null: nothing of its network expires
}>;

/** `cause`: what the merchant is told; nothing of the reason, which is for operators. `ask`: nothing is against it so
 *  far; these facts are read next, which locks them. `unlisted`: payees of its row that are not on the whitelist now.
 *  `behind`: it waits for its wallet alone, and so many other owners have that before it.
 *  `isGivenUp`: all that was signed is void, and its row is to end. `foreign`: its account is at a sequence that our
 *  transactions do not explain, so its wallet is to be frozen. */
export type SignVerdict =
  | Readonly<{ state: 'sign' }>
  | Readonly<{ state: 'stored' }>
  | Readonly<{ state: 'ask'; facts: 'limits' | 'wallet' }>
  | Readonly<{ state: 'waiting'; reason: string; cause: WaitCause; behind?: number }>
  | Readonly<{ state: 'dropped'; reason?: string; unlisted?: readonly string[]; isGivenUp?: true }>
  | Readonly<{ state: 'foreign'; reason: string; sequence: number }>
  | Readonly<{
      state: 'refused';
      code: 'INTENT_MISMATCH' | 'WALLET_FROZEN' | 'UPSTREAM_UNAVAILABLE';
      reason: string;
    }>;

const mismatch = (reason: string): SignVerdict => ({ state: 'refused', code: 'INTENT_MISMATCH', reason });
const waiting = (reason: string, cause: WaitCause): SignVerdict => ({ state: 'waiting', reason, cause });

type Rule = (facts: SignFacts) => SignVerdict | null;
type ForRow = Pick<SignFacts, 'round' | 'obligation' | 'unlisted' | 'limitUse'>;

export const rowRules = [rowAllows, stillListed, withinLimits] as const; // what a row allows, whatever pays it
/** In this order: nothing of a row is changed, and no wallet locked, for what is not as it should be. */
const rules: readonly Rule[] = [
  wanted,
  notSigned,
  notLost,
  notEnded,
  derivedBySeed,
  gasEstimated,
  batchAsItsShares,
  depositsInPlace,
  notFrozen,
  notStopped,
  tagged,
  destinations,
  asItsObligation,
  feesAsQuoted,
  ...rowRules,
  walletFree,
  freshPrice,
  oneOutputOfAccounts,
  mayExpire,
];

/** May this intent be signed now? */
export function maySign(facts: SignFacts): SignVerdict {
  for (const rule of rules) {
    const verdict = rule(facts);
    if (verdict) return verdict;
  }
  return { state: 'sign' };
}

/** The part of a batch that can be moved now: payments whose deposits are all in the chain and credited, and on no
 *  frozen wallet. */
export function movablePart(
  planned: IntentRow,
  shares: readonly ShareRow[],
  deposits: SignFacts['deposits'],
  frozenWallets: ReadonlyMap<string, string>,
): IntentRow {
  const there = new Set(
    deposits
      .filter((deposit) => deposit.status === 'confirmed' && deposit.allocation === 'unsettled')
      .filter((deposit) => !frozenWallets.has(deposit.address))
      .map((deposit) => deposit.id),
  );
  const members = shares.filter((share) => share.deposit_ids.every((id) => there.has(id)));
  const net = members.reduce((sum, share) => sum + BigInt(share.net_units ?? '0'), 0n);
  return {
    ...planned,
    deposit_ids: members.flatMap((share) => share.deposit_ids),
    outputs: planned.outputs.map((output) => (output.units === null ? output : { ...output, units: net.toString() })),
  };
}

/** Its kind is one of ours, and what leaves has a row of its own workflow. */
function wanted({ fault }: SignFacts): SignVerdict | null {
  return fault === null ? null : mismatch(fault);
}

function notSigned({ round, isSigned }: SignFacts): SignVerdict | null {
  return round === 'first' && isSigned ? { state: 'stored' } : null;
}

/** It goes back to its owner, whose next look reassigns what was lost. Asked for again, it would wait for ever: whoever
 *  planned it had looked before the recovery was known. */
function notLost({ round, isLost }: SignFacts): SignVerdict | null {
  return round === 'first' && isLost ? { state: 'dropped', reason: signedBefore } : null;
}

function notEnded({ round, intent }: SignFacts): SignVerdict | null {
  return round !== 'first' || intent.status === 'planned' ? null : { state: 'dropped' };
}

/** The database names an address ours, and the seed says otherwise: somebody else has written that row. */
function derivedBySeed({ forged }: SignFacts): SignVerdict | null {
  const [address] = forged;
  return address === undefined ? null : mismatch(`${address} is registered as ours, and the seed derives another`);
}

export const unestimated = 'its gas is not estimated yet';

/** The gas is what a node has said, within what such a transaction may take. Without an estimate it goes back to its
 *  owner, whose next look has a node asked. */
function gasEstimated({ intent, batch, expiry }: SignFacts): SignVerdict | null {
  if (networkKind(intent.network) !== 'account' || (batch && expiry !== null)) return null; // such a batch: mayExpire
  if (intent.gas_limit === null) return { state: 'dropped', reason: unestimated };
  const most = batch
    ? batchGasCeiling(intent.currency, batch.planned.deposit_ids.length + batch.planned.outputs.length - 1)
    : gasCeiling(intent.currency);
  if (BigInt(intent.gas_limit) <= most) return null;
  return mismatch(`Intent ${intent.id}: ${intent.gas_limit} gas is above ${most}`);
}

const roleOf = ({ own }: SignFacts, address: string): KeyRole | null =>
  own.find((one) => one.address === address)?.role ?? null;

/** A batch is what its shares say: payments of one merchant with one settlement address, and deposits of their own. */
function batchAsItsShares(facts: SignFacts): SignVerdict | null {
  if (!facts.batch) return null;
  const { planned, shares, payments, deposits } = facts.batch;
  const wrong = (what: string): SignVerdict =>
    mismatch(`Batch intent ${planned.id} is not what its payments say: ${what}`);
  const [settlement, ours, ...others] = planned.outputs;
  if (!isOfMany(planned)) return wrong('kind');
  if (payments !== shares.length) return wrong('payments');
  const ids = shares.flatMap((share) => share.deposit_ids);
  if (deposits !== ids.length || new Set(ids).size !== ids.length) return wrong('deposits');
  if (!ids.every((id) => planned.deposit_ids.includes(id))) return wrong('deposits');
  if (networkKind(planned.network) === 'account' && roleOf(facts, planned.from_address) !== 'gas')
    return wrong('sender');
  if (shares[0]!.net_units === null ? ours || settlement?.units !== null : ours?.units !== null)
    return wrong('outputs');
  if (others.length || (ours && roleOf(facts, ours.address) !== 'treasury')) return wrong('outputs');
  return null;
}

/** What it moves is in the chain, and in the bucket of the ledger that it is moved from. */
function depositsInPlace({ round, intent, batch, obligation, inside, deposits }: SignFacts): SignVerdict | null {
  const needsDeposits = round === 'again' ? batch !== null : inside?.movesDeposits;
  const isEmpty = needsDeposits && !intent.deposit_ids.length;
  if (isEmpty) return waiting('none of its deposits is in the chain', 'network');
  if (round === 'again') return null;
  const buckets = !obligation ? ['unsettled'] : obligation.fromDeposits ? ['refunded'] : ['own', 'capital'];
  const gone = deposits.find(
    (deposit) => deposit.status !== 'confirmed' || !buckets.includes(deposit.allocation ?? ''),
  );
  return gone ? waiting(`deposit ${gone.id} is ${gone.status}`, 'funds') : null;
}

/** Nothing of a frozen asset goes to others. */
function notFrozen(facts: SignFacts): SignVerdict | null {
  const { round, intent, freezes } = facts;
  if (round === 'again') return null;
  const freeze = freezes.find(({ currency }) => currency === intent.currency || currency === everyCurrency);
  if (!freeze || roleOf(facts, intent.outputs[0]?.address ?? '') !== null) return null;
  return waiting(`frozen: ${freeze.reason}`, 'paused');
}

/** Nothing of a merchant whose outgoing money is stopped goes to others, nor gas for it. What is signed goes on: it may
 *  be mined anyway, and its nonce holds up the others of its wallet. */
function notStopped(facts: SignFacts): SignVerdict | null {
  const { round, intent, inside, stop } = facts;
  if (round === 'again' || stop === null) return null;
  const goesAway = intent.outputs.some(({ address }) => roleOf(facts, address) === null);
  return goesAway || inside?.isForOthers ? waiting(`outgoing money of the merchant is held: ${stop}`, 'held') : null;
}

/** What goes to others has the tag that its asset requires, and no other; what goes to an address of ours has none. */
function tagged(facts: SignFacts): SignVerdict | null {
  const asset = assetOf(facts.intent.currency);
  if (!isCarried(asset)) return mismatch(`${asset.currency} is not sent without a destination tag`);
  for (const { address, tag } of facts.intent.outputs) {
    const isOurs = roleOf(facts, address) !== null;
    if (isOurs && tag !== undefined) return mismatch(`${address} is ours and has no destination tag`);
    const fault = isOurs ? null : faultOfTag(asset, tag);
    if (fault) return mismatch(`Intent ${facts.intent.id}: ${fault}`);
    if (tag !== undefined && normalTag(asset, tag) !== tag)
      return mismatch(`${tag} is not in the form that ${asset.network} stores`);
  }
  return null;
}

/** What has no row goes where its kind says; for what leaves, see `asItsObligation`. */
function destinations(facts: SignFacts): SignVerdict | null {
  const { intent, obligation, inside, malformed } = facts;
  const [odd] = malformed;
  if (odd !== undefined) return mismatch(`${odd} is not in the form that ${intent.network} stores`);
  if (obligation) return null;
  const isAllowed = (address: string): boolean => {
    const role = roleOf(facts, address);
    return inside?.addresses.includes(address) || (role !== null && inside?.roles.includes(role)) || false;
  };
  const other = intent.outputs.find(({ address }) => !isAllowed(address));
  return other ? mismatch(`Intent ${intent.id} may not send to ${other.address}`) : null;
}

/** What leaves is what its row says; what else it pays goes to the treasury, and all of it comes from there, or from
 *  the deposit addresses that it is sent back from. Anything else was written by somebody else. */
function asItsObligation(facts: SignFacts): SignVerdict | null {
  const { intent, obligation, deposits, own } = facts;
  if (!obligation) return null;
  const wrong = (what: string): SignVerdict =>
    mismatch(`Intent ${intent.id} and ${intent.kind} ${intent.ref} differ: ${what}`);
  if (intent.currency !== obligation.currency || intent.network !== assetOf(obligation.currency).network)
    return wrong('currency');
  for (const [index, wanted] of obligation.outputs.entries()) {
    const output = intent.outputs[index];
    if (output?.address !== wanted.address || output.units !== wanted.units) return wrong('address or amount');
    if (output.tag !== wanted.tag) return wrong('destination tag');
  }
  const extras = intent.outputs.slice(obligation.outputs.length);
  if (extras.some(({ address }) => obligation.fromDeposits || roleOf(facts, address) !== 'treasury'))
    return wrong('another output');
  const sources = new Set([intent.from_address, ...deposits.map((deposit) => deposit.address)]);
  const source = obligation.fromDeposits;
  if (source && (sources.size > 1 || !isSame(intent.deposit_ids, source.depositIds))) return wrong('deposits');
  const isAllOf = (merchantId: string): boolean =>
    deposits.length > 0 && deposits.every(({ merchant_id }) => merchant_id === merchantId);
  // An account that many merchants share is the treasury's: the deposits are whose tags they came with.
  const role = source && !sharesAccount(assetOf(obligation.currency).network) ? 'deposit' : 'treasury';
  const isSource = (one: OwnAddress): boolean =>
    one.role === role &&
    (!source || ((one.merchantId ?? source.merchantId) === source.merchantId && isAllOf(source.merchantId)));
  const isOurs = [...sources].every((from) => own.some((one) => one.address === from && isSource(one)));
  return isOurs ? null : wrong('an address that it comes from does not hold this money');
}

/** What a receiver bears of its network fee is no more than such a transfer may take. */
function feesAsQuoted({ intent, obligation }: SignFacts): SignVerdict | null {
  const fault = obligation && faultOfFees(intent.currency, obligation.row);
  return fault ? mismatch(fault) : null;
}

/** Its row asks for it, and is approved by whom it must be. */
function rowAllows({ round, obligation }: ForRow): SignVerdict | null {
  if (!obligation) return null;
  if (round !== 'first') return obligation.isUnderWay ? null : mismatch(`${obligation.row.name} is not under way`);
  const { name, state, says, approval } = obligation.row;
  if (state === 'early') return waiting(says, 'limit');
  if (state === 'ended') return { state: 'dropped', reason: says };
  if (state === 'other') return mismatch(says);
  if (!approval) return null;
  const { isGiven, needsSecond, askedBy, by } = approval;
  if (!isGiven) return mismatch(`${name} is not approved`);
  const isAlone = needsSecond && (askedBy === null || by === null || by === askedBy);
  return isAlone ? mismatch(`${name} has not been approved by a second person`) : null;
}

/** It goes to addresses that are still on the whitelist, where its row needs that. */
function stillListed({ round, unlisted }: ForRow): SignVerdict | null {
  if (round !== 'first' || !unlisted.length) return null;
  return { state: 'dropped', reason: 'an address is no longer on the whitelist', unlisted };
}

/** Its row is within the limits of now, which are asked once. */
function withinLimits({ round, obligation, limitUse }: ForRow): SignVerdict | null {
  const counted = obligation?.row.limitUse;
  if (round !== 'first' || !counted) return null;
  if (limitUse === 'none') return mismatch(`Nobody has admitted ${counted.kind} ${counted.ref}`);
  if (limitUse === 'open') return { state: 'ask', facts: 'limits' };
  return limitUse === 'used' ? null : waiting(limitUse.over, 'limit');
}

/** Nothing is signed for a frozen wallet; and what is behind another nonce cannot be mined, whatever it pays. */
function walletFree({ round, intent, wallet }: SignFacts): SignVerdict | null {
  if (wallet === 'unread') return { state: 'ask', facts: 'wallet' };
  if (wallet.frozenReason !== null)
    return round === 'first'
      ? { state: 'refused', code: 'WALLET_FROZEN', reason: `Wallet ${intent.from_address}: ${wallet.frozenReason}` }
      : waiting(`wallet ${intent.from_address} is frozen: ${wallet.frozenReason}`, 'checked');
  return wallet.openNonce === null
    ? null
    : waiting(`nonce ${wallet.openNonce} of its wallet is in no block yet`, 'network');
}

function freshPrice({ intent, price, expiry }: SignFacts): SignVerdict | null {
  if (expiry !== null) return null; // the signer's own node says what it takes
  if (price === 'unread') return { state: 'ask', facts: 'wallet' };
  if (price && price.ageSeconds < feeMaxAgeSeconds) return null;
  return { state: 'refused', code: 'UPSTREAM_UNAVAILABLE', reason: `No fresh fee estimate for ${intent.network}` };
}

/** A transfer of an account has one recipient. */
function oneOutputOfAccounts({ intent, batch }: SignFacts): SignVerdict | null {
  if (networkKind(intent.network) !== 'account' || batch || intent.outputs.length === 1) return null;
  return mismatch(`Intent ${intent.id} needs exactly one output`);
}

function mayExpire({ expiry, intent, batch }: SignFacts): SignVerdict | null {
  if (expiry === 'unread') return { state: 'ask', facts: 'wallet' };
  return expiry && (batch ? mismatch('what expires moves no batch') : verdictOnExpiry(expiry, intent.from_address));
}

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((id) => b.includes(id));
