import { generateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { createFollower } from '../../activities/chains/follower';
import type { FollowerDeps } from '../../activities/chains/deps';
import { createAdapter } from '../../chains/adapters';
import { createCodecs } from '../../chains/codecs';
import type { Config } from '../../domain/config';
import { mineEthereum } from '../../sandbox/chain-tools';
import { startAnvil } from '../../sandbox/parts/anvil';
import { Payer } from '../../sandbox/payer';
import { freePort } from '../../sandbox/ports';
import { startHarness, type Harness, type Shop } from '../api/harness';
import { RpcProxy } from '../faults/rpc-proxy';
import { paymentsAt } from './run-payment';

/** How deep a deposit must be here. */
export const depth = 3;

export type Invoice = Readonly<{ id: string; slug: string; address: string; amount: string }>;

/** A follower of Ethereum on a real node behind a proxy, with a shop whose payments the real activities move. */
export class FollowedChain {
  /** What the follower has warned of. */
  readonly warnings: string[] = [];
  readonly config: Config;
  private constructor(
    readonly h: Harness,
    readonly shop: Shop,
    readonly node: Awaited<ReturnType<typeof startAnvil>>,
    readonly proxy: RpcProxy,
    readonly payer: Payer,
    private readonly dataDir: string,
  ) {
    this.config = { ...h.api.deps.config, confirmations: { ethereum: depth } };
  }

  /** `chainId`: of a chain that lives, where the checks of a node are on; the usual one is local. */
  static async start({ chainId = 31337 } = {}): Promise<FollowedChain> {
    const dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-followed-'));
    chmodSync(dataDir, 0o711);
    const [h, node] = await Promise.all([
      startHarness({ ETH_CHAIN_ID: String(chainId) }),
      startAnvil({ dataDir, port: await freePort(), chainId }),
    ]);
    const payer = new Payer({ ethRpcUrl: node.url, btcRpcUrl: 'http://127.0.0.1:1' }, {}, generateMnemonic(wordlist));
    const chain = new FollowedChain(h, await h.shop(), node, await RpcProxy.before(node.url), payer, dataDir);
    await chain.db.query('DELETE FROM chain_cursor');
    await chain.look();
    return chain;
  }

  get db(): DataSource {
    return this.h.db;
  }

  /** What a worker that has just started knows: nothing. */
  follower(over: Partial<FollowerDeps> = {}): ReturnType<typeof createFollower> {
    return createFollower({
      db: this.db,
      adapter: createAdapter('ethereum', { ...this.config, ETH_RPC_URL: this.proxy.url }),
      config: this.config,
      log: { info: () => undefined, warn: (_, text) => void this.warnings.push(text) },
      ...over,
    });
  }
  private current: ReturnType<typeof createFollower> | undefined;
  /** One look of the same follower. */
  look(): Promise<void> {
    return (this.current ??= this.follower())();
  }
  /** The next look is another worker's. */
  restart(over: Partial<FollowerDeps> = {}): void {
    this.current = this.follower(over);
  }
  mine(blocks = 1): Promise<unknown> {
    return mineEthereum(this.node.url, blocks);
  }

  async invoice(fiat = 3200, currency = 'ETH'): Promise<Invoice> {
    const answer = await this.h.call('POST', '/api/v1/payments', {
      key: this.shop.key,
      body: { amount: fiat, currency },
    });
    if (answer.status !== 201) throw new Error(answer.text);
    const { paymentId: id, depositAddress: address, amount } = answer.body;
    const [row] = await this.db.query<Array<{ slug: string }>>('SELECT slug FROM payment WHERE id = $1', [id]);
    return { id, slug: row!.slug, address, amount: String(amount) };
  }
  /** The payment after all that its workflow would do now. */
  async advance({ id }: Invoice): Promise<{ status: string; txIds: string[]; amountPaid: number }> {
    const { config } = this;
    await paymentsAt({ db: this.db, config, codecs: createCodecs(config.chain) }).runPayment(id);
    return (await this.h.call('GET', `/api/v1/payments/${id}`, { key: this.shop.key })).body;
  }
  deposits(invoice: Invoice): Promise<Array<{ status: string; amount: string; foundBy: string; height: number }>> {
    return this.db.query(
      `SELECT status, trim_scale(amount)::text AS amount, found_by AS "foundBy", height::int FROM deposit
        WHERE address = $1 ORDER BY id`,
      [invoice.address],
    );
  }
  incidents(): Promise<Array<{ kind: string; resolved_at: Date | null; details: Record<string, unknown> }>> {
    return this.db.query('SELECT kind, resolved_at, details FROM incident ORDER BY id');
  }

  async stop(): Promise<void> {
    await this.proxy.close();
    await this.node.stop();
    await this.h.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
