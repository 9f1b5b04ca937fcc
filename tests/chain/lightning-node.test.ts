import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pinned } from '../../chains/lightning/http';
import { lndHistory } from '../../chains/lightning/history';
import { lndInvoices, type AskedInvoice } from '../../chains/lightning/invoices';
import { lndPayments } from '../../chains/lightning/payments';
import { capacityOf, lndReadings } from '../../chains/lightning/readings';
import { closed } from '../../sandbox/parts/listening';
import { ownCertificate } from '../../sandbox/parts/own-certificate';
import { bytes, ownKey, usual, written, type Field } from './lightning-writer';

/** What the adapter makes of answers as lnd 0.20 writes them, and of answers that are not so. The node is played. */

type Answer = Readonly<{ status?: number; body: unknown }> | (() => Readonly<{ status?: number; body: unknown }>);
type Asked = Readonly<{ path: string; body: unknown; macaroon: unknown; authorization: unknown }>;

const own = ownCertificate();
let server: Server;
let url: string;
let answers: Record<string, Answer>;
let asked: Asked[];
/** Ends a connection without an answer, where it says so. */
let isCut: (path: string) => boolean;

beforeAll(async () => {
  server = createServer({ key: own.key, cert: own.certificate }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url!;
      const sent = Buffer.concat(chunks).toString();
      asked.push({
        path,
        body: sent ? JSON.parse(sent) : null,
        macaroon: request.headers['grpc-metadata-macaroon'],
        authorization: request.headers.authorization,
      });
      if (isCut(path)) return request.socket.destroy();
      const given = answers[path] ?? { status: 404, body: { code: 5, message: 'Not Found', details: [] } };
      const { status = 200, body } = typeof given === 'function' ? given() : given;
      response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => closed(server));
beforeEach(() => {
  answers = {};
  asked = [];
  isCut = () => false;
});

const login = (certificate = own.certificate) => ({ url, certificate, macaroon: '0201ff' });
const invoices = () => lndInvoices(login(), 'regtest');
const readings = () => lndReadings(login(), 'regtest');
const payments = () => lndPayments(login());
const refusal = (message: string, status = 500) => ({ status, body: { code: 2, message, details: [] } });
const away = { code: 'NODE_UNREACHABLE' };

const preimage = '42'.repeat(32);
const hash = '425ed4e4a36b30ea21b90e21c712c649e8214c29b7eaf68089d1039c6e55384c';
const base64Hash = Buffer.from(hash, 'hex').toString('base64');
const inPath = base64Hash.replaceAll('+', '-').replaceAll('/', '_');
const ask: AskedInvoice = { hash, amountMsat: 1_000_000n, description: 'tea', expirySeconds: 900, cltvBlocks: 80 };
const fields = (more: readonly Field[] = []): Field[] => [
  ['p', Buffer.from(hash, 'hex')],
  ...usual.slice(1),
  ['x', 900],
  ['c', 80],
  ...more,
];
const text = written(fields());
const part = (state: string, amount: string, expiry = 500) => ({ state, amt_msat: amount, expiry_height: expiry });
const invoice = (state: string, paid = '0', htlcs: readonly object[] = []) => ({
  ...{ state, r_hash: base64Hash, payment_request: text, memo: 'tea', value_msat: '1000000' },
  ...{ amt_paid_msat: paid, htlcs },
});
const sighting = { hash, text, description: 'tea', askedMsat: 1_000_000n, paidMsat: 0n, expiryHeight: null };

describe('the connection', () => {
  beforeEach(() => {
    answers[`/v1/invoice/${hash}`] = { body: invoice('OPEN') };
  });

  it('shows the macaroon to the holder of our certificate, whatever name it is for', async () => {
    expect(await invoices().lookUp(hash)).toEqual({ state: 'open', ...sighting });
    expect(asked).toEqual([{ path: `/v1/invoice/${hash}`, body: null, macaroon: '0201ff', authorization: undefined }]);
  });

  it('tells the macaroon to nobody else', async () => {
    const other = lndInvoices(login(ownCertificate().certificate), 'regtest');
    await expect(other.lookUp(hash)).rejects.toMatchObject(away);
    const { checkServerIdentity: check } = pinned(own.certificate);
    const shown = (fingerprint256: string) => check!('localhost', { fingerprint256 } as never)?.message;
    expect(shown('AA:BB')).toContain('not the one that we were given');
    expect(asked).toEqual([]);
  });

  it('is refused where it would be read on the way, or has no macaroon or certificate', () => {
    expect(() => lndInvoices({ ...login(), url: url.replace('https', 'http') }, 'regtest')).toThrow('https');
    expect(() => lndInvoices({ ...login(), macaroon: 'secret' }, 'regtest')).toThrow('no hex');
    expect(() => lndInvoices({ ...login(), certificate: 'x' }, 'regtest')).toThrow();
  });

  it('takes what does not fit for a node that does not answer, and asks a question again', async () => {
    const wrong: readonly (readonly [Answer, string])[] = [
      [{ body: '<html>' }, 'HTTP 200 without JSON'],
      [{ body: [] }, 'An invoice is []'],
      [{ status: 502, body: {} }, 'HTTP 502'],
      [refusal('permission denied'), 'permission denied'],
      [refusal('wallet locked, unlock it to enable full RPC access'), 'wallet locked'],
      [{ body: { ...invoice('OPEN'), state: 'HALF' } }, 'state is "HALF"'],
      [{ body: { ...invoice('OPEN'), value_msat: 1000 } }, 'value_msat is 1000'],
      [{ body: { ...invoice('OPEN'), value_msat: '-1' } }, 'value_msat is "-1"'],
      [{ body: { ...invoice('OPEN'), r_hash: 'AAAA' } }, 'hex of 32 bytes'],
      [{ body: { ...invoice('OPEN'), htlcs: null } }, 'htlcs is null'],
    ];
    for (const [answer, said] of wrong) {
      answers[`/v1/invoice/${hash}`] = answer;
      asked = [];
      await expect(invoices().lookUp(hash)).rejects.toMatchObject({ ...away, message: expect.stringContaining(said) });
      expect(asked).toHaveLength(3);
    }
    isCut = () => asked.length === 1;
    asked = [];
    answers[`/v1/invoice/${hash}`] = { body: invoice('OPEN') };
    expect(await invoices().lookUp(hash)).toMatchObject({ state: 'open' });
  });
});

describe('an invoice', () => {
  const made = '/v2/invoices/hodl';

  it('is made for a hash of ours, and read back before anybody sees it', async () => {
    answers[made] = { body: { payment_request: text, add_index: '1', payment_addr: '' } };
    const { text: shown, invoice: read } = await invoices().create(ask);
    expect(shown).toBe(text);
    expect(read).toMatchObject({ hash, amountMsat: 1_000_000n, cltvBlocks: 80 });
    expect(asked[0]!.body).toEqual({
      ...{ hash: base64Hash, value_msat: '1000000', memo: 'tea', expiry: '900', cltv_expiry: '80', private: false },
    });
  });

  it('is refused where the node wrote another one', async () => {
    const others = [
      [written(fields(), { prefix: 'lnbc10u' }), 'mainnet'],
      [written(fields(), { prefix: 'lnbcrt20u' }), '2000000 msat'],
      [written([['p', bytes(1)], ...fields().slice(1)]), 'another hash'],
      [written([...fields().slice(0, 3), ['c', 80]]), '3600 seconds'],
      [written([...fields().slice(0, 4), ['c', 18]]), '18 blocks'],
    ] as const;
    for (const [other, said] of others) {
      answers[made] = { body: { payment_request: other } };
      const refused = { code: 'INTENT_MISMATCH', message: expect.stringContaining(said) };
      await expect(invoices().create(ask)).rejects.toMatchObject(refused);
    }
  });

  it('that there is already is the same one', async () => {
    answers[made] = refusal('invoice with payment hash already exists');
    answers[`/v1/invoice/${hash}`] = { body: invoice('OPEN') };
    expect((await invoices().create(ask)).text).toBe(text);
    const dearer = invoices().create({ ...ask, amountMsat: 2_000_000n });
    await expect(dearer).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
    // Made by a call that came late: payers would have it after the quote has ended.
    const later = (seconds: number) => written(fields(), { createdAt: Math.floor(Date.now() / 1000) + seconds });
    for (const [seconds, fits] of [
      [50, true],
      [70, false],
    ] as const) {
      answers[`/v1/invoice/${hash}`] = { body: { ...invoice('OPEN'), payment_request: later(seconds) } };
      const found = await invoices()
        .create(ask)
        .then(() => '')
        .catch((error: Error) => error.message);
      expect(found).toMatch(fits ? /^$/ : /it ends at \d+, after \d+/);
    }
    answers[`/v1/invoice/${hash}`] = refusal('unable to locate invoice', 404);
    await expect(invoices().create(ask)).rejects.toMatchObject(away);
  });

  it('is unknown by the message, and not by the status, which a node that starts has too', async () => {
    for (const message of ['unable to locate invoice', 'there are no existing invoices']) {
      answers[`/v1/invoice/${hash}`] = { status: 404, body: { code: 5, message, details: [] } };
      expect(await invoices().lookUp(hash)).toEqual({ state: 'unknown' });
    }
    delete answers[`/v1/invoice/${hash}`];
    await expect(invoices().lookUp(hash)).rejects.toMatchObject({
      ...away,
      message: expect.stringContaining('Not Found'),
    });
  });

  it('has what its parts bring, and goes back with the first of them', async () => {
    const seen = async (answer: object) => {
      answers[`/v1/invoice/${hash}`] = { body: answer };
      return invoices().lookUp(hash);
    };
    const parts = [part('ACCEPTED', '600000', 510), part('ACCEPTED', '400001', 505), part('CANCELED', '9', 400)];
    expect(await seen(invoice('ACCEPTED', '1000001', parts))).toEqual({
      ...{ ...sighting, state: 'accepted', paidMsat: 1_000_001n, expiryHeight: 505 },
    });
    expect(await seen(invoice('SETTLED', '600000', [part('SETTLED', '600000'), part('CANCELED', '7')]))).toEqual({
      ...{ ...sighting, state: 'settled', paidMsat: 600_000n },
    });
    // One of two parts: the amount is not whole, and nothing is held for us to take.
    expect(await seen(invoice('OPEN', '0', [part('ACCEPTED', '600000')]))).toEqual({ ...sighting, state: 'open' });
    expect(await seen(invoice('CANCELED', '0', [part('CANCELED', '600000')]))).toMatchObject({ state: 'cancelled' });
    for (const [state, paid, htlcs] of [
      ['SETTLED', '1000000', [part('SETTLED', '600000')]],
      ['SETTLED', '0', []],
      ['ACCEPTED', '1000000', [part('CANCELED', '1000000')]],
      ['ACCEPTED', '1000000', [part('HELD', '1000000')]],
    ] as const)
      await expect(seen(invoice(state, paid, htlcs))).rejects.toMatchObject(away);
  });

  it('is settled or cancelled, or says why it cannot be', async () => {
    for (const [path, act, body] of [
      [
        '/v2/invoices/settle',
        () => invoices().settle(preimage),
        { preimage: Buffer.from(preimage, 'hex').toString('base64') },
      ],
      ['/v2/invoices/cancel', () => invoices().cancel(hash), { payment_hash: base64Hash }],
    ] as const) {
      answers[path] = { body: {} };
      expect(await act()).toBe('done');
      expect(asked.at(-1)).toMatchObject({ path, body });
      for (const [message, meant] of [
        ['invoice still open', 'still open'],
        ['invoice already settled', 'settled already'],
        ['invoice already canceled', 'cancelled already'],
        ['unable to locate invoice', 'unknown'],
      ] as const) {
        answers[path] = refusal(message);
        expect([message, await act()]).toEqual([message, meant]);
      }
      answers[path] = refusal('the RPC server is in the process of starting up, but not yet ready to accept calls');
      await expect(act()).rejects.toMatchObject(away);
    }
  });

  it('is found among those that wait, page by page, beside what was sent without an invoice', async () => {
    const path = (from: number) => `/v1/invoices?pending_only=true&num_max_invoices=500&index_offset=${from}`;
    const page = Array.from({ length: 499 }, () => invoice('OPEN'));
    const without = { ...invoice('ACCEPTED'), payment_request: '', r_hash: '' };
    answers[path(0)] = { body: { invoices: [without, ...page], last_index_offset: '700' } };
    const held = invoice('ACCEPTED', '1000000', [part('ACCEPTED', '1000000')]);
    answers[path(700)] = { body: { invoices: [held], last_index_offset: '900' } };
    const all = [];
    for await (const one of invoices().pending()) all.push(one);
    expect(all).toHaveLength(500);
    expect(all.at(-1)).toMatchObject({ state: 'accepted', paidMsat: 1_000_000n });
    answers[path(0)] = { body: { invoices: [], last_index_offset: '0' } };
    for await (const one of invoices().pending()) expect(one).toBe('none');
  });

  it('is watched to its end, over lines that come in pieces', async () => {
    const lines = [
      invoice('OPEN'),
      invoice('ACCEPTED', '1000000', [part('ACCEPTED', '1000000')]),
      invoice('SETTLED', '1000000', [part('SETTLED', '1000000')]),
    ].map((result) => `${JSON.stringify({ result })}\n`);
    answers[`/v2/invoices/subscribe/${inPath}`] = { body: lines.join('') };
    const watched = async () => {
      const states: string[] = [];
      for await (const { state } of invoices().watch(hash, AbortSignal.timeout(5000))) states.push(state);
      return states;
    };
    expect(await watched()).toEqual(['open', 'accepted', 'settled']);
    answers[`/v2/invoices/subscribe/${inPath}`] = refusal('unable to locate invoice', 404);
    expect(await watched()).toEqual(['unknown']);
    answers[`/v2/invoices/subscribe/${inPath}`] = {
      body: `${lines[0]}${JSON.stringify({ error: { code: 14, message: 'shutting down', details: [] } })}\n`,
    };
    await expect(watched()).rejects.toMatchObject({ ...away, message: expect.stringContaining('shutting down') });
  });
});

describe('a payment', () => {
  const paying = { invoice: text, feeLimitMsat: 5000n, timeoutSeconds: 30, maxParts: 4 };
  const payment = (status: string, more: object = {}) => ({
    result: {
      ...{ payment_hash: hash, status, payment_preimage: '0'.repeat(64), value_msat: '1000000', fee_msat: '0' },
      ...{ failure_reason: 'FAILURE_REASON_NONE', ...more },
    },
  });
  const tracked = `/v2/router/track/${inPath}`;

  it('is sent once, and begins', async () => {
    answers['/v2/router/send'] = { body: `${JSON.stringify(payment('IN_FLIGHT'))}\n{"result":{"half` };
    expect(await payments().pay(paying)).toEqual({ state: 'under way' });
    expect(asked.map(({ body }) => body)).toEqual([
      { payment_request: text, fee_limit_msat: '5000', timeout_seconds: 30, max_parts: 4 },
    ]);
    asked = [];
    isCut = () => true;
    await expect(payments().pay({ ...paying, amountMsat: 7n })).rejects.toMatchObject(away);
    expect(asked.map(({ body }) => body)).toEqual([expect.objectContaining({ amt_msat: '7' })]);
    asked = [];
    await expect(payments().pay({ ...paying, mostBlocks: 1008 })).rejects.toMatchObject(away);
    expect(asked.map(({ body }) => body)).toEqual([expect.objectContaining({ cltv_limit: 1008 })]);
  });

  it('that the node refuses does not begin; what is said of a connection is no answer', async () => {
    const errors: readonly [code: number, message: string][] = [
      [2, 'invoice expired. Valid until 2023'],
      [3, 'no such channel'],
      [6, 'payment is in transition'],
    ];
    for (const [code, reason] of errors)
      for (const body of [{ code, message: reason, details: [] }, { error: { code, message: reason, details: [] } }]) {
        answers['/v2/router/send'] = { status: 500, body };
        expect(await payments().pay(paying)).toEqual({ state: 'refused', reason });
      }
    for (const code of [1, 4, 8, 13, 14]) {
      answers['/v2/router/send'] = { status: 503, body: { code, message: 'the connection is gone', details: [] } };
      await expect(payments().pay(paying)).rejects.toMatchObject(away);
    }
    expect(asked.filter(({ path }) => path !== '/v2/router/send')).toEqual([]);
    await expect(payments().pay({ ...paying, invoice: 'lnbcrt1' })).rejects.toMatchObject({ code: 'INVALID_ADDRESS' });
  });

  it('is tracked by its hash, from under way to its end', async () => {
    const seen = (body: unknown, status = 200) => {
      answers[tracked] = { status, body };
      return payments().track(hash);
    };
    expect(await seen(payment('INITIATED'))).toEqual({ state: 'under way' });
    expect(await seen(payment('FAILED', { failure_reason: 'FAILURE_REASON_NO_ROUTE' }))).toEqual({
      ...{ state: 'failed', reason: 'FAILURE_REASON_NO_ROUTE' },
    });
    const unknown = { code: 5, message: "payment isn't initiated", details: [] };
    expect(await seen({ error: unknown }, 404)).toEqual({ state: 'unknown' });
    expect(await seen(unknown, 404)).toEqual({ state: 'unknown' });
    for (const wrong of [
      payment('SUCCEEDED'), // with another preimage
      payment('SUCCEEDED', { payment_preimage: preimage, payment_hash: '00'.repeat(32) }),
      payment('UNKNOWN'),
      { error: { code: 5, message: 'Not Found', details: [] } },
      '',
    ])
      await expect(seen(wrong)).rejects.toMatchObject(away);
  });
});

describe('a node', () => {
  const info = {
    ...{ version: '0.20.0-beta', identity_pubkey: Buffer.from(ownKey).toString('hex'), block_height: 120 },
    ...{ synced_to_chain: true, chains: [{ chain: 'bitcoin', network: 'regtest' }] },
  };

  it('tells its height and its network, which must be ours', async () => {
    answers['/v1/getinfo'] = { body: info };
    const key = Buffer.from(ownKey).toString('hex');
    expect(await readings().info()).toEqual({
      ...{ version: '0.20.0-beta', key, network: 'regtest', height: 120, isSynced: true },
    });
    answers['/v1/getinfo'] = { body: { ...info, chains: [{ chain: 'bitcoin', network: 'mainnet' }] } };
    await expect(readings().info()).rejects.toMatchObject({ ...away, message: expect.stringContaining('mainnet') });
  });

  it('tells what can be sent and received, without the reserves', async () => {
    const channel = (active: boolean, local: string, remote: string, most = '990000000') => ({
      ...{ active, private: false, remote_pubkey: info.identity_pubkey, channel_point: `${hash}:1` },
      ...{ capacity: '1000000', local_balance: local, remote_balance: remote },
      local_constraints: { chan_reserve_sat: '10000', max_pending_amt_msat: most },
      remote_constraints: { chan_reserve_sat: '20000', max_pending_amt_msat: '600000000' },
    });
    const list = [
      channel(true, '700000', '296530'),
      channel(true, '5000', '900000', '300000000'),
      channel(false, '500000', '500000'),
    ];
    answers['/v1/channels'] = { body: { channels: list } };
    const channels = await readings().channels();
    expect(channels.map(({ sendable, receivable }) => [sendable, receivable])).toEqual([
      [600_000n, 276_530n],
      [0n, 300_000n],
      [490_000n, 480_000n],
    ]);
    expect(channels[0]).toMatchObject({ point: `${hash}:1`, peer: info.identity_pubkey, isActive: true });
    expect(capacityOf(channels)).toEqual({ sendable: 600_000n, receivable: 576_530n });
  });

  it('has what is in its channels, on its way to others, in its closes and its wallet; not what is held', async () => {
    const of = (msat: string): object => ({ sat: msat.slice(0, -3), msat });
    const channels = {
      ...{ balance: '9', local_balance: of('1000001'), remote_balance: of('70000000') },
      ...{ unsettled_local_balance: of('500000000'), unsettled_remote_balance: of('20000') },
      ...{ pending_open_local_balance: of('300000'), pending_open_remote_balance: of('900000000') },
    };
    answers['/v1/balance/channels'] = { body: channels };
    answers['/v1/channels/pending'] = { body: { total_limbo_balance: '4000' } };
    answers['/v1/balance/blockchain'] = {
      body: { total_balance: '50000', confirmed_balance: '1', locked_balance: '6' },
    };
    expect(await readings().holds()).toBe(1_000_001n + 20_000n + 300_000n + 4_000_000n + 50_006_000n);
    for (const part of ['local_balance', 'unsettled_remote_balance', 'pending_open_local_balance']) {
      answers['/v1/balance/channels'] = { body: { ...channels, [part]: null } };
      await expect(readings().holds()).rejects.toMatchObject({ ...away, message: expect.stringContaining(part) });
    }
  });

  it('reads invoices itself, and seals its channels in one file', async () => {
    const key = info.identity_pubkey;
    answers[`/v1/payreq/${text}`] = {
      body: { destination: key, payment_hash: hash, num_msat: '1000000', timestamp: '1700000000', expiry: '900' },
    };
    expect(await readings().decode(text)).toEqual({
      ...{ amountMsat: 1_000_000n, hash, payee: key, createdAt: 1_700_000_000, expiresAt: 1_700_000_900 },
    });
    const points = [{ funding_txid_bytes: base64Hash, output_index: 1 }];
    answers['/v1/channels/backup'] = {
      body: { multi_chan_backup: { chan_points: points, multi_chan_backup: 'c2VhbGVk' } },
    };
    const txId = Buffer.from(hash, 'hex').reverse().toString('hex');
    expect(await readings().backup()).toEqual({ channels: [`${txId}:1`], sealed: 'c2VhbGVk' });
  });
});

describe('all that a node has made and paid', () => {
  const history = () => lndHistory(login());
  const invoicesFrom = (from: number) => `/v1/invoices?index_offset=${from}&num_max_invoices=500`;
  const paymentsFrom = (from: number) => `/v1/payments?include_incomplete=true&index_offset=${from}&max_payments=500`;
  const made = (state: string, more: object = {}) => ({ ...invoice(state), memo: '', ...more });
  const paid = (status: string) => ({ payment_hash: hash, status, value_msat: '1000000', fee_msat: '234' });

  it('is read on from a number, without what was sent unasked', async () => {
    const taken = made('SETTLED', { amt_paid_msat: '1000999', memo: 'tea\u0000' });
    const unasked = { state: 'SETTLED', payment_request: '' };
    const all = [made('OPEN'), unasked, made('ACCEPTED', { amt_paid_msat: '5' }), taken, made('CANCELED')];
    answers[invoicesFrom(7)] = { body: { invoices: all, last_index_offset: '40' } };
    const nothing = { hash, msat: 0n, memo: '' };
    expect(await history().toldAfter('invoice', 7)).toEqual({
      all: [
        ...[
          { ...nothing, state: 'open' },
          { ...nothing, state: 'open' },
        ],
        ...[
          { hash, state: 'done', msat: 1_000_999n, memo: 'tea ' },
          { ...nothing, state: 'gone' },
        ],
      ],
      ...{ through: 40, isLast: true },
    });
    const some = ['INITIATED', 'IN_FLIGHT', 'SUCCEEDED', 'FAILED'].map(paid);
    answers[paymentsFrom(0)] = { body: { payments: some, last_index_offset: '9' } };
    expect((await history().toldAfter('payment', 0)).all.map(({ state, msat }) => [state, msat])).toEqual([
      ...[
        ['open', 0n],
        ['open', 0n],
      ],
      ...[
        ['done', 1_000_234n],
        ['gone', 0n],
      ],
    ]);
  });

  it('goes on while pages are full, never back, and begins at the newest', async () => {
    answers[paymentsFrom(3)] = {
      body: { payments: Array.from({ length: 500 }, () => paid('FAILED')), last_index_offset: '600' },
    };
    expect(await history().toldAfter('payment', 3)).toMatchObject({ through: 600, isLast: false });
    answers[paymentsFrom(600)] = { body: { payments: [], last_index_offset: '0' } };
    expect(await history().toldAfter('payment', 600)).toEqual({ all: [], through: 600, isLast: true });
    answers['/v1/invoices?reversed=true&index_offset=0&num_max_invoices=1'] = {
      body: { invoices: [made('OPEN')], last_index_offset: '12' },
    };
    expect(await history().newestOf('invoice')).toBe(12);
  });

  it('is not believed in another shape', async () => {
    answers[paymentsFrom(0)] = { body: { payments: [paid('PAID')], last_index_offset: '1' } };
    await expect(history().toldAfter('payment', 0)).rejects.toMatchObject(away);
    answers[invoicesFrom(0)] = { body: { invoices: [made('SETTLED', { r_hash: '' })], last_index_offset: '1' } };
    await expect(history().toldAfter('invoice', 0)).rejects.toMatchObject(away);
  });
});
