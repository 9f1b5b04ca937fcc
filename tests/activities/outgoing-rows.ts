import { payoutActivities } from '../../activities/payouts/payouts';
import { refundActivities } from '../../activities/refunds/refunds';
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { cancelBatch } from '../../commands/payouts/cancel';
import { queueBatch } from '../../commands/payouts/queue';
import { cancelRefund } from '../../commands/refunds/cancel';
import { openRefund } from '../../commands/refunds/create';
import { cancelWithdrawal } from '../../commands/withdrawals/cancel';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { readRefund } from '../../db/refunds/refunds';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { readWithdrawal } from '../../db/withdrawals/withdrawals';
import { newId, newSlug } from '../../domain/ids';
import { trim } from '../../domain/money';
import { viewRefund } from '../../domain/refunds/refund';
import { viewWithdrawal } from '../../domain/withdrawals/withdrawal';
import type { GasNode } from '../../txmanager/gas-node';
import { anApprover } from '../approver';
import { unguarded } from '../unguarded';
import { codecs, strangers, type RichShop } from './rich-shop';

/** Ether that leaves a rich shop, of each kind that a merchant asks for, by the same names. */

export const outgoing = ['withdrawal', 'refund', 'leg'] as const;
export type Outgoing = (typeof outgoing)[number];
/** Where the rows of a kind are. */
export const tableOf = { withdrawal: 'withdrawal', refund: 'refund', leg: 'payout_leg' } as const;
/** `owner`: the row, or the batch of a line. */
export type Asked = Readonly<{ kind: Outgoing; id: string; owner: string }>;
export type Money = Readonly<{
  status: string;
  version: number;
  gross: string;
  fee: string;
  net: string;
  message: string | null;
}>;

const ann = anApprover('ann@shop.example');
const deps = { codecs, rateMaxAgeSeconds: 3600 };

export class OutgoingRows {
  private count = 0;

  constructor(private readonly shop: RichShop) {}

  /** Somebody who was never paid. */
  someone(): string {
    return codecs.ethereum.derive(strangers, (this.count += 1));
  }

  async ask(kind: Outgoing, amount: string, bearer: 'receiver' | 'merchant' = 'receiver'): Promise<Asked> {
    const { db, merchantId } = this.shop;
    const address = this.someone();
    if (kind !== 'refund')
      await addToWhitelist(db.manager, merchantId, ann, {
        ...{ type: 'wallet', currency: 'ETH', address, destinationTag: null },
      });
    return db.transaction(async (tx) => {
      if (kind === 'withdrawal') {
        const feeMode = bearer === 'receiver' ? ('deduct' as const) : ('add' as const);
        const ask = { currency: 'ETH', amount, feeMode, address };
        const { row } = await openWithdrawal(tx, deps, merchantId, ask, ann, newId());
        return { kind, id: row.id, owner: row.id };
      }
      if (kind === 'leg') {
        if (bearer === 'merchant') throw new Error('The receivers of a mass payout bear its fees');
        const { row } = await queueBatch(tx, deps, merchantId, ann, { rows: [{ currency: 'ETH', amount, address }] });
        const [line] = await tx.query('SELECT id FROM payout_leg WHERE batch_id = $1', [row.id]);
        return { kind, id: line.id, owner: row.id };
      }
      const ask = {
        ...({ type: 'partial', amount, address } as const),
        feeBearer: bearer === 'receiver' ? ('payer' as const) : ('merchant' as const),
      };
      const { row } = await openRefund(tx, deps, {
        merchantId,
        paymentId: await this.settled(),
        ask,
        by: { userId: newId() },
        idempotencyKey: null,
      });
      return { kind, id: row.id, owner: row.id };
    });
  }

  /** A payment of an ether that is settled. */
  private async settled(): Promise<string> {
    const { db, merchantId, hot } = this.shop;
    const paymentId = newId();
    await unguarded(db, (tx) =>
      tx.query(
        `INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
           tolerance_pct, underpaid_policy, currency, network, amount, exchange_rate, amount_paid, settlement_address,
           custody, expires_at, expires_in)
         VALUES ($1, $2, $3, 'SETTLED', 'api', 3200, 'USD', 'merchant', 40, 1, 'hold', 'ETH', 'ethereum', 1, 3200, 1,
           $4, 'platform', now(), 60)`,
        [paymentId, merchantId, newSlug(), hot],
      ),
    );
    return paymentId;
  }

  /** Plans it and has this node estimate it, as its workflow does. */
  async look({ kind, owner }: Asked, node: GasNode): Promise<unknown> {
    const { db } = this.shop;
    const nodes = [node];
    if (kind === 'withdrawal') return withdrawalActivities({ db, nodes }).nextWithdrawalIntent(owner);
    if (kind === 'refund') return refundActivities({ db, nodes }).nextRefundIntent(owner);
    return payoutActivities({ db, nodes }).payoutStep(owner);
  }

  cancel({ kind, owner }: Asked): Promise<unknown> {
    const { db, merchantId } = this.shop;
    const cancel = { withdrawal: cancelWithdrawal, refund: cancelRefund, leg: cancelBatch }[kind];
    return db.transaction<unknown>((tx) => cancel(tx, merchantId, owner));
  }

  async read({ kind, id }: Asked): Promise<Money> {
    const gross = kind === 'leg' ? 'amount' : 'gross_amount';
    const [row] = await this.shop.db.query(
      `SELECT status, state_version AS version, trim_scale(${gross})::text AS gross,
              trim_scale(network_fee)::text AS fee, trim_scale(net_amount)::text AS net, merchant_message AS message
         FROM ${tableOf[kind]} WHERE id = $1`,
      [id],
    );
    return row;
  }

  /** The network fee that its merchant reads. */
  async shownFee({ kind, id }: Asked): Promise<string> {
    const { db, merchantId } = this.shop;
    if (kind === 'leg') throw new Error('The receivers of a mass payout bear its fees');
    const view =
      kind === 'refund'
        ? viewRefund((await readRefund(db, merchantId, id))!, false)
        : viewWithdrawal((await readWithdrawal(db, merchantId, id))!, false);
    return trim(view.networkFee);
  }

  /** The intent that pays it, planned or signed. */
  async intentOf({ kind, id }: Asked): Promise<{ id: string; units: string; status: string } | undefined> {
    const [row] = await this.shop.db.query(
      `SELECT id, outputs->0->>'units' AS units, status FROM intent WHERE kind = $1 AND ref = $2
        ORDER BY intent.id DESC LIMIT 1`,
      [kind, id],
    );
    return row;
  }

  /** What the merchant can spend, and what is held of his. */
  async balance(): Promise<{ available: string; reserved: string }> {
    const of = async (account: string): Promise<string> =>
      (
        await this.shop.db.query('SELECT trim_scale(amount)::text AS amount FROM balance WHERE account = $1', [
          `L:${account}:${this.shop.merchantId}`,
        ])
      )[0]?.amount ?? '0';
    return { available: await of('available'), reserved: await of('reserved') };
  }

  /** What he was charged beside what he asked for. */
  charged = ({ kind, id }: Asked): Promise<unknown[]> =>
    this.shop.db.query('SELECT key FROM journal WHERE key = $1', [`hold/${kind}/${id}/gas`]);
}

/** A node of Ethereum by which every transfer takes so much gas. */
export const taking = (gas: number): GasNode => ({
  network: 'ethereum',
  estimateGas: () => Promise.resolve({ state: 'done', gas: BigInt(gas) }),
});
/** What a usual transfer takes. */
export const usualGas = 21_000;
