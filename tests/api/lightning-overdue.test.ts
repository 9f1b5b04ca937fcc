import { followInvoices } from '../../activities/lightning/follow';
import { lndInvoices } from '../../chains/lightning/invoices';
import { lndReadings } from '../../chains/lightning/readings';
import { noteOverdue } from '../../db/lightning/overdue';
import { resolveOverdue } from '../../db/incidents';
import { readLightning } from '../../db/readings/lightning';
import { aPaymentWithInvoice, askedMsat, follow } from '../activities/lightning-shop';
import { unguarded } from '../unguarded';
import { address, withHost } from './lightning-host';
import { anInvoice, chain, db, list, node, payments, rich, shown, step, waiting, withNode } from './lightning-out';
import { ann as payer, become, waiting as waitingLine } from './lightning-payout';
import { nameInvoice, openedRefund, paymentOf } from './lightning-refund';

/** What the node should have ended long ago: incidents and metrics, as the payments worker has them. */

withNode();
withHost();
beforeEach(() => {
  node.mend();
  node.nextEnd = 'SUCCEEDED';
});

/** One look of the payments worker. */
async function look(): Promise<void> {
  await payments.transaction(noteOverdue);
  await payments.transaction(resolveOverdue);
}
const incidents = (): Promise<unknown[]> =>
  db.query<unknown[]>(
    `SELECT kind, subject_kind AS of, subject_id AS id, details->>'hash' AS hash FROM incident
      WHERE kind IN ('held-overdue', 'lightning-overdue') AND resolved_at IS NULL`,
  );
const secondsOf = async (what: 'paying' | 'taking'): Promise<number> =>
  (await readLightning(payments)).find(({ name }) => name === `payments_lightning_${what}_age_seconds`)!.value;
const back = async (
  table: 'withdrawal' | 'refund' | 'payout_leg' | 'lightning_invoice',
  id: string,
  minutes: number,
): Promise<void> => {
  const column = table === 'lightning_invoice' ? 'decided_at' : 'updated_at';
  await unguarded(db, (tx) =>
    tx.query(`UPDATE ${table} SET ${column} = now() - make_interval(mins => $2) WHERE id = $1`, [id, minutes]),
  );
};

it('tells of a withdrawal that the node does not end, until it has', async () => {
  const ann = await rich();
  node.nextEnd = 'IN_FLIGHT';
  const { id, hash } = await waiting(ann);
  await step(hash);
  await back('withdrawal', id, 29);
  await look();
  expect(await incidents()).toEqual([]);
  await back('withdrawal', id, 31);
  await look();
  await look();
  expect(await incidents()).toEqual([{ kind: 'lightning-overdue', of: 'withdrawal', id, hash }]);
  expect(await secondsOf('paying')).toBeGreaterThan(1800);
  node.paid.get(hash)!.status = 'SUCCEEDED';
  await step(hash);
  await look();
  expect(await shown(ann, id)).toMatchObject({ status: 'completed' });
  expect([await incidents(), await secondsOf('paying')]).toEqual([[], 0]);
});

it('tells of a refund that the node does not end, until it has', async () => {
  const ann = await rich();
  const { id, link } = await openedRefund(ann, await paymentOf(ann));
  const { text, hash } = anInvoice();
  expect((await nameInvoice(link, text)).status).toBe(200);
  await back('refund', id, 600);
  await look();
  expect([await incidents(), await secondsOf('paying')]).toEqual([[], 0]);
  node.nextEnd = 'IN_FLIGHT';
  await step(hash);
  await back('refund', id, 31);
  await look();
  expect(await incidents()).toEqual([{ kind: 'lightning-overdue', of: 'refund', id, hash }]);
  expect(await secondsOf('paying')).toBeGreaterThan(1800);
  node.paid.get(hash)!.status = 'SUCCEEDED';
  await step(hash);
  await look();
  expect([await incidents(), await secondsOf('paying')]).toEqual([[], 0]);
});

it('tells of a payout line that the node does not end, until it has', async () => {
  become(await rich());
  expect((await list(payer, address)).status).toBe(201);
  const { line: id, hash } = await waitingLine();
  node.nextEnd = 'IN_FLIGHT';
  await step(hash);
  await back('payout_leg', id, 31);
  await look();
  expect(await incidents()).toEqual([{ kind: 'lightning-overdue', of: 'payout-line', id, hash }]);
  expect(await secondsOf('paying')).toBeGreaterThan(1800);
  node.paid.get(hash)!.status = 'SUCCEEDED';
  await step(hash);
  await look();
  expect([await incidents(), await secondsOf('paying')]).toEqual([[], 0]);
});

it('does not tell of a withdrawal that waits to be let go', async () => {
  const { id } = await waiting(await rich());
  await back('withdrawal', id, 600);
  await look();
  expect([await incidents(), await secondsOf('paying')]).toEqual([[], 0]);
});

it('tells of money that was to be taken and is not booked, until it is', async () => {
  const { paymentId, invoiceId } = await aPaymentWithInvoice(db, payments);
  const followed = { db, chain, node };
  await follow(followed);
  const [{ hash }] = await db.query<[{ hash: string }]>('SELECT hash FROM lightning_invoice WHERE id = $1', [
    invoiceId,
  ]);
  node.pay(hash, askedMsat);
  // Its look is too old for a word to the node: decided, and not told.
  let now = 0;
  await followInvoices({
    ...{ db: chain, invoices: lndInvoices(node.login, 'regtest'), readings: lndReadings(node.login, 'regtest') },
    ...{ keys: ['11'.repeat(32)], log: { error: (fields) => expect(fields).toEqual({}) } },
    clock: () => (now += 30_000),
  });
  await back('lightning_invoice', invoiceId, 9);
  await look();
  expect(await incidents()).toEqual([]);
  await back('lightning_invoice', invoiceId, 11);
  await look();
  await look();
  expect(await incidents()).toEqual([{ kind: 'held-overdue', of: 'payment', id: paymentId, hash }]);
  expect(await secondsOf('taking')).toBeGreaterThan(600);
  await follow(followed);
  await look();
  expect([await incidents(), await secondsOf('taking')]).toEqual([[], 0]);
});
