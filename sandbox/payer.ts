import { encodeFunctionData, erc20Abi, parseAbi, type Hex } from 'viem';
import { assetOf, isToken, networkOf } from '../domain/chains/assets';
import { fromUnits, toUnits } from '../domain/money';
import { CoinPayer, maturity, usualFee } from './coin-payer';
import { bitcoinCall, coinUrlOf, evmUrlOf, mineCoins, mineEthereum, simulatorUrlOf, type Chains } from './miner';
import { sendFromNode } from './node-account';
import { payerBitcoinKey } from './secrets';
import { deploy } from './tokens';
import { mineTron, payTron } from './tron-payer';
import { closeLedgers, payXrp } from './xrpl-payer';

const forwarderAbi = parseAbi(['function forward(address to) payable', 'function pretend(address to) payable']);

/** What was sent, as the payer knows it: the auditor's other side. */
export type Payment = Readonly<{ txId: string; currency: string; address: string; amount: string }>;
/** `fee`: base units, of a payment of coins. `tag`: the destination tag behind the address. */
type Terms = Readonly<{ fee?: bigint; tag?: string }>;
/** Somebody with coins on the local chains, who pays like anybody: own keys, own transactions, nothing of the service's
 *  code. */
export class Payer {
  readonly sent: Payment[] = [];
  private readonly key: ReturnType<typeof payerBitcoinKey>;
  private readonly coins = new Map<string, CoinPayer>();
  private forwarder: Hex | undefined;
  private queue: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly chains: Chains,
    private readonly tokens: Readonly<Record<string, string>>,
    mnemonic: string,
    /** Which of the EVM nodes' own accounts it pays from. */
    private readonly account = 0,
  ) {
    this.key = payerBitcoinKey(mnemonic);
  }

  /** Mines until there are ripe coins to spend. */
  async fund(): Promise<void> {
    for (const currency of ['BTC', ...Object.keys(this.chains.coins ?? {})]) {
      const height = await bitcoinCall<number>(coinUrlOf(this.chains, currency), 'getblockcount');
      if (height < maturity + 20) await mineCoins(this.chains, currency, maturity + 20 - height);
    }
  }

  /** Sends `amount` (whole units) of `currency` to `address`; mines nothing. Payments of one payer go out one after the
   *  other. */
  pay(currency: string, address: string, amount: string, terms: Terms = {}): Promise<Payment> {
    const run = async (): Promise<Payment> => {
      const txId = await this.send(currency, address, amount, terms);
      const payment = { txId, currency, address, amount };
      this.sent.push(payment);
      return payment;
    };
    const next = this.queue.then(run, run);
    this.queue = next.catch(() => undefined);
    return next;
  }

  private send(currency: string, address: string, amount: string, { fee = usualFee, tag }: Terms): Promise<string> {
    const network = networkOf(currency);
    const units = toUnits(amount, assetOf(currency).decimals);
    if (network.kind === 'utxo') return this.coinsOf(currency).pay(address, units, fee);
    if (!network.expiring) return this.payOnEvm(currency, address, units);
    const url = simulatorUrlOf(this.chains, currency);
    return network.expiring === 'xrpl'
      ? payXrp(url, { address, ...(tag === undefined ? {} : { tag }) }, units)
      : payTron(url, address, units, assetOf(currency).contract);
  }

  /** Replaces an unconfirmed payment of coins: a higher fee, and another address or amount where told. */
  async replace(payment: Payment, change: { address?: string; amount?: string; fee: bigint }): Promise<Payment> {
    const { currency } = payment;
    const { decimals } = assetOf(currency);
    const own = this.coinsOf(currency);
    const spend = own.spendOf(payment.txId);
    const address = change.address ?? spend.address;
    const units = change.amount ? toUnits(change.amount, decimals) : spend.units;
    const txId = await own.send(spend.coins, address, units, change.fee);
    const replaced = { txId, currency, address, amount: fromUnits(units, decimals) };
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
    return this.sendOnEvm('ETH', {
      to: this.forwarder,
      data,
      value: `0x${toUnits(amount, 18).toString(16)}`,
      gas: '0x30d40',
    });
  }

  private payOnEvm(currency: string, address: string, units: bigint): Promise<string> {
    if (!isToken(currency)) return this.sendOnEvm(currency, { to: address, value: `0x${units.toString(16)}` });
    const contract = this.tokens[currency];
    if (!contract) throw new Error(`There is no ${currency} on the local chain`);
    return this.sendToken(contract, address, units, currency);
  }

  /** Any token, also one that the service does not know, on the chain of `on`. `units`: the token's own. */
  sendToken(contract: string, address: string, units: bigint, on = 'ETH'): Promise<string> {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [address as Hex, units] });
    return this.sendOnEvm(on, { to: contract, data, gas: '0x186a0' });
  }

  /** Sends a transaction on the EVM chain of `currency`. */
  private sendOnEvm(currency: string, transaction: Readonly<Record<string, string>>): Promise<string> {
    return sendFromNode(evmUrlOf(this.chains, currency), transaction, this.account);
  }

  /** Mines on the chain of `currency`. */
  mine(currency: string, blocks = 1): Promise<unknown> {
    const network = networkOf(currency);
    if (network.kind === 'utxo') return mineCoins(this.chains, currency, blocks);
    if (!network.expiring) return mineEthereum(evmUrlOf(this.chains, currency), blocks);
    const url = simulatorUrlOf(this.chains, currency);
    return network.expiring === 'xrpl' ? closeLedgers(url, blocks) : mineTron(url, blocks);
  }

  /** The coins of one currency, on its local chain. */
  private coinsOf(currency: string): CoinPayer {
    const network = networkOf(currency);
    if (network.kind !== 'utxo') throw new Error(`${currency} has no coins`);
    const known = this.coins.get(currency);
    const own = known ?? new CoinPayer(coinUrlOf(this.chains, currency), network.chains.regtest!, this.key);
    this.coins.set(currency, own);
    return own;
  }
}
