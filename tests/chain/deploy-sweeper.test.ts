import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { deploySweeper, DeploymentError } from '../../chains/evm/deploy-sweeper';
import { factory, sweeperOf } from '../../chains/evm/sweeper';
import { jsonRpc, type Rpc } from '../../chains/json-rpc';
import { startAnvil } from '../../sandbox/parts/anvil';
import type { Part } from '../../sandbox/parts/part';
import { freePort } from '../../sandbox/ports';
import { keyIn } from '../../workers/deploy-sweeper';

/** The sweeper is deployed by a command, on a real chain. */

const chainId = 31337;
const key: Hex = `0x${'7'.repeat(64)}`;
const walletOf = (n: number): Hex => `0x${n.toString(16).padStart(40, 'a')}`;
const hasty = { looks: 20, pauseMs: 10 };

let dataDir: string;
let anvil: Part;
let node: Rpc;
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'deploy-sweeper-'));
  anvil = await startAnvil({ dataDir, port: await freePort() });
  node = jsonRpc(anvil.url);
  await node('anvil_setBalance', [privateKeyToAccount(key).address, '0xde0b6b3a7640000']);
});
afterAll(async () => {
  await anvil?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** A node of somebody else: it has no accounts, and mines what it is sent. Notes what is asked of it. */
function remote(): { rpc: Rpc; sent: string[] } {
  const sent: string[] = [];
  const rpc: Rpc = async <T>(method: string, params: readonly unknown[] = []): Promise<T> => {
    if (method === 'eth_accounts') return [] as T;
    if (/^eth_send/.test(method)) sent.push(method);
    const answer = await node<T>(method, params);
    if (/^eth_send/.test(method)) await node('evm_mine', []);
    return answer;
  };
  return { rpc, sent };
}
const operatorOf = async (sweeper: Hex): Promise<string> =>
  `0x${(await node<string>('eth_call', [{ to: sweeper, data: '0x570ca735' }, 'latest'])).slice(26)}`;

describe('A5: the sweeper', () => {
  it('is deployed once for a gas wallet, paid by a key, and obeys that wallet alone', async () => {
    const { rpc, sent } = remote();
    const wanted = { gasWallet: walletOf(1), chainId, key };
    const first = await deploySweeper(rpc, wanted, hasty);
    expect(first).toMatchObject({ state: 'deployed', address: sweeperOf(walletOf(1)).address });
    expect(await operatorOf(first.address)).toBe(walletOf(1));
    expect(await deploySweeper(rpc, wanted, hasty)).toMatchObject({ state: 'there', address: first.address });
    expect(sent).toEqual(['eth_sendRawTransaction']);
    const other = await deploySweeper(rpc, { ...wanted, gasWallet: walletOf(2) }, hasty);
    expect(other.address).not.toBe(first.address);
    expect(await operatorOf(other.address)).toBe(walletOf(2));
  });

  it('is what anybody may send where no key is given, and is found then', async () => {
    const { rpc, sent } = remote();
    const wanted = { gasWallet: walletOf(3), chainId };
    const { state, address, data } = await deploySweeper(rpc, wanted, hasty);
    expect([state, sent]).toEqual(['unsent', []]);
    const [from] = await node<string[]>('eth_accounts');
    await node('eth_sendTransaction', [{ from, to: factory, data, gas: '0x1e8480' }]);
    await node('evm_mine', []);
    expect(await deploySweeper(rpc, wanted, hasty)).toMatchObject({ state: 'there', address });
    expect(await operatorOf(address)).toBe(walletOf(3));
  });

  it('is not deployed on another chain, by a payer without coins, or where no block comes', async () => {
    const { rpc } = remote();
    const wanted = { gasWallet: walletOf(4), chainId, key };
    await expect(deploySweeper(rpc, { ...wanted, chainId: 1 }, hasty)).rejects.toThrow(/on chain 31337, not on 1/);
    const poor: Hex = `0x${'8'.repeat(64)}`;
    await expect(deploySweeper(rpc, { ...wanted, key: poor }, hasty)).rejects.toThrow(/has 0 wei; up to \d+ may/);
    await expect(deploySweeper(node, wanted, { looks: 2, pauseMs: 1 })).rejects.toThrow(/is not mined yet/);
    await node('evm_mine', []);
    expect(await deploySweeper(rpc, wanted, hasty)).toMatchObject({ state: 'there' });
  });

  it('is paid by no key that is none', () => {
    const file = join(dataDir, 'key');
    for (const text of ['', 'abc', `${'7'.repeat(64)}7`]) {
      writeFileSync(file, text);
      expect(() => keyIn(file)).toThrow(DeploymentError);
    }
    writeFileSync(file, `${key}\n`);
    expect(keyIn(file)).toBe(key);
  });
});
