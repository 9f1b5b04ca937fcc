import { encode, encodeForSigning } from 'ripple-binary-codec';
import { deriveAddress, deriveKeypair, sign } from 'ripple-keypairs';
import type { Network } from './network';
import type { Fault, Json, Settings, State } from './state';
import { readTransaction } from './transactions';

/** What tests and the sandbox order of the simulator: `simulator_order`, a method that no real server has. */

const faults: readonly Fault['fault'][] = ['lose_answer', 'cut', 'duplicate', 'swallow'];

export class BadOrder extends Error {}

const whole = (order: Json, name: string): number => {
  const value = order[name];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) throw new BadOrder(`${name} is no number`);
  return value;
};

/** Faults of the next calls of a method. `lose_answer`: it acts, and its answer is lost; `cut`: it does not act, and
 *  the connection ends; `duplicate`: it acts twice, and the second answer is given; `swallow`: it answers as if it had
 *  acted, and the network never hears of it, so that a transaction misses its last ledger. */
function addFault(state: State, order: Json): void {
  const fault = faults.find((one) => one === order.fault);
  if (!fault) throw new BadOrder(`fault is one of ${faults.join(', ')}`);
  const times = order.times === undefined ? 1 : whole(order, 'times');
  const method = typeof order.method === 'string' ? order.method : 'submit';
  for (let n = 0; n < times; n += 1) state.faults.push({ fault, method });
}

function change(settings: Settings, order: Json): void {
  const numbers = ['baseFee', 'reserveBase', 'reserveInc', 'loadFactor', 'leastSize', 'validateAfter'] as const;
  for (const name of numbers) if (order[name] !== undefined) settings[name] = whole(order, name);
  if (typeof order.provesEmpty === 'boolean') settings.provesEmpty = order.provesEmpty;
}

/** A payment of issued currency, as the market of a real ledger makes them: it claims one amount and delivers another.
 *  `claims`: drops, or an amount of a token; `delivers`: drops. The payer is `seed`'s account. */
function deliver(network: Network, order: Json): Json {
  const { claims, delivers, to, tag, seed } = order;
  const { publicKey, privateKey } = deriveKeypair(String(seed));
  const from = deriveAddress(publicKey);
  const payer = network.pending(from);
  if (!payer || typeof delivers !== 'string') throw new BadOrder('deliver needs a payer with an account, and drops');
  const { networkId, settings } = network.state;
  const fields = {
    TransactionType: 'Payment',
    // tfPartialPayment (page payment).
    Flags: 0x8002_0000,
    Account: from,
    Destination: to,
    ...(tag === undefined ? {} : { DestinationTag: tag }),
    Amount: claims,
    SendMax: { currency: 'USD', issuer: to, value: '1' },
    Fee: String(settings.baseFee),
    Sequence: payer.Sequence,
    SigningPubKey: publicKey,
    ...(networkId > 1024 ? { NetworkID: networkId } : {}),
  };
  const blob = encode({ ...fields, TxnSignature: sign(encodeForSigning(fields), privateKey) });
  const { hash } = readTransaction(blob);
  network.state.deliveries[hash] = delivers;
  return { hash, engine_result: network.submit(blob).result };
}

/** Carries out an order. Throws BadOrder. */
export function carryOut(network: Network, order: Json): Json {
  const { state } = network;
  const kind = order.order;
  if (kind === 'fault') addFault(state, order);
  // Those that no call has met yet.
  else if (kind === 'no_faults') state.faults = [];
  else if (kind === 'set') change(state.settings, order);
  else if (kind === 'lag') state.view = { kind: 'lag', by: whole(order, 'ledgers') };
  else if (kind === 'stand_still') state.view = { kind: 'still', at: network.tip.index };
  else if (kind === 'go_on') {
    state.view = { kind: 'now' };
    // What it was given meanwhile reaches the network now, as far as it is not over.
    for (const blob of state.unsent.splice(0)) network.submit(blob);
  } else if (kind === 'owns') state.owners[String(order.account)] = whole(order, 'count');
  // What a transaction DepositPreauth of `by` does (page depositpreauth).
  else if (kind === 'preauthorize') {
    const [by, known] = [String(order.by), (state.preauthorized ??= {})];
    known[by] = [...(known[by] ?? []), String(order.account)];
  }
  // History that the server no longer has, from the oldest up to this ledger (page server_info, complete_ledgers).
  else if (kind === 'forget') state.forgotten = whole(order, 'through');
  else if (kind === 'deliver') return deliver(network, order);
  else throw new BadOrder(`${String(kind)} is no order`);
  return {};
}
