import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HDKey } from '@scure/bip32';
import { deriveAddress, deriveKeypair } from 'ripple-keypairs';
import type { KeyPair } from '../../chains/child-key';
import { xrplNode, type XrplNode } from '../../chains/xrpl/node';
import { signPayment, type PaymentPlan, type SignedPayment } from '../../chains/xrpl/payment';
import type { Part } from '../../sandbox/parts/part';
import { startXrplSimulator } from '../../sandbox/parts/xrpl-simulator';
import { xrplChains } from './expiring-networks';

/** A simulated network of the XRP Ledger for one test file, and people who have accounts on it. */

export type Fields = Record<string, unknown>;
export type Person = Readonly<{ address: string; pair: KeyPair }>;
/** What a payment is like where a test does not say. */
type Pay = Partial<PaymentPlan> & Readonly<{ to: string }>;

/** Drops. */
export const xrp = (amount: number): bigint => BigInt(amount * 1_000_000);

const personOf = (keys: { publicKey: string; privateKey: string }): Person => ({
  address: deriveAddress(keys.publicKey),
  pair: {
    publicKey: Buffer.from(keys.publicKey, 'hex'),
    privateKey: Buffer.from(keys.privateKey.slice(-64), 'hex'),
  },
});
/** Who has all XRP at first. */
export const rich = personOf(deriveKeypair('snoPBrXtMeMyMHUVTgbuqAfg1SUTb'));

export type SimulatedXrpl = Readonly<{
  part: Part;
  node: XrplNode;
  call: (method: string, params?: Fields) => Promise<Fields>;
  order: (order: Fields) => Promise<Fields>;
  /** Closes ledgers, and answers with the index of the newest. */
  close: (times?: number) => Promise<number>;
  person: (name: number) => Person;
  /** A person with an account that holds so much. */
  funded: (name: number, drops?: bigint) => Promise<Person>;
  sign: (from: Person, pay: Pay) => Promise<SignedPayment>;
  /** Signed and submitted. */
  pay: (from: Person, pay: Pay) => Promise<SignedPayment & { result: string }>;
  restart: () => Promise<void>;
  end: () => Promise<void>;
}>;

export async function simulatedXrpl(networkId: number = xrplChains.simulator.networkId): Promise<SimulatedXrpl> {
  const dataDir = mkdtempSync(join(tmpdir(), 'xrpl-'));
  const chain = { networkId, isTest: true };
  const part = await startXrplSimulator({ port: 0, dataDir, networkId });
  const node = xrplNode({ url: part.url });
  const call = async (method: string, params: Fields = {}): Promise<Fields> => {
    const response = await fetch(part.url, {
      method: 'POST',
      body: JSON.stringify({ method, params: [{ api_version: 2, ...params }] }),
    });
    return ((await response.json()) as { result: Fields }).result;
  };
  const close = async (times = 1): Promise<number> => {
    for (let n = 0; n < times; n += 1) await call('ledger_accept');
    return (await node.head()).height;
  };
  const person = (name: number): Person => {
    const { publicKey, privateKey } = HDKey.fromMasterSeed(Buffer.alloc(32, name));
    return personOf({
      publicKey: Buffer.from(publicKey!).toString('hex').toUpperCase(),
      privateKey: Buffer.from(privateKey!).toString('hex').toUpperCase(),
    });
  };
  const sign = async (from: Person, pay: Pay): Promise<SignedPayment> => {
    const current = pay.sequence ?? (await call('account_info', { account: from.address }));
    const sequence = typeof current === 'number' ? current : (current.account_data as { Sequence: number }).Sequence;
    const { height } = await node.head();
    const plan = { drops: xrp(1), feeDrops: 10n, sequence, lastLedger: height + 4, ...pay };
    return signPayment(chain, { ...plan, from: from.address, key: { role: 'treasury', index: 0 } }, from.pair);
  };
  const pay = async (from: Person, given: Pay): Promise<SignedPayment & { result: string }> => {
    const signed = await sign(from, given);
    return { ...signed, result: (await node.submit(signed.raw)).result };
  };
  return {
    part,
    node,
    call,
    order: (order) => call('simulator_order', order),
    close,
    person,
    async funded(name, drops = xrp(100)) {
      const { address } = person(name);
      await pay(rich, { to: address, drops });
      await close();
      return person(name);
    },
    sign,
    pay,
    async restart() {
      await part.kill9();
      await part.start();
      // The connection that is left of the time before ends here, not in a test.
      await fetch(part.url, { method: 'POST', body: '{}' }).catch(() => undefined);
    },
    async end() {
      await part.stop();
      rmSync(dataDir, { recursive: true });
    },
  };
}
