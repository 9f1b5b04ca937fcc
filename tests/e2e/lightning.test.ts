import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchInvoices } from '../../activities/lightning/fetch';
import type { Ask, Posted } from '../../activities/webhooks/outbound';
import { knownNode } from '../../db/lightning/node';
import { fromUnits } from '../../domain/money';
import { lndInvoices } from '../../chains/lightning/invoices';
import { invoiceOf, payerNodeOf, payInvoice } from '../../sandbox/lightning-payer';
import { until } from '../../sandbox/parts/lightning/channels';
import { startStack, type Stack } from '../../sandbox/stack';
import { World, type Owner } from '../world';

/** Bitcoin by Lightning on a whole sandbox: two real nodes, ours and a payer's, with a channel. Run where it is asked
 *  for: TESTS_WITH=lightning. */

const withNodes = process.env.LND_PATH ? describe : describe.skip;

withNodes('a sandbox with Lightning', () => {
  let world: World;
  let owner: Owner;
  beforeAll(async () => {
    world = await World.start({ lightning: true });
    await world.until('the node is followed', async () => (await knownNode(world.db)) !== null);
    owner = await world.merchant(['payments:create', 'payments:read', 'ledger:read'], ['BTC', 'BTC_LN']);
  }, 240_000);
  afterAll(() => world?.stop(), 90_000);
  const payer = () => payerNodeOf(world.stack.lightning!);

  it('lists it as a currency that can be paid in and out', async () => {
    const { body } = await world.call(null, 'GET', '/api/v1/currencies');
    const listed = (body.data as Array<{ currency: string }>).find(({ currency }) => currency === 'BTC_LN');
    expect(listed).toMatchObject({ status: 'active', payin: true, payout: true });
  });

  it('is paid by the node of a payer, settled, and withdrawn to an invoice of theirs', async () => {
    const { ann, shop } = owner;
    const invoice = await world.invoice(shop, { amount: 64, currency: 'BTC_LN' });
    expect(invoice.address).toMatch(/^lnbcrt/);
    const hash = await payInvoice(payer(), invoice.address);
    const { netAmount, txIds } = await world.sees(shop, invoice.id, 'SETTLED');
    expect(txIds).toEqual([hash]);
    expect((await world.balance(shop, 'BTC_LN')).balance).toBe(String(netAmount));

    const { key } = payer();
    await ann.post('/api/v1/whitelist/wallet', { currency: 'BTC_LN', address: key, totpCode: await ann.totpCode() });
    const amount = '0.0003';
    const asked = { currency: 'BTC_LN', amount, feeMode: 'add', address: await invoiceOf(payer(), amount) };
    const made = await ann.post('/api/v1/withdrawals', {
      ...{ ...asked, idempotencyKey: 'lightning-out', totpCode: await ann.totpCode() },
    });
    const id = made.body.data._id as string;
    const status = async () => (await ann.call('GET', `/api/v1/withdrawals/${id}`)).body.data.status as string;
    await world.until('the withdrawal is completed', async () => (await status()) === 'completed');
    expect(await world.audit()).toEqual([]);
  });

  it('pays lines of a mass payout to Lightning addresses', async () => {
    const { ann } = owner;
    const [tea, milk] = ['tea@wallet.localhost', 'milk@wallet.localhost'];
    for (const address of [tea, milk])
      await ann.post('/api/v1/whitelist/wallet', { currency: 'BTC_LN', address, totpCode: await ann.totpCode() });
    const rows = [tea, milk, tea].map((address) => ({ currency: 'BTC_LN', address, amount: '0.00005' }));
    const made = await ann.post('/api/v1/mass-payouts', { rows, totpCode: await ann.totpCode() });
    const id = made.body.data._id as string;
    // A host needs a public name and its certificate: this one is asked here, in place of the worker.
    const deps = {
      ...{ db: world.db, log: { warn: () => undefined, error: () => undefined }, ask: askWallet },
      config: { POLL_INTERVAL_MS: 250, ALLOW_INSECURE_CALLBACKS: true, chain: { chainNames: { bitcoin: 'regtest' } } },
    } as never;
    await fetchInvoices(deps, new Map(), Date.now());
    const shown = async () => (await ann.call('GET', `/api/v1/mass-payouts/${id}`)).body.data;
    await world.until('the mass payout is completed', async () => (await shown()).status === 'completed');
    const txIds = (await shown()).legs.map(({ txId }: { txId: string }) => txId);
    expect(new Set(txIds).size).toBe(3);
    expect(await world.audit()).toEqual([]);
  });

  /** The payer's node gives the invoices of any Lightning address. */
  async function askWallet({ url }: Ask): Promise<Posted> {
    const { pathname, searchParams } = new URL(url);
    const limits = { minSendable: 1000, maxSendable: 100_000_000 };
    const answer = pathname.startsWith('/.well-known/lnurlp/')
      ? { tag: 'payRequest', callback: 'https://wallet.localhost/pay', metadata: '[]', ...limits }
      : { pr: await invoiceOf(payer(), fromUnits(BigInt(searchParams.get('amount')!) / 1000n, 8)) };
    return { statusCode: 200, body: JSON.stringify(answer), retryAfterMs: null, durationMs: 0, error: null };
  }

  it('goes on after its node was killed', async () => {
    const node = world.stack.part('lnd');
    await node.kill9();
    await node.start();
    const invoice = await world.invoice(owner.shop, { amount: 10, currency: 'BTC_LN' });
    await world.until('the channel is up, and it is paid', () =>
      payInvoice(payer(), invoice.address).then(
        () => true,
        () => false,
      ),
    );
    await world.sees(owner.shop, invoice.id, 'SETTLED');
  });
});

withNodes('a sandbox with Lightning that starts again', () => {
  it('has the channel and the money of the start before', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-again-'));
    chmodSync(dataDir, 0o711); // the server of PostgreSQL must be able to pass
    const keys: string[] = [];
    const used = async (stack: Stack): Promise<void> => {
      const { ours, payerKey } = stack.lightning!;
      keys.push(payerKey);
      const { text } = await lndInvoices(ours.login(), 'regtest').create({
        ...{ hash: 'ab'.repeat(31) + String(10 + keys.length), amountMsat: 1_000_000n, description: 'tea' },
        ...{ expirySeconds: 900, cltvBlocks: 40 },
      });
      // A channel that has just come up has its balance a moment later.
      await until('the payer has sent it', () =>
        payInvoice(payerNodeOf(stack.lightning!), text, 3000).then(
          () => false,
          ({ message }: Error) => message.includes('it is under way'),
        ),
      );
    };
    try {
      for (const _ of [1, 2]) {
        const stack = await startStack({ dataDir, ports: 'free', services: false, lightning: true });
        try {
          await used(stack);
        } finally {
          await stack.stop();
        }
      }
      expect(keys[1]).toBe(keys[0]);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
