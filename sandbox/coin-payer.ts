import { p2wpkh, Transaction } from '@scure/btc-signer';
import type { UtxoChain } from '../domain/chains/assets';
import { toUnits } from '../domain/money';
import { bitcoinCall } from './miner';

type Coin = Readonly<{ txId: string; vout: number; units: bigint }>;
type Spend = Readonly<{ coins: readonly Coin[]; address: string; units: bigint; fee: bigint }>;
type Block = { hash: string; previousblockhash?: string; rawtx?: Tx[]; tx?: Tx[] };
type Tx = {
  txid: string;
  vin: Array<{ txid?: string; vout?: number; coinbase?: string }>;
  vout: Array<{ value: number; n: number; scriptPubKey: { hex: string } }>;
};

export const maturity = 100;
/** Plenty for one input and two outputs, in base units. */
export const usualFee = 2000n;
/** Of each further input. */
const perInput = 100n;

/** Pays from the coins of one key on one local UTXO chain: own transactions, nothing of the service's code. */
export class CoinPayer {
  private readonly spends = new Map<string, Spend>();
  private coins = new Map<string, Coin & { height: number; isCoinbase: boolean }>();
  private hashes: string[] = [];

  constructor(
    private readonly rpcUrl: string,
    private readonly chain: UtxoChain,
    private readonly key: Readonly<{ privateKey: Uint8Array; publicKey: Uint8Array }>,
  ) {}

  async pay(address: string, units: bigint, fee = usualFee): Promise<string> {
    const height = await this.scan();
    const inPool = new Set(
      [...this.spends.values()].flatMap((spend) => spend.coins.map((coin) => `${coin.txId}:${coin.vout}`)),
    );
    const ripe = [...this.coins.values()].filter(
      (coin) => !inPool.has(`${coin.txId}:${coin.vout}`) && (!coin.isCoinbase || height - coin.height >= maturity),
    );
    const least = units + fee + 1000n;
    const enough = ripe.find((coin) => coin.units >= least);
    if (enough) return this.send([enough], address, units, fee);
    // No coin is large enough: the largest together, each of which makes the transaction larger.
    const largest = ripe.toSorted((a, b) => (a.units > b.units ? -1 : 1));
    const chosen: Coin[] = [];
    for (let sum = 0n; sum < least + perInput * BigInt(chosen.length);) {
      const coin = largest[chosen.length];
      if (!coin) throw new Error('The payer has no ripe coins left: mine some blocks');
      chosen.push(coin);
      sum += coin.units;
    }
    return this.send(chosen, address, units, fee + perInput * BigInt(chosen.length - 1));
  }

  /** What a payment of this payer spends and pays. Throws where it is none. */
  spendOf(txId: string): Spend {
    const spend = this.spends.get(txId);
    if (!spend) throw new Error(`${txId} is not a payment of this payer`);
    return spend;
  }

  async send(coins: readonly Coin[], address: string, units: bigint, fee: bigint): Promise<string> {
    const own = p2wpkh(this.key.publicKey, this.chain);
    const tx = new Transaction({ version: 2 });
    for (const coin of coins) {
      tx.addInput({
        txid: coin.txId,
        index: coin.vout,
        sequence: 0xfffffffd,
        witnessUtxo: { script: own.script, amount: coin.units },
      });
    }
    tx.addOutputAddress(address, units, this.chain);
    const change = coins.reduce((sum, coin) => sum + coin.units, 0n) - units - fee;
    if (change >= 10_000n) tx.addOutputAddress(own.address!, change, this.chain);
    tx.sign(this.key.privateKey);
    tx.finalize();
    const txId = await bitcoinCall<string>(this.rpcUrl, 'sendrawtransaction', [tx.hex]);
    this.spends.set(txId, { coins, address, units, fee });
    return txId;
  }

  /** Brings the payer's coins up to the head; from the beginning after a reorganisation. Returns the height. */
  private async scan(): Promise<number> {
    const height = await bitcoinCall<number>(this.rpcUrl, 'getblockcount');
    const last = this.hashes.length - 1;
    if (
      last > height ||
      (last >= 0 && (await bitcoinCall<string>(this.rpcUrl, 'getblockhash', [last])) !== this.hashes[last])
    ) {
      this.hashes = [];
      this.coins = new Map();
    }
    const script = Buffer.from(p2wpkh(this.key.publicKey, this.chain).script).toString('hex');
    while (this.hashes.length <= height) {
      const at = this.hashes.length;
      const hash = await bitcoinCall<string>(this.rpcUrl, 'getblockhash', [at]);
      const block = await bitcoinCall<Block>(this.rpcUrl, 'getblock', [hash, 2]);
      for (const tx of block.rawtx ?? block.tx ?? []) {
        for (const input of tx.vin) if (input.txid) this.coins.delete(`${input.txid}:${input.vout}`);
        for (const output of tx.vout) {
          if (output.scriptPubKey.hex !== script) continue;
          const coin = {
            txId: tx.txid,
            vout: output.n,
            units: toUnits(output.value.toFixed(8), 8),
            height: at,
            isCoinbase: tx.vin[0]?.coinbase !== undefined,
          };
          this.coins.set(`${tx.txid}:${output.n}`, coin);
        }
      }
      this.hashes.push(hash);
    }
    return height;
  }
}
