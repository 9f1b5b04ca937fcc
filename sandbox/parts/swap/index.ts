import { createServer, type Server } from 'node:http';
import { mineBitcoin, mineEthereum } from '../../miner';
import { Payer } from '../../payer';
import { payerBitcoinKey } from '../../secrets';
import { call } from '../json-rpc';
import { closed, listening } from '../listening';
import type { Part } from '../part';
import { routesOf } from './api';
import { depositsOf } from './deposits';
import { openOrders, type SwapOptions } from './orders';
import { payoutsOf, placesOn } from './payouts';
import { pricesOf } from './prices';
import { serverOf } from './serve';
import { isDone, stepsOf } from './steps';

export { providerFaults, type ProviderFault } from './orders';

const everyMs = 300;

/** Coins to pay out with, from the payer who has those of the local chains. */
async function fund({ chains, tokens, payerMnemonic, mnemonic }: SwapOptions): Promise<void> {
  const customer = new Payer(chains, tokens, payerMnemonic);
  await customer.fund();
  for (let coin = 0; coin < 4; coin += 1) {
    await customer.pay('BTC', payerBitcoinKey(mnemonic).address, '40');
    await mineBitcoin(chains.btcRpcUrl);
  }
  const accounts = await call<string[]>(chains.ethRpcUrl, 'eth_accounts');
  for (const currency of Object.keys(tokens)) await customer.pay(currency, accounts[1]!, '10000000');
  await mineEthereum(chains.ethRpcUrl);
}

/** A simulator of a swap provider that speaks ChangeNOW's API, version 2, fixed-rate flow, at the sandbox's prices.
 *  It has its own keys, its own coins on the local chains and its own confirmations. `POST /sandbox/fault {kind}`
 *  scripts the next order, `POST /sandbox/release {payoutAddress?}` lets held ones go on, `GET /sandbox/orders` shows
 *  them. It runs in the caller's process. */
export async function startSwap(options: SwapOptions): Promise<Part> {
  const { state, save } = openOrders(options.dataDir);
  const prices = pricesOf(options.priceFile);
  const deposits = depositsOf(options, state);
  const wallet = new Payer(options.chains, options.tokens, options.mnemonic, 1);
  const payouts = payoutsOf(wallet, placesOn(options.chains));
  const { advance } = stepsOf(payouts, deposits, prices);
  const validMs = (options.validSeconds ?? 600) * 1000;
  const serve = serverOf(routesOf({ state, save, prices, deposits, validMs }), options.apiKey);

  async function tick(): Promise<void> {
    await deposits.scanBitcoin();
    for (const order of state.orders) {
      if (!isDone(order)) await advance(order);
      await payouts.sendLost(order);
    }
    save();
  }

  let server: Server | undefined;
  let timer: NodeJS.Timeout | undefined;
  let ticking: Promise<void> = Promise.resolve();
  const start = async (): Promise<void> => {
    if (server) return;
    if (!state.funded) {
      await fund(options);
      state.funded = true;
      save();
    }
    const made = createServer((request, response) => void serve(request, response));
    await listening(made, options.port);
    server = made;
    const again = (): void => {
      ticking = tick()
        .catch(() => undefined) // a node that is down is asked again at the next tick
        .then(() => {
          if (server) timer = setTimeout(again, everyMs);
        });
    };
    timer = setTimeout(again, everyMs);
  };
  const stop = async (): Promise<void> => {
    const ended = server;
    server = undefined;
    if (!ended) return;
    clearTimeout(timer);
    await ticking;
    await closed(ended);
  };
  await start();
  return {
    name: 'swap',
    url: `http://127.0.0.1:${options.port}`,
    pid: () => (server ? process.pid : undefined),
    start,
    stop,
    kill9: stop, // a client sees no difference
  };
}
