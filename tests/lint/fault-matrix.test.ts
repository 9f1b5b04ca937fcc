import { mustBeThere, type Place } from './places';

/** Which fault is tested where, and which is not yet. A row that names a test that is not there fails. */
type Row = readonly [row: string, fault: string, ...where: Place[]];

const payments = 'e2e/payments';
const onBitcoin = 'rows/bitcoin';
const onEthereum = 'rows/ethereum';
const afterSettlement = 'rows/after-settlement';
const reassigned = 'activities/reassigned-sweep';
const kills = 'faults/kill-steps';
const conversions = 'e2e/conversions';
const conversionRules = 'api/conversions';
const swaps = 'e2e/swaps';
const swapRows = 'api/swaps';
const payouts = 'activities/payouts';
const batches = 'e2e/mass-payouts';
const withdrawals = 'activities/withdrawals';
const moneyOut = 'api/money-out';
const nodes = 'faults/nodes';
const machine = 'faults/machine';
const accounts = 'api/accounts';
const oracle = 'activities/oracle';
const outbound = 'activities/outbound';
const webhooks = 'activities/webhooks';

const rows: readonly Row[] = [
  ['A1', 'before the row commits', [kills, "['A1', 'create.beforeCommit'"]],
  ['A2', 'after commit, before workflow start', [kills, "['A2, A3', 'create.afterCommit'"]],
  ['A3', 'after start, before the 201', [kills, "['A2, A3', 'create.afterCommit'"]],
  ['A4', 'currency selection in flight', [kills, 'A4: killed at %s']],
  ['A5', 'follower: block read, rows not committed', [kills, "['A5', 'follower.beforeCommit'"]],
  ['A6', 'rows committed, signal not sent', [kills, "['A6', 'follower.afterCommit'"]],
  ['A7', 'status changed, event not delivered', [kills, "['A7', 'move.afterCommit'"]],
  ['A8', 'J1 posted, activity not acknowledged', [kills, "['A8', 'confirm.afterPost'"]],
  ['A9', 'gas top-up signed, not sent', [kills, "['A9', 'gas.afterStore'"]],
  ['A10', 'gas top-up sent, not recorded', [kills, "['A10', 'gas.afterSend'"]],
  ['A11', 'sweep stored, not sent', [kills, "['A11', 'sweep.afterStore'"]],
  ['A12', 'sweep sent, not recorded', [kills, "['A12', 'sweep.afterSend'"]],
  ['A13', 'settle committed, not acknowledged', [kills, "['A13', 'settle.afterCommit'"]],
  [
    'A14',
    'webhook claimed and not sent, or accepted and its attempt not recorded',
    [kills, "['A14', 'webhook.afterClaim'"],
    [kills, "['A14', 'webhook.afterPost'"],
  ],
  ['A15', 'expiry and deposit in the same second', [kills, 'A15: expiry and deposit']],

  [
    'B1',
    'key claimed, no quote',
    [conversions, "['B1 before anything moved', 'conversion.afterClaim'"],
    [conversionRules, 'free again when what ran was interrupted'],
  ],
  [
    'B2',
    'factor spent, money row not committed',
    [conversions, 'B2 with the factor spent and nothing committed'],
    [conversionRules, 'before the commit has spent neither money nor factor'],
  ],
  [
    'B3',
    'committed, reply lost',
    [conversions, "['B3 after the commit', 'conversion.afterCommit'"],
    [conversionRules, 'after the commit answers the same conversion to the same key'],
  ],
  ['B4', 'debited, workflow not started', [swapRows, 'no workflow: the reconciler asks for it again']],
  ['B5', 'order made, reply lost', [swaps, "'swap.afterOrder'"], [swapRows, 'finds the order whose answer was lost']],
  ['B6', 'funding stored or sent, not recorded', [swaps, "'sign.afterCommit'"]],
  ['B7', 'provider completed, credit not posted', [swapRows, 'credits once, whenever its process ends']],
  [
    'B8',
    'failed, then completed',
    [swaps, "'failed-then-completed'"],
    [swapRows, 'paid, then failed: stays completed'],
  ],
  ['B9', 'provider silent for a day', [swapRows, 'silent for a day: stays processing']],
  ['B10', 'switched off on the way', [swapRows, 'goes on with what is under way']],

  ['C1', 'before the batch commits', [moneyOut, 'C1: what fails before its commit']],
  ['C2', 'committed, workflow not started', [moneyOut, 'C2: what fails after its commit']],
  ['C3', 'line: before the attempt is stored', [payouts, 'before what it has signed is stored: another signs']],
  ['C4', 'line: stored, not sent', [batches, "'leg.afterStore'"], ['e2e/withdrawals', "'withdrawal.afterStore'"]],
  ['C5', 'line: sent, reply lost', [batches, "'leg.afterSend'"], ['e2e/withdrawals', "'withdrawal.afterSend'"]],
  ['C6', 'line: mined, not posted', [payouts, 'before what is mined is booked: it is booked once']],
  [
    'C7',
    'reverted on the chain',
    [payouts, 'returns what is reverted, and pays the others'],
    [batches, 'an address that refuses it gets nothing'],
    [withdrawals, 'reverted on the chain: the money is back'],
  ],
  [
    'C8',
    'cancel races signing',
    [payouts, '200 times cancelled while it is being signed'],
    [withdrawals, 'cancelling and signing exclude each other, two hundred times'],
  ],
  [
    'C9',
    'whitelist entry deleted after queueing',
    [payouts, 'before it is planned, or signed: it comes back'],
    [payouts, 'after it is signed: it goes on'],
    [withdrawals, 'taking an address off the list and signing exclude each other'],
  ],
  ['C10', 'node lost the mempool', [payouts, 'gives a node that has lost its pool the same bytes']],
  ['C11', '500 lines, hot wallet holds half', [payouts, 'of 500 payments pays the half']],
  [
    'C12',
    'old backup restored',
    [payouts, 'a database that was restored from an old backup'],
    ['db/chain', 'notices a coin of ours that somebody else spends, unconfirmed or in a block'],
    ['db/reconciliation', 'a double credit stops the asset'],
  ],

  [
    'D',
    'reorganisation before CONFIRMED, and at SWEEP_QUEUED',
    [onEthereum, 'a block with one of two parts is replaced, and it comes again'],
    [onBitcoin, 'six blocks of Bitcoin are replaced before settlement, and have it again'],
    [onEthereum, 'six blocks of Ethereum are replaced before settlement, and have it again'],
  ],
  ['D', 'same-height reorganisation', [onEthereum, 'a block with one of two parts is replaced']],
  ['D', 'reorganisation during a scan; two in a row', [nodes, 'two reorganisations in a row']],
  ['D', 'a deposit that comes back', [nodes, 'counts a deposit again that another reorganisation brought back']],
  [
    'D',
    'reorganisation deeper than finality after SETTLED',
    [afterSettlement, 'six blocks of Bitcoin are replaced after settlement, and have it again'],
    [afterSettlement, 'six blocks of Bitcoin are replaced after settlement, and spend its coins elsewhere'],
    [afterSettlement, 'six blocks of Ethereum are replaced after settlement, and have it again'],
    [afterSettlement, 'six blocks of Ethereum are replaced after settlement, and do not have it'],
  ],
  [
    'D',
    'sweep and deposit both reorganised out, the payer spends elsewhere or pays again',
    [onBitcoin, 'and spend its coins elsewhere; it is paid again'],
    [onEthereum, 'it is paid again, on the nonce of its old sweep'],
    [reassigned, 'signs another on the same nonce for another amount'],
    [reassigned, 'sweeps what the old transaction leaves where that was mined instead'],
    [reassigned, 'sets a sweep of other coins aside, and finds it again when they come back'],
    [reassigned, 'brings its gas again first where that is gone too'],
  ],
  [
    'D',
    'replaced payments: raised fee, other address',
    [payments, 'counts a payment with a raised fee once'],
    [onBitcoin, 'one of two parts is replaced, and comes again'],
    [onBitcoin, 'the only part is replaced after its time'],
  ],
  [
    'D',
    'reverted calls, lying tokens, copied symbols, value from contracts',
    [payments, 'credits value sent by a contract once, and reverted, lying or copied transfers not at all'],
  ],
  ['D', 'node away', [nodes, 'does not expire an invoice that was paid in time']],
  ['D', 'node slow, every third call fails', [nodes, 'every third call fails and the rest are slow']],
  ['D', 'answers of the node lost, doubled, refused after the effect', [nodes, 'one transaction moves the money']],
  [
    'D',
    'node lies: receipt, another fork, empty logs',
    [nodes, 'a receipt that lies about success'],
    [nodes, 'blocks from another fork'],
    [nodes, 'a block whose logs a node leaves out'],
  ],
  ['D', 'coin spent by somebody else', [nodes, 'on an input: the wallet is frozen']],
  ['D', 'nonce used by somebody else', [nodes, 'on a nonce: the wallet is frozen']],
  ['D', 'base fee ×20', [nodes, 'twenty times the base fee']],
  ['D', 'the chain halts, then a hundred blocks at once', [nodes, 'a hundred blocks at once']],

  [
    'E',
    'rates: one source out, stale, ten times off, no number',
    [oracle, 'leaves a price out that is ten times off'],
    [oracle, 'leaves a stale price out, however good'],
    [oracle, 'leaves out what is no price'],
    [oracle, 'needs its quorum'],
  ],
  [
    'E',
    'rates: all sources out',
    ['api/create-payment', 'without a fresh rate: 503, and no row'],
    [conversionRules, 'is 503 without a fresh rate, and nothing is written'],
  ],
  [
    'E',
    'mail: the server is away',
    [accounts, 'keeps an account whose mail could not be sent, and sends another'],
    [accounts, 'are told where a code could not be sent, and it is void'],
    ['activities/mail', 'says why a mail server did not take it, and tries again'],
  ],
  [
    'E',
    'AML: the provider is away',
    ['activities/screening', 'is unavailable where nobody listens'],
    ['activities/screening', 'keeps what is known while somebody is away'],
  ],
  [
    'E',
    'receiver: silence, 500, redirect, 410, two megabytes, slow body',
    [webhooks, 'is tried again after a fault, silence or a redirect, as the same event'],
    [webhooks, 'has failed at once where the receiver says that it is gone'],
    [outbound, "['two megabytes', 32]"],
    [outbound, 'has 15 s in all, whether it is silent or drips'],
  ],
  [
    'E',
    'events: doubled, out of order, replayed',
    [webhooks, 'is an attempt of its own after a crash between the answer and our note of it'],
    ['e2e/webhooks', 'rebuild the payment without asking for it'],
  ],
  ['E', 'a resolver that says public, then private', [outbound, 'get no connection']],
  ['E', 'endpoint down five days', [webhooks, 'switches it off after five days of failures']],

  ['F', 'clock of a process ten minutes wrong', [machine, 'clocks that are ten minutes %s']],
  ['F', 'two workers of each role, two API copies', ['e2e/copies', 'settle every payment once']],
  ['F', 'the leader of two is killed', ['e2e/copies', 'go on with one of each when the other is killed']],
  ['F', 'SIGTERM under load', ['e2e/api-commands', 'lets every request under way be answered']],
  ['F', 'link cut after COMMIT was sent', [machine, 'a link that ends after COMMIT was sent']],
  ['F', 'no connection left in the pool', [machine, 'a database that answers nothing in time']],

  [
    'G',
    'a hundred spends of one balance: exactly what it covers',
    ['db/ledger', 'let exactly as many of a hundred spend at once as there is money for'],
    [conversionRules, '100 on one balance never spend more than it has'],
    ['api/withdrawals', 'a hundred at once out of a balance that covers fifty: fifty'],
    ['api/refunds', 'thirty at once never exceed what was received, nor the balance'],
  ],
  [
    'G',
    'equal idempotency keys at once',
    ['api/create-payment', 'makes one payment of 50 at once'],
    [conversionRules, '100 with one key move the money once'],
  ],
  ['G', 'refreshes of one token at once', [accounts, 'go on by refresh tokens that serve once, two tabs included']],
  [
    'G',
    'uses of one code at once; wrong guesses at once',
    [accounts, 'serve once, for one user and one act'],
    [accounts, 'lock after many wrong guesses, at whichever endpoint, however many at once'],
  ],
  [
    'G',
    'cancel, deposit, expiry and choice of currency on one invoice',
    ['activities/payment-races', 'takes only legal rows in'],
  ],
  ['G', 'rate limit at the edge, 200 at once', ['api/edges', 'are exact at the edge, however many come at once']],
];

const notYet: ReadonlyArray<readonly [row: string, fault: string, why: string]> = [
  ['D', 'two endpoints disagree about the head', 'a network has one endpoint'],
  ['E', 'mail server slow for 30 s', 'the mailer has a deadline of its own that no test waits for'],
  ['F', 'disk full', 'needs a mount of its own, which a machine may not allow'],
  ['F', 'clock of the database steps back', 'needs a database whose clock can be set'],
  ['F', 'migration during traffic', 'there is no older version to run beside this one'],
  ['G', 'equal keys over three API copies', 'the copies are tested with different keys'],
  ['G', 'backup code, passkey challenge, reset token: twenty uses at once', 'they are tested one after the other'],
  ['G', '200 deposits in one block to 200 invoices of one merchant', 'the sweep bench has many, and is no test'],
];

it.each(rows.map(([row, fault, ...where]) => ({ row, fault, where })))('$row: $fault', ({ where }) =>
  mustBeThere(where),
);

for (const [row, fault, why] of notYet) it.todo(`${row}: ${fault} — ${why}`);
