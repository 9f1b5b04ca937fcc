import { hex } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { Address, OutScript, p2wpkh, Transaction } from '@scure/btc-signer';
import { hash160 } from '@scure/btc-signer/utils.js';
import type { UtxoChain, UtxoNetwork } from '../../domain/chains/assets';
import {
  keyRoles,
  type ChainCodec,
  type KeyPath,
  type SignedTransaction,
  type TransactionPlan,
  type Seeds,
} from '../../domain/chains/chain';
import { utxoWork } from '../../domain/chains/costs';
import { DomainError } from '../../domain/errors';
import { branchedChildren, keyPairs, nameOf } from '../child-key';

/** Signals that a later transaction may replace this one (BIP 125). */
const replaceable = 0xfffffffd;

/** P2WPKH under BIP 84: `m/84'/coin'/role'/branch/index`. */
export function utxoCodec(network: UtxoNetwork, chain: UtxoChain): ChainCodec {
  const childOf = branchedChildren('compressed');
  // What p2wpkh answers, without its check that the key is a point of the curve: it was derived as one.
  const addressOf = (publicKey: Uint8Array): string =>
    Address(chain).encode({ type: 'wpkh', hash: hash160(publicKey) });
  const account = (seed: Uint8Array, role: KeyPath['role']): HDKey =>
    HDKey.fromMasterSeed(seed).derive(`m/84'/${chain.coinType}'/${keyRoles.indexOf(role)}'`);

  const pairOf = keyPairs(account);
  const spellings = [chain, ...(chain.otherScriptHashes ?? []).map((scriptHash) => ({ ...chain, scriptHash }))];
  const unpayable = Object.entries(chain.unpayable ?? {});

  function sign(seeds: Seeds, plan: TransactionPlan): SignedTransaction {
    if (plan.kind !== 'utxo') throw new DomainError('INTENT_MISMATCH', `A transaction of ${network.name} spends coins`);
    if (plan.outputs.some(({ tag }) => tag !== undefined))
      throw new DomainError('INTENT_MISMATCH', `An output of ${network.name} has no destination tag`);
    const spent = plan.coins.reduce((sum, coin) => sum + coin.units, 0n);
    const sent = plan.outputs.reduce((sum, output) => sum + output.units, 0n);
    if (spent - sent !== plan.feeUnits || plan.feeUnits < 0n) {
      throw new DomainError('PLAN_UNBALANCED', `${spent} in, ${sent} out, fee ${plan.feeUnits}`);
    }
    const tx = new Transaction({ version: 2 });
    const keys = plan.coins.map((coin) => {
      const { privateKey, publicKey } = pairOf(seeds, coin.key);
      const spend = p2wpkh(publicKey, chain);
      if (spend.address !== coin.address)
        throw new DomainError('KEY_MISMATCH', `Key ${nameOf(coin.key)} is not of ${coin.address}`);
      tx.addInput({
        txid: coin.txId,
        index: coin.vout,
        sequence: replaceable,
        witnessUtxo: { script: spend.script, amount: coin.units },
      });
      return privateKey;
    });
    for (const output of plan.outputs) tx.addOutputAddress(output.address, output.units, chain);
    keys.forEach((key, index) => tx.signIdx(key, index));
    tx.finalize();
    return { txId: tx.id, raw: tx.hex };
  }

  return {
    network: network.id,
    derive: (xpub, index, branch = 0) => addressOf(childOf(xpub, branch, index)),
    normalise(address) {
      for (const spelling of spellings) {
        try {
          return Address(chain).encode(Address(spelling).decode(address));
        } catch {
          continue; // not an address of this network, or not in this spelling
        }
      }
      return null;
    },
    refusalOf: (address) => unpayable.find(([prefix]) => address.toLowerCase().startsWith(`${prefix}1`))?.[1] ?? null,
    extendedKey: (seed, role) => account(seed, role).publicExtendedKey,
    sign,
    sizeOf: (shape) => utxoWork(network, shape),
    paymentUri(address, _currency, amount, names, tag) {
      if (tag !== undefined) throw new DomainError('INTENT_MISMATCH', `${network.name} has no destination tags`);
      const named = names
        ? `&label=${encodeURIComponent(names.label)}&message=${encodeURIComponent(names.message)}`
        : '';
      return `${network.uriScheme}:${address}?amount=${amount}${named}`;
    },
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
export function addressOfScript(script: string, chain: UtxoChain): string | null {
  try {
    return Address(chain).encode(OutScript.decode(hex.decode(script)) as never);
  } catch {
    return null; // a bare or unknown script
  }
}
