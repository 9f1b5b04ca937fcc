/** Answers of nodes as the documentation of java-tron shows them (tronprotocol/documentation-en, docs/api/http), cut to
 *  what is needed here, with values of our own where the examples are long. */

const id = (height: number, fill: string): string => height.toString(16).padStart(16, '0') + fill.repeat(24);
const word = (value: string): string => value.padStart(64, '0');
const tx = { one: '01'.repeat(32), two: '02'.repeat(32), three: '03'.repeat(32), four: '04'.repeat(32) };
const raw = {
  ref_block_bytes: '1c9a',
  ref_block_hash: '8d3a8c0e2c6e8b04',
  expiration: 1_777_447_218_000,
  timestamp: 1_777_447_160_779,
};
const owner = `41${'aa'.repeat(20)}`;
const recipient = `41${'bb'.repeat(20)}`;
const usdtHex = '41a614f803b6fd780986a42c78ec9c7f77e6ded13c';

function transaction(txID: string, contractRet: string, type: string, value: object): object {
  const parameter = { value, type_url: `type.googleapis.com/protocol.${type}` };
  return {
    ret: [{ contractRet }],
    signature: ['00'.repeat(65)],
    txID,
    raw_data: { contract: [{ parameter, type }], ...raw },
    raw_data_hex: '0a02',
  };
}
const call = { data: 'a9059cbb', owner_address: owner, contract_address: usdtHex };

export const block = {
  height: 66_987_565,
  id: id(66_987_565, '2d'),
  parentId: id(66_987_564, '85'),
  time: 1_777_445_121,
};
export { recipient, tx };

/** getblockbynum: TRX, a call, a call that failed, and a kind that the service knows nothing of. The amount is no
 *  JavaScript number: it is written into the text. */
export const blockText = JSON.stringify({
  blockID: block.id,
  block_header: {
    raw_data: {
      number: block.height,
      txTrieRoot: 'fa'.repeat(32),
      witness_address: '41b2f713d57dbcec679d93a8849fa0cd0e4db594ba',
      parentHash: block.parentId,
      version: 34,
      timestamp: 1_777_445_121_000,
    },
    witness_signature: '5b'.repeat(65),
  },
  transactions: [
    transaction(tx.one, 'SUCCESS', 'TransferContract', { amount: 7, owner_address: owner, to_address: recipient }),
    transaction(tx.two, 'SUCCESS', 'TriggerSmartContract', call),
    transaction(tx.three, 'OUT_OF_ENERGY', 'TriggerSmartContract', call),
    transaction(tx.four, 'SUCCESS', 'FreezeBalanceV2Contract', { owner_address: owner, frozen_balance: 1 }),
  ],
}).replace('"amount":7', '"amount":90071992547409931');

const transferTopic = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const log = (data: string, topics = [transferTopic, word('aa'.repeat(20)), word('bb'.repeat(20))]) => ({
  address: usdtHex.slice(2),
  topics,
  data,
});
const of = { blockNumber: block.height, blockTimeStamp: 1_777_445_121_000, contractResult: [''] };
/** gettransactioninfobyblocknum, gettransactioninfobyid: logs of a token's transfer, of another event, and of a
 *  transfer of an NFT, which has four topics and no amount. */
export const infos = [
  { id: tx.one, fee: 267_000, ...of, receipt: { net_fee: 267_000 } },
  {
    id: tx.two,
    fee: 5_254_500,
    ...of,
    contract_address: usdtHex,
    receipt: { energy_fee: 4_458_500, energy_usage_total: 44_585, net_fee: 796_000, result: 'SUCCESS' },
    log: [
      log('00', ['c66625d03b4a832d8245f0df593e32e0fbbbad96d4aa45440aa1535b80983083']),
      log(word('17d7840')),
      { ...log(''), topics: [transferTopic, word('aa'), word('bb'), word('1')] },
    ],
    internal_transactions: [
      {
        hash: '61'.repeat(32),
        caller_address: usdtHex,
        transferTo_address: recipient,
        callValueInfo: [{ callValue: 5 }],
      },
    ],
  },
  {
    id: tx.three,
    fee: 100,
    ...of,
    contract_address: usdtHex,
    receipt: { energy_fee: 100, energy_usage_total: 1, net_usage: 345, result: 'OUT_OF_ENERGY' },
    log: [log(word('1'))],
    result: 'FAILED',
    resMessage: '4e6f7420656e6f75676820656e65726779',
  },
  { id: tx.four, ...of, receipt: { net_usage: 280 } },
];

/** Fields by path of the API; the examples of the documentation have these, or more. */
export const examples: Readonly<Record<string, object>> = {
  '/wallet/getnowblock': {
    blockID: '',
    block_header: { raw_data: { number: 1, parentHash: '', timestamp: 1, txTrieRoot: '', version: 34 } },
  },
  '/wallet/broadcasthex': { result: true, code: 'SUCCESS', message: '', transaction: '', txid: '' },
  '/wallet/getaccount': { address: '', balance: 1, create_time: 1 },
  '/wallet/getaccountresource': { freeNetUsed: 1n, freeNetLimit: 600 },
  '/wallet/getchainparameters': { chainParameter: [{ key: 'getCreateAccountFee', value: 100_000 }] },
  '/wallet/triggerconstantcontract': { result: { result: true }, energy_used: 935, constant_result: [''] },
  '/wallet/gettransactioninfobyid': {
    ...{ id: '', fee: 1, blockNumber: 1, blockTimeStamp: 1, contractResult: [''], contract_address: '' },
    receipt: { energy_fee: 1, energy_usage_total: 1, net_usage: 1, result: 'SUCCESS' },
    log: [{ address: '', topics: [''], data: '' }],
  },
};
