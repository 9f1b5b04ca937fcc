import type { EntityManager } from 'typeorm';
import { openPayments } from '../../db/lightning/payments';
import { restoreCalled, type CallRecord } from '../../db/recovery/lost-invoices';
import { lockInvoicedLine } from '../../txmanager/kinds/payout-line';
import { failLines } from '../../txmanager/kinds/payout-line-end';
import { connectionsTo, urlFor } from '../setup/postgres';
import { unguarded } from '../unguarded';
import { look, newest, wallet } from './lightning-host';
import { anInvoice, calls, db, found, h, node, record, rowOf, signer, step, called } from './lightning-out';
import {
  approve,
  cancel,
  invoicesOf,
  linesOf,
  lineTo,
  queue,
  statusesOf,
  unapprove,
  waiting,
  withPayer,
  type Line,
} from './lightning-payout';

/** Lines of mass payouts by Lightning in the hands of thieves, and after a backup was restored. */

withPayer();

describe('in the hands of a thief', () => {
  const as = async (role: 'api' | 'payments' | 'chain', sql: string, values: unknown[]): Promise<unknown> => {
    const thief = await connectionsTo(urlFor(h.databaseUrl, role)).initialize();
    return thief.query(sql, values).finally(() => thief.destroy());
  };
  const insert = `INSERT INTO lightning_payment (hash, leg_id, invoice, amount_msat, fee_limit_msat, expires_at)
    VALUES ($1, $2, $3, $4, 100000, now() + interval '1 hour')`;

  it('gets no invoice from the API, and none of another amount', async () => {
    const id = await queue([lineTo()]);
    const [{ _id: line }] = (await linesOf(id)) as [Line];
    const { text, hash } = anInvoice({ satoshi: 19_900 });
    await expect(as('api', insert, [hash, line, text, 19_900_000])).rejects.toMatchObject({ code: 'CP014' });
    await expect(as('payments', insert, [hash, line, text, 20_000_000])).rejects.toMatchObject({ code: 'CP014' });
    expect((await cancel(id)).status).toBe(200);
  });

  it('has no other invoice paid than the row has', async () => {
    const { id, hash } = await waiting();
    const { text } = anInvoice({ satoshi: 19_900 });
    await unguarded(db, (tx) => tx.query('UPDATE lightning_payment SET invoice = $2 WHERE hash = $1', [hash, text]));
    await expect(step(hash)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
    expect([calls(hash), await statusesOf(id)]).toEqual([0, ['pending']]);
    expect((await cancel(id)).status).toBe(200);
  });

  it.each([
    [
      'payments',
      `UPDATE payout_leg SET network_fee = network_fee + 0.0001, net_amount = net_amount - 0.0001,
       added_fee = 0.0001, state_version = state_version + 1 WHERE id = $1`,
    ],
    ['payments', `UPDATE payout_leg SET status = 'pending', state_version = state_version + 1 WHERE id = $1`],
    ['api', `UPDATE payout_leg SET status = 'refunded', state_version = state_version + 1 WHERE id = $1`],
  ] as const)('changes nothing of what is on its way: %s %#', async (role, sql) => {
    const { id, line, hash } = await waiting();
    node.nextEnd = 'IN_FLIGHT';
    await step(hash);
    await expect(as(role, sql, [line])).rejects.toMatchObject({ code: 'CP012' });
    node.paid.get(hash)!.status = 'SUCCEEDED';
    await step(hash);
    await expect(
      as(
        role,
        `UPDATE payout_leg SET status = 'broadcast', state_version = state_version + 1
      WHERE id = $1`,
        [line],
      ),
    ).rejects.toMatchObject({ code: 'CP012' });
    expect(await statusesOf(id)).toEqual(['completed']);
  });

  it.each(['api', 'payments'] as const)('gets nothing back of what was called for, as %s', async (role) => {
    const { line, hash } = await waiting();
    node.nextEnd = 'IN_FLIGHT';
    await step(hash);
    const thief = await connectionsTo(urlFor(h.databaseUrl, role)).initialize();
    const release = async (tx: EntityManager): Promise<void> =>
      failLines(tx, [(await lockInvoicedLine(tx, line))!], 'stolen');
    await expect(thief.transaction(release)).rejects.toMatchObject({ code: 'CP014' });
    await thief.destroy();
    node.paid.get(hash)!.status = 'SUCCEEDED';
    await step(hash);
    expect(await found()).toEqual([]);
  });
});

/** As a backup from before the invoices of a mass payout were fetched. */
async function restore(id: string): Promise<void> {
  await unguarded(db, async (tx) => {
    await tx.query('DELETE FROM lightning_payment WHERE leg_id IN (SELECT id FROM payout_leg WHERE batch_id = $1)', [
      id,
    ]);
    await tx.query(`UPDATE payout_leg SET status = 'pending', tx_id = NULL WHERE batch_id = $1`, [id]);
    await tx.query(`UPDATE payout_batch SET status = 'queued' WHERE id = $1`, [id]);
  });
}
async function recover(records: CallRecord = record): Promise<number> {
  await db.query(`INSERT INTO recovery (epoch, reason) SELECT coalesce(max(epoch), 0) + 1, 'restored' FROM recovery`);
  return signer.transaction((tx) => restoreCalled(tx, records));
}

/** Last: from here on all of before is of another time. */
describe('where a backup is restored from before its invoices', () => {
  it.each(['SUCCEEDED', 'lost'] as const)('pays nobody twice: the call before was %s', async (end) => {
    const { id, line, hash } = await waiting();
    if (end === 'lost') node.isAway = (path) => path === '/v2/router/send';
    await step(hash).catch(() => undefined);
    expect(called.filter(({ ref }) => ref === line)).toMatchObject([{ kind: 'leg', hash }]);
    node.mend();
    await restore(id);
    expect(await recover()).toBeGreaterThan(0);
    expect(await invoicesOf(line)).toEqual([{ hash }]);
    wallet.asked = [];
    expect([await look(), wallet.asked]).toEqual([[], []]);
    const refused = await cancel(id);
    expect([refused.status, refused.body.error?.code]).toEqual([409, 'BATCH_NOT_CANCELLABLE']);
    await step(hash);
    await step(hash);
    expect([await linesOf(id), calls(hash)]).toMatchObject([[{ status: 'completed', txId: hash }], 1]);
    expect(await rowOf(hash)).toMatchObject({ outcome: 'paid' });
    expect(await found()).toEqual([]);
  });

  it('waits for the approval that is lost, and is not paid again after it', async () => {
    const { id, hash } = await waiting();
    await step(hash);
    await restore(id);
    await unapprove(id);
    await recover();
    expect(await openPayments(signer)).not.toContainEqual(expect.objectContaining({ hash }));
    expect((await cancel(id)).status).toBe(409);
    await approve(id);
    await step(hash);
    expect([await statusesOf(id), calls(hash)]).toEqual([['completed'], 1]);
    expect(await found()).toEqual([]);
  });

  it('fetches one where none was called for, and lets it be cancelled', async () => {
    const [id, gone] = [(await waiting()).id, (await waiting()).id];
    for (const one of [id, gone]) await restore(one);
    await recover();
    expect((await cancel(gone)).status).toBe(200);
    expect(await look()).toEqual([]);
    await step(newest());
    await step(newest());
    expect(await statusesOf(id)).toEqual(['completed']);
    expect(await found()).toEqual([]);
  });

  it('tells of what was called for a line that is in no backup', async () => {
    const ref = 'cd'.repeat(12);
    const { text, hash } = anInvoice();
    const terms = { amountMsat: '20000000', feeLimitMsat: '100000', expiresAt: new Date().toISOString() };
    const alone: CallRecord = { ...record, since: () => [{ hash, invoice: text, kind: 'leg', ref, ...terms }] };
    for (let n = 0; n < 2; n += 1) expect(await recover(alone)).toBe(0);
    const incidents = `SELECT details FROM incident WHERE kind = 'hold-gone' AND subject_kind = 'payout-line'
      AND subject_id = $1`;
    expect(await db.query(incidents, [ref])).toEqual([{ details: expect.objectContaining({ paymentHash: hash }) }]);
  });
});
