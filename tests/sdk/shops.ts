import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../sandbox/paths';
import { freePort } from '../../sandbox/ports';
import { openShop } from '../../sandbox/seed';
import { eventually } from '../api/harness';
import type { World } from '../world';

/** The shops of docs/samples/shop as they are printed, on a whole sandbox: order, checkout, coins, webhook. */

const programs: Readonly<Record<string, string | undefined>> = {
  'shop.mjs': process.execPath,
  'shop.py': process.env.PYTHON_PATH,
};
type Order = Readonly<{ id: string; status: string; deliveries: number; paymentId: string }>;

/** `world` is asked for when a test runs. */
export function shops(world: () => World): void {
  const folder = mkdtempSync(join(tmpdir(), 'shops-'));
  const children: ChildProcess[] = [];
  beforeAll(() => {
    cpSync(join(root, 'docs', 'samples', 'shop'), folder, { recursive: true });
    const scope = join(folder, 'node_modules', '@crypto-payment-service');
    mkdirSync(scope, { recursive: true });
    symlinkSync(join(root, 'sdk', 'typescript'), join(scope, 'sdk'));
  });
  afterAll(async () => {
    await Promise.all(
      children.map((child) => {
        child.kill('SIGKILL');
        return child.exitCode === null && child.signalCode === null ? once(child, 'close') : undefined;
      }),
    );
    rmSync(folder, { recursive: true, force: true });
  });

  /** Starts the shop of a merchant of its own. */
  async function open(file: string): Promise<{ url: string; key: string }> {
    const { stack, db } = world();
    const { secretKey, ipnSecret } = await openShop(db, stack, `Shop of ${file}`);
    const port = String(await freePort());
    const url = `http://127.0.0.1:${port}`;
    const program = programs[file];
    if (!program) throw new Error(`Nothing here runs ${file}: npm test makes the Python environment`);
    const child = spawn(program, [join(folder, file)], {
      cwd: folder,
      env: {
        ...process.env,
        API_URL: stack.apiUrl,
        API_KEY: secretKey,
        CHECKOUT_URL: stack.checkoutUrl,
        WEBHOOK_SECRET: ipnSecret,
        SHOP_URL: url,
        PORT: port,
        PYTHONPATH: join(root, 'sdk', 'python', 'src'),
        PYTHONDONTWRITEBYTECODE: '1',
      },
    });
    children.push(child);
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await eventually(() => {
      if (child.exitCode !== null) throw new Error(said);
      return Promise.resolve(said.includes(`listening on ${port}`));
    });
    return { url, key: secretKey };
  }

  it.each(Object.keys(programs))('%s: an order is paid once, by a verified webhook alone', async (file) => {
    const { url, key } = await open(file);
    const bought = await fetch(`${url}/orders`, { method: 'POST', redirect: 'manual' });
    expect(bought.status).toBe(303);
    const checkout = bought.headers.get('location')!;
    const page = await fetch(checkout);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')]);

    const shop = { id: '', secretKey: key };
    const paymentId = (await world().call(shop, 'GET', '/api/v1/payments')).body.items[0]._id as string;
    const { merchantOrderId } = await world().payment(shop, paymentId);
    const order = async (): Promise<Order> => (await (await fetch(`${url}/orders/${merchantOrderId}`)).json()) as Order;
    expect(await order()).toMatchObject({ status: 'open', deliveries: 0, paymentId });

    // Anybody can post to the address: what is not signed changes nothing.
    const forged = JSON.stringify({
      id: 'x',
      type: 'payment.settled',
      data: { _id: paymentId, merchantOrderId, status: 'SETTLED' },
    });
    const signed = {
      'webhook-id': 'x',
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
      'webhook-signature': 'v1,AAAA',
    };
    expect((await fetch(`${url}/webhooks`, { method: 'POST', headers: signed, body: forged })).status).toBe(400);
    expect((await order()).status).toBe('open');

    const chosen = await world().call(shop, 'POST', `/api/v1/payments/${paymentId}/select-currency`, {
      currency: 'ETH',
    });
    await world().payer.pay('ETH', chosen.body.depositAddress as string, String(chosen.body.amount));
    await world().sees(shop, paymentId, 'SETTLED');
    await eventually(async () => (await order()).status === 'paid');
    // Confirmed, queued for the sweep, settled: three events and one delivery. All have come when none is left to send.
    await eventually(async () => {
      const [row] = await world().db.query<Array<{ n: number }>>(
        `SELECT count(*)::int AS n FROM delivery d JOIN event e ON e.id = d.event_id
          WHERE e.entity_id = $1 AND d.status <> 'succeeded'`,
        [paymentId],
      );
      return row!.n === 0;
    });
    expect(await order()).toMatchObject({ status: 'paid', deliveries: 1 });
  });
}
