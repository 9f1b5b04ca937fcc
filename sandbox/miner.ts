import { networkOf } from '../domain/chains/assets';
import { whileRefused } from './again';
import { call } from './parts/json-rpc';

/** A local UTXO chain beside Bitcoin's. `url`: with user and password. `mineTo`: who gets the coins of its blocks. */
export type LocalCoins = Readonly<{ url: string; mineTo: string }>;
/** Where the local chains are reached; the Bitcoin URL carries user and password. `coins`, and `evm` beside Ethereum:
 *  by the ticker of the native coin. */
export type Chains = Readonly<{
  ethRpcUrl: string;
  btcRpcUrl: string;
  coins?: Readonly<Record<string, LocalCoins>>;
  evm?: Readonly<Record<string, string>>;
  /** Simulators of networks that have no node on one machine, by the ticker of the native coin. */
  simulators?: Readonly<Record<string, string>>;
}>;

/** Where the simulator of a network is reached that a currency is on. */
export function simulatorUrlOf(chains: Chains, currency: string): string {
  const url = chains.simulators?.[networkOf(currency).native];
  if (!url) throw new Error(`There is no simulator of ${currency}`);
  return url;
}

/** Where the local EVM chain is reached that a currency is on. */
export function evmUrlOf(chains: Chains, currency: string): string {
  const { native } = networkOf(currency);
  const url = native === 'ETH' ? chains.ethRpcUrl : chains.evm?.[native];
  if (!url) throw new Error(`There is no local chain of ${currency}`);
  return url;
}

/** Where the local chain of a coin is reached. */
export function coinUrlOf(chains: Chains, currency: string): string {
  const url = currency === 'BTC' ? chains.btcRpcUrl : chains.coins?.[currency]?.url;
  if (!url) throw new Error(`There is no local chain of ${currency}`);
  return url;
}

export function bitcoinCall<T>(btcRpcUrl: string, method: string, params: readonly unknown[] = []): Promise<T> {
  const url = new URL(btcRpcUrl);
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = '';
  url.password = '';
  return call<T>(url.href.replace(/\/$/, ''), method, [...params], credentials);
}

/** Mines `blocks` on a local EVM chain, what is in the pool first. */
export async function mineEthereum(ethRpcUrl: string, blocks = 1): Promise<void> {
  await call(ethRpcUrl, 'evm_mine', []);
  if (blocks > 1) await call(ethRpcUrl, 'anvil_mine', [`0x${(blocks - 1).toString(16)}`]);
}

/** Mines `blocks` on the Bitcoin chain; the coins go to the payer. btcd mines for one caller at a time: others wait
 *  their turn. */
export function mineBitcoin(btcRpcUrl: string, blocks = 1): Promise<string[]> {
  return whileRefused(/already CPU mining/, () => bitcoinCall<string[]>(btcRpcUrl, 'generate', [blocks]));
}

/** Mines `blocks` on the local chain of a coin. */
export async function mineCoins(chains: Chains, currency: string, blocks = 1): Promise<string[]> {
  const coins = chains.coins?.[currency];
  if (currency === 'BTC') return mineBitcoin(chains.btcRpcUrl, blocks);
  if (!coins) throw new Error(`There is no local chain of ${currency}`);
  return bitcoinCall(coins.url, 'generatetoaddress', [blocks, coins.mineTo]);
}

const isEvm = (currency: string): boolean => networkOf(currency).kind === 'account';

/** Blocks mined upon one that has a transaction: what confirmations want, and a few more. */
const furtherOn = (currency: string): number => networkOf(currency).confirmations + 2;

type Seen = Readonly<{ height: number; hash: string }>;

/** Mines by itself, so that whoever tries the sandbox need not: as long as something waits in a pool, and then the
 *  blocks that its confirmations want. Each chain for itself: one whose node is away keeps no other waiting. */
export class Miner {
  private timer: NodeJS.Timeout | undefined;
  /** The last block of each chain that was looked at. */
  private readonly seen = new Map<string, Seen>();
  /** How high each chain is to grow. */
  private readonly until = new Map<string, number>();
  private readonly failures = new Map<string, string>();
  private running: Promise<unknown> = Promise.resolve();
  private held = 0;

  /** `report`: is told once why a chain gets no block, until it gets one again. */
  constructor(
    private readonly chains: Chains,
    private readonly report: (line: string) => void = console.warn,
    private readonly everyMs = 500,
  ) {}

  /** Does nothing where it mines already. */
  start(): void {
    if (this.timer) return;
    const currencies = ['ETH', 'BTC', ...Object.keys({ ...this.chains.coins, ...this.chains.evm })];
    const tick = (): void => {
      const due = this.held ? [] : currencies;
      this.running = Promise.all(due.map((currency) => this.mine(currency))).then(() => {
        if (this.timer) this.timer = setTimeout(tick, this.everyMs);
      });
    };
    this.timer = setTimeout(tick, this.everyMs);
  }

  async stop(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    await this.running;
  }

  /** Makes no block while `act` runs: the caller makes its own. */
  async still<T>(act: () => Promise<T>): Promise<T> {
    this.held += 1;
    try {
      await this.running;
      return await act();
    } finally {
      this.held -= 1;
    }
  }

  /** One block where something waits for it. A node that is down is looked for again at the next tick. */
  private async mine(currency: string): Promise<void> {
    try {
      const height = await this.look(currency);
      if (height < (this.until.get(currency) ?? 0) || (await this.isWaiting(currency))) {
        if (isEvm(currency)) await mineEthereum(evmUrlOf(this.chains, currency));
        else await mineCoins(this.chains, currency);
      }
      this.failures.delete(currency);
    } catch (error) {
      const { message } = error as Error;
      if (this.failures.get(currency) !== message) this.report(`The chain of ${currency} gets no block: ${message}`);
      this.failures.set(currency, message);
    }
  }

  /** Looks for transactions in the blocks that came since the last look, whoever made them: the pool alone does not
   *  tell, because a transaction may come just before a block. Returns the height of the chain. */
  private async look(currency: string): Promise<number> {
    const head = await this.block(currency, null);
    const before = this.seen.get(currency);
    if (head.hash === before?.hash) return head.height;
    const wanted = furtherOn(currency);
    // A node may come back without its last blocks.
    if (before && head.height < before.height) this.until.delete(currency);
    const further = before && before.height < head.height ? before.height : 0;
    for (let height = Math.max(further, head.height - wanted) + 1; height <= head.height; height += 1) {
      const block = height === head.height ? head : await this.block(currency, height);
      if (block.transactions > 0) this.until.set(currency, height + wanted);
    }
    this.seen.set(currency, head);
    return head.height;
  }

  /** A block, the newest for `null`. `transactions`: but for those that every block of its chain has. */
  private async block(currency: string, height: number | null): Promise<Seen & Readonly<{ transactions: number }>> {
    if (isEvm(currency)) {
      const at = height === null ? 'latest' : `0x${height.toString(16)}`;
      const block = await call<{ number: string; hash: string; transactions: string[] }>(
        evmUrlOf(this.chains, currency),
        'eth_getBlockByNumber',
        [at, false],
      );
      return { height: Number(block.number), hash: block.hash, transactions: block.transactions.length };
    }
    const url = coinUrlOf(this.chains, currency);
    const hash =
      height === null
        ? await bitcoinCall<string>(url, 'getbestblockhash')
        : await bitcoinCall<string>(url, 'getblockhash', [height]);
    const block = await bitcoinCall<{ height: number; tx: string[]; mweb?: object }>(url, 'getblock', [hash, 1]);
    return { height: block.height, hash, transactions: block.tx.length - (block.mweb ? 2 : 1) };
  }

  private async isWaiting(currency: string): Promise<boolean> {
    if (!isEvm(currency))
      return (await bitcoinCall<string[]>(coinUrlOf(this.chains, currency), 'getrawmempool')).length > 0;
    const pool = await call<{ pending: string }>(evmUrlOf(this.chains, currency), 'txpool_status', []);
    return BigInt(pool.pending) > 0n;
  }
}
