import { hex } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writer } from 'protobufjs/minimal';
import { addressBytes, fromEvm, hexOf, sha256 } from '../../chains/tron/address';
import { signatureOf, tronCodec, type TronCodec } from '../../chains/tron/codec';
import { tronNode } from '../../chains/tron/node';
import type { SignedTronTransaction, TronChain, TronPlan } from '../../chains/tron/plan';
import { transactionOf } from '../../chains/tron/wire';
import type { Part } from '../../sandbox/parts/part';
import { startTronSimulator, type TronSimulatorOptions } from '../../sandbox/parts/tron-simulator';
import { freePort } from '../../sandbox/ports';
import { phrase, usdt } from './tron-vectors';

/** A simulator of TRON with contracts of every kind, an adapter on it, and hands that order blocks and faults. */

export const fakeToken = fromEvm('fa'.repeat(20));
export const brokenToken = fromEvm('bb'.repeat(20));
export const forwarder = fromEvm('cc'.repeat(20));
export const seed = mnemonicToSeedSync(phrase);

/** Blocks come to order here; times are those of the chain. */
const options = {
  genesisTime: 1_764_201_600_000,
  contracts: {
    [hexOf(usdt)]: 'token',
    [hexOf(fakeToken)]: 'token',
    [hexOf(brokenToken)]: 'reverting',
    [hexOf(forwarder)]: 'forwarder',
  },
} as const satisfies Partial<TronSimulatorOptions>;

/** The chain of the simulator. `contracts`: its tokens beside TRX. */
export const chainOf = (genesis: string, contracts: Readonly<Record<string, string>> = {}): TronChain => ({
  genesis,
  assets: new Map<string, { decimals: number; contract: string | null }>([
    ['TRX', { decimals: 6, contract: null }],
    ['USDT_TRC20', { decimals: 6, contract: usdt }],
    ...Object.entries(contracts).map(([currency, contract]) => [currency, { decimals: 6, contract }] as const),
  ]),
  feeLimitCeiling: 50_000_000n,
});

type State = Readonly<{ head: number; solid: number; genesis: string; time: number; pending: string[] }>;

export class TronWorld {
  readonly adapter: ReturnType<typeof tronNode>;
  readonly codec: TronCodec;
  readonly url: string;

  private constructor(
    readonly simulator: Part,
    readonly chain: TronChain,
    readonly dataDir: string,
  ) {
    this.url = simulator.url;
    this.codec = tronCodec(chain);
    this.adapter = tronNode(chain, { login: { url: this.url } });
  }

  static async start(more: Partial<TronSimulatorOptions> = {}): Promise<TronWorld> {
    const dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-tron-'));
    const simulator = await startTronSimulator({ ...options, dataDir, port: await freePort(), ...more });
    const answer = await fetch(`${simulator.url}/sandbox/state`, { method: 'POST', headers: { connection: 'close' } });
    const { genesis } = (await answer.json()) as State;
    return new TronWorld(simulator, chainOf(genesis), dataDir);
  }

  /** A call as it is, whatever it answers. No connection is kept, for the simulator may end between two calls. */
  async ask<T>(path: string, body: object = {}): Promise<T> {
    const headers = { connection: 'close' };
    const answer = await fetch(this.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await answer.json()) as T;
  }

  /** An order. Throws where it is refused. */
  async order(name: string, body: object = {}): Promise<State> {
    const answer = await this.ask<State & { error?: string }>(`/sandbox/${name}`, body);
    if (answer.error) throw new Error(answer.error);
    return answer;
  }
  mine = (blocks = 1, skip = 0): Promise<State> => this.order('mine', { blocks, skip });

  addressAt = (index: number): string => this.codec.derive(this.codec.extendedKey(seed, 'deposit'), index);

  /** Gives an address of ours sun, and units of USDT, from nowhere. */
  async fund(address: string, sun: bigint, units = 0n, contract: string = usdt): Promise<void> {
    if (sun) await this.order('fund', { address: hexOf(address), units: `${sun}` });
    if (units) await this.order('fund', { address: hexOf(address), units: `${units}`, contract: hexOf(contract) });
    await this.mine();
  }

  /** A transfer of our address `index`, planned on the newest final block. */
  async plan(index: number, asked: Pick<TronPlan, 'currency' | 'to' | 'units'> & Partial<TronPlan>): Promise<TronPlan> {
    const { reference } = await this.adapter.reference();
    const { time } = await this.order('state');
    return {
      from: this.addressAt(index),
      key: { role: 'deposit', index },
      reference,
      timestamp: time,
      expiresAt: time + 60_000,
      feeLimit: asked.currency === 'TRX' ? 0n : 20_000_000n,
      ...asked,
    };
  }

  async sign(index: number, asked: Parameters<TronWorld['plan']>[1]): Promise<SignedTronTransaction & TronPlan> {
    const plan = await this.plan(index, asked);
    return { ...plan, ...this.codec.sign(seed, plan) };
  }

  /** Signs, sends and mines. Throws where the node does not take it. */
  async paid(index: number, asked: Parameters<TronWorld['plan']>[1]): Promise<SignedTronTransaction & TronPlan> {
    const signed = await this.sign(index, asked);
    const answer = await this.adapter.broadcast(signed.raw);
    if (answer.outcome !== 'accepted') throw new Error(JSON.stringify(answer));
    await this.mine();
    return signed;
  }

  /** Signs and sends a call of a contract with TRX, which no codec of ours makes. Answers the transaction's id. */
  async call(index: number, to: string, data: string, sun: bigint): Promise<string> {
    const { reference, from, expiresAt, timestamp } = await this.plan(index, { currency: 'TRX', to, units: 1n });
    const value = Writer.create().uint32(10).bytes(addressBytes(from)).uint32(18).bytes(addressBytes(to));
    value.uint32(24).int64(sun.toString()).uint32(34).bytes(hex.decode(data));
    const url = 'type.googleapis.com/protocol.TriggerSmartContract';
    const any = Writer.create().uint32(10).string(url).uint32(18).bytes(value.finish()).finish();
    const contract = Writer.create().uint32(8).int32(31).uint32(18).bytes(any).finish();
    const raw = Writer.create()
      .uint32(10)
      .bytes(hex.decode(reference.slice(12, 16)));
    raw
      .uint32(34)
      .bytes(hex.decode(reference.slice(16, 32)))
      .uint32(64)
      .int64(expiresAt);
    raw.uint32(90).bytes(contract).uint32(112).int64(timestamp).uint32(144).int64(20_000_000);
    const rawData = raw.finish();
    const { privateKey } = HDKey.fromMasterSeed(seed).derive(`m/44'/195'/0'/0/${index}`);
    const signed = transactionOf(rawData, signatureOf(privateKey!, sha256(rawData)));
    const answer = await this.ask<{ code: string; txid: string; message: string }>('/wallet/broadcasthex', {
      transaction: hex.encode(signed),
    });
    if (answer.code !== 'SUCCESS') throw new Error(`${answer.code}: ${answer.message}`);
    return answer.txid;
  }

  newestBlock = async () => (await this.adapter.readBlock((await this.adapter.head()).height))!;

  async stop(): Promise<void> {
    await this.simulator.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
