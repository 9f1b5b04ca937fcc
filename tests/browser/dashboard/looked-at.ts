import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../sandbox/paths';
import { pages } from '../pages';
import type { Dashboard } from '../person';

/** What axe has to look at: every page of the router, every step that has no address, every dialog. Each of the two
 *  test files of the dashboard looks at its own part. */

type Part = 'money' | 'rest';

/** Pages that only lead on to another one. Where a person may see none of its pages, a section says so. */
const leading = ['/money', '/operators'];
const ofMoney = (page: string): boolean => page.startsWith('/money/') || page === '/payments/refunds';
const pagesOf = (part: Part): string[] =>
  pages.filter((page) => !leading.includes(page) && ofMoney(page) === (part === 'money'));

/** Steps of a page by their heading. A page that is not there, or could not be shown, has no address of its own. */
const steps: Readonly<Record<Part, readonly string[]>> = {
  money: [],
  rest: [
    '/register: Confirm your e-mail address',
    '/sign-in: Set up your authenticator',
    '/sign-in: Backup codes',
    '/accept-invitation: Set up your authenticator',
    'no page: Page not found',
    '/settings: This page cannot be shown',
  ],
};

/** The dialogs of each file by the page that they open over and their title. */
const dialogs: Readonly<Record<Part, Readonly<Record<string, readonly RegExp[]>>>> = {
  money: {
    'money/convert-accept.tsx': [/The price has moved$/],
    'money/payout.tsx': [/\$payoutId: Approve$/, /: Cancel the rest$/],
    'money/wallet-acts.tsx': [
      /: Add a wallet$/,
      /: Change the settlement address of /,
      /: Deactivate the wallet of /,
      /: Approve the address$/,
      /: Reject the address$/,
    ],
    'money/whitelist-add.tsx': [/: Add an address$/, /: Add an IP address$/],
    'money/whitelist.tsx': [/whitelist: Remove /],
    'money/withdraw.tsx': [/: Withdraw$/],
    'money/withdrawal.tsx': [/\$withdrawalId: Approve$/, /: Reject$/, /: Cancel the withdrawal$/],
    'payments/acts.tsx': [/: Accept what arrived$/, /: Accept the other coin$/, /: Reject the other coin$/],
    'payments/create-refund.tsx': [/: Refund$/],
    'payments/refund.tsx': [/: Approve the refund$/, /: Reject the refund$/, /: Cancel the refund$/],
  },
  rest: {
    'account/new-backup-codes.tsx': [/: Your new backup codes$/],
    'account/passkeys.tsx': [/: Add a passkey$/, /: Remove the passkey /],
    'account/sessions.tsx': [/: Sign out: /],
    'developers/change-key.tsx': [/: Change the key /, /keys: Revoke the key /],
    'developers/create-key.tsx': [/: Create a key$/],
    'developers/delivery.tsx': [/webhooks\/\$endpointId: webhook\.test$/],
    'developers/edit-endpoint.tsx': [/: Add an endpoint$/, /webhooks\/\$endpointId: Change$/],
    'developers/endpoint-acts.tsx': [
      /: Send a test event$/,
      /: Replace the secret$/,
      /\$endpointId: The secret of the endpoint$/,
      /: Replay events$/,
      /webhooks\/\$endpointId: Delete$/,
    ],
    'developers/endpoint.tsx': [/: Switch off$/],
    'developers/keys.tsx': [/keys: Your new key$/, /keys: Your new key$/],
    'developers/publishable-key.tsx': [/: Publishable key$/],
    'developers/request.tsx': [/requests: GET /],
    'developers/roll-key.tsx': [/: Replace the key /],
    'developers/webhooks.tsx': [/webhooks: The secret of the endpoint$/],
    'operators/ask.tsx': [/requests: Ask for an act$/],
    'operators/exposure-dialogs.tsx': [/limits: Limit /, /: Set a pair$/],
    'operators/incident.tsx': [/: Resolve: /],
    'operators/invite-codes.tsx': [/: Invitation code made$/, /: Make an invitation code$/, /: Revoke the code for /],
    'operators/limits-dialog.tsx': [/\$merchantId: Change the limits: /, /limits: Change the limits of the platform/],
    'operators/merchant-acts.tsx': [/: Suspend: /, /: Lift the suspension: /, /: Change the commission: /],
    'operators/registrations.tsx': [/registrations: Approve: /, /registrations: Refuse: /],
    'operators/requests.tsx': [/requests: Confirm: /, /requests: Cancel: /],
    'operators/stops.tsx': [/: Freeze$/, /: Turn off: /, /: Turn on: /],
    'palette/palette.tsx': [/: Go to or do$/],
    'payments/acts.tsx': [/: Cancel the payment$/],
    'payments/cancel-chosen.tsx': [/payments: Cancel the unpaid ones$/],
    'payments/create.tsx': [/: Create a payment$/],
    'settings/branding.tsx': [/: Remove the logo$/],
    'settings/notifications.tsx': [/: Make a new secret$/, /: Your new secret$/],
    'shell/shell.tsx': [/: Sign out everywhere$/, /: Your session has ended$/],
    'step-up/step-up.tsx': [
      /that it is you: Authenticator$/,
      /that it is you: E-mail code$/,
      /that it is you: Passkey$/,
    ],
    'team/change-member.tsx': [/members: Change /],
    'team/invitations.tsx': [/: Revoke the invitation of /],
    'team/invite.tsx': [/: Invite a member$/],
    'team/members-keys.tsx': [/: Keys that .* has made$/],
    'team/remove-member.tsx': [/members: Remove /],
    'widgets/editor.tsx': [/widgets\/\$widgetId: Delete$/],
  },
};

/** Components that hand the title of their dialog on. */
const wrappers = ['design/confirm', 'design/form-dialog', 'design/once', 'operators/reason-dialog', 'step-up/decision'];
const folder = join(root, 'web', 'dashboard');
/** How many dialogs each file of the dashboard has. */
const dialogsIn = (): Map<string, number> => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.tsx') && !wrappers.includes(file.replace('.tsx', '')))
    .map((file) => [file, readFileSync(join(folder, file), 'utf8')] as const);
  const opening = /<(?:Dialog|FormDialog|ConfirmDialog|ReasonDialog|DecisionDialog|SecretOnce)\b/g;
  return new Map(files.map(([file, text]) => [file, text.match(opening)?.length ?? 0] as const).filter(([, n]) => n));
};

const listed = (file: string): number => (dialogs.money[file]?.length ?? 0) + (dialogs.rest[file]?.length ?? 0);

/** The last of the sections: fails for what none before it has looked at. */
export const lookedAt = (part: Part) => (opened: () => Dashboard) =>
  describe('axe has looked at', () => {
    it('every page', () => {
      const { views } = opened();
      expect(pagesOf(part).filter((page) => !views.has(page))).toEqual([]);
    });

    it('every step of a page', () => {
      const { views } = opened();
      expect(steps[part].filter((step) => !views.has(step))).toEqual([]);
    });

    it('every dialog', () => {
      const views = [...opened().views];
      const missing = Object.entries(dialogs[part]).flatMap(([file, titles]) =>
        titles.filter((title) => !views.some((view) => title.test(view))).map((title) => `${file} ${title}`),
      );
      expect(missing).toEqual([]);
    });

    it('each that the code has is listed', () => {
      const found = dialogsIn();
      const files = [...new Set([...found.keys(), ...Object.values(dialogs).flatMap((one) => Object.keys(one))])];
      expect(files.filter((file) => listed(file) < (found.get(file) ?? 1))).toEqual([]);
    });
  });
