import { randomBytes } from 'node:crypto';
import { applyDueChanges } from '../../commands/wallets/settlement';
import { setLimits } from '../../db/limits/outbound';
import { startHarness, type Answer, type Harness } from './harness';
import { startCheckout } from './checkout-server';
import { mailTo, Person } from './person';

/** Where settled money goes is changed slowly, by two people, and can be stopped by whoever reads the mail. */

let h: Harness;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1', APPROVAL_COOLING_OFF_HOURS: '24' });
});
afterAll(() => h.stop());
beforeEach(async () => {
  for (const table of ['rate_limit', 'wrong_factor']) await h.db.query(`DELETE FROM ${table}`);
});

const path = '/api/v1/merchant-wallets';
const anAddress = (): string => h.api.deps.codecs.ethereum.normalise(`0x${randomBytes(20).toString('hex')}`)!;
const codeOf = (answer: Answer): string => `${answer.status} ${answer.body.error?.code ?? answer.body.error}`;
type Wallet = {
  id: string;
  settlementAddress: string;
  custody: string;
  pendingChange: { settlementAddress: string; status: string; activeAt: string } | null;
};
type Team = { ann: Person; bob: Person; merchantId: string; wallet: Wallet };

/** An admin, a member who may change wallets too, and a wallet whose money stays with the service. */
async function team(): Promise<Team> {
  const ann = await Person.admin(h);
  const bob = await Person.member(ann, ['wallets:manage']);
  await h.db.query(
    `UPDATE user_right SET since = now() - interval '25 hours'
      WHERE user_id = (SELECT id FROM dashboard_user WHERE email = $1)`,
    [bob.email],
  );
  const { merchantId } = (await ann.get('/api/v1/auth/me')).body;
  const wallet = (await ann.post(path, { currency: 'ETH', totpCode: await ann.code() })).body.data as Wallet;
  return { ann, bob, merchantId, wallet };
}
const repoint = async ({ ann, wallet }: Team, to: string, headers?: Record<string, string>): Promise<Answer> =>
  ann.call('PATCH', `${path}/${wallet.id}/settlement`, { settlementAddress: to, totpCode: await ann.code() }, headers);
const decide = async (by: Person, { wallet }: Team, verdict: 'approve' | 'reject'): Promise<Answer> =>
  by.post(`${path}/${wallet.id}/settlement/${verdict}`, { totpCode: await by.code() });
const read = async ({ ann, wallet }: Team): Promise<Wallet> =>
  (await ann.get(path)).body.find((one: Wallet) => one.id === wallet.id);
const delay = ({ merchantId }: Team, hours: number) =>
  h.db.query('UPDATE merchant SET whitelist_delay_hours = $2 WHERE id = $1', [merchantId, hours]);
const twoPeople = ({ merchantId }: Team) =>
  setLimits(h.db, merchantId, { dailyUsd: null, hourlyCount: null, approvalUsd: '100' }, 'test', 0);
const pass = ({ wallet }: Team) =>
  h.db.query('UPDATE settlement_change SET active_at = now() WHERE wallet_id = $1', [wallet.id]);
const applyDue = () => applyDueChanges(h.db, { config: h.api.deps.config });
const stopLink = async (to: Person): Promise<string> =>
  new URL(/\S+\/w\/[0-9a-f]{64}/.exec(await mailTo(h, to.email))![0]).pathname.replace('/w/', '/settlement-changes/');
const stop = (link: string, body: object = { confirm: true }) => h.call('POST', `${link}/stop`, { body });

describe('A8: a settlement address', () => {
  it('is changed from a listed place only, asked before the factor, which serves again', async () => {
    const t = await team();
    await h.db.query(
      `INSERT INTO whitelist_entry (id, merchant_id, type, ip, created_by, created_by_id, active_at)
       VALUES ('aaaaaaaaaaaaaaaaaaaaaaaa', $1, 'ip', '198.51.100.9/32', 'test', 'aaaaaaaaaaaaaaaaaaaaaaaa', now())`,
      [t.merchantId],
    );
    const totpCode = await t.ann.code();
    const inside = { 'X-Forwarded-For': '198.51.100.9' };
    const body = { settlementAddress: anAddress(), totpCode };
    const at = `${path}/${t.wallet.id}`;
    expect(codeOf(await t.ann.call('PATCH', `${at}/settlement`, body))).toBe('403 IP_NOT_WHITELISTED');
    expect(codeOf(await t.ann.post(path, { currency: 'BTC', totpCode }))).toBe('403 IP_NOT_WHITELISTED');
    expect(codeOf(await t.ann.call('DELETE', at, { totpCode }))).toBe('403 IP_NOT_WHITELISTED');
    expect(codeOf(await t.bob.post(`${at}/settlement/approve`, { totpCode }))).toBe('403 IP_NOT_WHITELISTED');
    expect((await t.ann.call('PATCH', `${at}/settlement`, body, inside)).status).toBe(200);
  });

  it('counts after the cooling-off of the whitelist; until then money settles as before', async () => {
    const t = await team();
    await delay(t, 48);
    const to = anAddress();
    const asked = await repoint(t, to);
    expect(asked.body.data).toMatchObject({
      settlementAddress: t.wallet.settlementAddress,
      custody: 'platform',
      pendingChange: { settlementAddress: to, status: 'cooling_off' },
    });
    const hours = (Date.parse(asked.body.data.pendingChange.activeAt) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(47);
    expect(await applyDue()).toBe(0);
    expect((await read(t)).settlementAddress).toBe(t.wallet.settlementAddress);
    await pass(t);
    expect(await applyDue()).toBe(1);
    expect(await applyDue()).toBe(0);
    expect(await read(t)).toMatchObject({ settlementAddress: to, custody: 'external', pendingChange: null });
    expect(await mailTo(h, t.ann.email)).toContain(to);
    const { items } = (await t.ann.get('/api/v1/events?types=wallet.*')).body.data;
    expect(items.map((event: { type: string }) => event.type)).toEqual(['wallet.added', 'wallet.settlement_changed']);
  });

  it('cannot dodge the cooling-off by a wallet that is new, nor by a delay that was just shortened', async () => {
    const t = await team();
    await delay(t, 48);
    await t.ann.call('DELETE', `${path}/${t.wallet.id}`, { totpCode: await t.ann.code() });
    const to = anAddress();
    const body = { currency: 'ETH', settlementAddress: to, totpCode: await t.ann.code() };
    const added = await t.ann.post(path, body);
    expect(added.status).toBe(201);
    expect(added.body.data).toMatchObject({ custody: 'platform', pendingChange: { settlementAddress: to } });
    await t.ann.call('PATCH', '/api/v1/settings', { whitelistDelayHours: 0, totpCode: await t.ann.code() });
    const wallet = added.body.data as Wallet;
    expect((await repoint({ ...t, wallet }, anAddress())).body.data.pendingChange.status).toBe('cooling_off');
  });

  it('takes a second person where approvalUsd is set, who is no newcomer', async () => {
    const t = await team();
    await twoPeople(t);
    const to = anAddress();
    expect((await repoint(t, to)).body.data.pendingChange).toMatchObject({ status: 'awaiting_approval' });
    await pass(t);
    expect(await applyDue()).toBe(0);
    expect(codeOf(await decide(t.ann, t, 'approve'))).toBe('403 SECOND_PERSON_REQUIRED');
    const eve = await Person.member(t.ann, ['wallets:manage']);
    expect(codeOf(await decide(eve, t, 'approve'))).toBe('403 APPROVER_TOO_NEW');
    expect((await decide(t.bob, t, 'approve')).body.data).toMatchObject({ settlementAddress: to, pendingChange: null });
    expect(codeOf(await decide(t.bob, t, 'approve'))).toBe('409 INVALID_STATE');
    const first = h.db.query(`UPDATE settlement_change SET approved_by = requested_by WHERE wallet_id = $1`, [
      t.wallet.id,
    ]);
    await expect(first).rejects.toThrow('settlement_change_second_person');
  });

  it('is approved, and cools off too, where both are set', async () => {
    const t = await team();
    await twoPeople(t);
    await delay(t, 1);
    const to = anAddress();
    await repoint(t, to);
    expect((await decide(t.bob, t, 'approve')).body.data.pendingChange).toMatchObject({ status: 'cooling_off' });
    await pass(t);
    expect(await applyDue()).toBe(1);
    expect((await read(t)).settlementAddress).toBe(to);
  });

  it('is refused by any member who may change wallets, and a later change replaces one that waits', async () => {
    const t = await team();
    await delay(t, 1);
    await repoint(t, anAddress());
    const second = anAddress();
    expect((await repoint(t, second)).body.data.pendingChange.settlementAddress).toBe(second);
    expect((await decide(t.bob, t, 'reject')).body.data.pendingChange).toBe(null);
    await pass(t);
    expect(await applyDue()).toBe(0);
    expect(codeOf(await decide(t.bob, t, 'reject'))).toBe('409 INVALID_STATE');
    const rows = await h.db.query('SELECT status FROM settlement_change WHERE wallet_id = $1 ORDER BY created_at', [
      t.wallet.id,
    ]);
    expect(rows).toEqual([{ status: 'replaced' }, { status: 'stopped' }]);
  });

  it('is stopped by a link in the mail to all admins, once, without a session, and never by a look', async () => {
    const t = await team();
    await delay(t, 1);
    const to = anAddress();
    await repoint(t, to);
    const link = await stopLink(t.ann);
    const seen = await h.call('GET', link);
    expect(seen.body).toMatchObject({ status: 'cooling_off', settlementAddress: to, requestedBy: t.ann.email });
    expect(await read(t)).toMatchObject({ pendingChange: { settlementAddress: to } }); // a look stops nothing
    expect((await h.call('GET', `${link}/stop`)).status).toBe(405);
    expect((await stop(link, {})).status).toBe(400);
    expect((await stop(link)).body).toMatchObject({ status: 'stopped' });
    expect(codeOf(await stop(link))).toContain('409');
    expect((await read(t)).pendingChange).toBe(null);
    await pass(t);
    expect(await applyDue()).toBe(0);
    const { items } = (await t.ann.get('/api/v1/audit-log?action=wallet.settlement_stopped')).body.data;
    expect(items).toMatchObject([{ target: t.wallet.id, actor: { kind: 'anonymous' } }]);
    for (const wrong of ['0'.repeat(64), link.split('/').pop()!.slice(0, 24) + '0'.repeat(40), 'x'])
      expect((await stop(`/settlement-changes/${wrong}`)).status).toBe(404);
  });

  it('goes back to where it was when one that counts already is stopped, within a week', async () => {
    const t = await team();
    const to = anAddress();
    expect((await repoint(t, to)).body.data).toMatchObject({ settlementAddress: to, pendingChange: null });
    expect((await stop(await stopLink(t.ann))).body).toMatchObject({ status: 'stopped' });
    expect(await read(t)).toMatchObject({ settlementAddress: t.wallet.settlementAddress, custody: 'platform' });
    const again = anAddress();
    await repoint(t, again);
    const link = await stopLink(t.ann);
    await h.db.query(`UPDATE settlement_change SET applied_at = now() - interval '8 days' WHERE address = $1`, [again]);
    expect(codeOf(await stop(link))).toContain('409');
    expect((await read(t)).settlementAddress).toBe(again);
  });

  it('has a page with a button behind the link: a look does nothing, the button stops it', async () => {
    const { server, url } = await startCheckout(h, 0);
    const t = await team();
    await delay(t, 1);
    const to = anAddress();
    await repoint(t, to);
    const page = `${url}${(await stopLink(t.ann)).replace('/settlement-changes/', '/w/')}`;
    const look = async () => (await fetch(page)).text();
    const button = '<button class="button">Stop this change</button>';
    for (let n = 0; n < 2; n += 1) expect(await look()).toContain(button);
    expect(await look()).toContain(to);
    expect((await read(t)).pendingChange).not.toBe(null);
    const pushed = await fetch(page, { method: 'POST', redirect: 'manual' });
    expect([pushed.status, pushed.headers.get('location')]).toEqual([303, new URL(page).pathname]);
    expect(await look()).not.toContain(button);
    expect((await read(t)).pendingChange).toBe(null);
    server.closeAllConnections();
    server.close();
  });

  it('of two stops, or a stop and its hour, at once one wins', async () => {
    const t = await team();
    await delay(t, 1);
    await repoint(t, anAddress());
    const link = await stopLink(t.ann);
    const statuses = (await Promise.all([stop(link), stop(link), stop(link)])).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });

  it('shows nobody else’s change, and no secret in the list', async () => {
    const t = await team();
    await delay(t, 1);
    await repoint(t, anAddress());
    const eve = await team();
    expect(
      codeOf(await eve.ann.post(`${path}/${t.wallet.id}/settlement/reject`, { totpCode: await eve.ann.code() })),
    ).toBe('404 WALLET_NOT_FOUND');
    expect(JSON.stringify((await t.ann.get(path)).body)).not.toContain((await stopLink(t.ann)).split('/').pop());
  });
});
