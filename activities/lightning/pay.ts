import type { Logger } from 'pino';
import type { LndReadings } from '../../chains/lightning/readings';
import { knownNode } from '../../db/lightning/node';
import { openPayments } from '../../db/lightning/payments';
import { isConfirmed } from '../../db/recovery/epoch';
import type { Config } from '../../domain/config';
import { DomainError } from '../../domain/errors';
import { Turns } from '../../domain/lightning/turns';
import { pauseMs } from '../../domain/lightning/outgoing-payment';
import { stepPayment, type PayDeps } from '../../txmanager/lightning/pay';
import { lookForEver } from '../rest';

export type PayerDeps = Omit<PayDeps, 'pauseMs'> &
  Readonly<{
    readings: Pick<LndReadings, 'info'>;
    config: Pick<Config, 'POLL_INTERVAL_MS'>;
    log: Pick<Logger, 'error' | 'info' | 'warn'>;
  }>;

/** What was said last of each payment, and of the node as a whole: once is enough; and the turns of merchants. */
type Said = { ofNode: string | null; ofPayments: Map<string, string>; turns: Turns };

/** A look ends about so soon, whatever is left: the next one sees who has come meanwhile, and goes on behind it. */
const lookLastsMs = 5000;

/** The node that pays must be the one that the books are of. Throws INTENT_MISMATCH, NODE_UNREACHABLE. */
async function checkNode({ db, readings }: PayerDeps): Promise<void> {
  const known = await knownNode(db);
  const { key } = await readings.info();
  if (known?.key !== key)
    throw new DomainError('INTENT_MISMATCH', `${key} is another Lightning node than the one that the books are of`);
}

/** Payments that have not ended, in turns of their merchants, one after the other; one that fails does not keep the
 *  others. */
async function payAll(deps: PayerDeps, said: Said, open: Awaited<ReturnType<typeof openPayments>>): Promise<void> {
  const begunAt = performance.now();
  for (const one of said.turns.due(open, begunAt)) {
    const { hash } = one;
    if (performance.now() - begunAt > lookLastsMs) break;
    const waits = await stepPayment({ ...deps, pauseMs }, hash).catch((error: unknown) => {
      if (error instanceof DomainError) return error.message;
      deps.log.error({ err: error, hash }, 'Payment by Lightning');
      return 'it failed unexpectedly';
    });
    said.turns.note(one, waits !== null, performance.now());
    if (waits !== null && said.ofPayments.get(hash) !== waits)
      deps.log.warn({ hash, reason: waits }, 'A payment by Lightning waits');
    if (waits === null) said.ofPayments.delete(hash);
    else said.ofPayments.set(hash, waits);
  }
  const stillOpen = new Set(open.map(({ hash }) => hash));
  for (const hash of said.ofPayments.keys()) if (!stillOpen.has(hash)) said.ofPayments.delete(hash);
}

/** Asks the node only where there is something to pay. */
async function lookOnce(deps: PayerDeps, said: Said): Promise<void> {
  try {
    const open = (await isConfirmed(deps.db)) ? await openPayments(deps.db) : [];
    if (!open.length) return;
    await checkNode(deps);
    await payAll(deps, said, open);
    if (said.ofNode !== null) deps.log.info({}, 'The Lightning node that pays is back');
    said.ofNode = null;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    if (said.ofNode !== error.code) deps.log.error({ error: error.message }, 'The Lightning node cannot pay');
    said.ofNode = error.code;
  }
}

export const lightningPayerActivities = (deps: PayerDeps) => ({
  /** Never returns while its worker lives, as `followLightning`. Nothing is paid before the signer has confirmed the
   *  database: one that was copied must not pay beside another. */
  async payLightning(): Promise<void> {
    const said: Said = { ofNode: null, ofPayments: new Map(), turns: new Turns() };
    await lookForEver(deps.config.POLL_INTERVAL_MS, () => lookOnce(deps, said));
  },
});
