import { writeSandboxFile } from '../../sandbox/sandbox-file';
import { seedSandbox } from '../../sandbox/seed';
import { aDashboard, Person } from './person';
import { withBrowser } from './with-browser';

/** The link with which `npm start` leads into the dashboard, in the environment of `npm start`. */

withBrowser('the demo login of a sandbox', () => {
  const opened = aDashboard({ env: { NODE_ENV: 'sandbox' } });

  it('10: leads home by its link alone, which leaves the address at once', async () => {
    const dashboard = opened();
    const { stack } = dashboard.world;
    const merchant = await seedSandbox(stack);
    const { demoLoginUrl } = writeSandboxFile(stack, merchant, 'http://127.0.0.1:1');
    // The seed has used the codes of this half minute up; a person comes later.
    await dashboard.world.db.query('UPDATE dashboard_user SET totp_last_step = 0 WHERE email = $1', [merchant.email]);
    const guest = await Person.sitsDown(dashboard, 'guest');
    await guest.page.goto(demoLoginUrl);
    await guest.sees('The login of the sandbox’s demo merchant is filled in.');
    await guest.press('Sign in');
    await guest.page.getByLabel('Code from your authenticator').waitFor();
    await guest.press('Sign in');
    await guest.title('Home');
    for (const secret of [merchant.password, merchant.totpSecret]) expect(await guest.holdings()).not.toContain(secret);
  }, 240_000);
});
