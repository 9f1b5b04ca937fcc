import { hex } from '@scure/base';
import { Writer } from 'protobufjs/minimal';
import { encodeFunctionData, erc20Abi } from 'viem';
import { addressBytes, evmAddress } from './address';
import { assetIn, taposOf, type TronChain, type TronPlan } from './plan';

/** Bytes of transactions, by protobuf: https://github.com/tronprotocol/protocol, core/Tron.proto and
 *  core/contract/*.proto. A field with the default of its type is left out, as proto3 does. */

const bytesType = 2;
const tag = (field: number, type: 0 | typeof bytesType): number => (field << 3) | type;

const withBytes = (writer: Writer, field: number, value: Uint8Array): Writer =>
  writer.uint32(tag(field, bytesType)).bytes(value);
const withInt64 = (writer: Writer, field: number, value: bigint): Writer =>
  value === 0n ? writer : writer.uint32(tag(field, 0)).int64(value.toString());

/** TransferContract: owner_address 1, to_address 2, amount 3. */
function transfer({ from, to, units }: TronPlan): Uint8Array {
  const writer = withBytes(Writer.create(), 1, addressBytes(from));
  return withInt64(withBytes(writer, 2, addressBytes(to)), 3, units).finish();
}

/** TriggerSmartContract: owner_address 1, contract_address 2, call_value 3 (none), data 4. */
function call({ from, to, units }: TronPlan, contract: string): Uint8Array {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [evmAddress(to), units] });
  const writer = withBytes(Writer.create(), 1, addressBytes(from));
  return withBytes(withBytes(writer, 2, addressBytes(contract)), 4, hex.decode(data.slice(2))).finish();
}

const contractTypes = { TransferContract: 1, TriggerSmartContract: 31 } as const;

/** Transaction.Contract: type 1, parameter 2, a google.protobuf.Any: type_url 1, value 2. */
function contractOf(name: keyof typeof contractTypes, value: Uint8Array): Uint8Array {
  const url = `type.googleapis.com/protocol.${name}`;
  const parameter = withBytes(Writer.create().uint32(tag(1, bytesType)).string(url), 2, value).finish();
  return withBytes(Writer.create().uint32(tag(1, 0)).int32(contractTypes[name]), 2, parameter).finish();
}

/** Transaction.raw: ref_block_bytes 1, ref_block_hash 4, expiration 8, contract 11, timestamp 14, fee_limit 18. */
export function rawDataOf(chain: TronChain, plan: TronPlan): Uint8Array {
  const { contract } = assetIn(chain, plan.currency);
  const { bytes, hash } = taposOf(plan.reference);
  const writer = withBytes(Writer.create(), 1, hex.decode(bytes));
  withInt64(withBytes(writer, 4, hex.decode(hash)), 8, BigInt(plan.expiresAt));
  withBytes(
    writer,
    11,
    contract === null
      ? contractOf('TransferContract', transfer(plan))
      : contractOf('TriggerSmartContract', call(plan, contract)),
  );
  return withInt64(withInt64(writer, 14, BigInt(plan.timestamp)), 18, plan.feeLimit).finish();
}

/** Transaction: raw_data 1, signature 2. */
export const transactionOf = (rawData: Uint8Array, signature: Uint8Array): Uint8Array =>
  withBytes(withBytes(Writer.create(), 1, rawData), 2, signature).finish();
