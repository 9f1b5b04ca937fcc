import { lndReadings } from '../../chains/lightning/readings';
import { confirmRequest, fileRequest } from '../../commands/operators/requests';
import { audit } from '../../db/audit/audit';
import { reconcileLightning } from '../../db/audit/reconcile-lightning';
import { isFrozen } from '../../db/limits/outbound';
import { newId } from '../../domain/ids';
import type { OperatorRequest } from '../../db/operators/requests';
import { anOperator, byTwoOperators } from '../operators';
import { connectionsTo, urlFor } from '../setup/postgres';
import { unguarded } from '../unguarded';
import { Person } from './person';
import { startMarkets, type Markets } from './markets';
import { codeOf, currency, db, h, node, payments, rich, withNode, type Rich } from './lightning-out';

/** What becomes of the money of our Lightning node by no act of the service: its owner takes it out, puts it in, or it
 *  goes in fees. Two operators book it, with the rights of the API. The node is a simulator of lnd's API. */

let ann: Rich;
let markets: Markets;
afterAll(() => markets?.stop());
withNode();
beforeAll(async () => {
  markets = await startMarkets(h);
  ann = await rich();
  node.capital = 0n;
  await db.query(`INSERT INTO conversion_pair (from_currency, to_currency, mode) VALUES ('BTC_LN', 'BTC', 'internal')`);
  const postings = [{ debit: 'A:treasury', credit: 'Q:capital', asset: 'BTC', amount: '1' }];
  await db.query('SELECT post_journal($1, NULL, $2)', ['test/treasury', JSON.stringify(postings)]);
});

const reconcile = () => reconcileLightning(payments, lndReadings(node.login, 'regtest'), 1);
const sumOf = async (account: string): Promise<string> =>
  (
    await db.query<[{ sum: string }]>(
      `SELECT trim_scale(coalesce(sum(CASE WHEN debit = $1 THEN amount ELSE -amount END), 0))::text AS sum
         FROM posting WHERE $1 IN (debit, credit) AND asset = $2`,
      [account, currency],
    )
  )[0].sum;
const asApi = async <T>(act: (api: typeof db) => Promise<T>): Promise<T> => {
  const api = await connectionsTo(urlFor(h.databaseUrl, 'api')).initialize();
  try {
    return await act(api);
  } finally {
    await api.destroy();
  }
};
/** Asked for, and confirmed by so many. */
const book = (what: string, amount: string, confirmations = 2): Promise<OperatorRequest> =>
  asApi(async (api) => {
    const operators = [await anOperator(db), await anOperator(db)];
    const asked = { kind: 'book-lightning', payload: { what, amount }, reason: 'the channel is closed' };
    let request = await api.transaction((tx) => fileRequest(tx, operators[0]!.actor, asked));
    for (const one of operators.slice(0, confirmations))
      request = await api.transaction((tx) => confirmRequest(tx, one, request.id));
    return request;
  });
/** What the audit says of the currency. The treasury of these tests has bitcoin that no deposit explains. */
const unexplained = async (): Promise<string[]> =>
  (await audit(db, { settleMs: 1 })).flatMap(({ found }) => found.filter((one) => one.startsWith(currency)));
/** What the API may post without the act: nothing but what a confirmed request says. */
const posted = (requestId: string, [debit, credit]: readonly [string, string], amount: string): Promise<unknown> =>
  asApi((api) =>
    api.query('SELECT post_journal($1, NULL, $2)', [
      `lightning-capital/${requestId}`,
      JSON.stringify([{ debit, credit, asset: currency, amount }]),
    ]),
  );
const takenOut = ['Q:capital', 'A:lightning'] as const;

it('takes out what was converted, once two operators have booked it, and stays lifted', async () => {
  const code = await ann.code();
  const asked = { fromCurrency: currency, toCurrency: 'BTC', fromAmount: '0.0005', otpCode: code };
  expect((await ann.post('/api/v1/conversions', asked)).body).toMatchObject({ status: 'completed' });
  expect([await reconcile(), await sumOf('A:lightning')]).toEqual([[], '0.001']);
  node.lost = 50_000_000n;
  expect(await reconcile()).toMatchObject([{ currency, missing: '0.0005' }]);
  const operator = await Person.superAdmin(h);
  const { items } = (await operator.get('/api/v1/platform/incidents?state=open&kind=unreconciled')).body.data;
  expect(items).toMatchObject([{ subject: { id: currency }, runbook: { endedBy: 'service', act: 'book-lightning' } }]);
  expect(await isFrozen(db, currency)).toBe(true);
  await expect(book('put-in', '0.0005')).rejects.toMatchObject({
    ...{ code: 'ACT_REFUSED', message: expect.stringContaining('makes up for that first') },
  });
  expect(await book('taken-out', '0.00050', 1)).toMatchObject({
    ...{ state: 'open', payload: { what: 'taken-out', amount: '0.0005' } },
    summary: 'Book that its owner takes 0.0005 BTC_LN out of the Lightning node (Q:capital)',
  });
  expect(await sumOf('A:lightning')).toBe('0.001');
  await expect(book('taken-out', '0.0005')).rejects.toMatchObject({ code: 'OPERATOR_REQUEST_OPEN' });
  await db.query(`UPDATE operator_request SET state = 'cancelled', ended_at = now() WHERE state = 'open'`);
  expect(await book('taken-out', '0.0005')).toMatchObject({
    ...{ state: 'executed', outcome: '0.0005 BTC_LN is booked: taken-out' },
  });
  expect([await sumOf('A:lightning'), await sumOf('Q:capital')]).toEqual(['0.0005', '0.0005']);
  expect(await reconcile()).toEqual([]);
  expect(await db.query(`SELECT FROM incident WHERE kind = 'unreconciled' AND resolved_at IS NULL`)).toEqual([]);
  await byTwoOperators(db, 'unfreeze', { currency });
  expect([await reconcile(), await isFrozen(db, currency)]).toEqual([[], false]);
  expect(await unexplained()).toEqual([]);
  const acts = await db.query(`SELECT target, after->>'what' AS what FROM audit_log WHERE action = 'lightning.booked'`);
  expect(acts).toEqual([{ target: currency, what: 'taken-out' }]);
});

it('is refused beyond what merchants leave, and what is no such booking', async () => {
  // Commission and fees of one payment are all that is left.
  await expect(book('taken-out', '0.00000401')).rejects.toMatchObject({
    ...{ code: 'ACT_REFUSED', message: expect.stringContaining('have 0.000004 BTC_LN in the Lightning node beyond') },
  });
  for (const what of ['fees', 'lost'])
    await expect(book(what, '0.0005')).rejects.toMatchObject({ code: 'ACT_REFUSED' });
  for (const amount of ['0', '-1', '0.000000001', '1e-8', 'all'])
    await expect(book('taken-out', amount)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  await expect(book('given', '0.000001')).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  const asked = { kind: 'book-lightning', payload: { what: 'put-in', amount: '1' }, reason: 'x' };
  const byMerchant = await ann.post('/api/v1/platform/operator-requests', { ...asked, totpCode: await ann.code() });
  expect(codeOf(byMerchant)[0]).toBe(403);
  expect(await sumOf('A:lightning')).toBe('0.0005');
});

it('is posted by nobody in the API who has not two operators, nor twice, nor beyond the bound', async () => {
  const refused = { code: 'CP014' };
  await expect(posted(newId(), takenOut, '0.000001')).rejects.toMatchObject(refused);
  const alone = await book('taken-out', '0.000001', 1);
  await expect(posted(alone.id, takenOut, '0.000001')).rejects.toMatchObject(refused);
  const { id } = await book('taken-out', '0.000002');
  await expect(posted(id, takenOut, '0.000002')).rejects.toMatchObject(refused);
  // Two who confirm more than the bound, by whatever means.
  const payload = JSON.stringify({ what: 'taken-out', amount: '0.0001' });
  const much = newId();
  const [first, second] = [await anOperator(db), await anOperator(db)];
  await unguarded(db, async (tx) => {
    await tx.query(
      `INSERT INTO operator_request (id, kind, payload, summary, reason, asked_by_name, expires_at)
         VALUES ($1, 'book-lightning', $2, 'x', 'x', 'x', now() + interval '1 hour')`,
      [much, payload],
    );
    for (const { userId, sessionId, actor } of [first, second])
      await tx.query(
        'INSERT INTO operator_confirmation (request_id, user_id, session_id, user_name) VALUES ($1, $2, $3, $4)',
        [much, userId, sessionId, actor.name],
      );
  });
  await expect(posted(much, takenOut, '0.0001')).rejects.toMatchObject(refused);
  await expect(posted(much, ['A:lightning', 'Q:capital'], '0.0001')).rejects.toMatchObject(refused);
  expect(await sumOf('A:lightning')).toBe('0.000498');
  await db.query(`UPDATE operator_request SET state = 'cancelled', ended_at = now() WHERE state = 'open'`);
});

it('books what its owner puts in, and from then on the node must have that too', async () => {
  node.lost = 50_200_000n;
  expect(await reconcile()).toEqual([]);
  node.capital = 1_000_000_000n;
  expect(await book('put-in', '0.01')).toMatchObject({ state: 'executed' });
  expect([await reconcile(), await sumOf('A:lightning')]).toEqual([[], '0.010498']);
  node.lost += 1_500_000n;
  expect(await reconcile()).toMatchObject([{ missing: '0.000015' }]);
  await book('fees', '0.000005');
  await book('lost', '0.00001');
  expect(await reconcile()).toEqual([]);
  expect([await sumOf('E:network'), await sumOf('E:loss')]).toEqual(['0.000005', '0.00001']);
  await byTwoOperators(db, 'unfreeze', { currency });
  expect(await unexplained()).toEqual([]);
});
