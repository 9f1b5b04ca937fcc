import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { assetsOn, networkOf, networksWithAddressesOf } from '../domain/chains/assets';
import { tagIn } from '../domain/chains/tags';
import { isByLightning } from '../domain/lightning/currency';
import { isAmount } from '../domain/money';
import type { InvoiceView } from '../domain/payments/payment-view';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { invoiceOf, payInvoice } from './lightning-payer';
import { sandboxFolder } from './paths';
import { Payer } from './payer';
import { readSandboxFile, type SandboxFile } from './sandbox-file';
import { databaseFor } from './services';

/** `npm run pay -- <payment id | invoice URL> [--amount X] [--asset T] [--with T] [--confirm N] [--json]`: pays on the
 *  local chain, or by the payer's Lightning node, for real. `npm run pay -- --invoice X`: an invoice of that node, for
 *  a withdrawal. */

class Refusal extends Error {}

const usage =
  'Usage: npm run pay -- <payment id | invoice URL> [--amount X] [--asset T] [--with T] [--confirm N] [--json]\n' +
  '       npm run pay -- --invoice X [--json]';

async function ask<T>(url: string, init: RequestInit = {}): Promise<T> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(10_000) }).catch((error: Error) => {
    throw new Refusal(`${url} does not answer (${error.message}): is the sandbox running? npm start`);
  });
  const body = (await response.json()) as { error?: string | { message: string } };
  const told = typeof body.error === 'string' ? body.error : body.error?.message;
  if (!response.ok) throw new Refusal(`${new URL(url).pathname}: ${told ?? response.status}`);
  return body as T;
}

/** The public id in what the caller gave: a URL, a path, a slug, or the id of a payment of any merchant. */
async function slugOf(target: string, file: SandboxFile): Promise<string> {
  const hasId = /^[0-9a-f]{24}$/.test(target);
  if (!hasId)
    return (
      target
        .replace(/[?#].*$/, '')
        .replace(/\/+$/, '')
        .split('/')
        .at(-1) ?? ''
    );
  const found = await storedSlug(target, file);
  if (found === undefined) throw new Refusal(`There is no payment ${target} in this sandbox`);
  return found;
}

/** Read from the database: a key would find the payments of its own merchant alone. */
async function storedSlug(paymentId: string, { databaseUrl }: SandboxFile): Promise<string | undefined> {
  const client = new Client({ connectionString: databaseFor(databaseUrl, 'audit') });
  try {
    await client.connect();
    const { rows } = await client.query<{ slug: string }>('SELECT slug FROM payment WHERE id = $1', [paymentId]);
    return rows[0]?.slug;
  } finally {
    await client.end();
  }
}

/** The coin of `--with`, which another payment of the network might ask for. */
function otherOf(currency: string, given: Readonly<{ with?: string; amount?: string }>): string {
  const networks = networksWithAddressesOf(networkOf(currency).id);
  const other = assetsOn(networks).find((one) => one.currency === given.with?.toUpperCase());
  if (!other) throw new Refusal(`--with ${given.with}: no such coin can come to an address for ${currency}`);
  if (given.amount === undefined) throw new Refusal('--with needs --amount: the invoice asks for another coin');
  return other.currency;
}

const options = {
  amount: { type: 'string' },
  asset: { type: 'string' },
  with: { type: 'string' },
  confirm: { type: 'string' },
  invoice: { type: 'string' },
  json: { type: 'boolean' },
} as const;
type Given = Readonly<{
  [name in Exclude<keyof typeof options, 'json'>]?: string;
}> &
  Readonly<{ json?: boolean }>;

/** What was asked for on the command line. Throws Refusal. */
function given(): Readonly<{ values: Given; target: string }> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  const [target = ''] = positionals;
  if (positionals.length !== (values.invoice === undefined ? 1 : 0)) throw new Refusal(usage);
  for (const name of ['amount', 'invoice'] as const)
    if (values[name] !== undefined && !isAmount(values[name]))
      throw new Refusal(`--${name} ${values[name]} is not a decimal amount`);
  if (values.confirm !== undefined && !/^\d{1,4}$/.test(values.confirm))
    throw new Refusal(`--confirm ${values.confirm} is not a number of blocks`);
  return { values, target };
}

/** The payment as its page shows it, in the currency that was asked for. */
async function chosen(file: SandboxFile, slug: string, asset: string | undefined): Promise<InvoiceView> {
  const invoice = await read(file, slug);
  if (invoice.status !== 'AWAITING_CURRENCY' && (!asset || asset === invoice.currency)) return invoice;
  if (!asset) throw new Refusal('The invoice waits for a choice of currency: name one with --asset');
  await ask(`${file.apiUrl}/invoice/${slug}/select-currency`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ currency: asset }),
  });
  return read(file, slug);
}

const read = ({ apiUrl }: SandboxFile, slug: string): Promise<InvoiceView> =>
  ask<InvoiceView>(`${apiUrl}/getInvoiceStatus?invoiceId=${encodeURIComponent(slug)}`);

type Sent = Readonly<{ txId: string; currency: string; blocks: number }>;
type Due = Readonly<{ invoice: InvoiceView; currency: string; to: string; amount: string }>;

/** Sends coins on a local chain, and mines. */
async function payOnChain(file: SandboxFile, { invoice, currency, to, amount }: Due, values: Given): Promise<Sent> {
  const paidIn = values.with === undefined ? currency : otherOf(currency, values);
  const { destinationTag } = invoice;
  const mnemonic = readFileSync(join(sandboxFolder, 'payer-seed'), 'utf8').trim();
  const tokens = JSON.parse(file.settings.TOKEN_CONTRACTS!) as Record<string, string>;
  const payer = new Payer(file, tokens, mnemonic);
  const sent = await payer.pay(paidIn, to, amount, tagIn({ tag: destinationTag ?? undefined }));
  say(values, `Sent ${amount} ${paidIn} to ${to}${destinationTag ? `, tag ${destinationTag}` : ''}`);
  say(values, `Transaction ${sent.txId}`);
  const blocks =
    values.confirm === undefined
      ? ((paidIn === currency ? invoice.requiredConfirmations : null) ?? networkOf(paidIn).confirmations)
      : parseInt(values.confirm, 10);
  if (blocks > 0) {
    // Let it be seen in the pool first, as it would be outside.
    if (networkOf(paidIn).hasMempool) await sleep(1000);
    await payer.mine(paidIn, blocks);
  }
  say(
    values,
    blocks
      ? `Mined ${blocks} blocks. The sandbox mines on while something waits.`
      : 'Mined nothing; the sandbox mines what waits.',
  );
  return { txId: sent.txId, currency: paidIn, blocks };
}

/** Has the payer's node pay the invoice: all of it at once, and no block is needed. */
async function payByLightning(file: SandboxFile, { currency, to, amount }: Due, values: Given): Promise<Sent> {
  for (const name of ['amount', 'with', 'confirm'] as const)
    if (values[name] !== undefined) throw new Refusal(`--${name}: a Lightning invoice is paid whole, and at once`);
  const hash = await payInvoice(payerNode(file), to);
  say(values, `Sent ${amount} ${currency} by the payer's Lightning node`);
  say(values, `Payment hash ${hash}`);
  return { txId: hash, currency, blocks: 0 };
}

function payerNode({ lightning }: SandboxFile) {
  if (!lightning) throw new Refusal('This sandbox has no Lightning: npm start -- --with lightning');
  return lightning.payer;
}

const say = ({ json }: Given, line: string): void => void (json || console.log(line));

async function main(): Promise<void> {
  const { values, target } = given();
  const file = readSandboxFile();
  if (values.invoice !== undefined) {
    const node = payerNode(file);
    const text = await invoiceOf(node, values.invoice);
    say(values, `Node ${node.key} asks for ${values.invoice} BTC:`);
    return console.log(values.json ? JSON.stringify({ node: node.key, amount: values.invoice, invoice: text }) : text);
  }
  const slug = await slugOf(target, file);
  const invoice = await chosen(file, slug, values.asset?.toUpperCase());
  const { currency, depositAddress: to } = invoice;
  const amount = values.amount ?? (invoice.amountRemaining === '0' ? invoice.amount : invoice.amountRemaining);
  if (!currency || !to || !amount) throw new Refusal(`There is nothing to pay: the invoice is ${invoice.status}`);
  const pay = isByLightning(currency) ? payByLightning : payOnChain;
  const { txId, currency: paidIn, blocks } = await pay(file, { invoice, currency, to, amount }, values);
  await sleep(1500);
  const { status } = await read(file, slug);
  const invoiceUrl = `${file.checkoutUrl}/i/${slug}`;
  say(values, `The invoice is ${status}: ${invoiceUrl}`);
  if (values.json)
    console.log(JSON.stringify({ txId, currency: paidIn, amount, depositAddress: to, blocks, status, invoiceUrl }));
}

main().then(
  () => process.exit(0),
  (error: Error) => {
    console.error(error instanceof Refusal ? error.message : `npm run pay: ${error.message}`);
    process.exit(1);
  },
);
