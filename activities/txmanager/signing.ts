import type { DataSource, EntityManager } from 'typeorm';
import { assetOf, networks, type NetworkId } from '../../domain/chains/assets';
import type { ChainCodec, Coin, KeyPath, KeyRole, TransactionPlan } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { exceeds, bumpedPrice, nextPrice } from '../../domain/txmanager/fee-limits';
import { fit, smaller, times, toUnits } from '../../domain/money';
import { payoutWindow } from '../../domain/payouts/payout';
import { batchGas, transferGas } from '../../domain/sweeps/sweep';
import { depositsById } from '../../db/payments/deposits';
import { failPoint } from '../../db/fail-point';
import {
  accountsOf,
  attemptsOf,
  lockCoinsFor,
  lockIntent,
  lowestOpenNonces,
  setIntentStatus,
  sharesOf,
  spendableAt,
  type AttemptRow,
  type IntentRow,
  type ShareRow,
} from '../../db/txmanager/intents';
import { everyCurrency, holdFreezes } from '../../db/limits/egress';
import { useAdmission } from '../../commands/limits/admission';
import {
  lockBatch,
  payoutToSign,
  storeSigned,
  unsignedOf,
  type DueIntent,
  type DueLeg,
  type SignedTransfer,
  type ToSign,
} from '../../db/payouts/payouts';
import { refreshBatch } from '../../commands/payouts/refresh';
import { limitsOf, noteCap } from '../../txmanager/fee-caps';
import { unitsOf } from '../../txmanager/kinds/payout-line';
import { lockPurpose } from '../../txmanager/kinds/purposes';
import { type Purpose } from '../../txmanager/purpose';
import { disband } from '../../db/sweeps/sweeps';
import { openIncident } from '../../db/incidents';

/** `seed` lives in the signer's process alone and goes nowhere. */
export type SigningDeps = Readonly<{
  db: DataSource;
  codecs: Readonly<Record<NetworkId, ChainCodec>>;
  seed: Uint8Array;
}>;

/** `waiting`: not now (deposits are reorganised, asset frozen, price above the cap); ask again later. `dropped`: never. */
export type Signed = Readonly<{ state: 'stored' | 'waiting' | 'dropped'; reason?: string }>;

/** How often a batch may be refused before its payments are swept one by one. */
const batchTries = 5;

type BatchAccount = Readonly<{ address: string; key: KeyPath; nonce: number; units: bigint; depositIds: string[] }>;
type Price = Readonly<{ unitPrice: string; tipPrice: string }>;

/** Signs what a recorded intent says, and nothing else. One attempt per call of `signOnce` for ever; `signBump` adds one with the
 *  same nonce or inputs. The signed bytes are committed before anybody can send them. Invariants: 5, steps 2 and 5. */
export const signingActivities = ({ db, codecs, seed }: SigningDeps) => {
  const codecOf = (intent: IntentRow): ChainCodec => codecs[intent.network as NetworkId];

  async function keyOf(tx: EntityManager, network: string, address: string): Promise<KeyPath> {
    const [row] = await tx.query<Array<{ role: KeyRole; key_index: number }>>(
      'SELECT role, key_index FROM address WHERE network = $1 AND address = $2',
      [network, address],
    );
    if (!row) throw new DomainError('INTENT_MISMATCH', `${address} is not an address of ours on ${network}`);
    return { role: row.role, index: row.key_index };
  }

  const roleOf = async (tx: EntityManager, network: string, address: string): Promise<KeyRole | null> =>
    (
      await tx.query<Array<{ role: KeyRole }>>('SELECT role FROM address WHERE network = $1 AND address = $2', [
        network,
        address,
      ])
    )[0]?.role ?? null;

  /** What leaves is what its purpose says; what else is paid goes to the treasury, and all of it comes from there. Anything else was
   *  written by somebody else. */
  async function checkPurpose(tx: EntityManager, intent: IntentRow, purpose: Purpose): Promise<void> {
    const mismatch = (what: string): DomainError =>
      new DomainError('INTENT_MISMATCH', `Intent ${intent.id} and ${intent.kind} ${intent.ref} differ: ${what}`);
    if (intent.currency !== purpose.currency || intent.network !== assetOf(purpose.currency).network)
      throw mismatch('currency');
    for (const [index, wanted] of purpose.outputs.entries()) {
      const output = intent.outputs[index];
      if (output?.address !== wanted.address || output.units !== wanted.units) throw mismatch('address or amount');
    }
    for (const extra of intent.outputs.slice(purpose.outputs.length))
      if (purpose.held || (await roleOf(tx, intent.network, extra.address)) !== 'treasury')
        throw mismatch('another output');
    const deposits = await depositsById(tx, intent.deposit_ids);
    const sources = [...new Set([intent.from_address, ...deposits.map((deposit) => deposit.address)])];
    if (purpose.held && (sources.length > 1 || !isSame(intent.deposit_ids, purpose.held.depositIds)))
      throw mismatch('deposits');
    const [row] = await tx.query<Array<{ own: number }>>(
      `SELECT count(*)::int AS own FROM address WHERE network = $1 AND address = ANY($2) AND role = $3 AND ($4::text IS NULL OR merchant_id = $4)`,
      [intent.network, sources, purpose.held ? 'deposit' : 'treasury', purpose.held?.merchantId ?? null],
    );
    if (row?.own !== sources.length) throw mismatch('an address that it comes from does not hold this money');
  }

  /** Where an intent may send to: for a sweep, the settlement address stamped on its payment and our own treasury; for a gas
   *  top-up, an address of ours that money is sent from; for what leaves, see `checkPurpose`. */
  async function checkDestinations(tx: EntityManager, intent: IntentRow, purpose: Purpose | null): Promise<void> {
    for (const output of intent.outputs) {
      if (codecOf(intent).normalise(output.address) !== output.address) {
        throw new DomainError('INTENT_MISMATCH', `${output.address} is not in the form that ${intent.network} stores`);
      }
      if (purpose) continue;
      const [row] = await tx.query<Array<{ allowed: boolean }>>(
        `SELECT CASE $1 WHEN 'sweep' THEN EXISTS (SELECT FROM payment WHERE id = $3 AND settlement_address = $4)
                                       OR EXISTS (SELECT FROM sweep_share s JOIN payment p ON p.id = s.payment_id WHERE s.intent_id = $5 AND p.settlement_address = $4)
                                       OR EXISTS (SELECT FROM address WHERE network = $2 AND address = $4 AND role = 'treasury')
                        WHEN 'gas' THEN EXISTS (SELECT FROM address WHERE network = $2 AND address = $4 AND role IN ('deposit', 'treasury'))
                        ELSE false END AS allowed`,
        [intent.kind, intent.network, intent.payment_id, output.address, intent.id],
      );
      if (!row?.allowed)
        throw new DomainError('INTENT_MISMATCH', `Intent ${intent.id} may not send to ${output.address}`);
    }
    if (purpose) await checkPurpose(tx, intent, purpose);
  }

  /** A batch is what its shares say: payments of one merchant with one settlement address, and deposits of their own. */
  async function checkBatch(tx: EntityManager, intent: IntentRow, shares: readonly ShareRow[]): Promise<void> {
    if (!shares.length) return;
    const mismatch = (what: string): DomainError =>
      new DomainError('INTENT_MISMATCH', `Batch intent ${intent.id} is not what its payments say: ${what}`);
    const [settlement, ours] = intent.outputs;
    if (intent.kind !== 'sweep' || intent.payment_id) throw mismatch('kind');
    const [row] = await tx.query<Array<{ payments: number; deposits: number }>>(
      `SELECT count(*)::int AS payments, coalesce(sum((SELECT count(*) FROM deposit d WHERE d.id = ANY(s.deposit_ids)
                AND coalesce(d.child_payment_id, d.payment_id) = p.id AND d.currency = p.currency)), 0)::int AS deposits
         FROM sweep_share s JOIN payment p ON p.id = s.payment_id
        WHERE s.intent_id = $1 AND s.dropped_at IS NULL AND p.merchant_id = $2 AND p.currency = $3 AND p.settlement_address = $4
          AND (p.custody = 'external') = (s.net_units IS NOT NULL)`,
      [intent.id, intent.merchant_id, intent.currency, settlement?.address],
    );
    const ids = shares.flatMap((share) => share.deposit_ids);
    if (row?.payments !== shares.length) throw mismatch('payments');
    if (row.deposits !== ids.length || new Set(ids).size !== ids.length) throw mismatch('deposits');
    if (!ids.every((id) => intent.deposit_ids.includes(id))) throw mismatch('deposits');
    if (networkKind(intent.network) === 'account') {
      const from = await keyOf(tx, intent.network, intent.from_address);
      if (from.role !== 'gas' || shares.some((share) => share.net_units !== null)) throw mismatch('sender');
    }
    if (shares[0]!.net_units === null ? ours || settlement?.units !== null : ours?.units !== null)
      throw mismatch('outputs');
  }

  /** What of a batch can be moved now: payments whose deposits are all in the chain and credited. The intent as it stands where it
   *  is no batch. */
  async function movable(tx: EntityManager, intent: IntentRow): Promise<IntentRow> {
    const shares = await sharesOf(tx, intent.id);
    if (!shares.length) return intent;
    await checkBatch(tx, intent, shares);
    const frozen = await tx.query<Array<{ address: string }>>(
      'SELECT address FROM wallet_sequence WHERE network = $1 AND frozen_reason IS NOT NULL',
      [intent.network],
    );
    const isFrozen = (address: string): boolean => frozen.some((wallet) => wallet.address === address);
    const there = new Set(
      (await depositsById(tx, intent.deposit_ids))
        .filter((deposit) => deposit.status === 'confirmed' && deposit.home === 'unsettled')
        .filter((deposit) => !isFrozen(deposit.address))
        .map((deposit) => deposit.id),
    );
    const members = shares.filter((share) => share.deposit_ids.every((id) => there.has(id)));
    const net = members.reduce((sum, share) => sum + BigInt(share.net_units ?? '0'), 0n);
    return {
      ...intent,
      deposit_ids: members.flatMap((share) => share.deposit_ids),
      outputs: intent.outputs.map((output) => (output.units === null ? output : { ...output, units: net.toString() })),
    };
  }

  async function blocked(tx: EntityManager, intent: IntentRow, purpose: Purpose | null): Promise<string | null> {
    if (!intent.deposit_ids.length && intent.kind === 'sweep') return 'none of its deposits is in the chain';
    const deposits = await depositsById(tx, intent.deposit_ids);
    const homes = !purpose ? ['unsettled'] : purpose.held ? ['refunded'] : ['own', 'capital'];
    const gone = deposits.find((deposit) => deposit.status !== 'confirmed' || !homes.includes(deposit.home ?? ''));
    if (gone) return `deposit ${gone.id} is ${gone.status}`;
    await holdFreezes(tx);
    const [frozen] = await tx.query<Array<{ reason: string }>>(
      `SELECT reason FROM egress_freeze WHERE currency IN ($1, $4) AND NOT EXISTS (
         SELECT FROM address WHERE network = $2 AND address = $3)`,
      [intent.currency, intent.network, intent.outputs[0]?.address, everyCurrency],
    );
    return frozen ? `egress frozen: ${frozen.reason}` : null;
  }

  /** Not now; or never again, where a batch has been refused so often that its payments go by themselves. */
  async function refuse(tx: EntityManager, intent: IntentRow, reason: string): Promise<Signed> {
    if (intent.kind !== 'sweep' || intent.payment_id) return { state: 'waiting', reason };
    if (intent.refusals + 1 < batchTries) {
      await tx.query('UPDATE intent SET refusals = refusals + 1 WHERE id = $1', [intent.id]);
      return { state: 'waiting', reason };
    }
    await tx.query(`UPDATE intent SET status = 'dead', updated_at = now() WHERE id = $1`, [intent.id]);
    await disband(tx, intent.id, reason);
    return { state: 'dropped', reason };
  }

  async function priceNow(tx: EntityManager, network: string): Promise<Price> {
    const [row] = await tx.query<Array<{ unit_price: string; tip_price: string }>>(
      `SELECT unit_price::text, tip_price::text FROM network_fee WHERE network = $1 AND taken_at > now() - interval '10 minutes'`,
      [network],
    );
    if (!row) throw noPrice(network);
    return priced(network, { unitPrice: row.unit_price, tipPrice: row.tip_price });
  }

  async function store(
    tx: EntityManager,
    intent: IntentRow,
    n: number,
    plan: TransactionPlan,
    unitPrice: string,
    outputs: Array<{ address: string; units: string }>,
    maxFeeUnits: bigint,
    accounts: readonly BatchAccount[] = [],
  ): Promise<void> {
    const signed = codecOf(intent).sign(seed, plan);
    const inputs = plan.kind === 'utxo' ? plan.coins.map((coin) => `${coin.txId}:${coin.vout}`) : [];
    const moved = outputs.reduce((sum, output) => sum + BigInt(output.units), 0n);
    const [attempt] = await tx.query<Array<{ id: string }>>(
      `INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, inputs, unit_price, max_fee_units, moved_units, outputs)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING id`,
      [
        intent.id,
        n,
        intent.network,
        signed.txId,
        signed.raw,
        intent.from_address,
        plan.kind === 'account' ? plan.nonce : null,
        inputs,
        unitPrice,
        maxFeeUnits.toString(),
        moved.toString(),
        JSON.stringify(outputs),
      ],
    );
    for (const { address, nonce, units, depositIds } of accounts)
      await tx.query(
        `INSERT INTO attempt_account (attempt_id, network, address, nonce, units, deposit_ids) VALUES ($1, $2, $3, $4, $5, $6)`,
        [attempt!.id, intent.network, address, nonce, units.toString(), depositIds],
      );
    await setIntentStatus(tx, intent.id, 'stored', ['planned']);
  }

  /** Confirmed deposits as coins, locked for this intent for good. */
  async function lockCoins(tx: EntityManager, intent: IntentRow): Promise<Coin[]> {
    const deposits = await depositsById(tx, intent.deposit_ids);
    const coins: Coin[] = [];
    await lockCoinsFor(tx, intent);
    for (const deposit of deposits) {
      coins.push({
        txId: deposit.tx_id,
        vout: deposit.out_index,
        units: toUnits(
          fit(deposit.amount, assetOf(intent.currency).decimals, 'down'),
          assetOf(intent.currency).decimals,
        ),
        address: deposit.address,
        key: { role: deposit.role, index: deposit.key_index },
      });
    }
    return coins;
  }

  async function signUtxo(tx: EntityManager, intent: IntentRow, unitPrice: string, n: number): Promise<Signed> {
    const coins = await lockCoins(tx, intent);
    const earlier = await attemptsOf(tx, intent.id);
    const outpoints = coins.map((coin) => `${coin.txId}:${coin.vout}`);
    if (earlier.some((attempt) => !attempt.inputs.some((input) => outpoints.includes(input))))
      return { state: 'waiting', reason: 'an earlier transaction of it could be mined beside this one' };
    const total = coins.reduce((sum, coin) => sum + coin.units, 0n);
    const dust = toUnits(fit(assetOf(intent.currency).dust, 8, 'up'), 8);
    const fixed = intent.outputs
      .filter((output) => output.units !== null)
      .map((output) => ({ address: output.address, units: BigInt(output.units!) }));
    const spent = fixed.reduce((sum, output) => sum + output.units, 0n);
    const rest = intent.outputs.find((output) => output.units === null);
    // Whoever replaces a transaction pays more than it, whatever their sizes.
    const least = earlier.reduce((most, attempt) => larger(most, (BigInt(attempt.max_fee_units) * 9n) / 8n), 0n);
    const isShorter = earlier.some((attempt) => attempt.inputs.length > coins.length);
    const feeFor = (outputs: number): bigint => {
      const size = codecOf(intent).sizeOf({ inputs: coins.length, outputs, currency: intent.currency });
      const fee = toUnits(times(unitPrice, size.toString(), 0, 'up'), 0);
      return isShorter ? larger(fee, least) : fee;
    };
    let feeUnits = feeFor(intent.outputs.length);
    let outputs = fixed;
    const left = total - spent - feeUnits;
    if (rest && left >= dust) outputs = [...fixed, { address: rest.address, units: left }];
    else if (fixed.length && total - spent >= feeFor(fixed.length)) feeUnits = total - spent;
    else return { state: 'waiting', reason: `a fee of ${feeUnits} satoshi leaves nothing to move` };
    const isKnown = earlier.some((one) => BigInt(one.max_fee_units) >= feeUnits);
    if (isKnown) return { state: 'waiting', reason: 'there is nothing left to raise its fee with' };
    const above = exceeds(limitsOf(intent), unitPrice, feeUnits);
    if (above) return noteCap(tx, intent, earlier.at(-1), above);
    await store(
      tx,
      intent,
      n,
      { kind: 'utxo', coins, outputs, feeUnits },
      unitPrice,
      outputs.map((output) => ({ address: output.address, units: output.units.toString() })),
      feeUnits,
    );
    return { state: 'stored' };
  }

  async function signAccount(
    tx: EntityManager,
    intent: IntentRow,
    price: Price,
    n: number,
    nonce: number,
    isOutgoing: boolean,
  ): Promise<Signed> {
    const asset = assetOf(intent.currency);
    const output = intent.outputs[0];
    if (!output || intent.outputs.length !== 1)
      throw new DomainError('INTENT_MISMATCH', `Intent ${intent.id} needs exactly one output`);
    const isToken = asset.contract !== null;
    const gasLimit = isToken ? transferGas.token : transferGas.native;
    const maxFeePerGas = BigInt(fit(price.unitPrice, 0, 'up'));
    const feeUnits = gasLimit * maxFeePerGas;
    let units: bigint;
    if (output.units !== null) units = BigInt(output.units);
    else units = (await leftOn(tx, intent)) - feeUnits;
    if (units <= 0n) return { state: 'waiting', reason: `a fee of ${feeUnits} wei leaves nothing to move` };
    const above = exceeds(limitsOf(intent), price.unitPrice, feeUnits);
    if (above) return noteCap(tx, intent, (await attemptsOf(tx, intent.id)).at(-1), above);
    if (isOutgoing) {
      const held = await heldAt(tx, intent);
      const needed = units + (isToken ? 0n : feeUnits);
      if (held < needed)
        return { state: 'waiting', reason: `${intent.from_address} holds ${held} of the ${needed} that it takes` };
    }
    const key = await keyOf(tx, intent.network, intent.from_address);
    const plan = transferOf(intent, output, units, price, key, nonce);
    await store(tx, intent, n, plan, price.unitPrice, [{ address: output.address, units: units.toString() }], feeUnits);
    return { state: 'stored' };
  }

  /** The tokens of many deposit addresses in one transaction of the gas wallet. Every attempt has the delegations of the first, so that
   *  whichever is mined uses up the same nonces; it moves what is there now of what the first moved. */
  async function signTokens(
    tx: EntityManager,
    intent: IntentRow,
    price: Price,
    n: number,
    nonce: number,
  ): Promise<Signed> {
    const { decimals } = assetOf(intent.currency);
    const earlier = await attemptsOf(tx, intent.id);
    const [first] = earlier;
    const known = first ? await accountsOf(tx, first.id) : null;
    const deposits = (await depositsById(tx, intent.deposit_ids)).filter(
      (deposit) => !known || known.some((account) => account.deposit_ids.includes(deposit.id)),
    );
    if (!deposits.length) return { state: 'waiting', reason: 'none of its deposits is in the chain' };
    const accounts: BatchAccount[] = [];
    const addresses = known?.map((one) => one.address) ?? [...new Set(deposits.map((one) => one.address))].sort();
    const gasLimit = batchGas.limit.base + batchGas.limit.each * BigInt(addresses.length);
    const maxFeePerGas = BigInt(fit(price.unitPrice, 0, 'up'));
    // Before it uses up nonces.
    const above = exceeds(limitsOf(intent), price.unitPrice, gasLimit * maxFeePerGas);
    if (above) return noteCap(tx, intent, earlier.at(-1), above);
    for (const address of addresses) {
      const here = deposits.filter((deposit) => deposit.address === address);
      accounts.push({
        address,
        key: await keyOf(tx, intent.network, address),
        nonce: known?.find((one) => one.address === address)?.nonce ?? (await takeNonce(tx, intent.network, address)),
        units: here.reduce((sum, one) => sum + toUnits(fit(one.amount, decimals, 'down'), decimals), 0n),
        depositIds: here.map((one) => one.id),
      });
    }
    const units = accounts.reduce((sum, account) => sum + account.units, 0n);
    const to = intent.outputs[0]!.address;
    await store(
      tx,
      intent,
      n,
      {
        kind: 'account',
        from: intent.from_address,
        key: await keyOf(tx, intent.network, intent.from_address),
        nonce,
        to,
        value: 0n,
        batch: { currency: intent.currency, to, accounts },
        gasLimit,
        maxFeePerGas,
        maxPriorityFeePerGas: minimum(maxFeePerGas, BigInt(fit(price.tipPrice, 0, 'up'))),
      },
      price.unitPrice,
      [{ address: to, units: units.toString() }],
      gasLimit * maxFeePerGas,
      accounts,
    );
    return { state: 'stored' };
  }

  /** The next nonce of an account of ours, used up. */
  async function takeNonce(tx: EntityManager, network: string, address: string): Promise<number> {
    const nonce = await lockWallet(tx, { network, from_address: address });
    await tx.query('UPDATE wallet_sequence SET next_nonce = next_nonce + 1 WHERE network = $1 AND address = $2', [
      network,
      address,
    ]);
    return nonce;
  }

  /** Transfers of one payout from one address, signed and stored together: one lock of the wallet, nonces without a gap. What is not
   *  as its rows say, or may not be signed now, is left to `signOnce`, which says why. Returns how many there were. */
  async function signTogether(batchId: string, ids: readonly string[]): Promise<number> {
    const stored = await db.transaction(async (tx) => {
      let found = await payoutToSign(tx, batchId, ids);
      if (!found || found.isFrozen) return 0;
      if (!found.isAdmitted) {
        if (!payable(found).length || (await useAdmission(tx, 'mass_payout', batchId))) return 0;
        found = (await payoutToSign(tx, batchId, ids))!;
      }
      const due = payable(found);
      const [first] = due;
      const { key, nonce, price: today } = found;
      if (!first || key?.role !== 'treasury' || nonce === null) return 0;
      const { network, from_address } = first.intent;
      if (found.walletFrozen !== null) throw walletFrozen(from_address, found.walletFrozen);
      if (!today) throw noPrice(network);
      let left = await heldAt(tx, first.intent);
      const now = priced(network, today);
      const rows: SignedTransfer[] = [];
      for (const { intent, leg } of due) {
        const price = capped(intent, now);
        const units = unitsOf(leg);
        const output = { address: leg.address, units: units.toString() };
        const plan = transferOf(intent, output, units, price, key, nonce + rows.length);
        const feeUnits = plan.gasLimit * plan.maxFeePerGas;
        if (exceeds(limitsOf(intent), price.unitPrice, feeUnits)) continue;
        left -= units + (plan.token ? 0n : feeUnits);
        if (left < 0n) break;
        const { txId, raw } = codecs[network as NetworkId].sign(seed, plan);
        rows.push({
          intent_id: intent.id,
          leg_id: leg.id,
          tx_id: txId,
          raw,
          nonce: plan.nonce,
          unit_price: price.unitPrice,
          max_fee_units: feeUnits.toString(),
          moved_units: units.toString(),
          outputs: [output],
        });
      }
      if (!rows.length) return 0;
      await storeSigned(tx, first.intent, rows);
      const batch = found.status === 'processing' ? null : await lockBatch(tx, batchId);
      if (batch) await refreshBatch(tx, batch);
      await failPoint('sign.beforeCommit');
      return rows.length;
    });
    await failPoint('sign.afterCommit');
    return stored;
  }

  /** Those that pay exactly what one pending payment says, to an address that is on the whitelist, from the address of the first. */
  function payable({ intents, legs, isListed }: ToSign): Array<{ intent: DueIntent; leg: DueLeg }> {
    const byIntent = new Map<string, DueLeg[]>();
    for (const leg of legs) byIntent.set(leg.intent_id!, [...(byIntent.get(leg.intent_id!) ?? []), leg]);
    const from = (intent: DueIntent): string => `${intent.network} ${intent.currency} ${intent.from_address}`;
    return intents.flatMap((intent) => {
      const [leg, more] = byIntent.get(intent.id) ?? [];
      const [output, another] = intent.outputs;
      const isSo =
        leg &&
        !more &&
        !another &&
        isListed(leg) &&
        from(intent) === from(intents[0]!) &&
        intent.currency === leg.currency &&
        intent.network === leg.network &&
        output?.address === leg.address &&
        output.units === unitsOf(leg).toString() &&
        codecs[intent.network as NetworkId].normalise(leg.address) === leg.address;
      return isSo ? [{ intent, leg }] : [];
    });
  }

  /** What the intent's deposits brought, less what finished intents took off the same address, native fees included. */
  async function leftOn(tx: EntityManager, intent: IntentRow): Promise<bigint> {
    const decimals = assetOf(intent.currency).decimals;
    const deposits = await depositsById(tx, intent.deposit_ids);
    const brought = deposits.reduce(
      (sum, deposit) => sum + toUnits(fit(deposit.amount, decimals, 'down'), decimals),
      0n,
    );
    const [row] = await tx.query<Array<{ gone: string }>>(
      `SELECT coalesce(sum(a.moved_units + a.fee_units), 0)::text AS gone FROM attempt a JOIN intent i ON i.id = a.intent_id
        WHERE a.network = $1 AND a.from_address = $2 AND a.status = 'final' AND a.success AND i.currency = $3 AND i.id <> $4
          AND i.deposit_ids && $5::bigint[]`,
      [intent.network, intent.from_address, intent.currency, intent.id, intent.deposit_ids],
    );
    return brought - BigInt(row!.gone);
  }

  /** What the intent's address can spend beside the intent itself, in base units. */
  async function heldAt(
    tx: EntityManager,
    intent: Pick<IntentRow, 'id' | 'network' | 'currency' | 'from_address'>,
  ): Promise<bigint> {
    const { decimals } = assetOf(intent.currency);
    const { arrived, goneUnits } = await spendableAt(tx, {
      network: intent.network,
      address: intent.from_address,
      currency: intent.currency,
      native: networks[intent.network as NetworkId].native,
      exceptIntentId: intent.id,
    });
    return toUnits(fit(arrived, decimals, 'down'), decimals) - BigInt(goneUnits);
  }

  /** The wallet's sequence row, locked: its next nonce is ours until the commit. Throws WALLET_FROZEN. */
  async function lockWallet(tx: EntityManager, intent: Pick<IntentRow, 'network' | 'from_address'>): Promise<number> {
    await tx.query('INSERT INTO wallet_sequence (network, address) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
      intent.network,
      intent.from_address,
    ]);
    const [row] = await tx.query<Array<{ next_nonce: number; frozen_reason: string | null }>>(
      'SELECT next_nonce, frozen_reason FROM wallet_sequence WHERE network = $1 AND address = $2 FOR UPDATE',
      [intent.network, intent.from_address],
    );
    if (row!.frozen_reason) throw walletFrozen(intent.from_address, row!.frozen_reason);
    return row!.next_nonce;
  }

  /** Why no better price may be signed now: nothing is signed for a frozen wallet, and what is behind another nonce
   *  cannot be mined whatever it pays. Locks the wallet. */
  async function mayNotBump(tx: EntityManager, last: AttemptRow): Promise<string | null> {
    const { network, from_address, nonce } = last;
    const [wallet] = await tx.query<Array<{ frozen_reason: string | null }>>(
      'SELECT frozen_reason FROM wallet_sequence WHERE network = $1 AND address = $2 FOR UPDATE',
      [network, from_address],
    );
    if (wallet && wallet.frozen_reason !== null) return `wallet ${from_address} is frozen: ${wallet.frozen_reason}`;
    const lowest = nonce === null ? undefined : (await lowestOpenNonces(tx, network, [from_address])).get(from_address);
    return lowest !== undefined && lowest < nonce! ? `nonce ${lowest} of its wallet is in no block yet` : null;
  }

  const capped = (intent: Pick<IntentRow, 'max_unit_price'>, price: Price): Price => ({
    ...price,
    unitPrice: smaller(price.unitPrice, intent.max_unit_price),
  });

  const activities = {
    /** The signed transaction of an intent, made once: a repeat finds the attempt stored. Throws WALLET_FROZEN (retried),
     *  INTENT_MISMATCH (final). */
    async signOnce(intentId: string): Promise<Signed> {
      const signed = await db.transaction(async (tx): Promise<Signed> => {
        const purpose = await lockPurpose(tx, intentId);
        const planned = await lockIntent(tx, intentId);
        if ((await attemptsOf(tx, intentId)).length) return { state: 'stored' };
        if (planned.status === 'dead') return { state: 'dropped' };
        const intent = await movable(tx, planned);
        const reason = await blocked(tx, intent, purpose);
        if (reason) return refuse(tx, planned, reason);
        await checkDestinations(tx, intent, purpose);
        const verdict = await purpose?.mayBeSigned();
        if (verdict && verdict.state !== 'go') return verdict;
        const price = capped(intent, await priceNow(tx, intent.network));
        const isUtxo = networkKind(intent.network) === 'utxo';
        const next = await lockWallet(tx, intent);
        const nonce = isUtxo ? null : next;
        const signed =
          nonce === null
            ? await signUtxo(tx, intent, price.unitPrice, 1)
            : intent !== planned
              ? await signTokens(tx, intent, price, 1, nonce)
              : await signAccount(tx, intent, price, 1, nonce, purpose !== null);
        if (signed.state === 'waiting') return refuse(tx, planned, signed.reason ?? '');
        if (signed.state === 'stored') await purpose?.stored();
        if (signed.state === 'stored' && !isUtxo) {
          await tx.query('UPDATE wallet_sequence SET next_nonce = next_nonce + 1 WHERE network = $1 AND address = $2', [
            intent.network,
            intent.from_address,
          ]);
        }
        await failPoint('sign.beforeCommit');
        return signed;
      });
      await failPoint('sign.afterCommit');
      return signed;
    },

    /** One more attempt of a stuck intent: same nonce or inputs, a price at least an eighth higher, and the same
     *  recipient, or what the intent says where the attempts it has are void. `waiting` at the cap or budget, of
     *  which operators are told, while its wallet is frozen, or while an earlier nonce of it is in no block.
     *  `seenAttempts`: how many the caller has seen, so that a repeat of the same call adds none. */
    signBump: (intentId: string, seenAttempts: number): Promise<Signed> =>
      db.transaction(async (tx) => {
        const purpose = await lockPurpose(tx, intentId);
        const planned = await lockIntent(tx, intentId);
        const attempts = await attemptsOf(tx, intentId);
        const last = attempts.at(-1);
        if (!last || attempts.length > seenAttempts || isMined(attempts)) return { state: 'stored' };
        const intent = await movable(tx, planned);
        const isForOthers = last.n <= planned.void_through;
        const reason = isForOthers ? await blocked(tx, intent, purpose) : null;
        if (reason) return { state: 'waiting', reason };
        if (intent !== planned && !intent.deposit_ids.length)
          return { state: 'waiting', reason: 'none of its deposits is in the chain' };
        await checkDestinations(tx, intent, purpose);
        if (purpose && !purpose.isUnderWay)
          throw new DomainError('INTENT_MISMATCH', `${intent.kind} ${intent.ref} is not under way`);
        const wait = await mayNotBump(tx, last);
        if (wait) return { state: 'waiting', reason: wait };
        const today = await priceNow(tx, intent.network);
        const unitPrice = nextPrice(last.unit_price, today.unitPrice, intent.max_unit_price);
        if (unitPrice === null)
          return noteCap(tx, intent, last, `the price is at its cap of ${fit(intent.max_unit_price, 3, 'down')}`);
        const bumped = { unitPrice, tipPrice: bumpedPrice(times(unitPrice, '0.5', 0, 'down'), today.tipPrice) };
        if (networkKind(intent.network) === 'utxo') return signUtxo(tx, intent, unitPrice, last.n + 1);
        return intent !== planned
          ? signTokens(tx, intent, bumped, last.n + 1, last.nonce!)
          : signAccount(tx, intent, bumped, last.n + 1, last.nonce!, purpose !== null);
      }),

    /** Signs what is planned of a mass payout, each once. Tokens wait until their gas is in the chain. Safe to repeat. */
    async signPayouts(batchId: string): Promise<Readonly<{ stored: number; reason?: string }>> {
      const planned = await unsignedOf(db, batchId);
      const transfers = new Map<string, string[]>();
      for (const { id, kind, network, currency, from_address } of planned)
        if (kind === 'leg' && networkKind(network) === 'account') {
          const from = `${network} ${currency} ${from_address}`;
          transfers.set(from, [...(transfers.get(from) ?? []), id]);
        }
      let stored = 0;
      for (const ids of transfers.values())
        for (let n = 0; n < ids.length; n += payoutWindow)
          stored += await signTogether(batchId, ids.slice(n, n + payoutWindow)).catch((error: unknown) => {
            if (error instanceof DomainError && error.code === 'WALLET_FROZEN') return 0;
            throw error;
          });
      // One by one what is left: gas, coins, and whatever is not as it should be.
      const left = (await db.query(
        `SELECT id FROM intent WHERE id = ANY($1::bigint[]) AND status = 'planned' ORDER BY id`,
        [planned.map((intent) => intent.id)],
      )) as Array<{ id: string }>;
      let reason: string | undefined;
      for (const { id } of left) {
        const signed = await apart(id, () => activities.signOnce(id));
        if (signed.state === 'stored') stored += 1;
        else reason ??= signed.reason;
      }
      if (left.length)
        await db.transaction(async (tx) => {
          const batch = await lockBatch(tx, batchId);
          if (batch) await refreshBatch(tx, batch);
        });
      return { stored, ...(reason === undefined ? {} : { reason }) };
    },

    /** One more attempt for each of these, as `signBump` makes it. */
    async bumpPayouts(stuck: ReadonlyArray<Readonly<{ id: string; attempts: number }>>): Promise<number> {
      let stored = 0;
      for (const { id, attempts } of stuck)
        if ((await apart(id, () => activities.signBump(id, attempts))).state === 'stored') stored += 1;
      return stored;
    },
  };
  return activities;

  /** One of many: what is wrong with it stops it alone. */
  async function apart(intentId: string, sign: () => Promise<Signed>): Promise<Signed> {
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
};

const noPrice = (network: string): DomainError =>
  new DomainError('UPSTREAM_UNAVAILABLE', `No fresh fee estimate for ${network}`);
const walletFrozen = (address: string, reason: string): DomainError =>
  new DomainError('WALLET_FROZEN', `Wallet ${address}: ${reason}`);
const priced = (network: string, { unitPrice, tipPrice }: Price): Price => ({
  unitPrice: fit(unitPrice, networkKind(network) === 'utxo' ? 3 : 0, 'up'),
  tipPrice,
});

type Transfer = Extract<TransactionPlan, { kind: 'account' }>;

/** A transfer of `units` as it is signed. */
function transferOf(
  intent: Pick<IntentRow, 'currency' | 'from_address'>,
  output: Readonly<{ address: string; units: string | null }>,
  units: bigint,
  price: Price,
  key: KeyPath,
  nonce: number,
): Transfer {
  const isToken = assetOf(intent.currency).contract !== null;
  const maxFeePerGas = BigInt(fit(price.unitPrice, 0, 'up'));
  const common = {
    kind: 'account' as const,
    from: intent.from_address,
    key,
    nonce,
    gasLimit: isToken ? transferGas.token : transferGas.native,
    maxFeePerGas,
    // An emptying transfer pays its whole cap, so that nothing is stranded behind it.
    maxPriorityFeePerGas:
      output.units === null ? maxFeePerGas : minimum(maxFeePerGas, BigInt(fit(price.tipPrice, 0, 'up'))),
  };
  return isToken
    ? { ...common, to: output.address, value: 0n, token: { currency: intent.currency, to: output.address, units } }
    : { ...common, to: output.address, value: units };
}

const isMined = (attempts: readonly AttemptRow[]): boolean =>
  attempts.some((attempt) => attempt.status === 'mined' || attempt.status === 'final');
const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((id) => b.includes(id));
const minimum = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const networkKind = (network: string): 'utxo' | 'account' => networks[network as NetworkId].kind;
