import { networkOf } from '../domain/chains/assets';
import { call } from './parts/json-rpc';

/** A local UTXO chain beside Bitcoin's. `url`: with user and password. `mineTo`: who gets the coins of its blocks. */
export type LocalCoins = Readonly<{ url: string; mineTo: string }>;
/** Where the local chains are reached; the Bitcoin URL carries user and password. `coins`: by ticker. */
export type Chains = Readonly<{
  ethRpcUrl: string;
  btcRpcUrl: string;
  coins?: Readonly<Record<string, LocalCoins>>;
}>;

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

/** Mines `blocks` on the Ethereum chain, what is in the pool first. */
export async function mineEthereum(ethRpcUrl: string, blocks = 1): Promise<void> {
  await call(ethRpcUrl, 'evm_mine', []);
  if (blocks > 1) await call(ethRpcUrl, 'anvil_mine', [`0x${(blocks - 1).toString(16)}`]);
}

/** Mines `blocks` on the Bitcoin chain; the coins go to the payer. btcd mines for one caller at a time: others wait their turn. */
export async function mineBitcoin(btcRpcUrl: string, blocks = 1): Promise<string[]> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await bitcoinCall<string[]>(btcRpcUrl, 'generate', [blocks]);
    } catch (error) {
      if (tries === 100 || !/already CPU mining/.test((error as Error).message)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** Mines `blocks` on the local chain of a coin. */
export async function mineCoins(chains: Chains, currency: string, blocks = 1): Promise<string[]> {
  const coins = chains.coins?.[currency];
  if (currency === 'BTC') return mineBitcoin(chains.btcRpcUrl, blocks);
  if (!coins) throw new Error(`There is no local chain of ${currency}`);
  return bitcoinCall(coins.url, 'generatetoaddress', [blocks, coins.mineTo]);
}

/** Blocks mined after the pool has run empty: what confirmations want, and a few more. */
const furtherOn = (currency: string): number => networkOf(currency).confirmations + 2;

/** Mines by itself, so that whoever tries the sandbox need not: as long as something waits in a pool, and then the
 *  blocks that its confirmations want. Each chain for itself: one whose node is away keeps no other waiting. */
export class Miner {
  private timer: NodeJS.Timeout | undefined;
  /** Blocks that each chain still gets; one that could not be made still counts. */
  private readonly left = new Map<string, number>();
  private readonly failures = new Map<string, string>();
  private running: Promise<unknown> = Promise.resolve();

  /** `report`: is told once why a chain gets no block, until it gets one again. */
  constructor(
    private readonly chains: Chains,
    private readonly report: (line: string) => void = console.warn,
    private readonly everyMs = 500,
  ) {}

  /** Does nothing where it mines already. */
  start(): void {
    if (this.timer) return;
    const currencies = ['ETH', 'BTC', ...Object.keys(this.chains.coins ?? {})];
    const tick = (): void => {
      this.running = Promise.all(currencies.map((currency) => this.mine(currency))).then(() => {
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

  /** One block where something waits for it. A node that is down is looked for again at the next tick. */
  private async mine(currency: string): Promise<void> {
    try {
      if (await this.isWaiting(currency)) this.left.set(currency, furtherOn(currency));
      const left = this.left.get(currency) ?? 0;
      if (left > 0) {
        if (currency === 'ETH') await mineEthereum(this.chains.ethRpcUrl);
        else await mineCoins(this.chains, currency);
        this.left.set(currency, left - 1);
      }
      this.failures.delete(currency);
    } catch (error) {
      const { message } = error as Error;
      if (this.failures.get(currency) !== message) this.report(`The chain of ${currency} gets no block: ${message}`);
      this.failures.set(currency, message);
    }
  }

  private async isWaiting(currency: string): Promise<boolean> {
    if (currency !== 'ETH')
      return (await bitcoinCall<string[]>(coinUrlOf(this.chains, currency), 'getrawmempool')).length > 0;
    const pool = await call<{ pending: string }>(this.chains.ethRpcUrl, 'txpool_status', []);
    return BigInt(pool.pending) > 0n;
  }
}
