import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import { cancelRefund } from '../../../commands/refunds/cancel';
import { claimUrl } from '../../../commands/refunds/claim';
import { openRefund } from '../../../commands/refunds/create';
import { cancelWithdrawal } from '../../../commands/withdrawals/cancel';
import { openWithdrawal } from '../../../commands/withdrawals/create';
import { estimateWithdrawal } from '../../../commands/withdrawals/estimate';
import { readRefund } from '../../../db/refunds/refunds';
import { readWithdrawal } from '../../../db/withdrawals/withdrawals';
import { parseConfig } from '../../../domain/config';
import { lightningCurrency } from '../../../domain/lightning/currency';
import { negate, times } from '../../../domain/money';
import { addressOf, hostManners } from '../lightning-host';
import type { Random } from '../random';
import { plain, type Stage } from '../stage';
import { amountOf } from './amounts';
import { cancelLater, inWords, type Cancellation } from './cancel';
import type { Draw } from './lightning-draw';
import { opened } from './lightning-payment';

/** Money that leaves by Lightning. A way may be missing while a node is down: then it comes back to the balance, and
 *  the payee's node was not paid. Both nodes are held against the books at the end. */

const currency = lightningCurrency;
type Row = Readonly<{ status: string; gross_amount: string }>;

/** Cancelled where that was drawn, and seen to its end. `isPayable`: whether its invoice can be paid at all. */
async function leaves(
  stage: Stage,
  what: string,
  back: Cancellation,
  read: () => Promise<Row | null>,
  isPayable = true,
): Promise<void> {
  await cancelLater(stage, back);
  const last = await stage.ended(what, ['completed', 'cancelled', 'failed'], read);
  const isFit =
    last.status === 'failed' ||
    (last.status === 'completed' && isPayable) ||
    (last.status === 'cancelled' && back.afterMs !== null);
  if (!isFit) stage.problems.push(`${what} ended ${last.status}`);
  stage.changes.push({ currency, amount: negate(last.status === 'completed' ? last.gross_amount : '0') });
}

const cancelledAfter = (random: Random): number | null => (random.next() < 0.25 ? random.whole(0, 4000) : null);
type Asked = Readonly<{ amount: string; feeMode: 'add' | 'deduct' }>;
const asked = (random: Random): Asked => ({
  amount: amountOf(random, currency),
  feeMode: random.pick(['deduct', 'add'] as const),
});
const words = ({ amount, feeMode }: Asked, afterMs: number | null): string =>
  `${amount}, fee ${feeMode}${inWords(afterMs)}`;

/** What arrives of it, which its invoice is to ask for. */
const netOf = async (stage: Stage, ask: Asked): Promise<string> => {
  const { world, shop, deps } = stage;
  return (await stage.again(() => estimateWithdrawal(world.db, deps, shop.id, { ...ask, currency }))).net;
};

async function withdraw(
  stage: Stage,
  name: string,
  ask: Asked & Readonly<{ address: string }>,
  afterMs: number | null,
  isPayable?: boolean,
): Promise<void> {
  const { world, shop, by, deps } = stage;
  const { row } = await stage.surely((tx) => openWithdrawal(tx, deps, shop.id, { ...ask, currency }, by, name));
  const cancel = (tx: EntityManager): Promise<unknown> => cancelWithdrawal(tx, shop.id, row.id);
  const back = { afterMs, cancel, tooLate: 'WITHDRAWAL_STATE' };
  await leaves(stage, `withdrawal ${row.id}`, back, () => readWithdrawal(world.db, shop.id, row.id), isPayable);
}

/** The node of the payer may be paid. */
const listed = (stage: Stage): Promise<void> => stage.list({ currency, address: stage.lightning!.payer.key });

const withdrawn: Draw = (random, name) => {
  const ask = asked(random);
  const afterMs = cancelledAfter(random);
  return {
    says: words(ask, afterMs),
    async live(stage) {
      await listed(stage);
      const net = await netOf(stage, ask);
      const address = await stage.again(() => stage.lightning!.payer.invoice(net));
      return withdraw(stage, name, { ...ask, address }, afterMs);
    },
  };
};

/** To a Lightning address; to an invoice where this machine has no host of addresses. */
const toAddress: Draw = (random, name) => {
  const ask = asked(random);
  const afterMs = cancelledAfter(random);
  const manner = random.pick(hostManners);
  return {
    says: `${words(ask, afterMs)}, its host is ${manner}`,
    async live(stage) {
      const { host, payer } = stage.lightning!;
      const address = host
        ? addressOf(`${manner}-${name.replaceAll('/', '-')}`)
        : await stage.again(async () => payer.invoice(await netOf(stage, ask)));
      await (host ? stage.list({ currency, address }) : listed(stage));
      return withdraw(stage, name, { ...ask, address }, afterMs);
    },
  };
};

/** The invoice is given up by its payee before it is paid. */
const noWay: Draw = (random, name) => {
  const ask = asked(random);
  return {
    says: words(ask, null),
    async live(stage) {
      const { payer } = stage.lightning!;
      await listed(stage);
      const net = await netOf(stage, ask);
      const { text, hash } = await stage.again(() => payer.holdInvoice(net, name));
      await stage.again(() => payer.invoices.cancel(hash));
      return withdraw(stage, name, { ...ask, address: text }, null, false);
    },
  };
};

/** The payee holds it for a while, and takes it or sends it back. */
const held: Draw = (random, name) => {
  const ask = asked(random);
  const holdMs = random.whole(0, 12_000);
  const isTaken = random.next() < 0.6;
  return {
    says: `${words(ask, null)}, ${isTaken ? 'taken' : 'sent back'} after ${holdMs} ms`,
    async live(stage) {
      const { payer } = stage.lightning!;
      await listed(stage);
      const net = await netOf(stage, ask);
      const { text, hash, preimage } = await stage.again(() => payer.holdInvoice(net, name));
      let isOver = false;
      const arrives = async (): Promise<void> => {
        while (!isOver) {
          if ((await payer.invoices.lookUp(hash).catch(() => null))?.state === 'accepted') break;
          await sleep(200);
        }
        await sleep(isOver ? 0 : holdMs);
        await stage.again(() => (isTaken ? payer.invoices.settle(preimage) : payer.invoices.cancel(hash)));
      };
      const seen = arrives();
      await withdraw(stage, name, { ...ask, address: text }, null, isTaken);
      isOver = true;
      await seen;
    },
  };
};

/** Paid, and a part of it or all of it back to an invoice that the payer names at the claim link. */
const refunded: Draw = (random, name) => {
  const amount = random.whole(40, 90);
  const share = random.pick(['0.4', '0.7', '1']);
  const feeBearer = random.pick(['payer', 'merchant'] as const);
  const afterMs = cancelledAfter(random);
  const place = `10.${random.whole(0, 255)}.${random.whole(0, 255)}.${random.whole(1, 254)}`;
  return {
    says: `${share} of ${amount} USD, fee of the ${feeBearer}${inWords(afterMs)}`,
    async live(stage) {
      const { world, shop } = stage;
      const { payer } = stage.lightning!;
      const invoice = await opened(stage, amount);
      const due = plain(invoice.amount);
      await paid(stage, invoice.id);
      await stage.settles(invoice, 'SETTLED', due);
      const ask =
        share === '1'
          ? { feeBearer, type: 'full' as const }
          : { feeBearer, type: 'partial' as const, amount: times(due, share, 8, 'down') };
      const { row } = await stage.surely((tx) =>
        openRefund(tx, stage.deps, {
          merchantId: shop.id,
          paymentId: invoice.id,
          ask,
          by: { userId: stage.by.id },
          idempotencyKey: name,
        }),
      );
      const link = `/refund-claims/${claimUrl(parseConfig(world.stack.env), row.id).split('/').pop()}`;
      const cancel = (tx: EntityManager): Promise<unknown> => cancelRefund(tx, shop.id, row.id);
      const claims = async (): Promise<void> => {
        const address = await stage.again(() => payer.invoice(row.net_amount));
        const from = { 'x-forwarded-for': place };
        const { status, body } = await stage.insist(async () => {
          const answer = await world.call(null, 'POST', link, { address, confirm: true }, from);
          // Nothing is named before the signer has confirmed a database that has started again.
          return answer.body?.error?.code === 'CURRENCY_NOT_AVAILABLE' ? { ...answer, status: 503 } : answer;
        });
        if (status !== 200 && afterMs === null)
          stage.problems.push(`refund ${row.id} was not claimed: ${status} ${JSON.stringify(body)}`);
      };
      const read = (): Promise<Row | null> => readRefund(world.db, shop.id, row.id);
      const back = { afterMs, cancel, tooLate: 'REFUND_STATE' };
      await Promise.all([claims(), leaves(stage, `refund ${row.id}`, back, read)]);
    },
  };
};

/** Pays what a payment shows until it is taken. */
async function paid(stage: Stage, id: string): Promise<void> {
  await stage.again(async () => {
    const { publicKey: text } = await stage.world.payment(stage.shop, id);
    if (!(await stage.lightning!.payer.pays(text))) throw new Error('it came back');
  });
}

export const outgoing: Readonly<Record<string, Draw>> = {
  ...{ withdrawn, 'withdrawn to an address': toAddress, 'withdrawn without a way': noWay, 'withdrawn and held': held },
  refunded,
};
