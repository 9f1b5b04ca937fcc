import { hex } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { Address, NETWORK, OutScript, p2wpkh, TEST_NETWORK, Transaction } from '@scure/btc-signer';
import type { ChainSettings } from '../../domain/chains/assets';
import {
  keyRoles,
  type ChainCodec,
  type KeyPath,
  type SignedTransaction,
  type TransactionPlan,
} from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { keyPairs, publicChildren } from '../child-key';

const regtest = { ...TEST_NETWORK, bech32: 'bcrt' };
const simnet = { bech32: 'sb', pubKeyHash: 0x3f, scriptHash: 0x7b, wif: 0x64 };
const parameters = { mainnet: NETWORK, testnet: TEST_NETWORK, regtest, simnet };

/** Signals that a later transaction may replace this one (BIP 125). */
const replaceable = 0xfffffffd;

/** P2WPKH under BIP 84: `m/84'/coin'/role'/0/index`. */
export function bitcoinCodec(chain: ChainSettings): ChainCodec {
  const net = parameters[chain.bitcoin];
  const coinType = chain.bitcoin === 'mainnet' ? 0 : 1;
  const branches = new Map<string, (index: number) => Uint8Array>();

  const childrenOf = (xpub: string): ((index: number) => Uint8Array) => {
    let children = branches.get(xpub);
    if (!children) branches.set(xpub, (children = publicChildren(HDKey.fromExtendedKey(xpub).deriveChild(0))));
    return children;
  };
  const addressOf = (publicKey: Uint8Array): string => p2wpkh(publicKey, net).address!;
  const account = (seed: Uint8Array, role: KeyPath['role']): HDKey =>
    HDKey.fromMasterSeed(seed).derive(`m/84'/${coinType}'/${keyRoles.indexOf(role)}'`);

  const pairOf = keyPairs(account);

  function sign(seed: Uint8Array, plan: TransactionPlan): SignedTransaction {
    if (plan.kind !== 'utxo') throw new DomainError('INTENT_MISMATCH', 'A Bitcoin transaction spends coins');
    const spent = plan.coins.reduce((sum, coin) => sum + coin.units, 0n);
    const sent = plan.outputs.reduce((sum, output) => sum + output.units, 0n);
    if (spent - sent !== plan.feeUnits || plan.feeUnits < 0n) {
      throw new DomainError('PLAN_UNBALANCED', `${spent} in, ${sent} out, fee ${plan.feeUnits}`);
    }
    const tx = new Transaction({ version: 2 });
    const keys = plan.coins.map((coin) => {
      const { privateKey, publicKey } = pairOf(seed, coin.key.role, coin.key.index);
      const spend = p2wpkh(publicKey, net);
      if (spend.address !== coin.address)
        throw new DomainError('KEY_MISMATCH', `Key ${coin.key.role}/${coin.key.index} is not of ${coin.address}`);
      tx.addInput({
        txid: coin.txId,
        index: coin.vout,
        sequence: replaceable,
        witnessUtxo: { script: spend.script, amount: coin.units },
      });
      return privateKey;
    });
    for (const output of plan.outputs) tx.addOutputAddress(output.address, output.units, net);
    keys.forEach((key, index) => tx.signIdx(key, index));
    tx.finalize();
    return { txId: tx.id, raw: tx.hex };
  }

  return {
    network: 'bitcoin',
    derive: (xpub, index) => addressOf(childrenOf(xpub)(index)),
    normalise(address) {
      try {
        return Address(net).encode(Address(net).decode(address));
      } catch {
        return null; // not an address of this network
      }
    },
    extendedKey: (seed, role) => account(seed, role).publicExtendedKey,
    sign,
    sizeOf: ({ inputs, outputs }) => BigInt(Math.ceil((42 + 272 * inputs + 124 * outputs) / 4)),
    paymentUri: (address, _currency, amount) => `bitcoin:${address}?amount=${amount}`,
    decode(raw) {
      const tx = Transaction.fromRaw(hex.decode(raw), { allowUnknownOutputs: true, allowUnknownInputs: true });
      const inputs = Array.from({ length: tx.inputsLength }, (_, index) => {
        const input = tx.getInput(index);
        return `${hex.encode(input.txid!)}:${input.index}`;
      });
      return { txId: tx.id, inputs, nonce: null };
    },
  };
}

/** The address that an output script pays, or null where it has none. */
export function addressOfScript(script: string, chain: ChainSettings): string | null {
  try {
    return Address(parameters[chain.bitcoin]).encode(OutScript.decode(hex.decode(script)) as never);
  } catch {
    return null; // a bare or unknown script
  }
}
