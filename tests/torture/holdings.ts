import { assetOf, networkOf, isToken } from '../../domain/chains/assets';
import { toUnits } from '../../domain/money';
import { bitcoinCall, coinUrlOf, evmUrlOf, simulatorUrlOf } from '../../sandbox/miner';
import { call } from '../../sandbox/parts/json-rpc';
import { tronHex } from '../../sandbox/tron-payer';
import type { World } from '../world';
import type { Receiver } from './stage';

/** What receivers hold, in base units, by the chain's own word. */

type HeldBy = (receiver: Receiver) => Promise<bigint>;

/** Reads each chain of coins once, at the first question. */
export function holdings({ chains, stack }: World): HeldBy {
  const coins = new Map<string, Promise<Map<string, bigint>>>();
  const coinsOf = (currency: string): Promise<Map<string, bigint>> => {
    const read = coins.get(currency) ?? outputs(coinUrlOf(chains, currency));
    coins.set(currency, read);
    return read;
  };
  return async (receiver) => {
    const { currency, address } = receiver;
    const { kind, expiring } = networkOf(currency);
    if (kind === 'utxo') return (await coinsOf(currency)).get(address) ?? 0n;
    if (!expiring)
      return onEvm(evmUrlOf(chains, currency), address, isToken(currency) ? stack.tokens[currency]! : null);
    const url = simulatorUrlOf(chains, currency);
    return expiring === 'xrpl' ? onXrpl(url, receiver) : onTron(url, address, assetOf(currency).contract);
  };
}

type Block = { rawtx?: Tx[]; tx?: Tx[] };
type Tx = { vout: Array<{ value: number; scriptPubKey: { addresses?: string[]; address?: string } }> };
/** All that ever went to each address of a chain of coins. */
async function outputs(url: string): Promise<Map<string, bigint>> {
  const sums = new Map<string, bigint>();
  const height = await bitcoinCall<number>(url, 'getblockcount');
  for (let at = 1; at <= height; at += 1) {
    const hash = await bitcoinCall<string>(url, 'getblockhash', [at]);
    const block = await bitcoinCall<Block>(url, 'getblock', [hash, 2]);
    for (const { vout } of block.rawtx ?? block.tx ?? [])
      for (const { value, scriptPubKey } of vout) {
        const address = scriptPubKey.address ?? scriptPubKey.addresses?.[0];
        if (address) sums.set(address, (sums.get(address) ?? 0n) + toUnits(value.toFixed(8), 8));
      }
  }
  return sums;
}

/** The call `balanceOf`, as EVM and TVM have it. `account`: 20 bytes in hex. */
const balanceOf = (account: string): string => `70a08231${account.toLowerCase().padStart(64, '0')}`;

async function onEvm(url: string, address: string, contract: string | null): Promise<bigint> {
  if (contract === null) return BigInt(await call<string>(url, 'eth_getBalance', [address, 'latest']));
  const data = `0x${balanceOf(address.slice(2))}`;
  return BigInt(await call<string>(url, 'eth_call', [{ to: contract, data }, 'latest']));
}

type Entry = {
  tx_json: { Destination?: string; DestinationTag?: number };
  meta: { delivered_amount?: string };
};
/** What was delivered to the account with the receiver's tag: without it, it is lost. */
async function onXrpl(url: string, { address, destinationTag }: Receiver): Promise<bigint> {
  const asked = { api_version: 2, account: address, ledger_index_min: -1, ledger_index_max: -1 };
  const { transactions } = await call<{ transactions: Entry[] }>(url, 'account_tx', [asked]);
  return transactions
    .filter(({ tx_json: tx }) => tx.Destination === address && String(tx.DestinationTag) === destinationTag)
    .reduce((sum, { meta }) => sum + BigInt(meta.delivered_amount ?? 0), 0n);
}

async function onTron(url: string, address: string, contract: string | null): Promise<bigint> {
  const hex = tronHex(address);
  const ask = async <T>(path: string, body: object): Promise<T> => {
    const answer = await fetch(url + path, { method: 'POST', body: JSON.stringify(body) });
    return (await answer.json()) as T;
  };
  if (contract === null) {
    const { balance = 0 } = await ask<{ balance?: number }>('/walletsolidity/getaccount', { address: hex });
    return BigInt(balance);
  }
  const called = { owner_address: hex, contract_address: tronHex(contract), data: balanceOf(hex.slice(2)) };
  const path = '/walletsolidity/triggerconstantcontract';
  const { constant_result: said } = await ask<{ constant_result: string[] }>(path, called);
  return BigInt(`0x${said[0]}`);
}
