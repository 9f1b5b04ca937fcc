import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pointFromScalar } from 'tiny-secp256k1';
import type { LndLogin } from '../../chains/lightning/http';
import { hashOf } from '../../chains/lightning/answers';
import { readInvoice } from '../../chains/lightning/invoice';
import { closed } from '../../sandbox/parts/listening';
import { ownCertificate } from '../../sandbox/parts/own-certificate';
import { bytes, written } from '../chain/lightning-writer';

/** A simulator of the part of lnd's REST API that hold invoices and payments need. It is no Lightning node: what is
 *  tested with it holds for a node that behaves as this one, and tests/chain/lightning.test.ts tries the adapter on a
 *  real one. */

type State = 'OPEN' | 'ACCEPTED' | 'SETTLED' | 'CANCELED';
type Known = { state: State; text: string; askedMsat: bigint; paidMsat: bigint; expiryHeight: number; memo?: string };
type Paid = { status: 'SUCCEEDED' | 'FAILED' | 'IN_FLIGHT'; amountMsat: bigint };
type Answer = Readonly<{ status?: number; body: object }>;

/** Where lnd sends held money back by itself, and until when it really has what it has taken. */
const [sentBackAt, toTheChainAt] = [12, 10];

const refusal = (message: string): Answer => ({ status: 500, body: { code: 2, message, details: [] } });
const missing: Answer = { status: 404, body: { code: 5, message: 'unable to locate invoice', details: [] } };

const secret = Buffer.alloc(32, 7);
/** What signs its invoices, and what it says that it is unless it is told otherwise. */
export const simulatedKey: string = Buffer.from(pointFromScalar(secret, true)!).toString('hex');

export class LndSimulator {
  key = simulatedKey;
  height = 100;
  isSynced = true;
  /** Calls of these paths are done, and their answers are lost. */
  loses: (path: string) => boolean = () => false;
  /** Calls of these paths do not arrive. */
  isAway: (path: string) => boolean = () => false;
  /** What calls of a path are refused with, before the node has done anything. */
  refuses: (path: string) => Readonly<{ code: number; message: string }> | null = () => null;
  /** Words that arrived. */
  readonly words: string[] = [];
  readonly known = new Map<string, Known>();
  /** What the node really took, by hash. Millisatoshi. */
  readonly has = new Map<string, bigint>();
  /** Whether the peer of its channel is there, and what that peer has in it (satoshi). What is taken while it is away
   *  stays as it was in the channel until it is back. */
  isUp = true;
  private readonly untold = new Set<string>();
  /** Parts that strangers have offered to it, and sent through it, by hash. Millisatoshi. */
  sentIn: Array<readonly [hash: string, msat: bigint]> = [];
  forwarded: Array<readonly [hash: string, msat: bigint]> = [];
  remote = 5_990_000n;
  /** What its owner has put in, and what has left it since by no act of ours. Millisatoshi. */
  capital = 5_000_000_000n;
  lost = 0n;
  /** What it was told to pay, by hash; what comes of the next call; and what its payees know. */
  readonly paid = new Map<string, Paid>();
  nextEnd: Paid['status'] = 'SUCCEEDED';
  readonly preimages = new Map<string, string>();
  readonly wayFeeMsat = 1_234n;
  private readonly own = ownCertificate();
  private server!: Server;

  async start(): Promise<void> {
    this.server = createServer({ key: this.own.key, cert: this.own.certificate }, (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const path = request.url!;
        if (this.isAway(path)) return request.socket.destroy();
        const text = Buffer.concat(chunks).toString();
        const { status = 200, body } = this.answer(path, text ? (JSON.parse(text) as Record<string, string>) : {});
        if (this.loses(path)) return request.socket.destroy();
        response.writeHead(status).end(JSON.stringify(body));
      });
    });
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }
  stop(): Promise<unknown> {
    return closed(this.server);
  }
  get login(): LndLogin {
    const { port } = this.server.address() as AddressInfo;
    return { url: `https://127.0.0.1:${port}`, certificate: this.own.certificate, macaroon: '0201ff' };
  }

  /** Everything works again. */
  mend(): void {
    this.loses = () => false;
    this.isAway = () => false;
    this.refuses = () => null;
    this.isSynced = true;
  }
  /** A payer pays; the node holds it. */
  pay(hash: string, msat: bigint, blocks = 80): void {
    const invoice = this.known.get(hash);
    if (invoice?.state !== 'OPEN' || msat < invoice.askedMsat) return;
    Object.assign(invoice, { state: 'ACCEPTED', paidMsat: msat, expiryHeight: this.height + blocks });
  }
  mine(blocks: number): void {
    this.height += blocks;
    for (const invoice of this.known.values())
      if (invoice.state === 'ACCEPTED' && invoice.expiryHeight - this.height <= sentBackAt) invoice.state = 'CANCELED';
  }
  /** Takes what is held, by whoever has the preimage. */
  take(hash: string): void {
    const invoice = this.known.get(hash)!;
    invoice.state = 'SETTLED';
    if (invoice.expiryHeight - this.height <= toTheChainAt) return;
    this.has.set(hash, invoice.paidMsat);
    if (!this.isUp) this.untold.add(hash);
  }

  private answer(path: string, body: Record<string, string>): Answer {
    if (path === '/v1/channels') return { body: { channels: this.channels() } };
    if (path === '/v1/getinfo') return { body: this.info() };
    if (path.startsWith('/v1/invoices?pending_only=true')) return { body: this.pending() };
    if (path.startsWith('/v1/invoices?')) return { body: this.listed(path, 'invoices') };
    if (path.startsWith('/v1/payments?')) return { body: this.listed(path, 'payments') };
    const balance = this.balances()[path];
    if (balance) return { body: balance };
    if (path === '/v2/invoices/hodl') return this.create(body);
    if (path === '/v2/invoices/settle') return this.settle(hexOf(body['preimage']!));
    if (path === '/v2/invoices/cancel') return this.cancel(hexOf(body['payment_hash']!));
    if (path === '/v2/router/send') return this.send(body);
    if (path.startsWith('/v2/router/track/')) return this.track(hexOf(path.replace('/v2/router/track/', '')));
    const found = this.known.get(path.replace('/v1/invoice/', ''));
    return found ? { body: this.view(path.replace('/v1/invoice/', ''), found) } : missing;
  }
  private info(): object {
    return {
      ...{ version: '0.20.0-beta', identity_pubkey: this.key, block_height: this.height },
      synced_to_chain: this.isSynced,
      chains: [{ chain: 'bitcoin', network: 'regtest' }],
    };
  }
  /** One, with a peer who may be away. Satoshi. */
  private channels(): object[] {
    const limits = { chan_reserve_sat: '10000', max_pending_amt_msat: '9000000000' };
    return [
      {
        ...{ channel_point: `${'ab'.repeat(32)}:0`, remote_pubkey: '03'.padEnd(66, 'b'), active: this.isUp },
        ...{ private: false, capacity: '10000000', local_balance: '4010000', remote_balance: this.remote.toString() },
        pending_htlcs: [
          ...[...this.incoming(), ...this.sentIn].map(part(true)),
          ...this.forwarded.map((one) => ({ ...part(true)(one), forwarding_channel: '123456789' })),
          ...this.outgoing().map(part(false)),
        ],
        ...{ local_constraints: limits, remote_constraints: limits },
      },
    ];
  }
  /** What is in its channel and is not the node's yet, or not told to the peer yet, and what is not the peer's yet. */
  private incoming(): Array<readonly [hash: string, msat: bigint]> {
    if (this.isUp) this.untold.clear();
    const held = [...this.known].filter(([hash, { state }]) => state === 'ACCEPTED' || this.untold.has(hash));
    return held.map(([hash, { paidMsat }]) => [hash, paidMsat]);
  }
  private outgoing(): Array<readonly [hash: string, msat: bigint]> {
    const underWay = [...this.paid].filter(([, { status }]) => status === 'IN_FLIGHT');
    return underWay.map(([hash, { amountMsat }]) => [hash, amountMsat + this.wayFeeMsat]);
  }
  /** All of it in channels: what is taken is, once the peer knows, and what is held is not yet ours. */
  private balances(): Readonly<Record<string, object>> {
    const incoming = this.incoming();
    const told = [...this.has].filter(([hash]) => !this.untold.has(hash));
    const taken = told.reduce((sum, [, one]) => sum + one, 0n);
    const gone = this.sumOfPaid('SUCCEEDED') + this.sumOfPaid('IN_FLIGHT');
    const of = (msat: bigint): object => ({ sat: (msat / 1000n).toString(), msat: msat.toString() });
    return {
      '/v1/balance/channels': {
        local_balance: of(this.capital + taken - this.lost - gone),
        unsettled_local_balance: of(incoming.reduce((sum, [, msat]) => sum + msat, 0n)),
        unsettled_remote_balance: of(this.sumOfPaid('IN_FLIGHT')),
        pending_open_local_balance: of(0n),
      },
      '/v1/channels/pending': { total_limbo_balance: '0' },
      '/v1/balance/blockchain': { total_balance: '0', locked_balance: '0' },
    };
  }
  private sumOfPaid(status: Paid['status']): bigint {
    const all = [...this.paid.values()].filter((one) => one.status === status);
    return all.reduce((sum, { amountMsat }) => sum + amountMsat + this.wayFeeMsat, 0n);
  }
  /** Pays a hash once; what has failed it tries anew. How it ends is told by `track`. */
  private send(body: Record<string, string>): Answer {
    const { hash, amountMsat, expiresAt } = readInvoice(body['payment_request']!);
    this.words.push(`pay ${hash}`);
    const refused = this.refuses('/v2/router/send');
    if (refused) return { status: 200, body: { error: { ...refused, details: [] } } };
    if (expiresAt * 1000 < Date.now()) return refusal('invoice expired. Valid until some time ago');
    const status = this.paid.get(hash)?.status;
    if (status === 'SUCCEEDED') return refusal('invoice is already paid');
    if (status === 'IN_FLIGHT') return refusal('payment is in transition');
    this.paid.set(hash, { status: this.nextEnd, amountMsat: amountMsat! });
    return { body: { result: this.payment(hash, { status: 'IN_FLIGHT', amountMsat: amountMsat! }) } };
  }
  private track(hash: string): Answer {
    const paid = this.paid.get(hash);
    return paid ? { body: { result: this.payment(hash, paid) } } : refusal("payment isn't initiated");
  }
  private payment(hash: string, { status, amountMsat }: Paid): object {
    return {
      ...{ payment_hash: hash, status, value_msat: `${amountMsat}`, fee_msat: `${this.wayFeeMsat}` },
      payment_preimage: status === 'SUCCEEDED' ? this.preimages.get(hash) : '0'.repeat(64),
      failure_reason: status === 'FAILED' ? 'FAILURE_REASON_NO_ROUTE' : 'FAILURE_REASON_NONE',
    };
  }
  private pending(): object {
    const open = [...this.known].filter(([, { state }]) => state === 'OPEN' || state === 'ACCEPTED');
    return { invoices: open.map(([hash, one]) => this.view(hash, one)), last_index_offset: `${open.length}` };
  }
  /** All of them in the order in which they began, from an offset; or the newest alone. */
  private listed(path: string, what: 'invoices' | 'payments'): object {
    const asked = new URLSearchParams(path.split('?')[1]);
    const invoices = [...this.known].map(([hash, one]) => this.view(hash, one));
    const payments = [...this.paid].map(([hash, one]) => this.payment(hash, one));
    const all = what === 'invoices' ? invoices : payments;
    const most = parseInt(asked.get('num_max_invoices') ?? asked.get('max_payments')!, 10);
    const from = asked.get('reversed') ? Math.max(0, all.length - most) : parseInt(asked.get('index_offset')!, 10);
    const page = all.slice(from, from + most);
    return { [what]: page, last_index_offset: `${page.length && from + page.length}` };
  }
  private create(body: Record<string, string>): Answer {
    const hash = hexOf(body['hash']!);
    if (this.known.has(hash)) return refusal('invoice with payment hash already exists');
    const askedMsat = BigInt(body['value_msat']!);
    const text = written(
      [
        ['p', Buffer.from(hash, 'hex')],
        ['s', bytes(9)],
        ['d', Buffer.from(body['memo']!)],
        ['x', parseInt(body['expiry']!, 10)],
        ['c', parseInt(body['cltv_expiry']!, 10)],
      ],
      { prefix: `lnbcrt${askedMsat / 100n}n`, createdAt: Math.floor(Date.now() / 1000), signedBy: secret },
    );
    this.known.set(hash, { state: 'OPEN', text, memo: body['memo']!, askedMsat, paidMsat: 0n, expiryHeight: 0 });
    return { body: { payment_request: text, add_index: '1' } };
  }
  private settle(preimage: string): Answer {
    const hash = hashOf(preimage);
    const found = this.known.get(hash);
    if (!found) return missing;
    if (found.state === 'OPEN') return refusal('invoice still open');
    if (found.state === 'CANCELED') return refusal('invoice already canceled');
    this.words.push(`settle ${hash}`);
    if (found.state === 'ACCEPTED') this.take(hash);
    return { body: {} };
  }
  private cancel(hash: string): Answer {
    const found = this.known.get(hash);
    if (!found) return missing;
    if (found.state === 'SETTLED') return refusal('invoice already settled');
    this.words.push(`cancel ${hash}`);
    found.state = 'CANCELED';
    return { body: {} };
  }
  private view(hash: string, { state, text, askedMsat, paidMsat, expiryHeight, memo = '' }: Known): object {
    const isThere = state === 'ACCEPTED' || state === 'SETTLED';
    const part = { state, amt_msat: paidMsat.toString(), expiry_height: expiryHeight };
    return {
      ...{ state, r_hash: Buffer.from(hash, 'hex').toString('base64'), payment_request: text, memo },
      ...{ value_msat: askedMsat.toString(), amt_paid_msat: isThere ? paidMsat.toString() : '0' },
      htlcs: isThere ? [part] : [],
    };
  }
}

/** As lnd tells of it: whole satoshi. */
const part =
  (incoming: boolean) =>
  ([hash, msat]: readonly [hash: string, msat: bigint]): object => ({
    ...{ incoming, amount: (msat / 1000n).toString(), forwarding_channel: '0' },
    hash_lock: Buffer.from(hash, 'hex').toString('base64'),
  });

/** Also of Base64 as it stands in a path. */
const hexOf = (base64: string): string => Buffer.from(base64, 'base64').toString('hex');
