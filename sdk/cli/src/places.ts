import { spawn } from 'node:child_process';
import { platform } from 'node:os';
import { Refusal } from './refusal.js';
import type { Access } from './settings.js';

/** Pages to look at: of the instance, or of one payment. */

export const places = ['dashboard', 'docs', 'mail', 'payment', 'checkout', 'temporal'] as const;
type Place = (typeof places)[number];
const isPlace = (text: string): text is Place => (places as readonly string[]).includes(text);

/** The address of a page. Throws Refusal. */
export async function placeOf(access: Access, place: string, paymentId?: string): Promise<string> {
  if (!isPlace(place)) throw new Refusal(`'${place}' is none of ${places.join(', ')}`);
  const { apiUrl, sandbox, client } = access;
  const origin = apiUrl.replace(/\/$/, '');
  const dashboard = sandbox?.dashboardUrl ?? `${origin}/dashboard`;
  if (place === 'docs') return `${origin}/docs`;
  if (place === 'dashboard') return sandbox?.demoLoginUrl ?? dashboard;
  if (place === 'mail') {
    if (!sandbox) throw new Refusal('Only a sandbox catches its mail', 'NO_SANDBOX');
    return sandbox.mailUrl;
  }
  if (!paymentId) throw new Refusal(`Which payment? crypto-payments open ${place} <payment id>`);
  if (place === 'payment') return `${dashboard}/payments/${encodeURIComponent(paymentId)}`;
  if (place === 'temporal') {
    const { workflow } = await client.payments.timeline(paymentId);
    if (!workflow.url) throw new Refusal(`This instance names no Temporal UI; the workflow is ${workflow.id}`, 'NO_UI');
    return workflow.url;
  }
  const { invoiceUrl } = await client.payments.get(paymentId);
  if (!sandbox) throw new Refusal(`The page is ${invoiceUrl} on the checkout host of this instance`, 'NO_SANDBOX');
  return `${sandbox.checkoutUrl}${invoiceUrl}`;
}

/** Shows a page in the browser, where there is one. */
export function show(url: string): void {
  const [program, ...args] = { darwin: ['open'], win32: ['cmd', '/c', 'start', ''] }[platform() as string] ?? [
    'xdg-open',
  ];
  const child = spawn(program!, [...args, url], { stdio: 'ignore', detached: true });
  child.once('error', () => undefined); // no browser here: the address has been printed
  child.unref();
}
