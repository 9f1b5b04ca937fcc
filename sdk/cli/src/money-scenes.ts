import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from './refusal.js';
import { Session } from './session.js';
import { part, post, settled, type Scene, type Stage } from './stage.js';

/** Events of money that leaves a balance: refunds, withdrawals, mass payouts. */

/** An address of nobody's on the local Ethereum chain. Throws Refusal where the currency is of another. */
function address({ currency }: Stage): string {
  if (/^ETH$|_ERC20$/.test(currency)) return `0x${randomBytes(20).toString('hex')}`;
  throw new Refusal(`There is no address at hand for ${currency}: take --currency ETH`, 'NOT_TRIGGERED');
}

/** Runtime code that lets an estimate pass and reverts wherever gas has a price, as in a block. */
const refusing = '0x3a156008575f5ffd5b00';

/** Of coins that a contract may refuse. Throws Refusal before anything is paid. */
const refusable =
  (scene: Scene): Scene =>
  async (stage) => {
    if (stage.currency === 'ETH') return scene(stage);
    throw new Refusal(`No contract is asked about ${stage.currency}: take --currency ETH`, 'NOT_TRIGGERED');
  };

/** Has a contract at an address refuse the coins that are sent there. Throws Refusal. */
async function refuseAt(stage: Stage, at: string): Promise<string> {
  const params = [at, refusing];
  const answer = await post(stage, stage.sandbox.ethRpcUrl, { jsonrpc: '2.0', id: 1, method: 'anvil_setCode', params });
  if (answer['error']) throw new Refusal(`The chain takes no contract: ${JSON.stringify(answer)}`, 'NOT_TRIGGERED');
  return at;
}

async function refund(stage: Stage): Promise<{ id: string; claimUrl: string }> {
  const { id } = await settled(stage);
  const made = await stage.client.refunds.create(id, { type: 'full', reason: 'Returned by the buyer' });
  return { id: made._id!, claimUrl: made.claimUrl! };
}

/** The payer opens the link and names an address. */
async function claimed(stage: Stage, to = address(stage)): Promise<string> {
  const { id, claimUrl } = await refund(stage);
  const token = claimUrl.split('/').at(-1)!;
  await post(stage, `${stage.apiUrl}/refund-claims/${token}`, { address: to, confirm: true });
  return id;
}

async function refunded(stage: Stage, to?: string): Promise<string> {
  const id = await claimed(stage, to);
  const session = await Session.of(stage.sandbox);
  const code = { path: '/api/v1/auth/mfa/send-email-code', body: { action: 'refund' } };
  await session.confirmed('POST', `/api/v1/refunds/${id}/approve`, {}, code);
  return id;
}

type Entry = Readonly<{ address: string; currency: string; label: string | null; activeAt: string }>;
const whitelisted = async (session: Session, to: { currency: string; address: string; label: string }) => {
  const code = { path: '/api/v1/whitelist/send-email-code' };
  return (await session.confirmed('POST', '/api/v1/whitelist/wallet', to, code)) as Entry & { id: string };
};

/** An address of the whitelist that counts by now, put there the first time. */
async function destination(stage: Stage, session: Session, label: string): Promise<string> {
  const { currency } = stage;
  const { wallets } = (await session.get('/api/v1/whitelist')) as { wallets: readonly Entry[] };
  const known = wallets.find((one) => one.currency === currency && one.label === label);
  const entry = known ?? (await whitelisted(session, { currency, address: address(stage), label }));
  if (Date.parse(entry.activeAt) > Date.now())
    throw new Refusal(`The whitelist entry '${label}' counts from ${entry.activeAt} on`, 'NOT_TRIGGERED');
  return entry.address;
}

/** Where the demo merchant sends money to. */
type Payee = (stage: Stage, session: Session) => Promise<string>;
const savings: Payee = (stage, session) => destination(stage, session, 'Savings');
const contract: Payee = async (stage, session) => refuseAt(stage, await destination(stage, session, 'Contract'));

async function withdraw(stage: Stage, to = savings): Promise<string> {
  const { amount } = await settled(stage);
  const session = await Session.of(stage.sandbox);
  const address = await to(stage, session);
  const sent = { currency: stage.currency, amount: part(amount, 0.4), address };
  const body = { ...sent, feeMode: 'deduct', idempotencyKey: randomUUID() };
  const made = await session.confirmed('POST', '/api/v1/withdrawals', body, {
    path: '/api/v1/withdrawals/send-email-code',
  });
  return made['_id'] as string;
}

async function payOut(stage: Stage, to = savings): Promise<string> {
  const { amount } = await settled(stage);
  const session = await Session.of(stage.sandbox);
  const address = await to(stage, session);
  const row = { currency: stage.currency, amount: part(amount, 0.4), address };
  const body = { rows: [row], label: 'Suppliers', idempotencyKey: randomUUID() };
  const made = await session.confirmed('POST', '/api/v1/mass-payouts', body, {
    path: '/api/v1/mass-payouts/send-email-code',
  });
  return made['_id'] as string;
}

/** Cancels at once what `make` has made. What is signed by then goes on, and another one is made. */
const cancelled =
  (make: (stage: Stage) => Promise<string>, path: string): Scene =>
  async (stage) => {
    const session = await Session.of(stage.sandbox);
    for (;;) {
      const id = await make(stage);
      try {
        await session.post(`${path}/${id}/cancel`);
        return id;
      } catch (error) {
        const isSigned = error instanceof Refusal && ['INVALID_STATE', 'BATCH_NOT_CANCELLABLE'].includes(error.code);
        if (!isSigned) throw error;
        await sleep(100, undefined, { signal: stage.signal });
      }
    }
  };

export const moneyScenes: Readonly<Record<string, Scene>> = {
  'refund.created': async (stage) => (await refund(stage)).id,
  'refund.claimed': claimed,
  'refund.broadcast': refunded,
  'refund.completed': refunded,
  'refund.failed': refusable(async (stage) => refunded(stage, await refuseAt(stage, address(stage)))),
  'refund.cancelled': async (stage) => {
    const { id } = await refund(stage);
    await stage.client.refunds.cancel(id);
    return id;
  },
  'withdrawal.created': withdraw,
  'withdrawal.processing': withdraw,
  'withdrawal.broadcast': withdraw,
  'withdrawal.completed': withdraw,
  'withdrawal.failed': refusable((stage) => withdraw(stage, contract)),
  'withdrawal.cancelled': cancelled(withdraw, '/api/v1/withdrawals'),
  'mass_payout.created': payOut,
  'mass_payout.processing': payOut,
  'mass_payout.broadcast': payOut,
  'mass_payout.leg_completed': payOut,
  'mass_payout.completed': payOut,
  'mass_payout.leg_failed': refusable((stage) => payOut(stage, contract)),
  'mass_payout.failed': refusable((stage) => payOut(stage, contract)),
  'mass_payout.cancelled': cancelled(payOut, '/api/v1/mass-payouts'),
  'whitelist.changed': async (stage) => {
    const session = await Session.of(stage.sandbox);
    return (await whitelisted(session, { currency: stage.currency, address: address(stage), label: 'Supplier' })).id;
  },
};
