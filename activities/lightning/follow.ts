import type { DataSource } from 'typeorm';
import type { LndInvoices } from '../../chains/lightning/invoices';
import { earlierHashes, newPreimage, preimageOf, type PreimageKeys } from '../../chains/lightning/preimage';
import type { LndReadings } from '../../chains/lightning/readings';
import { showInvoice } from '../../commands/lightning/show';
import { stepHeld, type HeldLook } from '../../commands/lightning/step';
import { failPoint } from '../../db/fail-point';
import {
  nameHash,
  secondsLeft,
  unfinishedInvoices,
  type InvoiceRow,
  type UnfinishedInvoice,
} from '../../db/lightning/invoices';
import { invoiceBlocks, type HeldSighting, type HeldStep } from '../../domain/lightning/held-money';

/** What brings our Lightning node and the rows of invoices together. Only the process that speaks to the node has the
 *  key of the preimages; its macaroon makes, reads, takes and cancels invoices, and pays nothing. */
export type LightningDeps = Readonly<{
  db: DataSource;
  invoices: LndInvoices;
  readings: Pick<LndReadings, 'info'>;
  keys: PreimageKeys;
  log: Readonly<{ error(fields: object, text: string): void }>;
  /** Milliseconds of a clock that never goes back. */
  clock?: () => number;
}>;

/** A word to the node that follows from a look at it is begun this soon, or not at all: with the tries of one call, it
 *  is said within a minute. See docs/decisions/0050-when-held-money-is-taken.md. */
const beginWithinMs = 25_000;
/** How often one invoice is looked at in a round: decide, tell, book, and once more where another was in between. */
const mostLooks = 5;

/** How many invoices without money one look goes through: what is planned meanwhile has its turn in the next one. */
const mostPerLook = 32;

/** Has the node make what is planned, and takes or sends back what it holds, as far as that goes now. The node is asked
 *  once for all that is open: of those that wait for their payer, nothing more is asked. One invoice that fails does
 *  not keep the others, nor does a merchant who plans thousands. Returns how many are left. Safe to repeat, and for two
 *  at once. Throws NODE_UNREACHABLE. */
export async function followInvoices(deps: LightningDeps): Promise<number> {
  const open = new Set<string>();
  for await (const { hash, state } of deps.invoices.pending()) if (state === 'open') open.add(hash);
  let left = 0;
  let turns = mostPerLook;
  for (const row of await unfinishedInvoices(deps.db, open)) {
    const canWait = row.state === 'planned' || row.state === 'cancelling' || open.has(row.hash ?? '');
    const isDue = !row.isQuiet && (turns > 0 || !canWait);
    if (isDue && canWait) turns -= 1;
    const isOver = isDue && (await followOne(deps, row).catch((error: unknown) => note(deps, row, error)));
    if (!isOver) left += 1;
  }
  return left;
}

/** Whether nothing more can happen to it. */
async function followOne(deps: LightningDeps, row: UnfinishedInvoice): Promise<boolean> {
  const hash = row.hash ?? (await named(deps, row));
  // What the node cannot make, or has made otherwise, is sent back all the same once nobody wants it.
  if (row.isToMake && hash) await make(deps, row, hash).catch((error: unknown) => note(deps, row, error));
  for (let looks = 0; looks < mostLooks; looks += 1) {
    const lookedAt = clockOf(deps);
    const look = { ...(await lookAt(deps, hash)), isPast: row.isPast };
    await failPoint('lightning.afterLook');
    const step = await stepHeld(deps.db, row.id, look);
    await failPoint('lightning.afterStep');
    if (step.do === 'end' || step.do === 'book') return true;
    if (step.do === 'wait') return false;
    if (step.do !== 'decide' && !(await tell(deps, row.id, hash!, step.do, lookedAt))) return false;
    await failPoint('lightning.afterTell');
  }
  return false;
}

const clockOf = ({ clock = () => performance.now() }: LightningDeps): number => clock();

function note({ log }: LightningDeps, { id }: InvoiceRow, error: unknown): false {
  log.error({ err: error, invoiceId: id }, 'Lightning invoice');
  return false;
}

/** The hash that the invoice gets, stored before the node hears of it: that of an earlier key where the node has made
 *  it in the time that a recovery has lost. null: it is too late for one, and the node knows of none either. */
async function named({ db, invoices, keys }: LightningDeps, row: InvoiceRow): Promise<string | null> {
  let { hash } = newPreimage(keys, row.id);
  for (const earlier of earlierHashes(keys, row.id))
    if ((await invoices.lookUp(earlier)).state !== 'unknown') hash = earlier;
  if ((await secondsLeft(db, row)) <= 0 && (await invoices.lookUp(hash)).state === 'unknown') return null;
  const own = await nameHash(db, row.id, hash);
  await failPoint('lightning.afterName');
  return own;
}

/** Has the node make the invoice, and stores its text for the payer. Asked again, the node gives the same one. */
async function make({ db, invoices }: LightningDeps, row: InvoiceRow, hash: string): Promise<void> {
  const expirySeconds = await secondsLeft(db, row);
  if (expirySeconds <= 0) return;
  const { text } = await invoices.create({
    ...{ hash, amountMsat: BigInt(row.asked_msat), description: row.payment_id },
    ...{ expirySeconds, endsAt: Math.floor(row.expires_at.getTime() / 1000), cltvBlocks: invoiceBlocks },
  });
  await failPoint('lightning.afterMake');
  await showInvoice(db, row.id, text);
}

/** The height after the sighting: blocks that come in between count as gone. */
async function lookAt({ invoices, readings }: LightningDeps, hash: string | null): Promise<Omit<HeldLook, 'isPast'>> {
  const nothing: HeldSighting = { state: 'unknown', paidMsat: 0n, expiryHeight: null };
  if (hash === null) return { sighting: nothing, height: null };
  const seen = await invoices.lookUp(hash);
  if (seen.state === 'unknown') return { sighting: nothing, height: null };
  const { state, paidMsat, expiryHeight } = seen;
  // Whether its newest block is the newest matters where money is held, and nowhere else.
  const info = state === 'accepted' ? await readings.info() : null;
  return { sighting: { state, paidMsat, expiryHeight }, height: info?.isSynced ? info.height : null };
}

/** Says it to the node; false where the look is too old for that. What the node answers, the next look tells. */
async function tell(
  deps: LightningDeps,
  id: string,
  hash: string,
  word: Extract<HeldStep['do'], 'settle' | 'cancel'>,
  lookedAt: number,
): Promise<boolean> {
  if (clockOf(deps) - lookedAt > beginWithinMs) return false;
  if (word === 'cancel') await deps.invoices.cancel(hash);
  else await deps.invoices.settle(preimageOf(deps.keys, id, hash).preimage);
  return true;
}
