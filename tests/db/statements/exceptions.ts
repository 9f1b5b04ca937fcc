/** Statements whose text only a run knows, by place, and why that is. The list may only get shorter. */
export const knownByARun: Readonly<Record<string, string>> = {
  'db/temporal/bell.ts Bell': 'LISTEN to a channel that the caller names: a name is no value, and LISTEN gives no rows',
  'db/migrate.ts applyFunctions': 'the text of a file in db/functions',
  'db/migrate.ts giveRights': 'the grants of db/roles/grants.ts: tests/db/roles.test.ts reads them in the catalogue',
  'db/roles/roles.ts onServer': 'CREATE ROLE and ALTER ROLE of a name, which is no value',
  'db/roles/roles.ts handOver': 'ALTER of a name, which is no value',
  'sandbox/parts/postgres.ts createDatabase': 'CREATE DATABASE of a name, before there is a schema',
  'sandbox/parts/temporal-on-postgres/databases.ts prepareDatabases':
    'CREATE ROLE with a password, which is no value: npm test -- --temporal postgres sandbox/parts runs it',
};

const final = 'a final attempt is in a block, which says whether it succeeded';
const mined = 'what is mined is in a block';
const listedWallet = 'an entry of type wallet has both (CHECK of whitelist_entry)';

/** Columns that may be null by their table and are not by what the statement says, by place. The list may only get
 *  shorter. */
export const neverNull: Readonly<Record<string, string>> = {
  'txmanager/kinds/payouts.ts bookPaid block_hash': final,
  'activities/temporal/restart.ts restartActivities id': 'by the WHERE: the payment of a sweep that one payment owns',
  'db/audit/audit-chain.ts wrongCoins spent_by_tx': 'by the WHERE',
  'db/chains/attempts.ts finalAbove blockHash': final,
  'db/chains/attempts.ts finalAbove success': final,
  'db/chains/attempts.ts finalizeAttempts success': 'the statement sets it',
  'db/chains/attempts.ts maturingAttempts block_hash': mined,
  'db/chains/arrivals.ts maturingDeposits block_hash': mined,
  'db/chains/spends.ts ourCoins currency': 'a network of coins has its own currency only',
  'db/access/merchants.ts rotatePublishableKey previous_publishable_key_until': 'the statement sets it',
  'db/access/merchants.ts rotateIpnSecret previous_ipn_secret_until': 'the statement sets it',
  'commands/payouts/validate.ts validateRows address': listedWallet,
  'commands/payouts/validate.ts validateRows currency': listedWallet,
  'db/audit/reconciliation.ts snapshot currency': 'by the WHERE',
  'commands/refunds/terms.ts depositTerms currency': 'by the WHERE',
  'commands/refunds/reopen.ts reopenRefunds success': final,
  'db/recovery/unclaimed.ts unclaimedPage confirmed_at': 'by the WHERE',
  'db/webhooks/webhook-endpoints.ts rotateEndpointSecret previous_secret_until': 'the statement sets it',
  'db/wallets/whitelist.ts listedIps ip': 'an entry of type ip has it (CHECK of whitelist_entry)',
  'db/wallets/whitelist.ts unlistedAmong address': listedWallet,
  'db/wallets/whitelist.ts unlistedAmong currency': listedWallet,
  'commands/withdrawals/create.ts destination address': listedWallet,
  'commands/withdrawals/reopen.ts reopenWithdrawals success': final,
};
