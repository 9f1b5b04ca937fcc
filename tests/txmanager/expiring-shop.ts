import type { DataSource, EntityManager } from 'typeorm';
import { signingActivities } from '../../activities/txmanager/signing';
import { noteReserves } from '../../activities/chains/reserves';
import { payoutActivities } from '../../activities/payouts/payouts';
import { refundActivities } from '../../activities/refunds/refunds';
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { queueBatch } from '../../commands/payouts/queue';
import { openRefund } from '../../commands/refunds/create';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { createMerchant } from '../../db/access/merchants';
import type * as Audits from '../../db/audit/audit';
import { storeFee } from '../../db/chains/fees';
import { post } from '../../db/ledger/ledger';
import { expiringOf } from '../../db/txmanager/expiry';
import { attemptsOf, type AttemptRow } from '../../db/txmanager/intents';
import { addToWhitelist } from '../../db/wallets/whitelist';
import type { NetworkId } from '../../domain/chains/assets';
import type {
  ChainAdapter,
  ChainCodec,
  ChainNode,
  ExpiringFamily,
  ExpiringNode,
  FeeEstimate,
} from '../../domain/chains/chain';
import { newId, newSlug } from '../../domain/ids';
import { adjustment } from '../../domain/ledger/entry';
import type { GasNode } from '../../txmanager/gas-node';
import { bookIntent } from '../../txmanager/book';
import { sendPayouts } from '../../txmanager/send/payouts';
import { sendIntent, type Sent } from '../../txmanager/send/send';
import type { Signer } from '../../txmanager/sign/signer';
import { anApprover } from '../approver';
import { unguarded } from '../unguarded';
import { connectionsTo, freshDatabase } from '../setup/postgres';

/** A shop whose withdrawals go out on a network that the registry does not have: their transactions expire. */

export type ExpiringShopParts = Readonly<{
  network: string;
  native: string;
  seed: Uint8Array;
  codec: Pick<ChainCodec, 'derive' | 'normalise' | 'refusalOf' | 'extendedKey'>;
  family: ExpiringFamily;
  /** What plans ask. */
  planning: Pick<ChainNode, 'estimateFee' | 'estimateGas' | 'reserveOf'>;
  /** The chain worker's node. */
  expiring: ExpiringNode;
  broadcast: ChainAdapter['broadcast'];
  record?: Signer['record'];
}>;

export type ExpiringShop = Awaited<ReturnType<typeof expiringShop>>;

const moneyRules = ['I1', 'I2', 'I3', 'I7', 'I8', 'I9', 'I11', 'I15'];
const ann = anApprover('ann@shop.example');

/** A database with one merchant who has a thousand whole units, which the treasury holds. */
export async function expiringShop(parts: ExpiringShopParts) {
  const { network, native, seed, codec, planning, expiring, broadcast } = parts;
  // Its checks have the registry in them, as it is when they are loaded.
  const { audit } = jest.requireActual<typeof Audits>('../../db/audit/audit');
  const database = await freshDatabase();
  const db = connectionsTo(database.url);
  await db.initialize();
  const treasury = codec.derive(codec.extendedKey(seed, 'treasury'), 0);
  const fee = (await planning.estimateFee())!;
  const merchantId = await fill(db, { network, native, treasury, fee });
  await noteReserves({ db, adapter: { network: network as NetworkId, ...planning } });
  const codecs = { [network]: codec } as never;
  const deps = { codecs, rateMaxAgeSeconds: 3600 };
  const signerOf = (over: Partial<Signer> = {}) =>
    signingActivities({
      ...{ db, codecs, seed, expiring: { [network]: parts.family } as never },
      ...(parts.record ? { record: parts.record } : {}),
      ...over,
    });
  const nodes: readonly GasNode[] = [{ network: network as NetworkId, estimateGas: planning.estimateGas }];
  const activities = withdrawalActivities({ db, nodes });
  const adapter = { network, expiring, broadcast } as Partial<ChainAdapter> as ChainAdapter;
  const listed = new Set<string>();
  const sender = { db, adapter, log: { info: () => undefined } };
  const rows = (intentId: string): Promise<AttemptRow[]> => attemptsOf(db.manager, intentId);

  const list = async (address: string, destinationTag: string | null): Promise<void> => {
    const entry = { type: 'wallet', currency: native, address, destinationTag } as const;
    if (!listed.has(address)) await addToWhitelist(db, merchantId, ann, entry);
    listed.add(address);
  };

  /** Takes out, as the merchant; nothing is planned yet. */
  async function request(to: string, amount: string, destinationTag: string | null): Promise<string> {
    await list(to, destinationTag);
    const tag = destinationTag === null ? {} : { destinationTag };
    const ask = { currency: native, amount, feeMode: 'add' as const, address: to, ...tag };
    const { row } = await db.transaction((tx) => openWithdrawal(tx, deps, merchantId, ask, ann, newId()));
    return row.id;
  }
  /** Answers the withdrawal and the intent that is planned for it. */
  async function withdraw(to: string, amount: string, destinationTag: string | null) {
    const id = await request(to, amount, destinationTag);
    const next = await activities.nextWithdrawalIntent(id);
    if (!next || !('id' in next)) throw new Error(`Nothing planned: ${JSON.stringify(next)}`);
    return { id, intentId: next.id };
  }
  /** Gives a part of a settled payment back out of the balance, as `withdraw`. */
  async function refund(to: string, amount: string, destinationTag: string) {
    const paymentId = newId();
    await unguarded(db, (tx) =>
      tx.query(
        `INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
           tolerance_pct, underpaid_policy, currency, network, amount, exchange_rate, amount_paid, settlement_address,
           custody, expires_at, expires_in)
         VALUES ($1, $2, $3, 'SETTLED', 'api', 32, 'USD', 'merchant', 40, 1, 'hold', $4, $5, 50, 1, 50, $6, 'platform',
           now(), 60)`,
        [paymentId, merchantId, newSlug(), native, network, treasury],
      ),
    );
    const ask = { type: 'partial', amount, address: to, destinationTag } as const;
    const { row } = await db.transaction((tx) =>
      openRefund(tx, deps, { merchantId, paymentId, ask, by: { userId: newId() }, idempotencyKey: null }),
    );
    const next = await refundActivities({ db, nodes }).nextRefundIntent(row.id);
    if (!next || !('id' in next)) throw new Error(`Nothing planned: ${JSON.stringify(next)}`);
    return { id: row.id, intentId: next.id };
  }
  /** Pays these amounts to one address, as a mass payout; each line is planned. */
  async function payOut(to: string, amounts: readonly string[], destinationTag: string): Promise<string> {
    await list(to, destinationTag);
    const lines = amounts.map((amount) => ({ currency: native, address: to, amount, destinationTag }));
    const { row } = await db.transaction((tx) => queueBatch(tx, deps, merchantId, ann, { rows: lines }));
    await payoutActivities({ db, nodes }).payoutStep(row.id);
    return row.id;
  }
  const send = (intentId: string): Promise<Sent> => sendIntent(sender, intentId);

  /** What the follower notes of the open attempts of an intent: what is in a final block. Books its end, where nobody
   *  else does. */
  async function follow(intentId: string, isBooked = true): Promise<void> {
    for (const row of (await rows(intentId)).filter(({ status }) => ['stored', 'sent', 'mined'].includes(status))) {
      const { txId, window } = expiringOf(row);
      const fate = await expiring.fateOf({ txId, window, signedOn: row.valid_from_hash! });
      if (fate.state !== 'mined' || !fate.isFinal) continue;
      await db.query(
        `UPDATE attempt SET status = 'final', success = $2, fee_units = $3, height = $4, block_hash = $5,
                final_at = now() WHERE id = $1`,
        [row.id, fate.success, fate.feeUnits.toString(), fate.height, fate.blockHash],
      );
      await db.query('UPDATE intent SET status = $2 WHERE id = $1', [intentId, fate.success ? 'final' : 'failed']);
      if (isBooked) await db.transaction((tx) => bookIntent(tx, intentId));
    }
  }
  return {
    ...{
      db,
      url: database.url,
      treasury,
      merchantId,
      nodes,
      adapter,
      activities,
      rows,
      request,
      withdraw,
      send,
      follow,
      signerOf,
      refund,
      payOut,
    },
    /** A transaction as the process of the API makes it, with the rights of its role. */
    asApi: <T>(act: (tx: EntityManager) => Promise<T>): Promise<T> =>
      db.transaction(async (tx) => {
        await tx.query('SET LOCAL ROLE cp_api');
        return act(tx);
      }),
    payoutStep: (id: string) => payoutActivities({ db, nodes }).payoutStep(id),
    sendPayouts: (id: string) => sendPayouts(sender, id),
    signer: signerOf(),
    statusOf: async (id: string): Promise<string> =>
      ((await db.query('SELECT status FROM withdrawal WHERE id = $1', [id])) as Array<{ status: string }>)[0]!.status,
    available: async (): Promise<string> =>
      (
        (await db.query(`SELECT trim_scale(amount)::text AS amount FROM balance WHERE account = $1`, [
          `L:available:${merchantId}`,
        ])) as Array<{ amount: string }>
      )[0]!.amount,
    violations: async () =>
      (await audit(db, { settleMs: 1 })).filter(({ invariant }) => moneyRules.includes(invariant)),
    async stop(): Promise<void> {
      await db.destroy();
      await database.drop();
    },
  };
}

async function fill(
  db: DataSource,
  { network, native, treasury, fee }: Readonly<{ network: string; native: string; treasury: string; fee: FeeEstimate }>,
): Promise<string> {
  await db.query(`INSERT INTO address (network, address, role, key_index) VALUES ($1, $2, 'treasury', 0)`, [
    network,
    treasury,
  ]);
  await storeFee(db.manager, network as NetworkId, fee);
  await db.query(
    `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
     VALUES ($1, 1, 'b1', 1, now() + interval '1 hour')`,
    [network],
  );
  await db.query(
    `WITH r AS (INSERT INTO rate (currency, fiat, value, sources, taken_at) VALUES ($1, 'USD', 1, '[]', now())
       RETURNING *)
     INSERT INTO rate_latest (currency, fiat, rate_id, value, taken_at) SELECT currency, fiat, id, value, taken_at
       FROM r`,
    [native],
  );
  const { id } = await createMerchant(db, { secretsKey: 'ab'.repeat(32), name: 'Shop' });
  await db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
       first_seen_at, allocation)
     VALUES ($1, '0x01', -1, $2, 'treasury', $3, 1000, 1000, false, 'confirmed', now(), 'own')`,
    [network, treasury, native],
  );
  await db.transaction((tx) =>
    post(tx, {
      key: 'test',
      entry: adjustment,
      postings: [{ debit: 'A:treasury', credit: `L:available:${id}`, asset: native, amount: '1000' }],
    }),
  );
  return id;
}
