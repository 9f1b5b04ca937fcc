import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { p2wpkh } from '@scure/btc-signer';
import { TEST_NETWORK } from '@scure/btc-signer/utils.js';
import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { assetOf } from '../../../domain/chains/assets';
import { fromUnits, toUnits } from '../../../domain/money';
import { bitcoinCall } from '../../miner';
import { call } from '../json-rpc';
import type { Order, Saved, SwapOptions } from './orders';

type Block = { tx?: Tx[]; rawtx?: Tx[] };
type Tx = { txid: string; vout: Array<{ value: number; scriptPubKey: { hex: string } }> };

/** Addresses of orders, and what arrives there. */
export function depositsOf(options: SwapOptions, state: Saved) {
  const { chains, tokens } = options;
  const depth = options.confirmations ?? 1;
  const root = HDKey.fromMasterSeed(mnemonicToSeedSync(options.mnemonic));
  const regtest = { ...TEST_NETWORK, bech32: 'bcrt' };

  const bitcoinKey = (index: number) => p2wpkh(root.derive(`m/84'/1'/7'/0/${index}`).publicKey!, regtest);
  const scriptOf = (index: number): string => Buffer.from(bitcoinKey(index).script).toString('hex');
  function depositAddress(currency: string, index: number): string {
    if (currency === 'BTC') return bitcoinKey(index).address!;
    return privateKeyToAddress(`0x${Buffer.from(root.derive(`m/44'/60'/7'/0/${index}`).privateKey!).toString('hex')}`);
  }

  /** What has arrived at an order's address, deep enough; null: nothing yet. */
  async function arrived(order: Order): Promise<string | null> {
    if (order.from === 'BTC') return order.received;
    const head = parseInt(await call<string>(chains.ethRpcUrl, 'eth_blockNumber'), 16);
    const at = `0x${Math.max(0, head - depth + 1).toString(16)}`;
    const contract = tokens[order.from];
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [order.payinAddress as Hex] });
    const units = BigInt(
      contract
        ? await call<string>(chains.ethRpcUrl, 'eth_call', [{ to: contract, data }, at])
        : await call<string>(chains.ethRpcUrl, 'eth_getBalance', [order.payinAddress, at]),
    );
    return units > 0n ? fromUnits(units, assetOf(order.from).decimals) : null;
  }

  /** Takes the Bitcoin blocks that are deep enough, each once. */
  async function scanBitcoin(): Promise<void> {
    const open = state.orders.filter((order) => order.from === 'BTC' && order.received === null);
    const head = await bitcoinCall<number>(chains.btcRpcUrl, 'getblockcount');
    for (; state.scanned < head - depth + 1; state.scanned += 1) {
      if (!open.length) continue;
      const hash = await bitcoinCall<string>(chains.btcRpcUrl, 'getblockhash', [state.scanned + 1]);
      const block = await bitcoinCall<Block>(chains.btcRpcUrl, 'getblock', [hash, 2]);
      for (const tx of block.rawtx ?? block.tx ?? [])
        for (const output of tx.vout) {
          const order = open.find((one) => scriptOf(one.index) === output.scriptPubKey.hex);
          if (!order) continue;
          order.received = fromUnits(toUnits(output.value.toFixed(8), 8), 8);
          order.payinHash = tx.txid;
        }
    }
  }

  return { depositAddress, arrived, scanBitcoin };
}

export type Deposits = ReturnType<typeof depositsOf>;
