import { getAddress, zeroAddress, type Hex } from 'viem';
import type { Currency } from '../../domain/chains/assets';
import type { TokenMove, Transfer } from '../../domain/chains/chain';
import type { Log, Receipt, Tx } from './answers';
import type { EvmChain } from './codec';

/** What transactions move, by themselves and by the logs of their tokens. */

/** keccak256('Transfer(address,address,uint256)') */
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const isTransfer = (log: Log): boolean =>
  log.topics[0] === transferTopic && log.topics.length === 3 && /^0x[0-9a-f]{64}$/i.test(log.data);
const addressIn = (topic: string): string => getAddress(`0x${topic.slice(26)}`);

/** The tokens of a chain by contract, in lower case. */
export type Tokens = ReadonlyMap<string, Currency>;
export const tokensOf = ({ assets }: EvmChain): Tokens =>
  new Map<string, Currency>(
    [...assets].flatMap(([currency, { contract }]) => (contract ? [[contract.toLowerCase(), currency] as const] : [])),
  );

/** Of every token; `currency` is null for those that are not ours. */
export const tokenTransfers = (receipt: Receipt, tokens: Tokens): Transfer[] =>
  receipt.logs.flatMap((log, index): Transfer[] => {
    if (!isTransfer(log)) return [];
    const to = addressIn(log.topics[2]!);
    return [
      {
        txId: receipt.transactionHash,
        index,
        to,
        currency: tokens.get(log.address.toLowerCase()) ?? null,
        units: BigInt(log.data),
        inputs: [],
      },
    ];
  });

/** Of our tokens alone. */
export const tokenMoves = (receipt: Receipt, tokens: Tokens): TokenMove[] =>
  receipt.logs.flatMap((log) => {
    const currency = tokens.get(log.address.toLowerCase());
    if (!currency || !isTransfer(log)) return [];
    return [{ currency, from: addressIn(log.topics[1]!), to: addressIn(log.topics[2]!), units: BigInt(log.data) }];
  });

/** The value that a transaction states itself; undefined where it makes a contract. */
export const ownTransfer = (tx: Pick<Tx, 'hash' | 'to' | 'value'>, native: Currency): Transfer | undefined =>
  tx.to
    ? {
        txId: tx.hash,
        index: -1,
        to: getAddress(tx.to as Hex),
        currency: native,
        units: BigInt(tx.value),
        inputs: [],
      }
    : undefined;

/** Who sent the token of a log; none where the log is no transfer or makes the token. */
export function tokenSender(log: Log | undefined): string[] {
  const from = log && isTransfer(log) ? addressIn(log.topics[1]!) : zeroAddress;
  return from === zeroAddress ? [] : [from];
}
