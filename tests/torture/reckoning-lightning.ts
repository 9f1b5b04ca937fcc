import { base64 } from '../../chains/lightning/answers';
import { cleared } from '../reconciled';
import type { LndNode } from '../../sandbox/parts/lightning';
import type { Stage } from './stage';

/** When all has ended: what both nodes say of every payment hash, against each other and against the books. */
export const reckonLightning = async (stage: Stage): Promise<string[]> => [
  ...(await ended(stage)),
  ...(await paidTo(stage, 'ours')),
  ...(await paidTo(stage, 'the payer')),
  ...(await payments(stage)),
  ...(await incidents(stage)),
];

/** Millisatoshi by payment hash. */
type Sums = ReadonlyMap<string, bigint>;

type Invoice = Readonly<{ r_hash: string; state: string; amt_paid_msat: string }>;
type Htlc = Readonly<{ status: string; route: Readonly<{ total_amt_msat: string; total_fees_msat: string }> }>;
type Payment = Readonly<{ payment_hash: string; htlcs: readonly Htlc[] }>;

const ask = <T>(node: LndNode, path: string): Promise<T> => node.admin().ask({ path, shape: (answer) => answer as T });
const invoicesOf = async (node: LndNode): Promise<readonly Invoice[]> =>
  (await ask<{ invoices: Invoice[] }>(node, '/v1/invoices?num_max_invoices=100000')).invoices;
const paymentsOf = async (node: LndNode): Promise<readonly Payment[]> =>
  (await ask<{ payments: Payment[] }>(node, '/v1/payments?include_incomplete=true&max_payments=100000')).payments;

/** What a node has taken, by its own word. */
const takenBy = async (node: LndNode): Promise<Sums> =>
  new Map(
    (await invoicesOf(node))
      .filter(({ state }) => state === 'SETTLED')
      .map((one) => [Buffer.from(one.r_hash, 'base64').toString('hex'), BigInt(one.amt_paid_msat)]),
  );

/** What a node has paid, by its own word: all parts of it that arrived. */
const paidBy = async (node: LndNode): Promise<Sums> =>
  new Map(
    (await paymentsOf(node)).flatMap(({ payment_hash: hash, htlcs }) => {
      const arrived = htlcs.filter(({ status }) => status === 'SUCCEEDED').map(({ route }) => route);
      const sum = arrived.reduce((all, one) => all + BigInt(one.total_amt_msat) - BigInt(one.total_fees_msat), 0n);
      return arrived.length ? [[hash, sum] as const] : [];
    }),
  );

const nodesOf = ({ world }: Stage): Readonly<{ ours: LndNode; payer: LndNode }> => world.stack.lightning!;

/** Nothing is held, on its way, or without an end. */
const ended = (stage: Stage): Promise<string[]> =>
  cleared(async () => {
    const found: string[] = [];
    const { ours, payer } = nodesOf(stage);
    for (const node of [ours, payer]) {
      for (const { r_hash: hash, state } of await invoicesOf(node))
        if (state === 'ACCEPTED') found.push(`${node.name} still holds money of ${hash}`);
      for (const { payment_hash: hash, htlcs } of await paymentsOf(node))
        if (htlcs.some(({ status }) => status === 'IN_FLIGHT')) found.push(`${node.name} still pays ${hash}`);
      const { channels } = await ask<{ channels: Array<{ pending_htlcs: unknown[] }> }>(node, '/v1/channels');
      if (channels.length !== stage.lightning!.channels) found.push(`${node.name} has ${channels.length} channels`);
      for (const { pending_htlcs: pending } of channels)
        if (pending.length) found.push(`the channel of ${node.name} has ${pending.length} payments under way`);
    }
    const rows = (await stage.world.db.query(
      `SELECT format('invoice %s of payment %s (%s) has not ended: %s', i.id, p.id, p.status, i.state) AS what
         FROM lightning_invoice i JOIN payment p ON p.id = i.payment_id
        WHERE i.over_at IS NULL AND p.status NOT IN ('WAITING', 'AWAITING_CURRENCY')
       UNION ALL
       SELECT format('payment by Lightning %s has not ended', l.hash) FROM lightning_payment l
         LEFT JOIN withdrawal w ON w.id = l.withdrawal_id LEFT JOIN refund r ON r.id = l.refund_id
        WHERE l.outcome IS NULL AND (coalesce(w.status, r.status) <> 'cancelled' OR l.calls > 0)`,
    )) as Array<{ what: string }>;
    return [...found, ...rows.map(({ what }) => what)];
  }, 180_000);

/** What one node has taken is what the other has paid, and what is booked: each hash once. */
async function paidTo(stage: Stage, payee: 'ours' | 'the payer'): Promise<string[]> {
  const { ours, payer } = nodesOf(stage);
  const [to, from] = payee === 'ours' ? [ours, payer] : [payer, ours];
  const booked = (await stage.world.db.query(
    payee === 'ours'
      ? `SELECT hash, taken_msat AS msat FROM lightning_invoice WHERE state = 'taken'`
      : `SELECT hash, amount_msat AS msat FROM lightning_payment WHERE outcome = 'paid'`,
  )) as Array<{ hash: string; msat: string }>;
  const sums: readonly Sums[] = [
    await takenBy(to),
    await paidBy(from),
    new Map(booked.map(({ hash, msat }) => [hash, BigInt(msat)])),
  ];
  const hashes = new Set(sums.flatMap((one) => [...one.keys()]));
  return [...hashes].flatMap((hash) => {
    const [taken, paid, ofBooks] = sums.map((one) => one.get(hash) ?? 0n);
    if (taken === paid && paid === ofBooks) return [];
    return [`${hash} (${base64(hash)}): ${to.name} took ${taken}, ${from.name} paid ${paid}, booked ${ofBooks}`];
  });
}

/** A payment is settled by one invoice, and nothing else is taken. */
const payments = async ({ world }: Stage): Promise<string[]> =>
  (
    (await world.db.query(
      `SELECT format('payment %s is %s with %s of Lightning', p.id, p.status, sum(i.taken_msat)) AS what
         FROM payment p JOIN lightning_invoice i ON i.payment_id = p.id AND i.state = 'taken'
        GROUP BY p.id HAVING p.status <> 'SETTLED' OR count(*) > 1
           OR p.amount_paid <> sum(i.taken_msat) / 100000000000`,
    )) as Array<{ what: string }>
  ).map(({ what }) => what);

/** What an operator would be called for: nothing here needs one. */
const incidents = async ({ world }: Stage): Promise<string[]> =>
  (
    (await world.db.query(
      `SELECT format('incident %s: %s', kind, details) AS what FROM incident
        WHERE kind IN ('held-lost', 'held-foreign', 'hold-gone')`,
    )) as Array<{ what: string }>
  ).map(({ what }) => what);
