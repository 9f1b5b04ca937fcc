import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { audit } from '../../db/audit/audit';
import { signingActivities } from '../../activities/txmanager/signing';
import { baseUnits } from '../../domain/chains/assets';
import { add, compare, divide, subtract, times } from '../../domain/money';
import type { GasNode } from '../../txmanager/gas-node';
import { bookEnd } from '../book-end';
import { outgoing, OutgoingRows, taking, usualGas, type Asked, type Outgoing } from './outgoing-rows';
import { codecs, richShop, seed, type RichShop } from './rich-shop';

/** Who bears the network fee of what leaves bears as well what its receiver takes above the quote: where it is
 *  deducted, less arrives. The hold is what it was, and the merchant is charged nothing beside it. */

let shop: RichShop;
let db: DataSource;
let rows: OutgoingRows;
let signer: ReturnType<typeof signingActivities>;
beforeAll(async () => {
  shop = await richShop('100');
  ({ db } = shop);
  rows = new OutgoingRows(shop);
  signer = signingActivities({ db, codecs, seed });
});
afterAll(() => shop?.stop());
afterEach(async () => {
  const broken = (await audit(db, { settleMs: 1 })).filter(({ invariant }) =>
    ['I1', 'I2', 'I3', 'I7', 'I8', 'I9'].includes(invariant),
  );
  expect(broken).toEqual([]);
});

const dear = taking(3 * usualGas);
/** What `gas` costs above the usual, at the price of a quote. */
const above = (quote: string, gas: number): string =>
  divide(times(quote, String(gas - usualGas), 36, 'up'), String(usualGas), 18, 'up');
const units = (amount: string): string => baseUnits('ETH', amount).toString();

/** Signs it, and answers what it pays. */
async function sign(asked: Asked): Promise<string> {
  const { id: intentId } = (await rows.intentOf(asked))!;
  if (asked.kind === 'leg') expect(await signer.signPayouts(asked.owner)).toEqual({ stored: 1 });
  else expect(await signer.signOnce(intentId)).toEqual({ state: 'stored' });
  const [attempt] = await db.query(`SELECT outputs->0->>'units' AS units FROM attempt WHERE intent_id = $1`, [
    intentId,
  ]);
  return attempt.units;
}
/** It is final, and booked as its workflow does. */
async function arrive(asked: Asked): Promise<void> {
  const { id: intentId } = (await rows.intentOf(asked))!;
  await db.query(
    `UPDATE attempt SET status = 'final', success = true, fee_units = 1000, final_at = now(), height = 9,
            block_hash = 'b' WHERE intent_id = $1`,
    [intentId],
  );
  await db.query(`UPDATE intent SET status = 'final' WHERE id = $1`, [intentId]);
  if (asked.kind === 'leg') await rows.look(asked, dear);
  else await bookEnd(db, intentId);
}
/** Half an hour later. */
const stale = (asked: Asked): Promise<unknown> =>
  db.query(`UPDATE intent SET gas_estimated_at = now() - interval '31 minutes' WHERE kind = $1 AND ref = $2`, [
    asked.kind,
    asked.id,
  ]);

describe.each(outgoing)('where the receiver bears the fee of a %s', (kind: Outgoing) => {
  it('he gets what is left after what his address takes, and the merchant what he has asked for', async () => {
    const before = await rows.balance();
    const asked = await rows.ask(kind, '1');
    const quoted = await rows.read(asked);
    const held = await rows.balance();
    await rows.look(asked, dear);
    const more = above(quoted.fee, 3 * usualGas);
    const now = await rows.read(asked);
    expect(now).toMatchObject({ status: 'pending', gross: quoted.gross });
    expect([now.fee, now.net]).toEqual([add(quoted.fee, more), subtract(quoted.net, more)]);
    expect(now.version).toBe(quoted.version + 1);
    expect((await rows.intentOf(asked))!.units).toBe(units(now.net));
    expect(await rows.balance()).toEqual(held);

    expect(await sign(asked)).toBe(units(now.net));
    await arrive(asked);
    expect(await rows.read(asked)).toMatchObject({ status: 'completed', fee: now.fee, net: now.net });
    expect(await rows.balance()).toEqual({
      available: subtract(before.available, quoted.gross),
      reserved: before.reserved,
    });
    expect(await rows.charged(asked)).toEqual([]);
    const [said] = await db.query(
      `SELECT data->>'networkFee' AS fee, data->>'netToDestination' AS net FROM event
        WHERE entity_id = $1 AND type LIKE '%completed' ORDER BY seq DESC LIMIT 1`,
      [asked.id],
    );
    expect(said).toEqual({ fee: now.fee, net: now.net });
    const taken = await db.query(
      `SELECT p.credit, trim_scale(p.amount)::text AS amount FROM posting p JOIN journal j ON j.id = p.journal_id
        WHERE j.key = $1 AND p.debit LIKE 'L:%' ORDER BY 1`,
      [`hold/${kind}/${asked.id}/end`],
    );
    expect(taken).toEqual([
      { credit: 'A:treasury', amount: now.net },
      { credit: 'I:network', amount: now.fee },
    ]);
  });

  it('it is taken once, whatever later estimates say and however many ask', async () => {
    const asked = await rows.ask(kind, '1');
    const quoted = await rows.read(asked);
    await rows.look(asked, taking(usualGas));
    expect(await rows.read(asked)).toEqual(quoted);
    // The second look is by a process that was just started.
    for (const gas of [2, 4, 1, 3].map((n) => n * usualGas)) {
      await stale(asked);
      await Promise.all([1, 2].map(() => rows.look(asked, taking(gas))));
      const now = await rows.read(asked);
      expect(now.fee).toBe(add(quoted.fee, above(quoted.fee, 2 * usualGas)));
      expect(add(now.net, now.fee)).toBe(quoted.gross);
    }
    expect(await sign(asked)).toBe(units((await rows.read(asked)).net));
    expect(await rows.charged(asked)).toEqual([]);
    await arrive(asked);
  });

  it('net and fee stay together what they were, whatever nodes say in whatever order', async () => {
    const gas = fc.integer({ min: usualGas / 2, max: 4 * usualGas });
    const said = fc.array(fc.record({ gas, isStale: fc.boolean() }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(said, async (estimates) => {
        const asked = await rows.ask(kind, '1');
        const quoted = await rows.read(asked);
        const held = await rows.balance();
        const fees = [quoted.fee];
        for (const estimate of estimates) {
          if (estimate.isStale) await stale(asked);
          await rows.look(asked, taking(estimate.gas));
          const { fee, net } = await rows.read(asked);
          expect(add(net, fee)).toBe(quoted.gross);
          expect(compare(fee, fees.at(-1)!)).toBeGreaterThanOrEqual(0);
          fees.push(fee);
          expect(await rows.balance()).toEqual(held);
        }
        expect(new Set(fees).size).toBeLessThanOrEqual(2);
        expect(await rows.charged(asked)).toEqual([]);
        await rows.cancel(asked);
      }),
      { numRuns: 8 },
    );
  });

  it('nothing is sent where nothing would be left, and all of it comes back', async () => {
    const before = await rows.balance();
    const [, { fee }] = await sample(kind);
    const asked = await rows.ask(kind, times(fee, '2', 18, 'down'));
    await rows.look(asked, taking(2 * usualGas));
    expect(await rows.read(asked)).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('would be left'),
      net: subtract(times(fee, '2', 18, 'down'), fee),
    });
    expect(await rows.balance()).toEqual(before);
    expect((await rows.intentOf(asked))?.status).not.toBe('planned');
    const ref = asked.owner;
    const [use] = await db.query('SELECT released_at IS NOT NULL AS gone FROM egress_admission WHERE ref = $1', [ref]);
    expect(use).toEqual({ gone: true });
  });

  it('all that was asked for comes back where it is cancelled before it is signed', async () => {
    const before = await rows.balance();
    const asked = await rows.ask(kind, '1');
    await rows.look(asked, dear);
    const now = await rows.read(asked);
    await rows.cancel(asked);
    expect(await rows.balance()).toEqual(before);
    expect(await rows.read(asked)).toMatchObject({ fee: now.fee, net: now.net, gross: '1' });
  });

  it('what is cancelled while a node is asked stays as it was', async () => {
    const before = await rows.balance();
    const asked = await rows.ask(kind, '1');
    const quoted = await rows.read(asked);
    let isCancelled = false;
    const node: GasNode = {
      network: 'ethereum',
      async estimateGas() {
        if (!isCancelled) await rows.cancel(asked);
        isCancelled = true;
        return { state: 'done', gas: 63_000n };
      },
    };
    await rows.look(asked, node);
    expect(await rows.read(asked)).toMatchObject({ fee: quoted.fee, net: quoted.net });
    expect(await rows.balance()).toEqual(before);
  });

  it('he bears nothing that the merchant was charged for before', async () => {
    const asked = await rows.ask(kind, '1');
    const quoted = await rows.read(asked);
    const row = kind === 'leg' ? 'massPayout' : kind;
    await db.query('SELECT post_journal($1, $2, $3)', [
      `hold/${kind}/${asked.id}/gas`,
      { type: 'network_fee', sourceType: row, sourceId: asked.owner },
      JSON.stringify([
        { debit: `L:available:${shop.merchantId}`, credit: 'I:network', asset: 'ETH', amount: '0.00001' },
      ]),
    ]);
    const charged = await rows.balance();
    await rows.look(asked, dear);
    expect(await rows.read(asked)).toEqual(quoted);
    expect(await rows.balance()).toEqual(charged);
    await rows.cancel(asked);
  });
});

/** What is quoted for a kind. */
async function sample(kind: Outgoing): Promise<[Asked, { fee: string }]> {
  const asked = await rows.ask(kind, '1');
  const { fee } = await rows.read(asked);
  await rows.cancel(asked);
  return [asked, { fee }];
}

it.each(['withdrawal', 'refund'] as const)('where the merchant bears the fee of a %s, he is charged', async (kind) => {
  const asked = await rows.ask(kind, '1', 'merchant');
  const quoted = await rows.read(asked);
  const held = await rows.balance();
  await rows.look(asked, dear);
  expect(await rows.read(asked)).toEqual(quoted);
  const { available } = await rows.balance();
  expect(subtract(held.available, available)).toBe(above(quoted.fee, 3 * usualGas));
  expect(await rows.charged(asked)).toHaveLength(1);
  expect(await rows.shownFee(asked)).toBe(add(quoted.fee, above(quoted.fee, 3 * usualGas)));
  await rows.cancel(asked);
  // It is given back with the rest.
  expect(await rows.shownFee(asked)).toBe(quoted.fee);
});

it('a mass payout says what the fees of its lines are now', async () => {
  const asked = await rows.ask('leg', '1');
  const feesOf = async (): Promise<unknown> =>
    (await db.query('SELECT fees FROM payout_batch WHERE id = $1', [asked.owner]))[0].fees;
  const quoted = await rows.read(asked);
  expect(await feesOf()).toEqual({ ETH: quoted.fee });
  await rows.look(asked, dear);
  const { fee } = await rows.read(asked);
  expect(compare(fee, quoted.fee)).toBe(1);
  expect(await feesOf()).toEqual({ ETH: fee });
  await rows.cancel(asked);
});
