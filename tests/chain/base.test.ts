import { createAdapter } from '../../chains/adapters';
import type { ChainAdapter } from '../../domain/chains/chain';
import { parseConfig } from '../../domain/config';
import { call } from '../../sandbox/parts/json-rpc';
import { RpcProxy } from '../faults/rpc-proxy';
import { chainContract, type Fixture } from './contract';
import { evmNetwork, sibling, siblingFixture } from './evm-fixture';

chainContract('base', () => siblingFixture('base'));
sibling('base');

describe('the price of data', () => {
  const { oracle, bytes, gas } = evmNetwork('base').dataFee!;
  const address = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94';
  let fixture: Fixture;
  let proxy: RpcProxy;
  let adapter: ChainAdapter;

  beforeAll(async () => {
    fixture = await siblingFixture('base');
    proxy = await RpcProxy.before(fixture.url);
    adapter = fixture.at(proxy.url);
  });
  afterAll(async () => {
    await proxy?.close();
    await fixture?.stop();
  });
  afterEach(() => proxy.heal());

  const setPrice = (perByte: bigint): Promise<unknown> =>
    call(fixture.url, 'anvil_setStorageAt', [
      oracle,
      `0x${'0'.repeat(64)}`,
      `0x${perByte.toString(16).padStart(64, '0')}`,
    ]);

  it.each([1n, 1_000_000_000n, 123_456_789_012n])('at %s a byte is kept with each gas, rounded up', async (perByte) => {
    await setPrice(1n);
    const least = (await adapter.estimateFee())!;
    await setPrice(perByte);
    const { unitPrice, dataPart } = (await adapter.estimateFee())!;
    const kept = BigInt(dataPart!) * gas;
    const due = perByte * BigInt(bytes);
    expect([kept >= due, kept - due < gas]).toEqual([true, true]);
    expect(BigInt(unitPrice) - BigInt(dataPart!)).toBe(BigInt(least.unitPrice) - BigInt(least.dataPart!));
  });

  it('is no estimate where the contract is not there', async () => {
    const code = await call<string>(fixture.url, 'eth_getCode', [oracle, 'latest']);
    await call(fixture.url, 'anvil_setCode', [oracle, '0x']);
    await expect(adapter.estimateFee()).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
    await call(fixture.url, 'anvil_setCode', [oracle, code]);
  });

  it('that a transaction was charged is part of its fee', async () => {
    const txId = await fixture.pay('ETH_BASE', address, '1');
    await fixture.mine(1);
    const before = await adapter.lookUp(txId);
    proxy.arm({ kind: 'rewrite', answer: (body) => ({ ...(body as object), result: withDataFee(body, 5_000_000n) }) }, [
      'eth_getTransactionReceipt',
    ]);
    const after = await adapter.lookUp(txId);
    expect(proxy.hits).toContain('eth_getTransactionReceipt');
    if (before.state !== 'mined' || after.state !== 'mined') throw new Error('the transaction is not in a block');
    expect(after.feeUnits! - before.feeUnits!).toBe(5_000_000n);
  });

  it('is asked of networks that have it alone', async () => {
    const ethereum = createAdapter('ethereum', parseConfig({ ETH_CHAIN_ID: '31453', ETH_RPC_URL: fixture.url }));
    expect(await ethereum.estimateFee()).not.toHaveProperty('dataPart');
  });
});

const withDataFee = (body: unknown, l1Fee: bigint): object => ({
  ...(body as { result: object }).result,
  l1Fee: `0x${l1Fee.toString(16)}`,
});
