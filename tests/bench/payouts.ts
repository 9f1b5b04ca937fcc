import { randomBytes } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { createCodecs } from '../../activities/chain/codecs';
import { inParallel } from '../../activities/chain/json-rpc';
import { post } from '../../db/ledger';
import { addToWhitelist } from '../../db/whitelist';
import { parseConfig } from '../../domain/config';
import { call } from '../../sandbox/parts/json-rpc';
import { Visitor } from '../../sandbox/visitor';
import { World } from '../world';
import { percentile, report } from './measure';

const count = 500;
const validations = 20;

/** What a mass payout of 500 rows takes, beside what the node alone takes of transactions that are signed already. */
export async function payouts(): Promise<void> {
  const world = await World.start({ miner: true, env: { LOG_LEVEL: 'warn' } });
  try {
    const config = parseConfig(world.stack.env);
    const codec = createCodecs(config.chain).ethereum;
    const ann = new Visitor(
      { apiUrl: world.stack.apiUrl, dashboardUrl: config.DASHBOARD_URL, mailUrl: world.stack.mail.url },
      'ann@payouts.example',
      'Correct-Horse-7',
    );
    await ann.register('Payouts');
    const { merchantId, id: userId } = await ann.enrol();
    const [hot] = await world.db.query(
      `SELECT address FROM address WHERE network = 'ethereum' AND role = 'treasury' AND key_index = 0`,
    );
    await world.payer.pay('ETH', hot.address, '20');
    await world.until(
      'the treasury is full',
      async () => (await world.db.query(`SELECT FROM deposit WHERE currency = 'ETH' AND home = 'capital'`)).length > 0,
      120_000,
    );
    await world.db.transaction((tx) =>
      post(tx, {
        key: 'bench',
        postings: [{ debit: 'Q:capital', credit: `L:available:${merchantId}`, asset: 'ETH', amount: '20' }],
      }),
    );
    const rows: Array<{ currency: string; address: string; amount: string }> = [];
    for (let n = 0; n < count; n += 1) {
      const address = codec.normalise(`0x${randomBytes(20).toString('hex')}`)!;
      await addToWhitelist(
        world.db.manager,
        merchantId,
        { id: userId, email: ann.email },
        { type: 'wallet', currency: 'ETH', address, destinationTag: null },
      );
      rows.push({ currency: 'ETH', address, amount: '0.01' });
    }
    const times: number[] = [];
    for (let n = 0; n < validations; n += 1) {
      const start = performance.now();
      await ann.post('/api/v1/mass-payouts/validate', { rows });
      times.push(performance.now() - start);
    }
    const made = await ann.post('/api/v1/mass-payouts', { rows, totpCode: await ann.totpCode() });
    const id: string = made.body.data._id;
    await world.until(
      'all have ended',
      async () =>
        (await world.db.query('SELECT FROM payout_batch WHERE id = $1 AND completed_at IS NOT NULL', [id])).length > 0,
      600_000,
    );
    // The first window: from its plan to the last of it with the node.
    const [window] = await world.db.query(
      `SELECT count(*)::int AS n, extract(epoch FROM max(sent_at) - min(planned_at))::float8 AS seconds FROM (
         SELECT i.created_at AS planned_at, a.sent_at FROM intent i JOIN attempt a ON a.intent_id = i.id
          WHERE i.owner_workflow = 'payout-batch/' || $1 AND a.n = 1 ORDER BY i.id LIMIT 64) some`,
      [id],
    );
    const [whole] = await world.db.query(
      `SELECT extract(epoch FROM max(a.sent_at) - b.created_at)::float8 AS seconds FROM payout_batch b
         JOIN intent i ON i.owner_workflow = 'payout-batch/' || b.id JOIN attempt a ON a.intent_id = i.id WHERE b.id = $1 GROUP BY b.created_at`,
      [id],
    );
    const { events } = await world.history(`payout-batch/${id}`);
    const legs = window.n / window.seconds;
    const raw = await rawAcceptance(world, codec);
    report({
      name: 'legs signed and broadcast ÷ raw acceptance of signed transactions',
      value: legs / raw,
      unit: '×',
      limit: '≥ 0.3',
      holds: legs / raw >= 0.3,
      detail: `${legs.toFixed(0)}/s against ${raw.toFixed(0)}/s`,
    });
    report({
      name: `history of a payout of ${count} legs`,
      value: events,
      unit: 'events',
      limit: '≤ 2,000',
      holds: events <= 2000,
      detail: `queued to last broadcast ${whole.seconds.toFixed(1)} s, ETH`,
    });
    const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)];
    report({
      name: `validation of ${count} rows, p99 ÷ p50`,
      value: p99 / p50,
      unit: '×',
      detail: `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
    });
  } finally {
    await world.stop();
  }
}

/** Signed transactions that anvil takes a second, from as many lanes as the service uses. */
async function rawAcceptance(world: World, codec: ReturnType<typeof createCodecs>['ethereum']): Promise<number> {
  const seed = randomBytes(64);
  const key = { role: 'treasury' as const, index: 0 };
  const from = codec.derive(HDKey.fromMasterSeed(seed).derive(`m/44'/60'/1'`).publicExtendedKey, 0);
  const url = world.stack.anvil.url;
  await call(url, 'anvil_setBalance', [from, `0x${(10n ** 20n).toString(16)}`]);
  const raws = Array.from(
    { length: 64 },
    (_, nonce) =>
      codec.sign(seed, {
        kind: 'account',
        from,
        key,
        nonce,
        to: from,
        value: 1n,
        gasLimit: 21_000n,
        maxFeePerGas: 10n ** 11n,
        maxPriorityFeePerGas: 10n ** 9n,
      }).raw,
  );
  const began = performance.now();
  await inParallel(raws, 8, (raw) => call(url, 'eth_sendRawTransaction', [raw]));
  return raws.length / ((performance.now() - began) / 1000);
}
