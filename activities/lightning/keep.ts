import type { Logger } from 'pino';
import { capacityOf, type LndReadings } from '../../chains/lightning/readings';
import { planBeside } from '../../db/lightning/invoices';
import { noteNode, nodeNow } from '../../db/lightning/node';
import { mayFollow } from '../../db/recovery/epoch';
import type { Config } from '../../domain/config';
import { DomainError } from '../../domain/errors';
import { whyNotByLightning } from '../../domain/lightning/availability';
import { lookForEver } from '../rest';
import { followInvoices, type LightningDeps } from './follow';

/** What is told of the node to those who do not speak to it is this old at the most. */
const noteEveryMs = 10_000;

export type KeepDeps = Omit<LightningDeps, 'log' | 'readings'> &
  Readonly<{
    readings: Pick<LndReadings, 'info' | 'channels'>;
    config: Pick<Config, 'POLL_INTERVAL_MS' | 'LIGHTNING_PAYMENTS'>;
    log: Pick<Logger, 'error' | 'info' | 'warn'>;
  }>;

/** What a follower of Lightning knows from its last look. */
type Memory = { notedAt: number; trouble: string | null };

/** Notes how the node is. Throws INTENT_MISMATCH for another node than the one that the books are of. */
async function noteHow({ db, readings }: KeepDeps): Promise<void> {
  const { key, height, isSynced } = await readings.info();
  const channels = await readings.channels();
  const { receivable, sendable } = capacityOf(channels);
  const look = { key, height, isSynced, channels: channels.filter((one) => one.isActive).length, receivable, sendable };
  if (!(await noteNode(db, look)))
    throw new DomainError('INTENT_MISMATCH', `${key} is another Lightning node than the one that the books are of`);
}

/** Plans invoices beside addresses of bitcoin, as far as the node could take their money now. */
async function offerBeside({ db }: Pick<KeepDeps, 'db'>): Promise<void> {
  const node = await nodeNow(db);
  if (node !== null && whyNotByLightning(node, 1n) === null) await planBeside(db, node.receivable);
}

/** One look: how the node is, and every invoice. A node that is away, or is another one, is told once, and when that is
 *  over. */
async function lookOnce(deps: KeepDeps, memory: Memory): Promise<void> {
  try {
    const now = performance.now();
    if (memory.trouble !== null || now - memory.notedAt >= noteEveryMs) {
      await noteHow(deps);
      memory.notedAt = now;
    }
    await followInvoices(deps);
    // What is planned is made by the next look, so that nothing keeps held money waiting.
    if (deps.config.LIGHTNING_PAYMENTS) await offerBeside(deps);
    if (memory.trouble !== null) deps.log.info({}, 'The Lightning node is back');
    memory.trouble = null;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    if (memory.trouble !== error.code)
      deps.log.error({ error: error.message }, 'The Lightning node cannot be followed');
    memory.trouble = error.code;
  }
}

export const lightningActivities = (deps: KeepDeps) => ({
  /** Never returns while its worker lives. Its worker beats for it; Temporal starts it elsewhere when the beats stop.
   *  Nothing is said to the node before the signer has confirmed the database: one that was copied or restored must
   *  not speak beside another. */
  async followLightning(): Promise<void> {
    const memory: Memory = { notedAt: -noteEveryMs, trouble: null };
    await lookForEver(deps.config.POLL_INTERVAL_MS, async () => {
      if (await mayFollow(deps.db, 'bitcoin')) await lookOnce(deps, memory);
    });
  },
});
