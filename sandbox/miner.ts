import { call } from './parts/json-rpc';

/** Where the local chains are reached; the Bitcoin URL carries user and password. */
export type Chains = Readonly<{ ethRpcUrl: string; btcRpcUrl: string }>;

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

/** Blocks mined after the pool has run empty: what confirmations want, and a few more. */
const further = { ethereum: 14, bitcoin: 4 };

/** Mines by itself, so that whoever tries the sandbox need not: as long as something waits in a pool, and then the blocks that its
 *  confirmations want. */
export class Miner {
  private timer: NodeJS.Timeout | undefined;
  private left = { ethereum: 0, bitcoin: 0 };
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly chains: Chains,
    private readonly everyMs = 500,
  ) {}

  /** Does nothing where it mines already. */
  start(): void {
    if (this.timer) return;
    const tick = (): void => {
      this.running = this.mine()
        .catch(() => undefined) // a node that is down is looked for again at the next tick
        .then(() => {
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

  private async mine(): Promise<void> {
    const pool = await call<{ pending: string }>(this.chains.ethRpcUrl, 'txpool_status', []);
    if (BigInt(pool.pending) > 0n) this.left.ethereum = further.ethereum;
    if (this.left.ethereum-- > 0) await mineEthereum(this.chains.ethRpcUrl);
    const waiting = await bitcoinCall<string[]>(this.chains.btcRpcUrl, 'getrawmempool');
    if (waiting.length) this.left.bitcoin = further.bitcoin;
    if (this.left.bitcoin-- > 0) await mineBitcoin(this.chains.btcRpcUrl);
  }
}
