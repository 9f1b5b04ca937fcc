import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeFunctionData, erc20Abi, parseAbi, zeroAddress, type Hex } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { createCodec } from '../../chains/codecs';
import { sweeperAbi } from '../../chains/evm/sweeper';
import { delegateCode, sweeperCode } from '../../chains/evm/sweeper-code';
import type { ChainCodec, KeyRole } from '../../domain/chains/chain';
import { networks, type EvmNetwork } from '../../domain/chains/assets';
import { compileSweeper } from '../../sandbox/compile-sweeper';
import { mineEthereum } from '../../sandbox/chain-tools';
import { startAnvil } from '../../sandbox/parts/anvil';
import { call } from '../../sandbox/parts/json-rpc';
import type { Part } from '../../sandbox/parts/part';
import { freePort } from '../../sandbox/ports';
import { deploySweeper, deployTokens } from '../../sandbox/tokens';
import { mnemonicToSeedSync } from '@scure/bip39';

/** The contract by which one transaction sweeps the tokens of many deposit addresses, and what its delegates refuse. */

const mnemonic = `${'abandon '.repeat(11)}about`;
const seed = mnemonicToSeedSync(mnemonic);
const { batch: figures } = networks.ethereum as EvmNetwork;
const gwei = 10n ** 9n;
let dataDir: string;
let anvil: Part;
let codec: ChainCodec;
let tokens: Record<string, string>;
let sweeper: Hex;
let nonce = 0;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-sweeper-'));
  anvil = await startAnvil({ dataDir, port: await freePort() });
  tokens = await deployTokens(anvil.url);
  const chain = { chainNames: {}, chainIds: { ethereum: 31337 }, tokenContracts: tokens, sweepers: {} };
  const plain = createCodec('ethereum', chain);
  sweeper = await deploySweeper(anvil.url, plain.derive(plain.extendedKey(seed, 'gas'), 0));
  codec = createCodec('ethereum', { ...chain, sweepers: { ethereum: sweeper } });
  await call(anvil.url, 'anvil_setBalance', [addressOf('gas', 0), '0x8ac7230489e80000']);
});
afterAll(async () => {
  await anvil?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const addressOf = (role: KeyRole, index: number): string => codec.derive(codec.extendedKey(seed, role), index);
const treasury = (): string => addressOf('treasury', 1);
const holding = async (address: string, currency = 'USDT_ERC20'): Promise<bigint> =>
  BigInt(
    await call<string>(anvil.url, 'eth_call', [
      {
        to: tokens[currency],
        data: encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [address as Hex] }),
      },
      'latest',
    ]),
  );
const nonceOf = async (address: string): Promise<number> =>
  parseInt(await call<string>(anvil.url, 'eth_getTransactionCount', [address, 'latest']), 16);
type Receipt = { status: string; gasUsed: string };
const mined = async (txId: string): Promise<Receipt> => {
  await mineEthereum(anvil.url, 1);
  return call<Receipt>(anvil.url, 'eth_getTransactionReceipt', [txId]);
};
/** From the chain's own rich account, which may do what it likes with anvil. */
async function asSomebody(tx: { to: string; data?: string; value?: string; from?: string }): Promise<Receipt> {
  const [from] = await call<string[]>(anvil.url, 'eth_accounts', []);
  return mined(await call<string>(anvil.url, 'eth_sendTransaction', [{ from, gas: '0x30d40', ...tx }]));
}
const give = (address: string, units: bigint, currency = 'USDT_ERC20'): Promise<Receipt> =>
  asSomebody({
    to: tokens[currency]!,
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [address as Hex, units] }),
  });
type Item = { index: number; units: bigint; restUnits?: bigint; nonce?: number };
const sign = (items: readonly Item[], currency = 'USDT_ERC20', to = treasury(), restTo?: string) =>
  codec.sign(seed, {
    kind: 'account',
    from: addressOf('gas', 0),
    key: { role: 'gas', index: 0 },
    nonce: nonce++,
    to,
    value: 0n,
    batch: {
      currency,
      to,
      ...(restTo ? { restTo } : {}),
      accounts: items.map((item) => ({
        address: addressOf('deposit', item.index),
        key: { role: 'deposit' as const, index: item.index },
        nonce: item.nonce ?? 0,
        units: item.units,
        ...(item.restUnits === undefined ? {} : { restUnits: item.restUnits }),
      })),
    },
    gasLimit: figures.limit.base + figures.limit.each * BigInt(items.length),
    maxFeePerGas: 10n * gwei,
    maxPriorityFeePerGas: gwei,
  });
const sweep = async (...args: Parameters<typeof sign>): Promise<Receipt> => {
  const { txId, raw } = sign(...args);
  expect(await call<string>(anvil.url, 'eth_sendRawTransaction', [raw])).toBe(txId);
  return mined(txId);
};

it('is the code that its source compiles to', () => {
  expect(compileSweeper()).toEqual({ Delegate: delegateCode, Sweeper: sweeperCode });
});

it.each(['USDT_ERC20', 'USDC_ERC20'])(
  'moves the %s of many in one transaction, without gas on their addresses',
  async (currency) => {
    const indexes = currency === 'USDT_ERC20' ? [10, 11, 12, 13, 14] : [20, 21, 22];
    for (const index of indexes) await give(addressOf('deposit', index), 25_000_000n + BigInt(index), currency);
    const before = await holding(treasury(), currency);
    const { raw } = sign(
      indexes.map((index) => ({ index, units: 25_000_000n + BigInt(index) })),
      currency,
    );
    expect(codec.decode(raw)).toMatchObject({ inputs: [], nonce: nonce - 1 });
    await call<string>(anvil.url, 'eth_sendRawTransaction', [raw]);
    const receipt = await mined(codec.decode(raw).txId);
    expect(receipt.status).toBe('0x1');
    let total = before;
    for (const index of indexes) {
      expect(await holding(addressOf('deposit', index), currency)).toBe(0n);
      expect(await nonceOf(addressOf('deposit', index))).toBe(1);
      total += 25_000_000n + BigInt(index);
    }
    expect(await holding(treasury(), currency)).toBe(total);
  },
);

describe('an address that delegates', () => {
  const index = 30;
  const account = () => addressOf('deposit', index);
  beforeAll(async () => {
    await give(account(), 100n);
    expect((await sweep([{ index, units: 40n }])).status).toBe('0x1');
  });

  it('obeys nobody but the sweeper, and the sweeper nobody but its operator', async () => {
    const move = encodeFunctionData({
      abi: parseAbi(['function move(address token, uint256 amount, uint256 rest)']),
      args: [tokens.USDT_ERC20 as Hex, 60n, 0n],
    });
    expect((await asSomebody({ to: account(), data: move })).status).toBe('0x0');
    const [stranger] = await call<Hex[]>(anvil.url, 'eth_accounts', []);
    const data = encodeFunctionData({
      abi: sweeperAbi,
      functionName: 'sweep',
      args: [
        tokens.USDT_ERC20 as Hex,
        treasury() as Hex,
        zeroAddress,
        [{ account: account() as Hex, amount: 60n, rest: 0n }],
      ],
    });
    expect((await asSomebody({ to: sweeper, data })).status).toBe('0x0');
    expect(await holding(account())).toBe(60n);
    // Not even the operator turns it to another destination: the delegate has its own.
    const before = await holding(treasury());
    const theirs = await holding(stranger!);
    expect((await sweep([{ index, units: 10n, nonce: 0 }], 'USDT_ERC20', stranger)).status).toBe('0x1');
    expect([await holding(treasury()), await holding(stranger!)]).toEqual([before + 10n, theirs]);
  });

  it('takes native coins, from a contract too, and its key can send them on', async () => {
    expect((await asSomebody({ to: account(), value: '0x2386f26fc10000' })).status).toBe('0x1');
    const key = mnemonicToAccount(mnemonic, { path: `m/44'/60'/0'/0/${index}` });
    expect(key.address).toBe(account());
    const raw = await key.signTransaction({
      chainId: 31337,
      type: 'eip1559',
      nonce: await nonceOf(account()),
      gas: 21_000n,
      maxFeePerGas: 10n * gwei,
      maxPriorityFeePerGas: gwei,
      to: treasury() as Hex,
      value: 10n ** 15n,
    });
    expect((await mined(await call<string>(anvil.url, 'eth_sendRawTransaction', [raw]))).status).toBe('0x1');
  });

  it('takes its delegation back with its key', async () => {
    const key = mnemonicToAccount(mnemonic, { path: `m/44'/60'/0'/0/${index}` });
    const next = await nonceOf(account());
    const authorization = await key.signAuthorization!({ chainId: 31337, nonce: next + 1, address: zeroAddress });
    const raw = await key.signTransaction({
      chainId: 31337,
      type: 'eip7702',
      nonce: next,
      gas: 60_000n,
      maxFeePerGas: 10n * gwei,
      maxPriorityFeePerGas: gwei,
      to: account() as Hex,
      authorizationList: [authorization],
    });
    await mined(await call<string>(anvil.url, 'eth_sendRawTransaction', [raw]));
    expect(await call<string>(anvil.url, 'eth_getCode', [account(), 'latest'])).toBe('0x');
    await give(account(), 7n);
    // Used up already: the delegation of this transaction is void, and nothing is taken for moved that was not.
    expect((await sweep([{ index, units: 7n, nonce: 0 }])).status).toBe('0x0');
  });
});

describe('A5: to two addresses', () => {
  const merchants = () => addressOf('treasury', 7);

  it('gives each its part, from every address in one transaction', async () => {
    for (const index of [50, 51, 52]) await give(addressOf('deposit', index), 100n);
    const before = [await holding(merchants()), await holding(treasury())];
    const receipt = await sweep(
      [
        { index: 50, units: 100n, restUnits: 1n },
        { index: 51, units: 100n, restUnits: 100n },
        { index: 52, units: 100n, restUnits: 0n },
      ],
      'USDT_ERC20',
      merchants(),
      treasury(),
    );
    expect(receipt.status).toBe('0x1');
    expect([await holding(merchants()), await holding(treasury())]).toEqual([before[0]! + 199n, before[1]! + 101n]);
    for (const index of [50, 51, 52]) expect(await holding(addressOf('deposit', index))).toBe(0n);
  });

  it('never to a third: its delegate has both for ever', async () => {
    await give(addressOf('deposit', 50), 10n);
    const others = addressOf('treasury', 8);
    const [own, theirs] = [await holding(merchants()), await holding(others)];
    // With the nonce that is used up, the address keeps the delegate that it has.
    const receipt = await sweep([{ index: 50, units: 10n, restUnits: 4n, nonce: 0 }], 'USDT_ERC20', others, others);
    expect(receipt.status).toBe('0x1');
    expect([await holding(merchants()), await holding(others)]).toEqual([own + 6n, theirs]);
  });

  it('moves no part where the other cannot go', async () => {
    await give(addressOf('deposit', 53), 10n);
    const before = await holding(merchants());
    const receipt = await sweep([{ index: 53, units: 12n, restUnits: 3n }], 'USDT_ERC20', merchants(), treasury());
    expect(receipt.status).toBe('0x0');
    expect([await holding(addressOf('deposit', 53)), await holding(merchants())]).toEqual([10n, before]);
  });

  it('costs at most seven tenths of a top-up and two transfers', async () => {
    const indexes = Array.from({ length: 30 }, (_, at) => 300 + at);
    for (const index of indexes) await give(addressOf('deposit', index), 25_130_000n);
    const items = indexes.map((index) => ({ index, units: 25_130_000n, restUnits: 130_000n }));
    const batch = await sweep(items, 'USDT_ERC20', merchants(), treasury());
    await give(addressOf('deposit', 400), 25_130_000n);
    const topUp = await asSomebody({ to: addressOf('deposit', 400), value: '0x16345785d8a0000' });
    await call(anvil.url, 'anvil_impersonateAccount', [addressOf('deposit', 400)]);
    const transfer = (to: string, units: bigint) => ({
      from: addressOf('deposit', 400),
      to: tokens.USDT_ERC20!,
      data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to as Hex, units] }),
    });
    const alone = [
      topUp,
      await asSomebody(transfer(merchants(), 25_000_000n)),
      await asSomebody(transfer(treasury(), 130_000n)),
    ];
    expect([batch, ...alone].map(({ status }) => status)).toEqual(['0x1', '0x1', '0x1', '0x1']);
    const each = parseInt(batch.gasUsed, 16) / indexes.length;
    expect(each / alone.reduce((sum, { gasUsed }) => sum + parseInt(gasUsed, 16), 0)).toBeLessThanOrEqual(0.7);
  });
});

it('moves all or nothing, and uses up the delegations either way', async () => {
  for (const index of [40, 41]) await give(addressOf('deposit', index), 10n);
  const receipt = await sweep([
    { index: 40, units: 10n },
    { index: 41, units: 11n },
  ]);
  expect(receipt.status).toBe('0x0');
  for (const index of [40, 41]) {
    expect(await holding(addressOf('deposit', index))).toBe(10n);
    expect(await nonceOf(addressOf('deposit', index))).toBe(1);
  }
});

it('costs at most six tenths of a top-up and a transfer each', async () => {
  const indexes = Array.from({ length: 30 }, (_, at) => 100 + at);
  for (const index of indexes) await give(addressOf('deposit', index), 25_130_000n);
  const batch = await sweep(indexes.map((index) => ({ index, units: 25_130_000n })));
  await give(addressOf('deposit', 200), 25_130_000n);
  const topUp = await asSomebody({ to: addressOf('deposit', 200), value: '0x16345785d8a0000' });
  await call(anvil.url, 'anvil_impersonateAccount', [addressOf('deposit', 200)]);
  const alone = await asSomebody({
    from: addressOf('deposit', 200),
    to: tokens.USDT_ERC20!,
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [treasury() as Hex, 25_130_000n] }),
  });
  expect([batch.status, alone.status]).toEqual(['0x1', '0x1']);
  const each = parseInt(batch.gasUsed, 16) / indexes.length;
  expect(each / (parseInt(topUp.gasUsed, 16) + parseInt(alone.gasUsed, 16))).toBeLessThanOrEqual(0.6);
});
