import { createHash } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { readInvoice } from '../../chains/lightning/invoice';
import { knownNode } from '../../db/lightning/node';
import { awaitInvoices, hasOpenInvoice, planInvoice, type AwaitsInvoice } from '../../db/lightning/payments';
import { databaseNow } from '../../db/payments/payments';
import { isConfirmed } from '../../db/recovery/epoch';
import { baseUnits } from '../../domain/chains/assets';
import type { Config } from '../../domain/config';
import { DomainError } from '../../domain/errors';
import { payRequestUrl, readInvoiceAnswer, readPayRequest, type LnurlAnswer } from '../../domain/lightning/lnurl';
import { checkPayable, invoiceText, type PayableInvoice } from '../../domain/lightning/receiver';
import { inTurns } from '../../domain/lightning/turns';
import { owners } from '../../txmanager/lightning/owners';
import { lookForEver } from '../rest';
import { askOutside } from '../webhooks/outbound';

/** Asks the hosts of Lightning addresses for the invoices of withdrawals and payout lines that may leave. The signer
 *  pays them. */

type Log = Readonly<{ warn(fields: object, text: string): void; error(fields: object, text: string): void }>;

type FetchDeps = Readonly<{
  db: DataSource;
  config: Pick<Config, 'POLL_INTERVAL_MS' | 'ALLOW_INSECURE_CALLBACKS' | 'chain'>;
  log: Log;
  /** A request to somebody else's server. */
  ask?: typeof askOutside;
}>;

/** Between two questions to one host, and until it counts as one that gives none. */
const [askAgainInMs, mostTries] = [30_000, 20];
const timeoutMs = 10_000;
/** Hosts that are asked at once. */
const atOnce = 8;

const noInvoice = 'Its Lightning address has given no invoice of this amount: nothing has left';

/** When a row is asked about next, and how often it was. */
type Tries = Map<string, Readonly<{ count: number; at: number }>>;

async function answerFrom<T>(
  { ask = askOutside, config }: FetchDeps,
  url: string,
  read: (body: string) => LnurlAnswer<T>,
): Promise<LnurlAnswer<T>> {
  const allowInsecure = config.ALLOW_INSECURE_CALLBACKS;
  const posted = await ask({ method: 'GET', url, headers: { accept: 'application/json' }, allowInsecure, timeoutMs });
  return posted.error === null ? read(posted.body) : { fault: posted.error };
}

/** The invoice of an address over an amount. Where it has the hash of a text, of the very text that the address has
 *  shown; hosts may also give one with a text of its own. */
async function invoiceOf(
  deps: FetchDeps,
  { address, msat }: Readonly<{ address: string; msat: bigint }>,
): Promise<LnurlAnswer<{ text: string; invoice: PayableInvoice }>> {
  const way = await answerFrom(deps, payRequestUrl(address), (body) => readPayRequest(body, msat));
  if (way.fault !== undefined) return way;
  const given = await answerFrom(deps, way.invoiceUrl, readInvoiceAnswer);
  if (given.fault !== undefined) return given;
  try {
    const invoice = readInvoice(given.invoice);
    const metadataHash = createHash('sha256').update(way.metadata, 'utf8').digest('hex');
    if (invoice.descriptionHash !== null && invoice.descriptionHash !== metadataHash)
      return { fault: 'its invoice is of another text' };
    return { text: invoiceText(given.invoice), invoice };
  } catch (error) {
    if (error instanceof DomainError) return { fault: error.message };
    throw error;
  }
}

/** Fetches and stores the invoice of one; what is wrong with it, or null. */
async function fetchOne(deps: FetchDeps, row: AwaitsInvoice): Promise<string | null> {
  const msat = 1000n * baseUnits(row.currency, row.net_amount);
  const found = await invoiceOf(deps, { address: row.address, msat });
  if (found.fault !== undefined) return found.fault;
  const { invoice } = found;
  return deps.db.transaction(async (tx) => {
    const due = await owners[row.kind].due(tx, row.ref);
    if (!due) return null;
    const node = await knownNode(tx);
    if (!node) return 'our own node is not known';
    const network = deps.config.chain.chainNames.bitcoin ?? '';
    checkPayable(invoice, { net: due.net_amount, network, ownKey: node.key, now: await databaseNow(tx) });
    const isPlanned = await planInvoice(tx, row.kind, due, found);
    return isPlanned || (await hasOpenInvoice(tx, row.kind, [row.ref])) ? null : 'its invoice was given before';
  });
}

/** Gives the money of one back whose host gives no invoice. */
const giveUp = (db: DataSource, { kind, ref }: AwaitsInvoice): Promise<void> =>
  db.transaction(async (tx) => {
    const due = await owners[kind].due(tx, ref);
    if (due && !(await hasOpenInvoice(tx, kind, [ref]))) await owners[kind].fail(tx, ref, noInvoice);
  });

async function tryOne(deps: FetchDeps, row: AwaitsInvoice, tries: Tries, now: number): Promise<void> {
  const fault = await fetchOne(deps, row).catch((error: unknown) => {
    if (error instanceof DomainError) return error.message;
    deps.log.error({ err: error, kind: row.kind, ref: row.ref }, 'Invoice of a Lightning address');
    return 'it failed unexpectedly';
  });
  if (fault === null) return;
  const count = 1 + (tries.get(row.ref)?.count ?? 0);
  tries.set(row.ref, { count, at: now + askAgainInMs });
  deps.log.warn({ kind: row.kind, ref: row.ref, fault }, 'A Lightning address gives no invoice');
  if (count >= mostTries) await giveUp(deps.db, row);
}

/** One look at all that have no invoice yet, in turns of their merchants. Of one merchant those that were asked for
 *  least come first: hosts that never answer keep nobody else waiting for long. `servedAt`: when each merchant had a
 *  turn. */
export async function fetchInvoices(
  deps: FetchDeps,
  tries: Tries,
  now: number,
  servedAt: Map<string, number> = new Map(),
): Promise<void> {
  const rows = await awaitInvoices(deps.db);
  const countOf = ({ ref }: AwaitsInvoice): number => tries.get(ref)?.count ?? 0;
  const due = rows.filter(({ ref }) => (tries.get(ref)?.at ?? now) <= now).sort((a, b) => countOf(a) - countOf(b));
  const turn = inTurns(due, atOnce, servedAt).slice(0, atOnce);
  for (const { merchantId } of turn) servedAt.set(merchantId, now);
  await Promise.all(turn.map((row) => tryOne(deps, row, tries, now)));
  const waiting = new Set(rows.map(({ ref }) => ref));
  for (const id of tries.keys()) if (!waiting.has(id)) tries.delete(id);
}

export const invoiceFetcherActivities = (deps: FetchDeps) => ({
  /** Never returns while its worker lives. */
  async fetchLightningInvoices(): Promise<void> {
    const tries: Tries = new Map();
    const servedAt = new Map<string, number>();
    await lookForEver(deps.config.POLL_INTERVAL_MS, async () => {
      if (await isConfirmed(deps.db)) await fetchInvoices(deps, tries, Date.now(), servedAt);
    });
  },
});
