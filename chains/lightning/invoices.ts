import { DomainError } from '../../domain/errors';
import { base64, base64InPath, bytes, counted, fields, height, list, Misshapen, oneOf, text, whole } from './answers';
import type { Fields } from './answers';
import { lndHttp, type LndLogin } from './http';
import { readInvoice, type BitcoinNetwork, type Invoice } from './invoice';

/** Money that comes: hold invoices of lnd. The macaroon needs `invoices:write` and `invoices:read`. */

export type AskedInvoice = Readonly<{
  /** Of the preimage, which only we have until the money is taken; hex. One invoice for each hash, for ever. */
  hash: string;
  amountMsat: bigint;
  description: string;
  expirySeconds: number;
  /** When that is by the clock of who asks, where it is another one than ours; Unix seconds. */
  endsAt?: number;
  /** Blocks that the payer's last part must have left when it arrives. */
  cltvBlocks: number;
  /** Names channels in the invoice that are not announced. */
  withPrivateChannels?: boolean;
}>;

/** An invoice as its node has it. `accepted`: the whole amount is held, and waits for us. `settled`: it was taken, and
 *  the node has it. Millisatoshi. */
type InvoiceSighting = Readonly<{
  state: 'open' | 'accepted' | 'settled' | 'cancelled';
  hash: string;
  text: string;
  /** What it says that it is for. */
  description: string;
  askedMsat: bigint;
  /** What is held, or was taken; before and beside that 0. */
  paidMsat: bigint;
  /** The block at which the first held part goes back by itself; null where nothing is held. */
  expiryHeight: number | null;
}>;
type Unknown = Readonly<{ state: 'unknown' }>;

/** What a node says to the word that ends an invoice. A repeat of what was done says the same again. */
type Ended = 'done' | 'still open' | 'settled already' | 'cancelled already' | 'unknown';

export type LndInvoices = Readonly<{
  /** The invoice to show. Asked again for the same hash, it is the same one, if it is for the same money and ends no
   *  later than is asked for now. Throws INTENT_MISMATCH where the node wrote another one than was asked for. */
  create(asked: AskedInvoice): Promise<Readonly<{ text: string; invoice: Invoice }>>;
  lookUp(hash: string): Promise<InvoiceSighting | Unknown>;
  /** Every invoice that is neither settled nor cancelled. lnd announces held money for each invoice alone, so this is
   *  how a follower finds it. */
  pending(): AsyncGenerator<InvoiceSighting, void>;
  /** How one invoice is now, and each time that it changes, to its end. */
  watch(hash: string, signal: AbortSignal): AsyncGenerator<InvoiceSighting | Unknown, void>;
  /** Takes what is held: whoever learns the preimage can take it on the way, so it is told here and nowhere else. */
  settle(preimage: string): Promise<Ended>;
  /** Sends back what is held, and takes nothing more. */
  cancel(hash: string): Promise<Ended>;
}>;

const states = { OPEN: 'open', ACCEPTED: 'accepted', SETTLED: 'settled', CANCELED: 'cancelled' } as const;
const stateNames = Object.keys(states) as (keyof typeof states)[];
const partStates = ['ACCEPTED', 'SETTLED', 'CANCELED'] as const;
const pageSize = 500;
/** By how much the node's clock may differ from that of who asks. */
const clockSlackSeconds = 60;

/** Messages of lnd's `invoices/errors.go`, v0.20. */
const messages: readonly [RegExp, Ended][] = [
  [/unable to locate invoice|there are no existing invoices/, 'unknown'],
  [/invoice still open/, 'still open'],
  [/invoice already settled/, 'settled already'],
  [/invoice already canceled/, 'cancelled already'],
];
const meant = (message: string): Ended | undefined => messages.find(([said]) => said.test(message))?.[1];
const unknown = (message: string): Unknown | undefined =>
  meant(message) === 'unknown' ? { state: 'unknown' } : undefined;

function sightingOf(answer: unknown): InvoiceSighting {
  const invoice = fields(answer, 'An invoice');
  const state = states[oneOf(invoice, 'state', stateNames)];
  const parts = list(invoice, 'htlcs').map((one) => fields(one, 'A part'));
  const held = parts.filter((part) => oneOf(part, 'state', partStates) === 'ACCEPTED');
  return {
    state,
    hash: bytes(invoice, 'r_hash', 32),
    text: text(invoice, 'payment_request'),
    description: text(invoice, 'memo'),
    askedMsat: whole(invoice, 'value_msat'),
    paidMsat: paidIn(state, invoice, parts),
    expiryHeight: state === 'accepted' ? Math.min(...held.map((part) => height(part, 'expiry_height'))) : null,
  };
}

/** What the node says that it holds or took, by the sum and by the parts alike. */
function paidIn(state: InvoiceSighting['state'], invoice: Fields, parts: readonly Fields[]): bigint {
  if (state !== 'accepted' && state !== 'settled') return 0n;
  const counting = state === 'accepted' ? 'ACCEPTED' : 'SETTLED';
  const sum = parts
    .filter((part) => part.state === counting)
    .reduce((total, part) => total + whole(part, 'amt_msat'), 0n);
  const stated = whole(invoice, 'amt_paid_msat');
  if (sum !== stated || sum === 0n)
    throw new Misshapen(`the invoice is ${state} with ${stated} msat, and its parts bring ${sum}`);
  return sum;
}

/** Why an invoice is not the one that was asked for; null: it is. */
function differenceOf(asked: AskedInvoice, invoice: Invoice, network: BitcoinNetwork, isNew: boolean): string | null {
  const life = invoice.expiresAt - invoice.createdAt;
  // It was made for the same end, and since then its way to the node and the two clocks have cost some of it.
  const latest = (asked.endsAt ?? Math.floor(Date.now() / 1000) + asked.expirySeconds) + clockSlackSeconds;
  const differs: readonly [boolean, string][] = [
    [invoice.network !== network, `it is of ${invoice.network}`],
    [invoice.hash !== asked.hash, 'it is for another hash'],
    [invoice.amountMsat !== asked.amountMsat, `it is for ${invoice.amountMsat} msat`],
    [isNew && life !== asked.expirySeconds, `it lives ${life} seconds`],
    [!isNew && invoice.expiresAt > latest, `it ends at ${invoice.expiresAt}, after ${latest}`],
    [invoice.cltvBlocks < asked.cltvBlocks, `it asks for ${invoice.cltvBlocks} blocks`],
  ];
  return differs.find(([is]) => is)?.[1] ?? null;
}

export function lndInvoices(login: LndLogin, network: BitcoinNetwork): LndInvoices {
  const lnd = lndHttp(login);
  const lookUp = (hash: string): Promise<InvoiceSighting | Unknown> =>
    lnd.ask<InvoiceSighting | Unknown>({ path: `/v1/invoice/${hash}`, shape: sightingOf, refused: unknown });
  const done = (answer: unknown): Ended => {
    fields(answer, 'The answer');
    return 'done';
  };
  const end = (path: string, body: object): Promise<Ended> =>
    lnd.ask<Ended>({ path, body, shape: done, refused: meant });
  return {
    lookUp,
    create: async (asked) => {
      const made = await lnd.ask<string | null>({
        path: '/v2/invoices/hodl',
        body: {
          hash: base64(asked.hash),
          value_msat: asked.amountMsat.toString(),
          memo: asked.description,
          expiry: String(asked.expirySeconds),
          cltv_expiry: String(asked.cltvBlocks),
          private: asked.withPrivateChannels ?? false,
        },
        shape: (answer) => text(fields(answer, 'The invoice'), 'payment_request'),
        refused: (message) => (/payment hash already exists/.test(message) ? null : undefined),
      });
      const own = made ?? (await textOf(asked.hash));
      const invoice = readInvoice(own);
      const difference = differenceOf(asked, invoice, network, made !== null);
      if (difference)
        throw new DomainError('INTENT_MISMATCH', `The invoice for ${asked.hash} is another one: ${difference}`);
      return { text: own, invoice };
    },
    async *pending() {
      for (let from = 0; ;) {
        const { page, isLast, next } = await lnd.ask({
          path: `/v1/invoices?pending_only=true&num_max_invoices=${pageSize}&index_offset=${from}`,
          shape: (answer) => {
            const told = fields(answer, 'The list');
            const all = list(told, 'invoices').map((one) => fields(one, 'An invoice'));
            // What was sent without an invoice is not of ours, and has no hash in the list.
            const page = all.filter((one) => one.payment_request !== '').map(sightingOf);
            return { page, isLast: all.length < pageSize, next: counted(told, 'last_index_offset') };
          },
        });
        yield* page;
        if (isLast || next <= from) return;
        from = next;
      }
    },
    watch: (hash, signal) =>
      lnd.each<InvoiceSighting | Unknown>({
        path: `/v2/invoices/subscribe/${base64InPath(hash)}`,
        shape: sightingOf,
        refused: unknown,
        signal,
      }),
    settle: (preimage) => end('/v2/invoices/settle', { preimage: base64(preimage) }),
    cancel: (hash) => end('/v2/invoices/cancel', { payment_hash: base64(hash) }),
  };

  async function textOf(hash: string): Promise<string> {
    const seen = await lookUp(hash);
    if (seen.state !== 'unknown') return seen.text;
    throw new DomainError('NODE_UNREACHABLE', `lnd has an invoice for ${hash}, and does not know it`);
  }
}
