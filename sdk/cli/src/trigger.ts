import { accountScenes } from './account-scenes.js';
import { conversionScenes } from './conversion-scenes.js';
import { moneyScenes } from './money-scenes.js';
import { paymentScenes } from './payment-scenes.js';
import { Refusal } from './refusal.js';
import type { Access, Sandbox } from './settings.js';
import type { Scene } from './stage.js';
import { aboutOf, follow, headOf, type RawEvent } from './stream.js';

/** Makes events happen for real in a sandbox: real payments, real coins of its chains, mined blocks. */

export const scenes: Readonly<Record<string, Scene>> = {
  ...paymentScenes,
  ...moneyScenes,
  ...conversionScenes,
  ...accountScenes,
};

/** Events that only a test instance brings about. */
export const testOnly: ReadonlySet<string> = new Set(['payment.reorged']);

const areaOf = (type: string): string => type.split('.')[0]!;

/** How `type` is brought about. Throws Refusal. */
export function sceneOf(type: string): Scene {
  if (Object.hasOwn(scenes, type)) return scenes[type]!;
  throw new Refusal(`There is no event '${type}': trigger --list shows all`);
}

/** A line of a mass payout is about that payout too. */
const isAbout = (event: RawEvent, id: string): boolean => [aboutOf(event), event.data['massPayoutId']].includes(id);

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
      if (event.type === type && (about === undefined || isAbout(event, about))) return event;
    }
  } catch (error) {
    throw signal.aborted ? late() : error;
  } finally {
    for (const act of acts) await act();
  }
  throw late();
}
