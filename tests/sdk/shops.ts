import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { partOf } from '../../sandbox/guides-page';
import { root } from '../../sandbox/paths';
import { freePort } from '../../sandbox/ports';
import { openShop } from '../../sandbox/seed';
import { eventually } from '../api/harness';
import { ended } from '../child';
import { lanes } from '../lanes';
import type { Shop, World } from '../world';

/** The shops of docs/samples/shop, and the commands of the guides for the sandbox, as they are printed, on a whole
 *  sandbox: order, checkout, coins, webhook. */

const programs: Readonly<Record<string, string | undefined>> = {
  'shop.mjs': process.execPath,
  'shop.py': process.env.PYTHON_PATH,
};
type Order = Readonly<{ id: string; status: string; deliveries: number; paymentId: string }>;

/** `world` and `shop`, the merchant of its sandbox, are asked for when a test runs. */
export function shops(world: () => World, shop: () => Shop): void {
  const folder = mkdtempSync(join(tmpdir(), 'shops-'));
  const children: ChildProcess[] = [];
  const groups: number[] = [];
  beforeAll(() => {
    cpSync(join(root, 'docs', 'samples', 'shop'), folder, { recursive: true });
    const scope = join(folder, 'node_modules', '@crypto-payment-service');
    mkdirSync(scope, { recursive: true });
    symlinkSync(join(root, 'sdk', 'typescript'), join(scope, 'sdk'));
  });
  afterAll(async () => {
    for (const group of groups)
      try {
        process.kill(-group, 'SIGKILL');
      } catch {
        // it has ended
      }
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

  async function sells(file: string): Promise<void> {
    const { url, key } = await open(file);
    const bought = await fetch(`${url}/orders`, { method: 'POST', redirect: 'manual' });
    expect(bought.status).toBe(303);
    const checkout = bought.headers.get('location')!;
    const page = await fetch(checkout);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')]);

    const owner = { id: '', secretKey: key };
    const paymentId = (await world().call(owner, 'GET', '/api/v1/payments')).body.items[0]._id as string;
    const { merchantOrderId } = await world().payment(owner, paymentId);
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

    const chosen = await world().call(owner, 'POST', `/api/v1/payments/${paymentId}/select-currency`, {
      currency: 'ETH',
    });
    await world().payer.pay('ETH', chosen.body.depositAddress as string, String(chosen.body.amount));
    await world().sees(owner, paymentId, 'SETTLED');
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
  }

  /** The commands of a guide in a checkout of the service, where the running sandbox is in `.data`. */
  function startInCheckout(script: string, env: NodeJS.ProcessEnv = {}) {
    const checkout = join(folder, 'checkout');
    mkdirSync(checkout, { recursive: true });
    for (const name of ['docs', 'package.json', 'sandbox'])
      if (!existsSync(join(checkout, name))) symlinkSync(join(root, name), join(checkout, name));
    if (!existsSync(join(checkout, '.data'))) symlinkSync(world().dataDir, join(checkout, '.data'));
    const child = spawn('sh', ['-e', '-c', script], {
      cwd: checkout,
      env: { ...process.env, SANDBOX_DATA: world().dataDir, ...env },
      detached: true, // ended with all that it has started
    });
    groups.push(child.pid!);
    return child;
  }
  async function inCheckout(script: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
    const { code, out, errors } = await ended(startInCheckout(script, env));
    if (code !== 0) throw new Error(`${script} ended with ${code}\n${out}\n${errors}`);
    return out;
  }
  const ofQuickstart = (name: string): string => partOf('tour/quickstart.sh', name);
  const ofShop = (name: string): string => partOf('tour/shop.sh', name);

  async function quickstart(): Promise<void> {
    const out = await inCheckout(
      `${ofQuickstart('env')}${ofQuickstart('create')}echo "$PAYMENT"\n${ofQuickstart('pay')}`,
    );
    const [checkout, created] = out.split('\n');
    expect((await fetch(checkout!)).status).toBe(200);
    const { paymentId } = JSON.parse(created!) as { paymentId: string };
    await world().sees(shop(), paymentId, 'SETTLED');
  }

  async function shopOfSandbox(): Promise<void> {
    const port = String(await freePort());
    const said = await inCheckout(`${ofShop('env')}env`, { PORT: port });
    const env = Object.fromEntries(said.split('\n').map((line) => line.split(/=(.*)/, 2) as [string, string]));
    const child = spawn(process.execPath, [join(folder, 'shop.mjs')], { cwd: folder, env: { ...process.env, ...env } });
    children.push(child);
    await once(child.stdout, 'data');
    await inCheckout(ofShop('order'), { PORT: port });
    // Others create payments meanwhile, without an order of this form.
    const { items } = (await world().call(shop(), 'GET', '/api/v1/payments')).body as {
      items: Array<{ merchantOrderId?: string }>;
    };
    const { merchantOrderId } = items.find((one) => /^\w{8}-\w{4}-/.test(one.merchantOrderId ?? ''))!;
    await eventually(async () => {
      const order = (await (await fetch(`${env.SHOP_URL}/orders/${merchantOrderId}`)).json()) as Order;
      return order.status === 'paid';
    });
  }

  /** The commands of the README, as they are pasted, at the addresses of this sandbox. */
  async function tourOfReadme(): Promise<void> {
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    let tour = /^## Five minutes$[^]*?^```sh\n([^]*?)^```$/m.exec(readme)![1]!;
    const { apiUrl, checkoutUrl, temporal } = world().stack;
    const own = { 'http://127.0.0.1:3000': apiUrl, 'http://127.0.0.1:3001': checkoutUrl, 4000: await freePort() };
    for (const [printed, here] of Object.entries(own)) {
      expect(tour).toContain(printed);
      tour = tour.replaceAll(printed, String(here));
    }
    // It leaves a listener behind, which goes on until there is no more to read.
    const child = startInCheckout(`trap 'kill $!' EXIT\n${tour}\ncat`);
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const uiOf = `${temporal.uiUrl}/`;
    await eventually(() => {
      if (child.exitCode !== null) throw new Error(said);
      return Promise.resolve(said.includes('payment.settled') && said.includes(uiOf));
    });
    const { code } = await ended(child);
    expect([said, code]).toEqual([said, 0]);
    const checkout = said.split('\n').find((line) => line.startsWith(`${checkoutUrl}/i/`));
    expect((await fetch(checkout!)).status).toBe(200);
    const [, id] = /"_id":"(\w{24})"/.exec(said)!;
    expect(said).toContain('"balances":[');
    expect(said).toContain(encodeURIComponent(`payment/${id}`));
    const told = [...said.matchAll(/^payment\.\w+$/gm)].map(([type]) => type);
    expect(told).toEqual(expect.arrayContaining(['payment.created', 'payment.confirmed', 'payment.settled']));
    expect(await world().sees(shop(), id!, 'SETTLED')).toMatchObject({ metadata: { order: 1 } });
  }

  const sale = 'an order is paid once, by a verified webhook alone';
  lanes(
    Object.keys(programs).map((file) => [`${file}: ${sale}`, () => sells(file)] as const),
    [
      ['the commands of the quickstart create a payment, show its checkout and pay it', quickstart],
      ['the commands of the shop start one with what the sandbox has, and pay an order', shopOfSandbox],
    ],
    [['the five minutes of the README lead from a listener to a settled payment', tourOfReadme]],
  );
}
