import type { Currency } from '../../domain/chains/assets';
import type { TokenMove, Transfer } from '../../domain/chains/chain';
import { base58Of, fromEvm } from './address';
import type { InfoAnswer, Log, TxAnswer } from './answers';
import type { TronChain } from './plan';

/** What transactions move, by themselves and by the logs of tokens. A token is known by its contract alone: its name
 *  and its symbol say nothing. */

/** keccak256('Transfer(address,address,uint256)') */
const transferTopic = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const isTransfer = ({ topics, data }: Log): boolean =>
  topics[0] === transferTopic && topics.length === 3 && /^[0-9a-f]{64}$/.test(data);
const addressIn = (topic: string): string => fromEvm(topic.slice(24));

/** Tickers by contract. */
export type Tokens = ReadonlyMap<string, Currency>;
export const tokensOf = ({ assets }: TronChain): Tokens =>
  new Map([...assets].flatMap(([currency, { contract }]) => (contract ? [[contract, currency] as const] : [])));
/** The ticker of TRX on this chain. */
export function nativeOf({ assets }: TronChain): Currency {
  const native = [...assets].find(([, { contract }]) => contract === null);
  if (!native) throw new Error('A chain of TRON without TRX');
  return native[0];
}

/** Of every token, `index` = position of the log; `currency` is null for those that are not ours. */
export const tokenTransfers = ({ txId, logs }: InfoAnswer, tokens: Tokens): Transfer[] =>
  logs.flatMap((log, index): Transfer[] =>
    isTransfer(log)
      ? [
          {
            txId,
            index,
            to: addressIn(log.topics[2]!),
            currency: tokens.get(fromEvm(log.contract)) ?? null,
            units: BigInt(`0x${log.data}`),
            inputs: [],
          },
        ]
      : [],
  );

/** Of our tokens alone. */
export const tokenMoves = ({ logs }: InfoAnswer, tokens: Tokens): TokenMove[] =>
  logs.flatMap((log) => {
    const currency = tokens.get(fromEvm(log.contract));
    if (!currency || !isTransfer(log)) return [];
    const [, from, to] = log.topics;
    return [{ currency, from: addressIn(from!), to: addressIn(to!), units: BigInt(`0x${log.data}`) }];
  });

/** TRX that the transaction moves itself, `index` -1. Nothing where the network did not carry it out. */
export function ownTransfer({ txId, result, transfer }: TxAnswer, native: Currency): Transfer[] {
  if (!transfer || transfer.units === 0n || result !== 'SUCCESS') return [];
  const to = base58Of(transfer.to);
  return to === null ? [] : [{ txId, index: -1, to, currency: native, units: transfer.units, inputs: [] }];
}

/** TRX that contracts have sent, as an asset that nobody knows: a row says that something came, and nothing is
 *  credited. */
export const contractTransfers = ({ txId, internal }: InfoAnswer): Transfer[] =>
  internal.flatMap(({ to, units }, n): Transfer[] => {
    const address = base58Of(to);
    return address === null ? [] : [{ txId, index: -(2 + n), to: address, currency: null, units, inputs: [] }];
  });

/** Who sent the token of a log; none where the log is no transfer or makes the token. */
export function tokenSender(log: Log | undefined): string[] {
  if (!log || !isTransfer(log) || /^0+$/.test(log.topics[1]!)) return [];
  return [addressIn(log.topics[1]!)];
}
