import { accountScenes } from './account-scenes.js';
import { moneyScenes } from './money-scenes.js';
import { paymentScenes } from './payment-scenes.js';
import { Refusal } from './refusal.js';
import type { Access, Sandbox } from './settings.js';
import type { Scene } from './stage.js';
import { aboutOf, follow, headOf, type RawEvent } from './stream.js';

/** Makes events happen for real in a sandbox: real payments, real coins of its chains, mined blocks. */

export const scenes: Readonly<Record<string, Scene>> = { ...paymentScenes, ...moneyScenes, ...accountScenes };

/** Events that only a test instance brings about. */
export const testOnly: ReadonlySet<string> = new Set(['payment.reorged']);

const reverts = 'it comes where a transaction is mined and reverts, which takes a contract that refuses the coins';
/** Events that are not brought about, and why, or what brings them about. */
export const untriggered: Readonly<Record<string, string>> = {
  'refund.failed': reverts,
  'conversion.processing':
    'the operator sets a pair to external first: npm run operator -- pair ETH USDT_ERC20 external default test',
  'conversion.failed': 'the swap provider must refuse an external conversion: see docs/conversions.md for its faults',
  'conversion.cancelled': 'the market must move by more than 1 % in the moment between the check and the execution',
  'mass_payout.leg_failed': reverts,
  'mass_payout.failed': reverts,
  'withdrawal.failed': reverts,
  'wallet.settlement_changed': 'a change of the settlement address counts only after a delay and a mail to all admins',
};

const areaOf = (type: string): string => type.split('.')[0]!;

/** How `type` is brought about. Throws Refusal. */
export function sceneOf(type: string): Scene {
  if (Object.hasOwn(scenes, type)) return scenes[type]!;
  if (Object.hasOwn(untriggered, type))
    throw new Refusal(`'${type}' cannot be triggered: ${untriggered[type]}`, 'NOT_TRIGGERED');
  throw new Refusal(`There is no event '${type}': trigger --list shows all`);
}

type How = Readonly<{ currency: string; timeoutMs: number }>;

/** Brings `type` about and answers the event. Throws Refusal. */
export async function trigger(
  access: Access & Readonly<{ sandbox: Sandbox }>,
  type: string,
  scene: Scene,
  { currency, timeoutMs }: How,
): Promise<RawEvent> {
  const signal = AbortSignal.timeout(timeoutMs);
  const late = (): Refusal =>
    new Refusal(`${type} did not come within ${Math.round(timeoutMs / 1000)} s: --timeout gives it longer`, 'TOO_LATE');
  const acts: Array<() => unknown> = [];
  try {
    const after = await headOf(access);
    const about = await scene({ ...access, currency, signal, afterwards: (act) => void acts.push(act) });
    for await (const event of follow(access, { after, types: `${areaOf(type)}.*`, everyMs: 200, signal })) {
      if (event.type === type && (about === undefined || aboutOf(event) === about)) return event;
    }
  } catch (error) {
    throw signal.aborted ? late() : error;
  } finally {
    for (const act of acts) await act();
  }
  throw late();
}
