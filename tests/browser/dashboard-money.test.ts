import { conversions } from './dashboard/convert';
import { decisions } from './dashboard/decisions';
import { lookedAt } from './dashboard/looked-at';
import { money } from './dashboard/money';
import { newcomer } from './dashboard/newcomer';
import { payouts } from './dashboard/payouts';
import { aDashboard } from './person';
import { withBrowser } from './with-browser';

/** The dashboard's section on money in Chromium: all on one running service, whose chains go on by themselves. */
withBrowser('money in the dashboard', () => {
  const opened = aDashboard({
    miner: true,
    services: { checkout: 1 },
    env: { APPROVAL_COOLING_OFF_HOURS: '24' },
  });

  for (const section of [money, payouts, conversions, decisions, newcomer, lookedAt('money')]) section(opened);
});
