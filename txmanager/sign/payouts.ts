import { setImmediate as afterItIsAsked } from 'node:timers/promises';
import type { DataSource, EntityManager } from 'typeorm';
import type { KeyPath } from '../../domain/chains/chain';
import { isToken, type NetworkId } from '../../domain/chains/assets';
import type { Destination } from '../../domain/chains/tags';
import { DomainError } from '../../domain/errors';
import { payoutWindow } from '../../domain/payouts/payout';
import { isTopUp } from '../../domain/txmanager/kinds';
import { refreshBatch } from '../../commands/payouts/refresh';
import { failPoint } from '../../db/fail-point';
import {
  countAhead,
  lockBatch,
  storeSigned,
  unsignedOf,
  type SignedTransfer,
  type Unsigned,
} from '../../db/payouts/payouts';
import type { IntentRow } from '../../db/txmanager/intents';
import { limitsOf } from '../fee-caps';
import { heldAt, transferOf } from './account';
import { signBump } from './bump';
import { signOnce } from './once';
import { lockAsked, verdictsOn, type Answer } from './facts';
import { mayCost } from './fee-policy';
import { aboveCap } from './new-destinations';
import { unestimated } from './policy';
import { capped, mostFee, priced, type Price } from './price';
import { recordedIntent } from './record';
import { codecOf, familyOf, networkKind, type Signed, type Signer } from './signer';
import { openIncident } from '../../db/incidents';

/** Signs what is planned of a mass payout on a network, or on all of them, each once. Tokens wait until their gas is in
 *  the chain. Safe to repeat. */
export async function signPayouts(
  signer: Signer,
  db: DataSource,
  batchId: string,
  only?: NetworkId,
): Promise<Readonly<{ stored: number; reason?: string }>> {
  const planned = await unsignedOf(db, batchId, { network: only, inTurn: true });
  let stored = 0;
  const later = new Set<string>();
  for (const some of togetherOf(signer, planned)) {
    const signed = await signTogether(signer, db, batchId, some);
    stored += signed.stored;
    for (const id of signed.later) later.add(id);
  }
  // One by one what is left: gas, coins, and whatever is not as it should be.
  const left = (await db.query(
    `SELECT id, network, from_address, gas_limit FROM intent WHERE id = ANY($1::bigint[]) AND status = 'planned'
      ORDER BY id`,
    [planned.map((intent) => intent.id).filter((id) => !later.has(id))],
  )) as Array<Pick<IntentRow, 'id' | 'network' | 'from_address' | 'gas_limit'>>;
  let reason: string | undefined;
  const taken = new Set<string>();
  for (const { id, network, from_address: from, gas_limit: gas } of left) {
    const wallet = `${network} ${from}`;
    if (taken.has(wallet)) continue;
    // It may wait for the first transfer to its address, as many others.
    if (gas === null && familyOf(signer, network)) {
      reason ??= unestimated;
      continue;
    }
    const signed = await apart(db, id, () => signOnce(signer, db, id));
    if (signed.state === 'stored') stored += 1;
    else reason ??= signed.reason;
    // What comes after it waits as long for this wallet: nobody asks a node about that before.
    const isInUse = signed.state === 'stored' || signed.lookAgainInMs !== undefined;
    if (isInUse && familyOf(signer, network)) taken.add(wallet);
  }
  if (left.length)
    await db.transaction(async (tx) => {
      const batch = await lockBatch(tx, batchId);
      if (batch) await refreshBatch(tx, batch);
    });
  return { stored, ...(reason === undefined ? {} : { reason }) };
}

/** One more attempt for each of these, as `signBump` makes it. */
export async function bumpPayouts(
  signer: Signer,
  db: DataSource,
  stuck: ReadonlyArray<Readonly<{ id: string; attempts: number }>>,
): Promise<number> {
  let stored = 0;
  for (const { id, attempts } of stuck)
    if ((await apart(db, id, () => signBump(signer, db, id, attempts))).state === 'stored') stored += 1;
  return stored;
}

/** One of many: what is wrong with it stops it alone. */
async function apart(db: DataSource, intentId: string, sign: () => Promise<Signed>): Promise<Signed> {
  try {
    return await sign();
  } catch (error) {
    if (!(error instanceof DomainError) || !['WALLET_FROZEN', 'INTENT_MISMATCH'].includes(error.code)) throw error;
    await openIncident(db, {
      kind: 'signature-refused',
      subject: { kind: 'intent', id: intentId },
      details: { intentId, code: error.code, reason: error.message },
    });
    return { state: 'waiting', reason: error.message };
  }
}

/** Transfers of one asset from one address, no more than its window. `isTight`: with the others of the address there
 *  may be more than its window has room for. */
type Together = Readonly<{ ids: readonly string[]; isTight: boolean }>;

/** Apart by address, and by asset: what must wait of one asset leaves its room to the others. */
function togetherOf(signer: Signer, planned: readonly Unsigned[]): Together[] {
  const transfers = planned.filter(
    ({ kind, network }) => !isTopUp({ kind }) && networkKind(network) === 'account' && !familyOf(signer, network),
  );
  const wallets = Map.groupBy(transfers, ({ network, from_address: from }) => `${network} ${from}`);
  return [...wallets.values()].flatMap((some) => {
    const isTight = some[0]!.ahead + some.length > payoutWindow;
    return [...Map.groupBy(some, ({ currency }) => currency).values()].flatMap((of) =>
      Array.from({ length: Math.ceil(of.length / payoutWindow) }, (_, n) => ({
        ids: of.slice(n * payoutWindow, (n + 1) * payoutWindow).map(({ id }) => id),
        isTight,
      })),
    );
  });
}

/** Of one payout, signed and stored together: one lock of the wallet, nonces without a gap. What may not be signed now
 *  is left to `signOnce`, which says why. `stored`: how many were. `later`: they wait for room in the window. */
async function signTogether(
  signer: Signer,
  db: DataSource,
  batchId: string,
  { ids, isTight }: Together,
): Promise<Readonly<{ stored: number; later: readonly string[] }>> {
  const signed = await db.transaction(async (tx) => {
    const [first, ...others] = (await lockAsked(tx, ids, 'first')).filter(({ planned }) => isPayout(planned, batchId));
    if (!first) return { stored: 0, later: [] };
    const asked = [first, ...others.filter(({ planned }) => isSameWallet(planned, first.planned))];
    const answers = await verdictsOn(signer, tx, asked, 'first');
    const all = answers.filter(({ verdict }) => verdict.state === 'sign');
    // The batch is locked since its row was read: nobody else signs of it meanwhile.
    const room = isTight ? Math.max(0, payoutWindow - (await countAhead(tx, batchId, first.planned))) : all.length;
    const due = all.slice(0, room);
    const later = all.slice(room).map(({ planned }) => planned.id);
    const stored = due.length ? await signAndStore(signer, tx, due) : 0;
    if (!stored) return { stored, later };
    // Of all of them: they are of one batch.
    await due[0]!.obligation!.allStored!();
    await failPoint('sign.beforeCommit');
    return { stored, later };
  });
  await failPoint('sign.afterCommit');
  return signed;
}

const isPayout = ({ kind, owner_kind, owner_id }: IntentRow, batchId: string): boolean =>
  !isTopUp({ kind }) && owner_kind === 'payout-batch' && owner_id === batchId;
const isSameWallet = (one: IntentRow, other: IntentRow): boolean =>
  one.network === other.network && one.from_address === other.from_address;

/** Writes all of them to the record beside the database. */
async function keepTogether(signer: Signer, due: readonly Answer[], rows: readonly SignedTransfer[]): Promise<void> {
  const answers = new Map(due.map((one) => [one.planned.id, one]));
  await signer.record?.keep(
    rows.map((row) => {
      const { planned, from } = answers.get(row.intent_id)!;
      const { address, role, branch, key_index: index } = from!;
      return {
        ...recordedIntent(planned),
        ...{ keys: [{ address, role, branch, index }], deposits: [], lines: [row.leg_id], shares: [], accounts: [] },
        ...{ isReplacement: false, nonce: row.nonce, inputs: [], txId: row.tx_id, raw: row.raw },
        ...{ unitPrice: row.unit_price, dataPart: row.data_part, maxFeeUnits: row.max_fee_units },
        ...{ movedUnits: row.moved_units, outputs: row.outputs },
      };
    }),
  );
}

/** So many are signed while the database stores as many. */
const partSize = 32;

/** Signs them in turn, as far as what their address holds goes, and stores them. Each part is signed while the database
 *  stores the one before, and the first while it counts what is new: nothing is stored that is above the cap. All are
 *  on disk beside the database before the commit. Returns how many there were. */
async function signAndStore(signer: Signer, tx: EntityManager, due: readonly Answer[]): Promise<number> {
  const { planned: first, wallet, price: today, from } = due[0]!;
  const key: KeyPath = { role: from!.role, branch: from!.branch, index: from!.key_index };
  const payable = payableOf(due, priced(first.network, today!), await heldAt(tx, first));
  const own = due.flatMap(({ facts }) => facts.own);
  const signPart = (all: readonly Payable[], begin: number): SignedTransfer[] =>
    all
      .slice(begin, begin + partSize)
      .map((one, n) => signed(signer, one, { key, nonce: wallet!.next_nonce + begin + n }));
  const [above, begun] = await beside(aboveCap(signer, tx, payable, own), () => signPart(payable, 0));
  const allowed = payable.filter(({ intent }) => !above.has(intent.id));
  if (!allowed.length) return 0;
  let part = above.size ? signPart(allowed, 0) : begun;
  const rows = [...part];
  while (rows.length < allowed.length) {
    [, part] = await beside(storeSigned(tx, first, part), () => signPart(allowed, rows.length));
    rows.push(...part);
  }
  await Promise.all([keepTogether(signer, due, rows), storeSigned(tx, first, part)]);
  return rows.length;
}

/** What `act` makes while the database answers. */
const beside = <Answered, Made>(asked: Promise<Answered>, act: () => Made): Promise<[Answered, Made]> =>
  Promise.all([asked, afterItIsAsked().then(act)]);

function signed(
  signer: Signer,
  { intent, lineId, outputs, price, feeUnits }: Payable,
  at: Readonly<{ key: KeyPath; nonce: number }>,
): SignedTransfer {
  const [{ units, ...receiver }] = outputs;
  const output = { ...receiver, units: units.toString() };
  const { txId, raw } = codecOf(signer, intent).sign(signer.seed, transferOf(intent, output, units, { price, ...at }));
  return {
    intent_id: intent.id,
    leg_id: lineId,
    tx_id: txId,
    raw,
    nonce: at.nonce,
    unit_price: price.unitPrice,
    data_part: price.dataPart,
    max_fee_units: feeUnits.toString(),
    moved_units: output.units,
    outputs: [output],
  };
}

type Payable = Readonly<{ intent: IntentRow; lineId: string }> &
  Readonly<{ outputs: readonly [Destination & Readonly<{ units: bigint }>]; price: Price; feeUnits: bigint }>;

/** Those that their address can pay, one after another. */
function payableOf(due: readonly Answer[], now: Price, held: bigint): Payable[] {
  const found: Payable[] = [];
  let left = held;
  for (const { planned: intent, obligation } of due) {
    // The verdicts are on each by itself: one wallet pays what is of its currency.
    if (intent.currency !== due[0]!.planned.currency) continue;
    const price = capped(intent, now);
    const { units: text, ...receiver } = intent.outputs[0]!;
    const units = BigInt(text!);
    const feeUnits = mostFee(BigInt(intent.gas_limit!), price);
    const neededUnits = units + (isToken(intent.currency) ? 0n : feeUnits);
    const cost = mayCost({
      limits: limitsOf(intent),
      price,
      feeUnits,
      from: intent.from_address,
      neededUnits,
      heldUnits: left,
    });
    if (cost.state === 'capped') continue;
    if (cost.state === 'short') break;
    left -= neededUnits;
    // A transfer of an account pays one line.
    const lineId = obligation!.row.payees[0]!.id;
    found.push({ intent, lineId, outputs: [{ ...receiver, units }], price, feeUnits });
  }
  return found;
}
