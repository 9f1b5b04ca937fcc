import { accounts } from './dashboard/account';
import { bulk } from './dashboard/bulk';
import { developers } from './dashboard/developers';
import { dialogs } from './dashboard/dialogs';
import { heldMoney } from './dashboard/held';
import { links } from './dashboard/links';
import { lookedAt } from './dashboard/looked-at';
import { mailedLinks } from './dashboard/mailed-links';
import { operators } from './dashboard/operators';
import { platformMoney } from './dashboard/platform-money';
import { refusedPages } from './dashboard/refused';
import { settingsPage } from './dashboard/settings';
import { team } from './dashboard/team';
import { widgets } from './dashboard/widgets';
import { aDashboard } from './person';
import { withBrowser } from './with-browser';

/** The dashboard in Chromium, but for its section on money: all sections on one running service, each with people and a
 *  merchant of its own. The preview of a widget is of the checkout's origin. */
withBrowser('the dashboard', () => {
  const opened = aDashboard({ services: { checkout: 1 } });

  const sections = [
    accounts,
    bulk,
    heldMoney,
    dialogs,
    links,
    mailedLinks,
    developers,
    team,
    settingsPage,
    refusedPages,
    widgets,
  ];
  for (const section of [...sections, operators, platformMoney, lookedAt('rest')]) section(opened);
});
