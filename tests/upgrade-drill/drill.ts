import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Miner } from '../../sandbox/miner';
import { closed, listening } from '../../sandbox/parts/listening';
import { roles, migrateDatabase, type Role } from '../../sandbox/services';
import type { Visitor } from '../../sandbox/visitor';
import { World, type Answer, type Invoice, type Shop } from '../world';
import { Front } from './front';

/** How many people buy at once while the service is upgraded. */
const shoppers = 3;

/** A service of an earlier release behind load balancers, and its upgrade as an operator does it
 *  (docs/operations/upgrade.md). Until the database is migrated, all that is done goes over HTTP: our own statements
 *  would meet the schema of that release. */
export class Drill {
  private constructor(
    readonly world: World,
    private readonly fronts: Readonly<{ api: Front; checkout: Front }>,
    readonly miner: Miner,
    readonly ann: Visitor,
    readonly shop: Shop,
    readonly endpoint: Endpoint,
  ) {}

  /** `release`: the folder that it was built in. */
  static async start(release: string): Promise<Drill> {
    const fronts = { api: await Front.open(), checkout: await Front.open() };
    const world = await World.start({
      ownPostgres: true,
      release,
      swap: true,
      services: { checkout: 1 },
      env: {
        API_URL: fronts.api.url,
        CHECKOUT_URL: fronts.checkout.url,
        SWAP_POLL_SECONDS: '1',
        WEBHOOK_TIME_SCALE: '0.02',
      },
    });
    for (const role of ['api', 'checkout'] as const) fronts[role].leadTo(world.stack.part(`${role}-1`).url);
    const miner = new Miner(world.chains);
    miner.start();
    const { ann, shop } = await world.merchant([
      'payments:create',
      'payments:read',
      'ledger:read',
      'refunds:create',
      'refunds:read',
      'conversions:execute',
      'conversions:read',
      'payouts:read',
      'withdrawals:read',
    ]);
    return new Drill(world, fronts, miner, ann, shop, await Endpoint.open());
  }

  /** `keep`: logs and data stay. */
  async end(options: { keep: boolean }): Promise<void> {
    await this.miner.stop();
    await this.world.stop(options);
    await Promise.all([this.fronts.api.close(), this.fronts.checkout.close(), this.endpoint.close()]);
  }

  /** An operator, who has nothing to wait for. */
  async operator(): Promise<Visitor> {
    const { world } = this;
    const eve = world.visitor('eve@operators.example');
    await eve.register('Operators');
    await eve.enrol();
    await world.db.query(
      `UPDATE dashboard_user SET role = 'super_admin', merchant_id = NULL, created_at = now() - interval '2 days'
        WHERE email = $1`,
      [eve.email],
    );
    const knowsEve = () => eve.call('GET', '/api/v1/platform/overview').then(Boolean, () => false);
    await world.until('the API knows the operator', knowsEve);
    return eve;
  }

  readonly read = async (path: string): Promise<Answer['body']> => {
    const { body } = await this.world.call(this.shop, 'GET', path);
    return body.data ?? body;
  };

  async post(path: string, body: object): Promise<Answer['body']> {
    const answer = await this.world.call(this.shop, 'POST', path, body);
    if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.data ?? answer.body;
  }

  readonly invoice = (currency: string, amount = 40, more: Record<string, unknown> = {}): Promise<Invoice> =>
    this.world.invoice(this.shop, { amount, currency, ...more });

  async pays({ address, currency = 'ETH' }: Invoice, amount: number): Promise<void> {
    await this.world.payer.pay(currency, address, String(amount));
  }

  async settled(currency: string, amount: number): Promise<Invoice> {
    const invoice = await this.invoice(currency, amount);
    await this.pays(invoice, invoice.amount);
    await this.world.sees(this.shop, invoice.id, 'SETTLED', { ms: 240_000 });
    return invoice;
  }

  /** The schema of this release, then process by process: the new one starts, and only `pauseMs` later the old one
   *  ends. */
  async roll(pauseMs: number, say: (line: string) => void): Promise<void> {
    const { stack } = this.world;
    say('The database gets the new schema');
    migrateDatabase(stack.postgres.url);
    for (const role of ['chain', 'signer', 'payments', 'api', 'checkout'] as const satisfies readonly Role[]) {
      const began = Date.now();
      const old = stack.part(`${role}-1`);
      const { url } = await stack.add(role);
      if (role === 'api' || role === 'checkout') this.fronts[role].leadTo(url);
      await sleep(pauseMs);
      await old.stop();
      say(`${role} is replaced after ${((Date.now() - began) / 1000).toFixed(0)} s`);
    }
  }

  /** Payments that are made, looked at and paid while `act` runs; they are the caller's to see settled. */
  async underLoad(act: () => Promise<void>): Promise<Invoice[]> {
    const ended = new AbortController();
    const made: Invoice[] = [];
    const shopper = async (): Promise<void> => {
      while (!ended.signal.aborted) {
        const invoice = await this.invoice('ETH', 20);
        made.push(invoice);
        await fetch(`${this.world.stack.checkoutUrl}/i/${invoice.slug}`).then((page) => page.text());
        await this.pays(invoice, invoice.amount);
        await sleep(1000);
      }
    };
    await Promise.all([...Array.from({ length: shoppers }, shopper), act().finally(() => ended.abort())]);
    return made;
  }

  /** Requests while it ran, and those that failed. */
  requests(): Readonly<{ count: number; failures: readonly string[] }> {
    const all = Object.values(this.fronts);
    return {
      count: all.reduce((sum, { count }) => sum + count, 0),
      failures: all.flatMap(({ failures }) => failures),
    };
  }

  /** Workflows that have come to no good end. */
  async failedWorkflows(): Promise<string[]> {
    const query = `ExecutionStatus IN ('Failed', 'Terminated', 'TimedOut', 'Canceled')`;
    const found: string[] = [];
    for await (const { workflowId, status } of this.world.temporal.workflow.list({ query }))
      found.push(`${workflowId}: ${status.name}`);
    return found;
  }

  /** Lines of the logs of the processes that replaced the old ones, of a workflow that the new code cannot go on
   *  with. */
  brokenReplays(): string[] {
    const log = readFileSync(join(this.world.dataDir, 'logs', 'payments-2.log'), 'utf8');
    return log.split('\n').filter((line) => /nondeterminism/i.test(line));
  }

  /** Whether no process of the earlier release runs, whatever its role. */
  isRolled = (): boolean => Object.keys(roles).every((role) => this.world.stack.part(`${role}-1`).pid() === undefined);
}

/** A merchant's server that refuses every event until it is well. */
export class Endpoint {
  readonly refused: string[] = [];
  readonly taken: string[] = [];
  isWell = false;

  private constructor(private readonly server: Server) {}

  static async open(): Promise<Endpoint> {
    const server = createServer((request, response) => {
      request.resume();
      const id = String(request.headers['webhook-id']);
      (endpoint.isWell ? endpoint.taken : endpoint.refused).push(id);
      response.writeHead(endpoint.isWell ? 200 : 500).end();
    });
    const endpoint = new Endpoint(server);
    await listening(server, 0);
    return endpoint;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/ipn`;
  }

  close = (): Promise<void> => closed(this.server);
}
