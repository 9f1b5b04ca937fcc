import { mnemonicToSeedSync } from '@scure/bip39';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { createCodec } from '../../chains/codecs';
import type { TransactionPlan } from '../../domain/chains/chain';
import { networks, type EvmNetwork } from '../../domain/chains/assets';
import { batchLimit } from '../../domain/sweeps/sweep-batch';
import { mineEthereum } from '../../sandbox/chain-tools';
import { startAnvil } from '../../sandbox/parts/anvil';
import { call } from '../../sandbox/parts/json-rpc';
import { freePort } from '../../sandbox/ports';
import { deploySweeper, deployTokens } from '../../sandbox/tokens';

const { batch: figures, work } = networks.ethereum as EvmNetwork;
const gwei = 10n ** 9n;
const units = 25_130_000n;
type Receipt = { status: string; gasUsed: string };

/** Gas that a settled token deposit takes: in batches as the signer makes them, to one address and to two, and by a
 *  top-up and a transfer each, `deposits` of each on a chain of their own. */
export async function gasPerDeposit(deposits: number): Promise<{ batched: number; shared: number; alone: number }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-bench-'));
  const anvil = await startAnvil({ dataDir, port: await freePort() });
  try {
    const seed = mnemonicToSeedSync(`${'abandon '.repeat(11)}about`);
    const tokens = await deployTokens(anvil.url);
    const chain = { chainNames: {}, chainIds: { ethereum: 31337 }, tokenContracts: tokens, sweepers: {} };
    const plain = createCodec('ethereum', chain);
    const at = (role: 'gas' | 'deposit' | 'treasury', index: number): string =>
      plain.derive(plain.extendedKey(seed, role), index);
    const codec = createCodec('ethereum', {
      ...chain,
      sweepers: { ethereum: await deploySweeper(anvil.url, at('gas', 0)) },
    });
    const [rich] = await call<string[]>(anvil.url, 'eth_accounts', []);
    await call(anvil.url, 'anvil_setBalance', [at('gas', 0), '0x3635c9adc5dea00000']);

    let pending: string[] = [];
    const mined = async (): Promise<bigint> => {
      let gas = 0n;
      // A block holds a few hundred transfers.
      for (let blocks = 0; blocks < 5; blocks += 1) await mineEthereum(anvil.url, 1);
      for (const txId of pending) {
        const receipt = await call<Receipt | null>(anvil.url, 'eth_getTransactionReceipt', [txId]);
        if (receipt?.status !== '0x1') throw new Error(`${txId} was not mined with success`);
        gas += BigInt(receipt.gasUsed);
      }
      pending = [];
      return gas;
    };
    const give = async (first: number): Promise<void> => {
      for (let index = first; index < first + deposits; index += 1) {
        const data = encodeFunctionData({
          abi: erc20Abi,
          functionName: 'transfer',
          args: [at('deposit', index) as Hex, units],
        });
        const tx = { from: rich, to: tokens.USDT_ERC20, data, gas: '0x186a0' };
        pending.push(await call<string>(anvil.url, 'eth_sendTransaction', [tx]));
        if (pending.length === 100) await mined();
      }
      await mined();
    };
    type Account = Extract<TransactionPlan, { kind: 'account' }>;
    const send = async (
      plan: Pick<Account, 'from' | 'key' | 'nonce' | 'to' | 'value' | 'gasLimit'> & Partial<Account>,
    ) => {
      const { raw } = codec.sign(seed, {
        kind: 'account',
        maxFeePerGas: 20n * gwei,
        maxPriorityFeePerGas: gwei,
        ...plan,
      });
      pending.push(await call<string>(anvil.url, 'eth_sendRawTransaction', [raw]));
    };

    const treasury = at('treasury', 1);
    const wallet = { from: at('gas', 0), key: { role: 'gas', index: 0 } as const };
    let nonce = 0;
    const inBatches = async (from: number, to: Readonly<{ to: string; restTo?: string }>): Promise<bigint> => {
      await give(from);
      let used = 0n;
      for (let first = from; first < from + deposits; first += batchLimit) {
        const indexes = Array.from({ length: Math.min(batchLimit, from + deposits - first) }, (_, n) => first + n);
        const accounts = indexes.map((index) => ({
          address: at('deposit', index),
          key: { role: 'deposit' as const, index },
          nonce: 0,
          units,
          restUnits: to.restTo ? units / 100n : 0n,
        }));
        const gasLimit = figures.limit.base + 2n * figures.limit.each * BigInt(accounts.length);
        const batch = { currency: 'USDT_ERC20', ...to, accounts };
        await send({ ...wallet, nonce: nonce++, to: treasury, value: 0n, gasLimit, batch });
        used += await mined();
      }
      return used;
    };
    const batched = await inBatches(0, { to: treasury });
    const shared = await inBatches(deposits, { to: at('treasury', 2), restTo: treasury });

    await give(2 * deposits);
    let alone = 0n;
    for (let first = 2 * deposits; first < 3 * deposits; first += 50) {
      const indexes = Array.from({ length: Math.min(50, 3 * deposits - first) }, (_, n) => first + n);
      const value = 40n * gwei * work.token;
      for (const index of indexes)
        await send({ ...wallet, nonce: nonce++, to: at('deposit', index), value, gasLimit: work.native });
      alone += await mined();
      for (const index of indexes)
        await send({
          from: at('deposit', index),
          key: { role: 'deposit', index },
          nonce: 0,
          to: treasury,
          value: 0n,
          gasLimit: work.token,
          token: { currency: 'USDT_ERC20', to: treasury, units },
        });
      alone += await mined();
    }
    const each = (used: bigint): number => Number(used) / deposits;
    return { batched: each(batched), shared: each(shared), alone: each(alone) };
  } finally {
    await anvil.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
