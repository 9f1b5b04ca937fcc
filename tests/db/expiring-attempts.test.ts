import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { audit } from '../../db/audit/audit';
import { ExpiringAttempts1799000970000 } from '../../db/migrations/1799000970000-expiring-attempts';
import { Validity1799000990000 } from '../../db/migrations/1799000990000-validity';
import { RestoredAttempts1799000991000 } from '../../db/migrations/1799000991000-restored-attempts';
import { faultOfProof, type AbsenceProof, type ValidityWindow } from '../../domain/txmanager/expiry';
import { connectionsTo, freshDatabase } from '../setup/postgres';

/** Attempts that expire, as the database keeps them: one stands at a time, and none ends without its proof. */

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
beforeAll(async () => {
  database = await freshDatabase();
  db = connectionsTo(database.url);
  await db.initialize();
});
afterEach(async () => {
  await db.query('DELETE FROM attempt');
  await db.query('DELETE FROM intent');
});
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});

let last = 0;
/** An intent of its own wallet, or of one that is named. */
async function anIntent(from = `r${(last += 1)}`): Promise<{ id: string; from: string }> {
  const [row] = await db.query<Array<{ id: string }>>(
    `INSERT INTO intent (kind, ref, network, currency, from_address, outputs, max_unit_price, fee_budget, status,
       owner_kind, owner_id)
     VALUES ('withdrawal', $1, 'xrpl', 'XRP', $2, '[]', 1, 1, 'sent', 'withdrawal', $1) RETURNING id`,
    [`w${(last += 1)}`, from],
  );
  return { id: row!.id, from };
}

type Row = Readonly<Record<string, unknown>>;
const byLedger: Row = { valid_from_height: 10, valid_from_hash: 'h10', valid_to_height: 14 };
const byTime: Row = { valid_from_height: 10, valid_from_hash: 'h10', valid_to_ms: 5_000 };

async function attempt(intent: { id: string; from: string }, n: number, more: Row): Promise<string> {
  const row: Row = {
    ...{ intent_id: intent.id, n, network: 'xrpl', tx_id: `${intent.id}-${n}`, raw: '00', from_address: intent.from },
    ...{ unit_price: 1, max_fee_units: 1, moved_units: 1, outputs: '[]' },
    ...more,
  };
  const [made] = await db.query<Array<{ id: string }>>(
    `INSERT INTO attempt (${Object.keys(row).join(', ')})
     VALUES (${Object.keys(row)
       .map((_, index) => `$${index + 1}`)
       .join(', ')}) RETURNING id`,
    Object.values(row),
  );
  return made!.id;
}

const proofOf = (txId: string, some: Partial<AbsenceProof> = {}): AbsenceProof => ({
  txId,
  from: 10,
  through: { height: 14, hash: 'h14', time: 5_000 },
  finalHeight: 14,
  ...some,
});
const expire = (id: string, proof: AbsenceProof | null): Promise<unknown> =>
  db.query(`UPDATE attempt SET status = 'expired', absence = $2 WHERE id = $1`, [id, JSON.stringify(proof)]);

it.each([byLedger, byTime])(
  'takes a second attempt of an intent when the first is void, not before',
  async (window) => {
    const intent = await anIntent();
    const first = await attempt(intent, 1, window);
    const again = () => attempt(intent, 2, { ...window, valid_from_height: 14 });
    const later = { ...(window === byLedger ? { valid_to_height: 20 } : { valid_to_ms: 9_000 }) };
    for (const status of ['stored', 'sent', 'mined', 'final']) {
      await db.query('UPDATE attempt SET status = $2 WHERE id = $1', [first, status]);
      await expect(attempt(intent, 2, { ...window, ...later, valid_from_height: 14 })).rejects.toThrow(
        'attempt_one_unexpired',
      );
    }
    await db.query(`UPDATE attempt SET status = 'sent' WHERE id = $1`, [first]);
    await expire(first, proofOf(`${intent.id}-1`));
    if (window === byLedger) await expect(again()).rejects.toThrow('attempt_expiry');
    const second = await attempt(intent, 2, { ...window, ...later, valid_from_height: 14 });
    // What is void comes back by no way, while another stands.
    await expect(
      db.query(`UPDATE attempt SET status = 'mined', absence = NULL WHERE id = $1`, [first]),
    ).rejects.toThrow('attempt_one_unexpired');
    expect(second).not.toBe(first);
  },
);

it('lets a wallet have one open attempt, whatever its intents', async () => {
  const one = await anIntent();
  const other = await anIntent(one.from);
  const first = await attempt(one, 1, byLedger);
  await expect(attempt(other, 1, byLedger)).rejects.toThrow('attempt_one_open_from');
  await db.query(`UPDATE attempt SET status = 'final', success = false WHERE id = $1`, [first]);
  await attempt(other, 1, byLedger);
});

it('refuses half a window, a nonce beside it, and an end of another kind', async () => {
  const intent = await anIntent();
  const wrong: Row[] = [
    { valid_from_height: 10, valid_from_hash: 'h' },
    { ...byLedger, valid_to_ms: 5_000 },
    { ...byLedger, valid_from_hash: null },
    { ...byLedger, valid_to_height: 10 },
    { ...byLedger, nonce: 0 },
    { ...byLedger, inputs: ['a:0'] },
    { ...byLedger, status: 'replaced' },
    { ...byLedger, status: 'expired' },
    { ...byLedger, absence: JSON.stringify(proofOf(`${intent.id}-1`)) },
    { valid_to_height: 14 },
    { sequence: 7 },
    { absence: JSON.stringify(proofOf(`${intent.id}-1`)) },
    { status: 'expired' },
  ];
  for (const more of wrong) await expect(attempt(intent, 1, more)).rejects.toThrow(/attempt_(expiry|absence)/);
});

it('takes attempts of other families as before, several at once', async () => {
  const intent = await anIntent();
  await attempt(intent, 1, { nonce: 0 });
  const second = await attempt(intent, 2, { nonce: 0 });
  await db.query(`UPDATE attempt SET status = 'replaced' WHERE id = $1`, [second]);
  await expect(expire(second, proofOf(`${intent.id}-2`))).rejects.toThrow('attempt_');
});

it('believes a proof where the rule of the domain does, and nowhere else', async () => {
  const height = fc.integer({ min: 8, max: 16 });
  const windows = fc.oneof(
    fc.record({ from: fc.constantFrom(9, 10), last: fc.record({ height: fc.integer({ min: 12, max: 15 }) }) }),
    fc.record({ from: fc.constantFrom(9, 10), last: fc.record({ time: fc.integer({ min: 4_998, max: 5_002 }) }) }),
  );
  const proofs = fc.record({
    isOurs: fc.nat(9).map((n) => n > 0),
    from: fc.integer({ min: 8, max: 11 }),
    through: fc.record({ height, hash: fc.constant('h'), time: fc.integer({ min: 4_998, max: 5_002 }) }),
    finalHeight: height,
  });
  const intent = await anIntent();
  let believed = 0;
  await fc.assert(
    fc.asyncProperty(windows, proofs, async (window: ValidityWindow, { isOurs, ...rest }) => {
      await db.query('DELETE FROM attempt WHERE intent_id = $1', [intent.id]);
      const { last: end } = window;
      const id = await attempt(intent, 1, {
        ...{ valid_from_height: window.from, valid_from_hash: 'h' },
        ...('height' in end ? { valid_to_height: end.height } : { valid_to_ms: end.time }),
      });
      const txId = `${intent.id}-1`;
      const proof = { txId: isOurs ? txId : 'another', ...rest };
      const fault = faultOfProof({ txId, window }, proof);
      if (fault === null) believed += 1;
      const answer = expire(id, proof);
      await (fault === null ? answer : expect(answer).rejects.toThrow('attempt_absence'));
    }),
    { numRuns: 300 },
  );
  expect(believed).toBeGreaterThan(20);
  const id = await attempt(await anIntent(), 1, byLedger);
  for (const part of ['{}', '[]', '"x"', 'null', '{"through": {}}'])
    await expect(
      db.query(`UPDATE attempt SET status = 'expired', absence = $2::jsonb WHERE id = $1`, [id, part]),
    ).rejects.toThrow('attempt_absence');
});

it('has the audit find what the indexes were to refuse', async () => {
  const found = async (what: string): Promise<number> => {
    const violations = await audit(db, { settleMs: 0 });
    return violations.filter((one) => one.invariant === 'I8' && one.what.includes(what)).length;
  };
  const one = await anIntent();
  const first = await attempt(one, 1, { ...byLedger, sequence: 7 });
  await expire(first, proofOf(`${one.id}-1`));
  await attempt(one, 2, { ...byLedger, valid_from_height: 14, valid_to_height: 20, sequence: 7, status: 'final' });
  expect(await found('')).toBe(0);

  const runner = db.createQueryRunner();
  await runner.query('DROP INDEX attempt_one_open_from, attempt_one_unexpired');
  const early = await anIntent();
  await expire(await attempt(early, 1, byLedger), proofOf(`${early.id}-1`));
  await attempt(early, 2, { ...byLedger, valid_from_height: 13, valid_to_height: 20 });
  expect(await found('before the one before it was void')).toBe(1);
  await attempt(await anIntent(early.from), 1, byLedger);
  expect(await found('two open transactions that expire')).toBe(1);
  await attempt(await anIntent(one.from), 1, { ...byLedger, sequence: 7, status: 'final' });
  expect(await found('sequence')).toBe(1);

  // The migration goes back, and forward again, where no attempt has ended so.
  await runner.query('DELETE FROM attempt');
  await runner.query(`
    CREATE INDEX attempt_one_open_from ON attempt (id);
    CREATE INDEX attempt_one_unexpired ON attempt (id)`);
  const later = [new Validity1799000990000(), new RestoredAttempts1799000991000()];
  const migrations = [new ExpiringAttempts1799000970000(), ...later];
  for (const migration of migrations.toReversed()) await migration.down(runner);
  for (const migration of migrations) await migration.up(runner);
  await runner.release();
});
