import { bytes, counted, fields, hexText, list, oneOf, text, whole, type Fields } from './answers';
import { lndHttp, type LndLogin } from './http';

/** All that a node has ever made and paid, in the order of its own numbers: for who looks for what no row is for. The
 *  macaroon needs `invoices:read` and `offchain:read`. */

/** An invoice that the node made, or a payment that it began. `open`: it may still bring or cost something. `gone`: it
 *  never will. `msat`: what it brought, or cost with what nodes on the way took; 0 until it is `done`. */
type Told = Readonly<{
  hash: string;
  state: 'open' | 'done' | 'gone';
  msat: bigint;
  /** What the invoice says that it is for. */
  memo: string;
}>;
/** `through`: the number of the last. */
type ToldPage = Readonly<{ all: readonly Told[]; through: number; isLast: boolean }>;
type ToldKind = 'invoice' | 'payment';

export type LndHistory = Readonly<{
  /** The next ones after a number, the oldest first. */
  toldAfter(kind: ToldKind, after: number): Promise<ToldPage>;
  /** The number of the newest; 0: there is none. */
  newestOf(kind: ToldKind): Promise<number>;
}>;

const pageSize = 500;
const invoiceStates = { OPEN: 'open', ACCEPTED: 'open', SETTLED: 'done', CANCELED: 'gone' } as const;
const paymentStates = { INITIATED: 'open', IN_FLIGHT: 'open', SUCCEEDED: 'done', FAILED: 'gone' } as const;
const namesOf = <Names extends object>(of: Names): Array<keyof Names & string> =>
  Object.keys(of) as Array<keyof Names & string>;

/** As far as a person reads it. Whole characters: PostgreSQL takes no half of one. */
const memoOf = (invoice: Fields): string =>
  text(invoice, 'memo')
    .replaceAll(/\p{Cc}/gu, ' ')
    .slice(0, 200)
    .toWellFormed();

function invoiceOf(invoice: Fields): Told {
  const state = invoiceStates[oneOf(invoice, 'state', namesOf(invoiceStates))];
  const msat = state === 'done' ? whole(invoice, 'amt_paid_msat') : 0n;
  return { hash: bytes(invoice, 'r_hash', 32), state, msat, memo: memoOf(invoice) };
}

function paymentOf(payment: Fields): Told {
  const state = paymentStates[oneOf(payment, 'status', namesOf(paymentStates))];
  const msat = state === 'done' ? whole(payment, 'value_msat') + whole(payment, 'fee_msat') : 0n;
  return { hash: hexText(payment, 'payment_hash', 32), state, msat, memo: '' };
}

/** What was sent without an invoice asks for nothing, and was promised to nobody. */
const isAskedFor = (invoice: Fields): boolean => invoice.payment_request !== '';

const lists = {
  invoice: { path: '/v1/invoices?', size: 'num_max_invoices', name: 'invoices', told: invoiceOf, counts: isAskedFor },
  payment: {
    path: '/v1/payments?include_incomplete=true&',
    ...{ size: 'max_payments', name: 'payments', told: paymentOf, counts: () => true },
  },
} as const;

export function lndHistory(login: LndLogin): LndHistory {
  const lnd = lndHttp(login);
  return {
    toldAfter: (kind, after) => {
      const { path, size, name, told, counts } = lists[kind];
      return lnd.ask({
        path: `${path}index_offset=${after}&${size}=${pageSize}`,
        shape: (answer) => {
          const page = fields(answer, 'The list');
          const all = list(page, name).map((one) => fields(one, `One of ${name}`));
          const through = Math.max(after, counted(page, 'last_index_offset'));
          return { all: all.filter(counts).map(told), through, isLast: all.length < pageSize };
        },
      });
    },
    newestOf: (kind) => {
      const { path, size } = lists[kind];
      return lnd.ask({
        path: `${path}reversed=true&index_offset=0&${size}=1`,
        shape: (answer) => counted(fields(answer, 'The list'), 'last_index_offset'),
      });
    },
  };
}
