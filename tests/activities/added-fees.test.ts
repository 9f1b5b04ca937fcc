import { Client } from 'pg';
import type { DataSource } from 'typeorm';
import { signingActivities } from '../../activities/txmanager/signing';
import { baseUnits } from '../../domain/chains/assets';
import { mostAboveQuote } from '../../domain/chains/costs';
import { add, subtract } from '../../domain/money';
import { urlFor } from '../setup/postgres';
import { outgoing, OutgoingRows, tableOf, taking, usualGas, type Asked, type Outgoing } from './outgoing-rows';
import { codecs, richShop, seed, type RichShop } from './rich-shop';

/** Somebody holds the database role of a worker, and would have receivers get less, or the merchant pay again. What he
 *  can do at the most is to add once what such a transfer may take. */

let shop: RichShop;
let db: DataSource;
let rows: OutgoingRows;
let signer: ReturnType<typeof signingActivities>;
const thieves: Record<string, Client> = {};
beforeAll(async () => {
  shop = await richShop('100');
  ({ db } = shop);
  rows = new OutgoingRows(shop);
  signer = signingActivities({ db, codecs, seed });
  for (const role of ['payments', 'chain', 'signer', 'api', 'operator'] as const) {
    thieves[role] = new Client({ connectionString: urlFor(shop.url, role) });
    await thieves[role].connect();
  }
});
afterAll(async () => {
  for (const thief of Object.values(thieves)) await thief.end();
  await shop?.stop();
});

const payments = (sql: string, values: readonly unknown[]): Promise<unknown> =>
  thieves.payments!.query(sql, [...values]);
const adding = (kind: Outgoing, amount: string, more = ''): string =>
  `UPDATE ${tableOf[kind]} SET added_fee = ${amount}, network_fee = network_fee + ${amount},
          net_amount = net_amount - ${amount}, state_version = state_version + 1 ${more} WHERE id = $1`;
/** Planned, and nobody has asked a node. */
async function planned(kind: Outgoing): Promise<Asked> {
  const asked = await rows.ask(kind, '1');
  await rows.look(asked, taking(usualGas));
  return asked;
}
const sign = async (asked: Asked): Promise<unknown> =>
  asked.kind === 'leg' ? signer.signPayouts(asked.owner) : signer.signOnce((await rows.intentOf(asked))!.id);
/** Has its intent pay so much. */
const paying = async (asked: Asked, net: string): Promise<unknown> =>
  payments(`UPDATE intent SET outputs = jsonb_set(outputs, '{0,units}', to_jsonb($2::text)) WHERE id = $1`, [
    (await rows.intentOf(asked))!.id,
    baseUnits('ETH', net).toString(),
  ]);

describe.each(outgoing)('what the receiver of a %s bears', (kind: Outgoing) => {
  const gross = kind === 'leg' ? 'amount' : 'gross_amount';

  it.each<[string, string]>([
    ['less fee', 'added_fee = 0.00001, network_fee = network_fee - 0.00001, net_amount = net_amount + 0.00001'],
    ['another sum', `added_fee = 0.00001, network_fee = network_fee + 0.00001, ${gross} = ${gross} + 0.00001`],
    ['no word of it', 'network_fee = network_fee + 0.00001, net_amount = net_amount - 0.00001'],
    ['another word', 'added_fee = 0.00002, network_fee = network_fee + 0.00001, net_amount = net_amount - 0.00001'],
    ['the word alone', 'added_fee = 0.00001'],
    ['all of it', 'added_fee = net_amount, network_fee = network_fee + net_amount, net_amount = 0'],
  ])('does not become %s', async (_what, change) => {
    const asked = await planned(kind);
    await expect(
      db.query(`UPDATE ${tableOf[kind]} SET ${change}, state_version = state_version + 1 WHERE id = $1`, [asked.id]),
    ).rejects.toMatchObject({ code: expect.stringMatching(/^(CP012|23514)$/) });
    await rows.cancel(asked);
  });

  it('is added once, by the payments worker alone', async () => {
    const asked = await planned(kind);
    const quoted = await rows.read(asked);
    for (const role of ['chain', 'signer', 'api', 'operator'])
      await expect(thieves[role]!.query(adding(kind, '0.00001'), [asked.id])).rejects.toMatchObject({ code: '42501' });
    const address = `, address = '${rows.someone()}'`;
    await expect(db.query(adding(kind, '0.00001', address), [asked.id])).rejects.toMatchObject({ code: 'CP012' });
    await payments(adding(kind, '0.00001'), [asked.id]);
    await expect(payments(adding(kind, '0.00001'), [asked.id])).rejects.toMatchObject({ code: 'CP012' });
    await expect(
      payments(`UPDATE ${tableOf[kind]} SET added_fee = NULL WHERE id = $1`, [asked.id]),
    ).rejects.toMatchObject({ code: 'CP012' });
    expect(await rows.read(asked)).toMatchObject({
      fee: add(quoted.fee, '0.00001'),
      net: subtract(quoted.net, '0.00001'),
      gross: quoted.gross,
    });
    await rows.cancel(asked);
  });

  it('is not added to what is signed or over', async () => {
    const asked = await planned(kind);
    await sign(asked);
    await expect(payments(adding(kind, '0.00001'), [asked.id])).rejects.toMatchObject({ code: 'CP012' });
    const over = await planned(kind);
    await rows.cancel(over);
    await expect(payments(adding(kind, '0.00001'), [over.id])).rejects.toMatchObject({ code: 'CP012' });
  });

  it('is not added where the status says that nothing is signed and something is', async () => {
    const asked = await planned(kind);
    const { id } = (await rows.intentOf(asked))!;
    await db.query(
      `INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, unit_price, max_fee_units,
         moved_units, outputs, status)
       SELECT id, 1, network, concat('x', id), '', from_address, 900, 1, 1, 1, '[]', 'stored' FROM intent
        WHERE id = $1`,
      [id],
    );
    await expect(payments(adding(kind, '0.00001'), [asked.id])).rejects.toMatchObject({ code: 'CP012' });
    await db.query('DELETE FROM attempt WHERE intent_id = $1', [id]);
    await rows.cancel(asked);
  });

  it('is not signed where its row says less and its intent does not, or the reverse', async () => {
    const refusal = { code: 'INTENT_MISMATCH' };
    const one = await planned(kind);
    await payments(adding(kind, '0.00001'), [one.id]);
    const other = await planned(kind);
    await paying(other, subtract((await rows.read(other)).net, '0.00001'));
    for (const asked of [one, other]) {
      if (kind === 'leg') expect(await sign(asked)).toMatchObject({ stored: 0 });
      else await expect(sign(asked)).rejects.toMatchObject(refusal);
      await rows.cancel(asked);
    }
  });

  it('is not signed where it is more than such a transfer may take', async () => {
    for (const [beyond, isSigned] of [
      ['0', true],
      ['0.000000000000000001', false],
    ] as const) {
      const asked = await planned(kind);
      const quoted = await rows.read(asked);
      const more = add(mostAboveQuote('ETH', quoted.fee), beyond);
      await payments(adding(kind, more), [asked.id]);
      await paying(asked, subtract(quoted.net, more));
      if (isSigned) {
        expect(await sign(asked)).toMatchObject(kind === 'leg' ? { stored: 1 } : { state: 'stored' });
        continue;
      }
      if (kind === 'leg') expect(await sign(asked)).toMatchObject({ stored: 0 });
      else await expect(sign(asked)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
      await rows.cancel(asked);
    }
  });

  it('is not charged to the merchant too, nor added where he was charged', async () => {
    const entry = { type: 'network_fee', sourceType: 'withdrawal', sourceId: 'x' };
    const moves = JSON.stringify([
      { debit: `L:available:${shop.merchantId}`, credit: 'I:network', asset: 'ETH', amount: '0.00001' },
    ]);
    const charge = (asked: Asked): Promise<unknown> =>
      payments('SELECT post_journal($1, $2, $3)', [`hold/${kind}/${asked.id}/gas`, entry, moves]);
    const borne = await planned(kind);
    await rows.look(borne, taking(usualGas));
    await payments(adding(kind, '0.00001'), [borne.id]);
    await expect(charge(borne)).rejects.toMatchObject({ code: 'CP014' });
    const charged = await planned(kind);
    await charge(charged);
    await expect(payments(adding(kind, '0.00001'), [charged.id])).rejects.toMatchObject({ code: 'CP012' });
    for (const asked of [borne, charged]) await rows.cancel(asked);
  });
});

it.each(['withdrawal', 'refund'] as const)(
  'the receiver of a %s bears nothing where the merchant does',
  async (kind) => {
    const asked = await rows.ask(kind, '1', 'merchant');
    await rows.look(asked, taking(usualGas));
    await expect(payments(adding(kind, '0.00001'), [asked.id])).rejects.toMatchObject({ code: 'CP012' });
    await rows.cancel(asked);
  },
);
