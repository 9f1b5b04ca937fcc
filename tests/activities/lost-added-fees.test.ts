import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { signingActivities } from '../../activities/txmanager/signing';
import { audit } from '../../db/audit/audit';
import { restoreSigned, type SignatureRecord } from '../../db/recovery/lost';
import { subtract } from '../../domain/money';
import { outsideRecord } from '../../workers/outside-record';
import { bookEnd } from '../book-end';
import { copiesOf } from '../setup/copies';
import { outgoing, OutgoingRows, taking, usualGas } from './outgoing-rows';
import { codecs, richShop, seed, type RichShop } from './rich-shop';

/** A recovery has lost that a receiver bore more than the quote, and what was signed of it: his row knows again. */

const folder = mkdtempSync(join(tmpdir(), 'signed-'));
const record: SignatureRecord = outsideRecord(folder);
let shop: RichShop;
let db: DataSource;
let rows: OutgoingRows;
beforeAll(async () => {
  shop = await richShop('1');
  ({ db } = shop);
  rows = new OutgoingRows(shop);
});
afterAll(async () => {
  await shop?.stop();
  rmSync(folder, { recursive: true });
});

const problems = async () =>
  (await audit(db, { settleMs: 1 })).filter(({ invariant }) =>
    ['I1', 'I2', 'I3', 'I7', 'I8', 'I9'].includes(invariant),
  );
/** As the chain would leave it. */
const mined = (): Promise<unknown> =>
  db.query(`WITH done AS (
      UPDATE attempt SET status = 'final', success = true, fee_units = 21000000000000, final_at = now(), height = 1,
             block_hash = 'b1' WHERE status = 'sent' RETURNING intent_id)
    UPDATE intent SET status = 'final' WHERE id IN (SELECT intent_id FROM done)`);

it.each(outgoing)('of a %s', async (kind) => {
  const copies = copiesOf((db.options as { url: string }).url);
  const signer = signingActivities({ db, codecs, seed, record });
  const before = await problems();
  const { available } = await rows.balance();
  const asked = await rows.ask(kind, '0.1');
  const quoted = await rows.read(asked);
  await copies.backUp();
  await rows.look(asked, taking(3 * usualGas));
  const borne = await rows.read(asked);
  expect(borne.net).not.toBe(quoted.net);
  if (kind === 'leg') await signer.signPayouts(asked.owner);
  else await signer.signOnce((await rows.intentOf(asked))!.id);
  await copies.restore();
  expect(await rows.read(asked)).toEqual(quoted);

  expect(await db.transaction((tx) => restoreSigned(tx, record))).toBe(1);
  await rows.look(asked, taking(usualGas));
  expect(await rows.read(asked)).toMatchObject({ status: 'processing', fee: borne.fee, net: borne.net });
  await mined();
  if (kind === 'leg') await rows.look(asked, taking(usualGas));
  else await bookEnd(db, (await rows.intentOf(asked))!.id);
  expect(await rows.read(asked)).toMatchObject({ status: 'completed', fee: borne.fee, net: borne.net });
  expect(subtract(available, (await rows.balance()).available)).toBe('0.1');
  expect(await problems()).toEqual(before);
  await db.query('UPDATE wallet_sequence SET frozen_reason = NULL, frozen_at = NULL');
});
