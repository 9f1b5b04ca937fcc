import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { assetsOn, networkOf, networksWithAddressesOf } from '../domain/chains/assets';
import { tagIn } from '../domain/chains/tags';
import { isAmount } from '../domain/money';
import type { InvoiceView } from '../domain/payments/payment-view';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sandboxFolder } from './paths';
import { Payer } from './payer';
import { readSandboxFile, type SandboxFile } from './sandbox-file';
import { databaseFor } from './services';

/** `npm run pay -- <payment id | invoice URL> [--amount X] [--asset T] [--with T] [--confirm N] [--json]`: pays on the
 *  local chain, for real. */

class Refusal extends Error {}

const usage =
  'Usage: npm run pay -- <payment id | invoice URL> [--amount X] [--asset T] [--with T] [--confirm N] [--json]';

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

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      amount: { type: 'string' },
      asset: { type: 'string' },
      with: { type: 'string' },
      confirm: { type: 'string' },
      json: { type: 'boolean' },
    },
  });
  const say = (line: string): void => void (values.json || console.log(line));
  const [target] = positionals;
  if (!target || positionals.length > 1) throw new Refusal(usage);
  if (values.amount !== undefined && !isAmount(values.amount))
    throw new Refusal(`--amount ${values.amount} is not a decimal amount`);
  if (values.confirm !== undefined && !/^\d{1,4}$/.test(values.confirm))
    throw new Refusal(`--confirm ${values.confirm} is not a number of blocks`);
  const file = readSandboxFile();
  const slug = await slugOf(target, file);
  const read = (): Promise<InvoiceView> =>
    ask<InvoiceView>(`${file.apiUrl}/getInvoiceStatus?invoiceId=${encodeURIComponent(slug)}`);
  let invoice = await read();
  const asset = values.asset?.toUpperCase();
  if (invoice.status === 'AWAITING_CURRENCY' || (asset && asset !== invoice.currency)) {
    if (!asset) throw new Refusal('The invoice waits for a choice of currency: name one with --asset');
    await ask(`${file.apiUrl}/invoice/${slug}/select-currency`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ currency: asset }),
    });
    invoice = await read();
  }
  const { currency, depositAddress, destinationTag } = invoice;
  const amount = values.amount ?? (invoice.amountRemaining === '0' ? invoice.amount : invoice.amountRemaining);
  if (!currency || !depositAddress || !amount)
    throw new Refusal(`There is nothing to pay: the invoice is ${invoice.status}`);

  const paidIn = values.with === undefined ? currency : otherOf(currency, values);

  const mnemonic = readFileSync(join(sandboxFolder, 'payer-seed'), 'utf8').trim();
  const tokens = JSON.parse(file.settings.TOKEN_CONTRACTS!) as Record<string, string>;
  const payer = new Payer(file, tokens, mnemonic);
  const sent = await payer.pay(paidIn, depositAddress, amount, tagIn({ tag: destinationTag ?? undefined }));
  say(`Sent ${amount} ${paidIn} to ${depositAddress}${destinationTag ? `, tag ${destinationTag}` : ''}`);
  say(`Transaction ${sent.txId}`);
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
    blocks
      ? `Mined ${blocks} blocks. The sandbox mines on while something waits.`
      : 'Mined nothing; the sandbox mines what waits.',
  );
  await sleep(1500);
  const { status } = await read();
  const invoiceUrl = `${file.checkoutUrl}/i/${slug}`;
  say(`The invoice is ${status}: ${invoiceUrl}`);
  if (values.json)
    console.log(
      JSON.stringify({ txId: sent.txId, currency: paidIn, amount, depositAddress, blocks, status, invoiceUrl }),
    );
}

main().then(
  () => process.exit(0),
  (error: Error) => {
    console.error(error instanceof Refusal ? error.message : `npm run pay: ${error.message}`);
    process.exit(1);
  },
);
