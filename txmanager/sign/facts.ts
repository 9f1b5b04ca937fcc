import type { EntityManager } from 'typeorm';
import { useAdmission } from '../../commands/limits/admission';
import { holdOf } from '../../db/access/merchant-hold';
import { freezes, holdFreezes } from '../../db/limits/egress';
import { depositsById, type DepositRow } from '../../db/payments/deposits';
import { lowestOpenNonces, sharesOf, type AttemptRow, type IntentRow, type ShareRow } from '../../db/txmanager/intents';
import {
  accountsBeside,
  estimateOf,
  frozenAmong,
  frozenWallets,
  lockWallet,
  merchantsOf,
  ownAddresses,
  payoutRows,
  settlementsOf,
  sharedPayments,
  type Estimate,
  type OwnAddressRow,
  type PayoutRows,
  type WalletRow,
} from '../../db/txmanager/sign-facts';
import type { BatchStatus } from '../../domain/payouts/payout';
import type { Purpose } from '../purpose';
import { maySign, movablePart, outputsOfLines, type PayoutFacts, type SignFacts, type SignVerdict } from './policy';
import { isDerived } from './derived';
import { codecOf, networkKind, type Signer } from './signer';

/** Reads what the policy decides by, in the order of the locks: row, intent, freezes, limits, wallet. */

/** An intent, its row and its attempts, locked. */
type Asked = Readonly<{ planned: IntentRow; purpose: Purpose | null; attempts: readonly AttemptRow[] }>;

/** The verdict on an intent, and what was read for it. `intent`: of a batch what can be moved. */
type Answer = Readonly<{
  facts: SignFacts;
  verdict: Exclude<SignVerdict, { state: 'ask' }>;
  intent: IntentRow;
  wallet: WalletRow | null;
  price: Estimate | null;
}>;

/** May this one be signed now? */
export async function verdictOn(signer: Signer, tx: EntityManager, asked: Asked): Promise<Answer> {
  const { intent, facts: first } = await factsOf(signer, tx, asked);
  let facts = first;
  let wallet: WalletRow | null = null;
  let price: Estimate | null = null;
  for (;;) {
    const verdict = maySign(facts);
    if (verdict.state !== 'ask') return { facts, verdict, intent, wallet, price };
    if (verdict.facts === 'row') facts = { ...facts, row: await rowOf(tx, asked) };
    else if (verdict.facts === 'admission') facts = { ...facts, row: await admitted(tx, facts.row as PayoutFacts) };
    else {
      wallet = await lockWallet(tx, intent);
      price = await estimateOf(tx, intent.network);
      const openNonce = await openBefore(tx, asked.attempts.at(-1));
      const frozenReason = wallet.frozen_reason ?? (await frozenBeside(tx, intent, facts.deposits));
      facts = { ...facts, wallet: { frozenReason, openNonce }, price };
    }
  }
}

async function factsOf(
  signer: Signer,
  tx: EntityManager,
  { planned, purpose, attempts }: Asked,
): Promise<{ facts: SignFacts; intent: IntentRow }> {
  const last = attempts.at(-1);
  const round = !last ? 'first' : last.n <= planned.void_through ? 'anew' : 'again';
  const deposits = await depositsById(tx, planned.deposit_ids);
  const shares = await sharesOf(tx, planned.id);
  const isBatch = shares.length > 0;
  const batch = isBatch ? { planned, shares, ...(await sharedPayments(tx, planned)) } : null;
  const intent = isBatch ? await partOf(tx, planned, shares, deposits) : planned;
  const addresses = [...planned.outputs, ...deposits].map((one) => one.address);
  const registered = await ownAddresses(tx, planned.network, [planned.from_address, ...addresses]);
  const hold = round === 'again' ? null : await holdOf(tx, await ownersOf(tx, planned, purpose));
  // Another price for what is signed needs no freeze held off.
  if (round !== 'again') await holdFreezes(tx);
  return {
    intent,
    facts: {
      round,
      intent,
      isSigned: last !== undefined,
      batch,
      purpose,
      row: 'unread',
      deposits: isBatch ? deposits.filter((deposit) => intent.deposit_ids.includes(deposit.id)) : deposits,
      ...ownFacts(signer, planned.network, registered),
      malformed: malformedOf(signer, intent),
      settlements: planned.kind === 'sweep' ? await settlementsOf(tx, planned) : [],
      hold,
      freezes: await freezes(tx),
      wallet: 'unread',
      price: 'unread',
    },
  };
}

/** Whose money an intent moves, as its row says; of a gas top-up as it says itself. */
async function ownersOf(tx: EntityManager, planned: IntentRow, purpose: Purpose | null): Promise<string[]> {
  if (purpose) return purpose.merchantId === null ? [] : [purpose.merchantId];
  if (planned.kind === 'sweep') return merchantsOf(tx, planned);
  return planned.merchant_id === null ? [] : [planned.merchant_id];
}

const partOf = async (
  tx: EntityManager,
  planned: IntentRow,
  shares: readonly ShareRow[],
  deposits: readonly DepositRow[],
): Promise<IntentRow> => movablePart(planned, shares, deposits, await frozenWallets(tx, planned.network));

/** The addresses that are ours by the seed, and those that only the database calls so. */
function ownFacts(
  signer: Signer,
  network: string,
  registered: readonly OwnAddressRow[],
): Pick<SignFacts, 'own' | 'forged'> {
  const derived = registered.filter((row) => isDerived(signer, network, row));
  return {
    own: derived.map(({ address, role, merchant_id }) => ({ address, role, merchantId: merchant_id })),
    forged: registered.filter((row) => !derived.includes(row)).map(({ address }) => address),
  };
}

const malformedOf = (signer: Signer, intent: Pick<IntentRow, 'network' | 'outputs'>): string[] =>
  intent.outputs
    .map(({ address }) => address)
    .filter((address) => codecOf(signer, intent).normalise(address) !== address);

/** What the row of an intent says of its first signature. */
async function rowOf(tx: EntityManager, { planned, purpose }: Asked): Promise<SignFacts['row']> {
  if (planned.kind !== 'leg') return purpose!.mayBeSigned();
  const batchId = planned.owner_id;
  return linesOf((await payoutRows(tx, batchId, [planned.id]))!, batchId, planned.id);
}

async function admitted(tx: EntityManager, row: PayoutFacts): Promise<PayoutFacts> {
  const over = await useAdmission(tx, 'mass_payout', row.batchId);
  return { ...row, admission: over === null ? 'used' : { over } };
}

function linesOf(rows: PayoutRows, batchId: string, intentId: string): PayoutFacts {
  const { admission, isApproved } = rows;
  return {
    batchId,
    isApproved,
    lines: rows.lines.filter((line) => line.intent_id === intentId),
    admission: !admission || admission.isReleased ? 'none' : admission.isSigned ? 'used' : 'open',
  };
}

/** Which wallet is frozen whose key signs beside that of the intent's address: of a coin, or of a batch's account. */
const frozenBeside = async (
  tx: EntityManager,
  { id, network }: Pick<IntentRow, 'id' | 'network'>,
  deposits: SignFacts['deposits'],
): Promise<string | null> =>
  frozenAmong(
    tx,
    network,
    networkKind(network) === 'utxo' ? deposits.map(({ address }) => address) : await accountsBeside(tx, id),
  );

/** The lowest nonce before that of an attempt that is in no block. */
async function openBefore(tx: EntityManager, last: AttemptRow | undefined): Promise<number | null> {
  if (!last || last.nonce === null) return null;
  const lowest = (await lowestOpenNonces(tx, last.network, [last.from_address])).get(last.from_address);
  return lowest !== undefined && lowest < last.nonce ? lowest : null;
}

/** What is read beside the facts of many intents: of the address of the first, which pays them. */
export type Together = Readonly<{
  status: BatchStatus;
  wallet: WalletRow | null;
  price: Estimate | null;
  from: OwnAddressRow | null;
  facts: SignFacts[];
}>;

/** The facts of many intents of one mass payout, read at once. `wallet` stays unread of those that pay from another
 *  address than the first. null where there is none. */
export async function factsTogether(
  signer: Signer,
  tx: EntityManager,
  batchId: string,
  ids: readonly string[],
): Promise<Together | null> {
  const rows = await payoutRows(tx, batchId, ids);
  const first = rows?.intents[0];
  if (!rows || !first) return null;
  const deposits = await depositsById(tx, [...new Set(rows.intents.flatMap((intent) => intent.deposit_ids))]);
  const own = ownFacts(signer, first.network, rows.own);
  const facts = rows.intents.map((intent): SignFacts => {
    const isFirsts = intent.network === first.network && intent.from_address === first.from_address;
    const row = linesOf(rows, batchId, intent.id);
    const [line] = row.lines;
    return {
      round: 'first',
      intent,
      isSigned: intent.is_signed,
      batch: null,
      purpose:
        intent.kind === 'leg' && line
          ? { currency: line.currency, outputs: outputsOfLines(row.lines), held: null, isUnderWay: false }
          : null,
      row,
      deposits: deposits.filter((deposit) => intent.deposit_ids.includes(deposit.id)),
      ...own,
      malformed: malformedOf(signer, intent),
      settlements: [],
      hold: rows.held,
      freezes: rows.freezes,
      wallet: isFirsts && rows.wallet ? { frozenReason: rows.wallet.frozen_reason, openNonce: null } : 'unread',
      price: isFirsts ? rows.price : 'unread',
    };
  });
  const from = rows.own.find((one) => one.address === first.from_address) ?? null;
  return { status: rows.status, wallet: rows.wallet, price: rows.price, from, facts };
}
