/** Facts from the node's documentation, xrpl.org (XRPLF/xrpl-dev-portal, August 2026), as our own short JSON: the
 *  fields of its examples that our adapter or a test reads, with values of the same kinds. The names are those of the
 *  pages. Values that a page has only in a table are marked. */

const hash = 'A'.repeat(64);
const address = 'rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY';

const accountRootNode = {
  ModifiedNode: {
    FinalFields: { Account: address, Balance: '57479871', Flags: 0, OwnerCount: 2, Sequence: 86586866 },
    LedgerEntryType: 'AccountRoot',
    LedgerIndex: hash,
    PreviousFields: { Balance: '52479871' },
    PreviousTxnID: hash,
    PreviousTxnLgrSeq: 86724050,
  },
};
/** Page metadata, and page payment for `DeliverMax`. */
const paid = {
  meta: {
    AffectedNodes: [accountRootNode],
    TransactionIndex: 5,
    TransactionResult: 'tesSUCCESS',
    delivered_amount: '5000000',
  },
  tx_json: {
    Account: address,
    DeliverMax: '5000000',
    Destination: address,
    Fee: '12',
    Flags: 0,
    LastLedgerSequence: 56865248,
    Sequence: 5037710,
    SigningPubKey: '03B51A3EDF70E4098DA7FB053A01C5A6A0A163A30ED1445F14F87C7C3295FCB3BE',
    TransactionType: 'Payment',
    TxnSignature: '3045',
  },
  hash,
  ledger_hash: hash,
  ledger_index: 56865245,
  close_time_iso: '2020-07-16T20:53:40Z',
  validated: true,
};

/** Answers by the page that shows them. */
export const documented = {
  tx: { ...paid, status: 'success' },
  txnNotFound: {
    error: 'txnNotFound',
    error_code: 29,
    error_message: 'Transaction not found.',
    request: { command: 'tx', max_ledger: 54368673, min_ledger: 54368573, transaction: hash },
    searched_all: true,
    status: 'error',
  },
  ledger: {
    ledger: {
      account_hash: hash,
      close_flags: 0,
      close_time: 819429360,
      close_time_human: '2025-Dec-19 03:16:00.000000000 UTC',
      close_time_iso: '2025-12-19T03:16:00Z',
      close_time_resolution: 10,
      closed: true,
      ledger_hash: hash,
      ledger_index: 100972465,
      parent_close_time: 819429352,
      parent_hash: hash,
      total_coins: '99985738467416092',
      transaction_hash: hash,
      // In the table alone.
      transactions: [paid],
    },
    ledger_hash: hash,
    ledger_index: 100972465,
    status: 'success',
    validated: true,
  },
  account_info: {
    account_data: {
      Account: address,
      Balance: '999999999960',
      Flags: 8388608,
      LedgerEntryType: 'AccountRoot',
      OwnerCount: 0,
      PreviousTxnID: hash,
      PreviousTxnLgrSeq: 3,
      Sequence: 6,
      index: hash,
    },
    // In the table alone.
    account_flags: { requireDestinationTag: false },
    ledger_hash: hash,
    ledger_index: 56843712,
    status: 'success',
    validated: true,
  },
  account_tx: {
    account: address,
    ledger_index_max: 100973977,
    ledger_index_min: 32570,
    limit: 2,
    marker: { ledger: 98918099, seq: 20 },
    status: 'success',
    transactions: [paid],
    validated: true,
  },
  server_info: {
    info: {
      build_version: '1.12.0',
      complete_ledgers: '32570-82521761',
      io_latency_ms: 1,
      load_factor: 1,
      network_id: 0,
      peers: 22,
      server_state: 'full',
      time: '2023-Sep-13 22:12:31.377492 UTC',
      uptime: 91948,
      validated_ledger: {
        age: 1,
        base_fee_xrp: 0.00001,
        hash,
        reserve_base_xrp: 10,
        reserve_inc_xrp: 2,
        seq: 82521761,
      },
      validation_quorum: 28,
    },
    status: 'success',
  },
  server_state: {
    state: {
      build_version: '1.7.2',
      complete_ledgers: '65844785-65887184',
      io_latency_ms: 3,
      load_base: 256,
      load_factor: 134022,
      peers: 72,
      server_state: 'full',
      time: '2021-Aug-24 20:43:43.043406 UTC',
      uptime: 6021282,
      validated_ledger: {
        base_fee: 10,
        close_time: 683153020,
        hash,
        reserve_base: 20000000,
        reserve_inc: 5000000,
        seq: 65887184,
      },
      validation_quorum: 33,
    },
    status: 'success',
  },
  fee: {
    current_ledger_size: '56',
    current_queue_size: '11',
    drops: { base_fee: '10', median_fee: '10000', minimum_fee: '10', open_ledger_fee: '2653937' },
    expected_ledger_size: '55',
    ledger_current_index: 26575101,
    levels: {
      median_level: '256000',
      minimum_level: '256',
      open_ledger_level: '67940792',
      reference_level: '256',
    },
    max_queue_size: '1100',
    status: 'success',
  },
  submit: {
    accepted: true,
    account_sequence_available: 362,
    account_sequence_next: 362,
    applied: true,
    broadcast: true,
    engine_result: 'tesSUCCESS',
    engine_result_code: 0,
    engine_result_message: 'The transaction was applied.',
    kept: true,
    open_ledger_cost: '10',
    queued: false,
    status: 'success',
    tx_blob: '1200',
    tx_json: { ...paid.tx_json, hash },
    // The example has it beside the result, the table in it.
    validated_ledger_index: 21184416,
  },
  ledger_accept: { ledger_current_index: 6643240, status: 'success' },
} as const;
