import { createHash, randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { lndInvoices } from '../../chains/lightning/invoices';
import { lndPayments } from '../../chains/lightning/payments';
import { lndReadings } from '../../chains/lightning/readings';
import { audit } from '../../db/audit/audit';
import type { CalledRecord, CallRecord } from '../../db/recovery/lost-invoices';
import type { NewDestinationRules } from '../../domain/txmanager/new-destinations';
import { stepPayment, type PayDeps } from '../../txmanager/lightning/pay';
import { aPaymentWithInvoice, askedMsat, follow, hears } from '../activities/lightning-shop';
import { LndSimulator } from '../activities/lnd-simulator';
import { bytes, ownKey, written } from '../chain/lightning-writer';
import { connectionsTo, urlFor } from '../setup/postgres';
import { unguarded } from '../unguarded';
import { startHarness, type Answer, type Harness } from './harness';
import { Person } from './person';

/** Withdrawals of BTC_LN in tests: who has earned by Lightning, invoices of others, and the looks of the signer, as the
 *  roles of API, chain worker and signer. The node is a simulator of lnd's API. */

export let h: Harness;
export let db: DataSource;
export let chain: DataSource;
export let payments: DataSource;
export let signer: DataSource;
export let node: LndSimulator;

export const currency = 'BTC_LN';
export const payee = Buffer.from(ownKey).toString('hex');
export const earned = '0.000996';
export const net = '0.0002';

/** API, node and roles, for all tests of a file. */
export function withNode(): void {
  beforeAll(async () => {
    const files = { LIGHTNING_TLS_FILE: '/unread/tls', LIGHTNING_READ_MACAROON_FILE: '/unread/macaroon' };
    h = await startHarness({
      ...{ PROXY_COUNT: '1', LIGHTNING_PAYMENTS: 'true', LIGHTNING_WITHDRAWALS: 'true', ...files },
      ...{ LIGHTNING_URL: 'https://lnd.invalid:8080', LIGHTNING_PAY_MACAROON_FILE: '/unread/pay' },
    });
    db = h.db;
    const as = (role: 'chain' | 'payments' | 'signer') => connectionsTo(urlFor(h.databaseUrl, role)).initialize();
    [chain, payments, signer] = await Promise.all([as('chain'), as('payments'), as('signer')]);
    node = new LndSimulator();
    await node.start();
    await hears({ db, chain, node });
  });
  afterAll(async () => {
    for (const one of [chain, payments, signer]) await one?.destroy();
    await node?.stop();
    await h?.stop();
  });
}

export type Rich = Person & { merchantId: string };
/** Somebody who has earned by Lightning, and may pay one node. */
export async function rich(): Promise<Rich> {
  const person = (await Person.admin(h)) as Rich;
  person.merchantId = (await person.get('/api/v1/auth/me')).body.merchantId;
  const { invoiceId } = await aPaymentWithInvoice(db, payments, person.merchantId);
  await follow({ db, chain, node });
  const [row] = await db.query<[{ hash: string }]>('SELECT hash FROM lightning_invoice WHERE id = $1', [invoiceId]);
  node.pay(row.hash, askedMsat);
  await follow({ db, chain, node });
  expect(await balanceOf(person)).toMatchObject({ balance: earned, reserved: '0' });
  expect((await list(person, payee)).status).toBe(201);
  return person;
}
/** The same, with a node that answers and pays, whatever the test before has ordered. */
export async function richAnew(): Promise<Rich> {
  node.mend();
  node.nextEnd = 'SUCCEEDED';
  return rich();
}
/** The balance of somebody rich before and after a payment that came to nothing. */
export const untouched = { balance: earned, reserved: '0' };
export const list = async (person: Person, address: string): Promise<Answer> =>
  person.post('/api/v1/whitelist/wallet', { currency, address, totpCode: await person.code() });
export const balanceOf = async (person: Person): Promise<{ balance: string; reserved: string }> =>
  (await person.get('/api/v1/ledger/balances')).body.balances.find(
    (one: { currency: string }) => one.currency === currency,
  );

const tea = ['d', Buffer.from('tea')] as const;
/** An invoice of somebody else's node; of a Lightning address with its `metadata`. */
export function anInvoice({
  satoshi = 20_000,
  expiry = 3600,
  blocks = 18,
  metadata,
  preimage = randomBytes(32),
}: Readonly<{ satoshi?: number; expiry?: number; blocks?: number; metadata?: string; preimage?: Buffer }> = {}): {
  text: string;
  hash: string;
} {
  const hash = createHash('sha256').update(preimage).digest();
  node.preimages.set(hash.toString('hex'), preimage.toString('hex'));
  const about = metadata ? (['h', createHash('sha256').update(metadata).digest()] as const) : tea;
  const fields = [['p', hash], ['s', bytes(9)], about, ['x', expiry], ['c', blocks]] as const;
  const text = written(fields, { prefix: `lnbcrt${satoshi * 10}n`, createdAt: Math.floor(Date.now() / 1000) });
  return { text, hash: hash.toString('hex') };
}
let keys = 0;
export const withdraw = async (person: Person, address: string, over: object = {}): Promise<Answer> =>
  person.post('/api/v1/withdrawals', {
    ...{ currency, amount: net, feeMode: 'add', address, idempotencyKey: `key-${(keys += 1)}-${process.pid}` },
    ...{ totpCode: await person.code(), ...over },
  });
export const codeOf = ({ status, body }: Answer): [number, string, string] => [
  ...([status, body.error.code, body.error.message] as const),
];
/** One that waits for the signer. */
export async function waiting(person: Person): Promise<{ id: string; hash: string }> {
  const { text, hash } = anInvoice();
  const { status, body } = await withdraw(person, text);
  expect(status).toBe(201);
  return { id: body.data._id, hash };
}
export const usual: NewDestinationRules = { coolingOffHours: 24, dailyCaps: {} };
/** What the signer has written down outside the database. */
export const called: CalledRecord[] = [];
export const record: CallRecord = {
  keep: async (records) => void called.push(...records),
  since: () => called,
};
/** One look of the signer, which pauses between no calls. */
export const step = (hash: string, newDestinations = usual, more: Partial<PayDeps> = {}): Promise<string | null> =>
  stepPayment(
    {
      ...{ db: signer, payments: lndPayments(node.login), network: 'regtest', newDestinations, record, pauseMs: 0 },
      ...more,
    },
    hash,
  );
export const shown = async (person: Person, id: string): Promise<Record<string, unknown>> =>
  (await person.get(`/api/v1/withdrawals/${id}`)).body.data;
export const calls = (hash: string): number => node.words.filter((word) => word === `pay ${hash}`).length;
export const rowOf = async (hash: string): Promise<Record<string, unknown>> =>
  (await db.query<Array<Record<string, unknown>>>('SELECT * FROM lightning_payment WHERE hash = $1', [hash]))[0]!;
/** As if the time of an invoice had come. */
export const expire = (hash: string): Promise<unknown> =>
  unguarded(db, (tx) =>
    tx.query(`UPDATE lightning_payment SET expires_at = now() - interval '11 minutes' WHERE hash = $1`, [hash]),
  );
/** What the audit finds, with the word of the node. */
export async function found(): Promise<string[]> {
  const readings = lndReadings(node.login, 'regtest');
  const lightning = { ...lndInvoices(node.login, 'regtest'), ...readings, track: lndPayments(node.login).track };
  const violations = await audit(db, { settleMs: 1, lightning });
  return violations.filter(({ invariant }) => invariant !== 'I13').map(({ what }) => what);
}
