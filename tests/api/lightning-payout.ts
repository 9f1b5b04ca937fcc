import { unguarded } from '../unguarded';
import type { Answer } from './harness';
import { address, look, newest, withHost } from './lightning-host';
import { currency, db, earned, list, node, rich, withNode, type Rich } from './lightning-out';

/** Mass payouts of BTC_LN in tests: who has earned by Lightning, and may pay two addresses of one host. */

export type Line = Readonly<{ _id: string; status: string; txId: string | null; merchantMessage: string | null }>;
export type Batch = Readonly<{ _id: string; status: string; counts: Record<string, number>; legs: Line[] }>;

export let ann: Rich;
export const become = (one: Rich): void => void (ann = one);
export const other = 'you@wallet.example';
export function withPayer(): void {
  withNode();
  withHost();
  beforeEach(async () => {
    node.mend();
    node.nextEnd = 'SUCCEEDED';
    become(await rich());
    for (const one of [address, other]) expect((await list(ann, one)).status).toBe(201);
  });
}

export const untouched = { balance: earned, reserved: '0' };
/** What is left after a line of 0.0002 with its fee in it. */
export const lessOne = '0.000796';
export const lineTo = (to = address, amount = '0.0002'): object => ({ currency, address: to, amount });
export const check = async (rows: readonly object[]): Promise<Answer['body']> =>
  (await ann.post('/api/v1/mass-payouts/validate', { rows })).body.data;
export async function queue(rows: readonly object[], over: object = {}): Promise<string> {
  const { status, body } = await ann.post('/api/v1/mass-payouts', { rows, totpCode: await ann.code(), ...over });
  expect([status, body.data?.status]).toEqual([201, 'queued']);
  return body.data._id;
}
export const shown = async (id: string): Promise<Batch> => (await ann.get(`/api/v1/mass-payouts/${id}`)).body.data;
export const linesOf = async (id: string): Promise<Line[]> => (await shown(id)).legs;
export const statusesOf = async (id: string): Promise<string[]> => (await linesOf(id)).map(({ status }) => status);
/** One line with its invoice. */
export async function waiting(): Promise<{ id: string; line: string; hash: string }> {
  const id = await queue([lineTo()]);
  expect(await look()).toEqual([]);
  return { id, line: (await linesOf(id))[0]!._id, hash: newest() };
}
export const cancel = (id: string): Promise<Answer> => ann.post(`/api/v1/mass-payouts/${id}/cancel`);
export const invoicesOf = (lineId: string): Promise<unknown[]> =>
  db.query('SELECT hash FROM lightning_payment WHERE leg_id = $1', [lineId]);
/** As if it had to be approved first. */
export const unapprove = (id: string): Promise<unknown> =>
  unguarded(db, (tx) =>
    tx.query(
      `UPDATE payout_batch SET status = 'awaiting_approval', approved_at = NULL, needs_second_person = true
        WHERE id = $1`,
      [id],
    ),
  );
export const approve = (id: string): Promise<unknown> =>
  unguarded(db, (tx) =>
    tx.query(
      `UPDATE payout_batch SET status = 'queued', approved_at = now(), needs_second_person = false WHERE id = $1`,
      [id],
    ),
  );
