import { script } from './script.js';
import type { Sandbox } from './settings.js';

/** Pays on the local chains of a sandbox, as its own payer does: `npm run pay`. */

export type Paid = Readonly<{
  txId: string;
  currency: string;
  amount: string;
  depositAddress: string;
  blocks: number;
  status: string;
  invoiceUrl: string;
}>;
export type HowToPay = Readonly<{ amount?: string; asset?: string; with?: string; confirm?: string }>;

/** `payment`: its id, or the URL or id of its invoice. Throws Refusal with what the payer says. */
export async function pay(sandbox: Sandbox, payment: string, how: HowToPay = {}): Promise<Paid> {
  const options = Object.entries(how).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));
  return JSON.parse(await script(sandbox, 'pay', [payment, '--json', ...options], 'NOT_PAID')) as Paid;
}
