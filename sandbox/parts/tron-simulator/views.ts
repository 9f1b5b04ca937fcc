import type { Block, Mined } from './chain';
import type { Outcome } from './execute';
import type { Transaction } from './transactions';
import { bandwidthLeft, energyLeft, freeLeft, freeLimit, prices, type Account } from './world';

/** Answers in the shape of a node's: defaults left out, addresses in hex, int64 as numbers of any size. */

type Json = Readonly<Record<string, unknown>>;

/** Leaves out what has the default of its type, as nodes do. */
const set = (fields: Json): Json =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== 0 && value !== 0n && value !== ''),
  );

const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;
/** JSON with bigints as numbers, whatever their size. */
export const written = (value: unknown): string =>
  JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? rawJson(one.toString()) : one));

const hexText = (text: string): string => Buffer.from(text, 'utf8').toString('hex');

/** Reference: /wallet/gettransactionbyid. */
export function txView(tx: Transaction, contractRet?: string): Json {
  const isCall = tx.type === 'TriggerSmartContract';
  const value = isCall
    ? { data: tx.data, owner_address: tx.owner, contract_address: tx.to, call_value: tx.amount }
    : { amount: tx.amount, owner_address: tx.owner, to_address: tx.to };
  const parameter = { value: set(value), type_url: `type.googleapis.com/protocol.${tx.type}` };
  return {
    ...(contractRet ? { ret: [{ contractRet }] } : {}),
    signature: tx.signatures,
    txID: tx.txId,
    raw_data: set({
      contract: [{ parameter, type: tx.type }],
      ref_block_bytes: tx.reference.bytes,
      ref_block_hash: tx.reference.hash,
      expiration: tx.expiration,
      fee_limit: tx.feeLimit,
      timestamp: tx.timestamp,
    }),
    raw_data_hex: tx.rawData,
  };
}

/** Reference: /wallet/getblockbynum. `{}`: there is none. */
export function blockView(block: Block | undefined): Json {
  if (!block) return {};
  const transactions = block.mined.map(({ tx, outcome }) => txView(tx, outcome.contractRet));
  return {
    blockID: block.id,
    block_header: {
      raw_data: set({
        number: block.height,
        txTrieRoot: '00'.repeat(32),
        witness_address: `41${'57'.repeat(20)}`,
        parentHash: block.parentId,
        version: 31,
        timestamp: block.time,
      }),
      witness_signature: '00'.repeat(65),
    },
    ...(transactions.length ? { transactions } : {}),
  };
}

function receiptOf({ energy, netUsage, netFee, contractRet }: Outcome): Json {
  const net = { net_usage: netUsage, net_fee: netFee };
  if (!energy) return set(net);
  const { usage, fee, total } = energy;
  return set({ energy_usage: usage, energy_fee: fee, energy_usage_total: total, ...net, result: contractRet });
}

/** Reference: /wallet/gettransactioninfobyid. */
export const infoView = ({ tx, outcome }: Mined, block: Block): Json => ({
  ...set({
    id: tx.txId,
    fee: outcome.fee,
    blockNumber: block.height,
    blockTimeStamp: block.time,
    contractResult: [outcome.result],
    contract_address: outcome.energy ? tx.to : '',
  }),
  receipt: receiptOf(outcome),
  ...(outcome.logs.length ? { log: outcome.logs } : {}),
  ...(outcome.message ? { result: 'FAILED', resMessage: hexText(outcome.message) } : {}),
  ...(outcome.internal.length
    ? {
        internal_transactions: outcome.internal.map(({ from, to, amount }) => ({
          hash: tx.txId,
          caller_address: from,
          transferTo_address: to,
          callValueInfo: [set({ callValue: amount })],
          note: hexText('call'),
        })),
      }
    : {}),
});

/** Reference: /wallet/getaccount. `{}`: there is none. A contract has an account of its own type (AccountType,
 *  protocol/core/Tron.proto). */
export const accountView = (address: string, account: Account | undefined, isContract: boolean): Json =>
  account || isContract
    ? set({ address, type: isContract ? 'Contract' : '', balance: account?.balance, create_time: account?.createdAt })
    : {};

/** Reference: /wallet/getaccountresource. `{}`: there is no account. */
export const resourcesView = (account: Account | undefined, now: number): Json =>
  account
    ? set({
        freeNetUsed: freeLimit - freeLeft(account, now),
        freeNetLimit: freeLimit,
        NetUsed: account.bandwidthLimit - bandwidthLeft(account, now),
        NetLimit: account.bandwidthLimit,
        EnergyUsed: account.energyLimit - energyLeft(account, now),
        EnergyLimit: account.energyLimit,
      })
    : {};

/** Reference: /wallet/getchainparameters. */
export const parametersView = (): Json => ({
  chainParameter: [
    { key: 'getCreateAccountFee', value: prices.newAccountBandwidth },
    { key: 'getTransactionFee', value: prices.byte },
    { key: 'getCreateNewAccountFeeInSystemContract', value: prices.newAccount },
    { key: 'getEnergyFee', value: prices.energy },
    { key: 'getMaxFeeLimit', value: prices.maxFeeLimit },
    { key: 'getFreeNetLimit', value: freeLimit },
  ],
});

export { hexText };
