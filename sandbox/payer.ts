import { p2wpkh, Transaction } from '@scure/btc-signer';
import { TEST_NETWORK } from '@scure/btc-signer/utils.js';
import { encodeFunctionData, erc20Abi, parseAbi, type Hex } from 'viem';
import { assetOf } from '../domain/chains/assets';
import { fromUnits, toUnits } from '../domain/money';
import { bitcoinCall, mineBitcoin, mineEthereum, type Chains } from './miner';
import { call } from './parts/json-rpc';
import { payerBitcoinKey } from './secrets';
import { deploy } from './tokens';

const regtest = { ...TEST_NETWORK, bech32: 'bcrt' };
const forwarderAbi = parseAbi(['function forward(address to) payable', 'function pretend(address to) payable']);

/** What was sent, as the payer knows it: the auditor's other side. */
export type Payment = Readonly<{ txId: string; currency: string; address: string; amount: string }>;
type Coin = Readonly<{ txId: string; vout: number; units: bigint }>;
type Spend = Readonly<{ coins: readonly Coin[]; address: string; units: bigint; fee: bigint }>;
type Block = { hash: string; previousblockhash?: string; rawtx?: Tx[]; tx?: Tx[] };
type Tx = {
  txid: string;
  vin: Array<{ txid?: string; vout?: number; coinbase?: string }>;
  vout: Array<{ value: number; n: number; scriptPubKey: { hex: string } }>;
};

const maturity = 100;
/** Plenty for one input and two outputs. Satoshi. */
const usualFee = 2000n;

/** Somebody with coins on the local chains, who pays like anybody: own keys, own transactions, nothing of the service's code. */
export class Payer {
  readonly sent: Payment[] = [];
  private readonly key: ReturnType<typeof payerBitcoinKey>;
  private readonly spends = new Map<string, Spend>();
  private coins = new Map<string, Coin & { height: number; isCoinbase: boolean }>();
  private hashes: string[] = [];
  private forwarder: Hex | undefined;
  private queue: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly chains: Chains,
    private readonly tokens: Readonly<Record<string, string>>,
    mnemonic: string,
    /** Which of the Ethereum node's own accounts it pays from. */
    private readonly account = 0,
  ) {
    this.key = payerBitcoinKey(mnemonic);
  }

  /** Mines until there are ripe coins to spend. */
  async fund(): Promise<void> {
    const height = await bitcoinCall<number>(this.chains.btcRpcUrl, 'getblockcount');
    if (height < maturity + 20) await mineBitcoin(this.chains.btcRpcUrl, maturity + 20 - height);
  }

  /** Sends `amount` (whole units) of `currency` to `address`; mines nothing. Payments of one payer go out one after the other.
   *  `fee`: satoshi, of a Bitcoin payment. */
  pay(currency: string, address: string, amount: string, fee = usualFee): Promise<Payment> {
    const run = async (): Promise<Payment> => {
      const txId =
        currency === 'BTC'
          ? await this.payBitcoin(address, toUnits(amount, 8), fee)
          : await this.payEthereum(currency, address, amount);
      const payment = { txId, currency, address, amount };
      this.sent.push(payment);
      return payment;
    };
    const next = this.queue.then(run, run);
    this.queue = next.catch(() => undefined);
    return next;
  }

  /** Replaces an unconfirmed Bitcoin payment: a higher fee, and another address or amount where told. */
  async replace(payment: Payment, change: { address?: string; amount?: string; fee: bigint }): Promise<Payment> {
    const spend = this.spends.get(payment.txId);
    if (!spend) throw new Error(`${payment.txId} is not a Bitcoin payment of this payer`);
    const address = change.address ?? spend.address;
    const units = change.amount ? toUnits(change.amount, 8) : spend.units;
    const txId = await this.sendCoins(spend.coins, address, units, change.fee);
    const replaced = { txId, currency: 'BTC', address, amount: fromUnits(units, 8) };
    this.sent.splice(this.sent.indexOf(payment), 1, replaced);
    return replaced;
  }

  /** Ether that a contract sends on, the way exchanges pay. */
  async payThroughContract(address: string, amount: string): Promise<Payment> {
    const txId = await this.callForwarder('forward', address, amount);
    const payment = { txId, currency: 'ETH', address, amount };
    this.sent.push(payment);
    return payment;
  }

  /** A transaction that carries value and reverts: it must count for nothing. */
  async payReverted(address: string, amount: string): Promise<string> {
    return this.callForwarder('pretend', address, amount);
  }

  private async callForwarder(name: 'forward' | 'pretend', address: string, amount: string): Promise<string> {
    this.forwarder ??= await deploy(this.chains.ethRpcUrl, 'Forwarder');
    const data = encodeFunctionData({ abi: forwarderAbi, functionName: name, args: [address as Hex] });
    return this.sendEthereum({
      to: this.forwarder,
      data,
      value: `0x${toUnits(amount, 18).toString(16)}`,
      gas: '0x30d40',
    });
  }

  private payEthereum(currency: string, address: string, amount: string): Promise<string> {
    const units = toUnits(amount, assetOf(currency).decimals);
    if (currency === 'ETH') return this.sendEthereum({ to: address, value: `0x${units.toString(16)}` });
    const contract = this.tokens[currency];
    if (!contract) throw new Error(`There is no ${currency} on the local chain`);
    return this.sendToken(contract, address, units);
  }

  /** Any token, also one that the service does not know. `units`: the token's own. */
  sendToken(contract: string, address: string, units: bigint): Promise<string> {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [address as Hex, units] });
    return this.sendEthereum({ to: contract, data, gas: '0x186a0' });
  }

  private async sendEthereum(transaction: Record<string, string>): Promise<string> {
    const accounts = await call<string[]>(this.chains.ethRpcUrl, 'eth_accounts', []);
    return call<string>(this.chains.ethRpcUrl, 'eth_sendTransaction', [
      { from: accounts[this.account], ...transaction },
    ]);
  }

  private async payBitcoin(address: string, units: bigint, fee: bigint): Promise<string> {
    const height = await this.scan();
    const inPool = new Set(
      [...this.spends.values()].flatMap((spend) => spend.coins.map((coin) => `${coin.txId}:${coin.vout}`)),
    );
    const coin = [...this.coins.values()].find(
      (candidate) =>
        candidate.units >= units + fee + 1000n &&
        !inPool.has(`${candidate.txId}:${candidate.vout}`) &&
        (!candidate.isCoinbase || height - candidate.height >= maturity),
    );
    if (!coin) throw new Error('The payer has no ripe coin left: mine some blocks');
    return this.sendCoins([coin], address, units, fee);
  }

  private async sendCoins(coins: readonly Coin[], address: string, units: bigint, fee: bigint): Promise<string> {
    const own = p2wpkh(this.key.publicKey, regtest);
    const tx = new Transaction({ version: 2 });
    for (const coin of coins) {
      tx.addInput({
        txid: coin.txId,
        index: coin.vout,
        sequence: 0xfffffffd,
        witnessUtxo: { script: own.script, amount: coin.units },
      });
    }
    tx.addOutputAddress(address, units, regtest);
    const change = coins.reduce((sum, coin) => sum + coin.units, 0n) - units - fee;
    if (change >= 1000n) tx.addOutputAddress(own.address!, change, regtest);
    tx.sign(this.key.privateKey);
    tx.finalize();
    const txId = await bitcoinCall<string>(this.chains.btcRpcUrl, 'sendrawtransaction', [tx.hex]);
    this.spends.set(txId, { coins, address, units, fee });
    return txId;
  }

  /** Brings the payer's coins up to the head; from the beginning after a reorganisation. Returns the height. */
  private async scan(): Promise<number> {
    const height = await bitcoinCall<number>(this.chains.btcRpcUrl, 'getblockcount');
    const last = this.hashes.length - 1;
    if (
      last > height ||
      (last >= 0 && (await bitcoinCall<string>(this.chains.btcRpcUrl, 'getblockhash', [last])) !== this.hashes[last])
    ) {
      this.hashes = [];
      this.coins = new Map();
    }
    const script = Buffer.from(p2wpkh(this.key.publicKey, regtest).script).toString('hex');
    while (this.hashes.length <= height) {
      const at = this.hashes.length;
      const hash = await bitcoinCall<string>(this.chains.btcRpcUrl, 'getblockhash', [at]);
      const block = await bitcoinCall<Block>(this.chains.btcRpcUrl, 'getblock', [hash, 2]);
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

  /** Mines on the chain of `currency`. */
  mine(currency: string, blocks = 1): Promise<unknown> {
    return currency === 'BTC'
      ? mineBitcoin(this.chains.btcRpcUrl, blocks)
      : mineEthereum(this.chains.ethRpcUrl, blocks);
  }
}
