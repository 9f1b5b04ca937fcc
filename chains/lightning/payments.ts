import { base64InPath, fields, hashOf, hexText, Misshapen, oneOf, text, whole } from './answers';
import { lndHttp, type LndLogin } from './http';
import { readInvoice } from './invoice';

/** Money that leaves. The macaroon needs `offchain:write` and `offchain:read`: only the signer has one. A node pays one
 *  hash once, whatever is sent to it again: what it has paid or has under way it refuses, and what has failed it may
 *  try anew. */

type AskedPayment = Readonly<{
  invoice: string;
  /** For an invoice that leaves the amount to the payer, and for no other. */
  amountMsat?: bigint;
  /** The most that nodes on the way may take. */
  feeLimitMsat: bigint;
  /** How long the node looks for ways. What is under way by then is still waited for. */
  timeoutSeconds: number;
  /** In how many parts it may go. */
  maxParts: number;
  /** How many blocks its whole way may hold it at the most, with what the invoice asks for; absent: lnd's own 2,016. */
  mostBlocks?: number;
}>;

/** What became of a payment. `unknown`: the node has never heard of it. That is final only once its invoice has
 *  expired: until then a call that seemed lost may still reach the node. */
type PaymentSighting =
  | Readonly<{ state: 'unknown' | 'under way' }>
  | Readonly<{ state: 'paid'; amountMsat: bigint; feeMsat: bigint; preimage: string }>
  | Readonly<{ state: 'failed'; reason: string }>;

/** The node has answered, and begins nothing by this call, now or later. What it has begun before `track` tells. */
type Refused = Readonly<{ state: 'refused'; reason: string }>;

export type LndPayments = Readonly<{
  /** Has an invoice paid, and tells how that begins; `track` tells how it ends. Asked once, for its sender decides:
   *  after NODE_UNREACHABLE the payment may be under way. */
  pay(asked: AskedPayment): Promise<PaymentSighting | Refused>;
  /** How a payment is now, by its hash. It is the node's own word, and outlives its restarts and ours. */
  track(hash: string): Promise<PaymentSighting>;
}>;

/** What lnd itself refuses with (UNKNOWN is any error of its own). The other codes of gRPC are said of connections as
 *  well, and what was asked over those may go on. */
const refusalCodes: ReadonlySet<number> = new Set([2, 3, 6]);

const states = ['INITIATED', 'IN_FLIGHT', 'SUCCEEDED', 'FAILED'] as const;

/** A payment of `hash` as its node tells of it. */
const sightingOf =
  (hash: string) =>
  (answer: unknown): PaymentSighting => {
    const payment = fields(answer, 'A payment');
    if (hexText(payment, 'payment_hash', 32) !== hash) throw new Misshapen(`it tells of another payment than ${hash}`);
    switch (oneOf(payment, 'status', states)) {
      case 'INITIATED':
      case 'IN_FLIGHT':
        return { state: 'under way' };
      case 'FAILED':
        return { state: 'failed', reason: text(payment, 'failure_reason') };
      case 'SUCCEEDED': {
        const preimage = hexText(payment, 'payment_preimage', 32);
        if (hashOf(preimage) !== hash) throw new Misshapen(`the preimage is not that of ${hash}`);
        return {
          state: 'paid',
          amountMsat: whole(payment, 'value_msat'),
          feeMsat: whole(payment, 'fee_msat'),
          preimage,
        };
      }
    }
  };

export function lndPayments(login: LndLogin): LndPayments {
  const lnd = lndHttp(login);
  const track = (hash: string): Promise<PaymentSighting> =>
    lnd.first<PaymentSighting>({
      path: `/v2/router/track/${base64InPath(hash)}`,
      shape: sightingOf(hash),
      // Not by its code: a node that is starting answers 404 as well.
      refused: (message) => (/payment isn't initiated/.test(message) ? { state: 'unknown' } : undefined),
    });
  return {
    track,
    pay: async ({ invoice, amountMsat, feeLimitMsat, timeoutSeconds, maxParts, mostBlocks }) => {
      const { hash } = readInvoice(invoice);
      return lnd.first<PaymentSighting | Refused>({
        path: '/v2/router/send',
        body: {
          payment_request: invoice,
          ...(amountMsat === undefined ? {} : { amt_msat: amountMsat.toString() }),
          fee_limit_msat: feeLimitMsat.toString(),
          timeout_seconds: timeoutSeconds,
          max_parts: maxParts,
          ...(mostBlocks === undefined ? {} : { cltv_limit: mostBlocks }),
        },
        shape: sightingOf(hash),
        refused: (reason, code) => (refusalCodes.has(code) ? { state: 'refused', reason } : undefined),
        tries: 1,
      });
    },
  };
}
