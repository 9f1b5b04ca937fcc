import { randomBytes } from 'node:crypto';
import { createCodecs } from '../../chains/codecs';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { networkOf } from '../../domain/chains/assets';
import { tagIn } from '../../domain/chains/tags';
import { parseConfig } from '../../domain/config';
import { newId } from '../../domain/ids';
import { creditFromCapital } from '../credit-from-capital';
import { World, type Owner } from '../world';
import { costOf, idleTimes, measured, shownTimes, type CpuTimes } from './cpu-time';
import { report } from './measure';

/** `npm run bench -- expiring`: milliseconds of CPU that a deposit and a line of a mass payout cost each process on the
 *  networks whose transactions expire. Their simulators run in the bench's own process, which is not counted. */

const deposits = 20;
const lines = 40;
/** Of the platform's own: what is paid out, and what TRON burns for it. */
const floats = { XRP: '5000', USDT_TRC20: '5000', TRX: '20000' } as const;
const currencies = ['XRP', 'USDT_TRC20'] as const;
type Currency = (typeof currencies)[number];

export async function expiringNetworks(): Promise<void> {
  const world = await World.start({
    ...{ networks: ['xrpl', 'tron'], simulatedBlockMs: 1000, simulatedFinalLag: 2 },
    env: { OPEN_PAYMENTS_QUOTA: '10000000', LOG_LEVEL: 'warn', POLL_INTERVAL_MS: '1000', LANES: 'tron=4' },
  });
  try {
    const owner = await world.merchant(['payments:create', 'payments:read', 'ledger:read'], [...Object.keys(floats)]);
    for (const [currency, amount] of Object.entries(floats)) await world.payIn(currency, amount, 120_000);
    // Everything is compiled and cached.
    for (const currency of currencies) await settle(world, owner, currency, 1);
    const idle = await idleTimes(world, 15);
    for (const currency of currencies) {
      const deposit = await costOf(world, idle, deposits, () => settle(world, owner, currency, deposits));
      reportSum(`a payment in ${currency}, created to settled`, deposit.each, deposit.perSecond);
      const rows = await rowsOf(world, owner, currency);
      const line = await costOf(world, idle, lines, () => payOut(world, owner, rows));
      reportSum(`a line of a mass payout of ${lines} in ${currency}`, line.each, line.perSecond);
    }
    const audit = await world.audit();
    if (audit.length) throw new Error(`The audit found ${JSON.stringify(audit)}`);
  } finally {
    await world.stop();
  }
}

async function settle(world: World, { shop }: Owner, currency: Currency, count: number): Promise<void> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const invoice = await world.invoice(shop, { amount: 25, currency });
    await world.payer.pay(currency, invoice.address, String(invoice.amount), tagIn(invoice));
    ids.push(invoice.id);
  }
  const open = `SELECT FROM payment WHERE id = ANY($1) AND status <> 'SETTLED' LIMIT 1`;
  await world.until('all are settled', async () => !(await world.db.query(open, [ids])).length, 600_000);
}

type Row = Readonly<{ currency: Currency; address: string; destinationTag?: string; amount: string }>;

/** A row to a new address of the whitelist for each, with enough to bear what a new account costs. */
async function rowsOf(world: World, { ann, shop }: Owner, currency: Currency): Promise<Row[]> {
  await creditFromCapital(world.db, shop.id, currency, '1000');
  const { id: network, destinationTags } = networkOf(currency);
  const codec = createCodecs(parseConfig(world.stack.env).chain)[network];
  const by = { id: newId(), email: ann.email };
  const rows: Row[] = [];
  for (let n = 0; n < lines; n += 1) {
    const address = codec.derive(codec.extendedKey(randomBytes(64), 'deposit'), 0);
    const destinationTag = destinationTags ? String(n) : null;
    await addToWhitelist(world.db.manager, shop.id, by, { type: 'wallet', currency, address, destinationTag });
    rows.push({ currency, address, amount: '10', ...(destinationTag === null ? {} : { destinationTag }) });
  }
  return rows;
}

async function payOut(world: World, { ann }: Owner, rows: readonly Row[]): Promise<void> {
  const path = '/api/v1/mass-payouts';
  const { _id: id } = (await ann.post(path, { rows, totpCode: await ann.totpCode() })).body.data;
  const ended = 'SELECT FROM payout_batch WHERE id = $1 AND completed_at IS NOT NULL';
  await world.until('all have ended', async () => (await world.db.query(ended, [id])).length > 0, 600_000);
  const { status, counts } = (await ann.call('GET', `${path}/${id}`)).body.data;
  if (counts.completed !== rows.length) throw new Error(`The payout is ${status}: ${JSON.stringify(counts)}`);
}

function reportSum(what: string, each: CpuTimes, perSecond: number): void {
  const value = measured.reduce((sum, name) => sum + each[name], 0);
  report({
    name: `CPU of all processes, ${what}`,
    value,
    unit: 'ms',
    detail: `${shownTimes(each)}; ${perSecond.toFixed(2)}/s`,
  });
}
