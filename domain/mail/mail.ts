import type { FactorAction } from '../access/access';

/** Mail in plain text: nothing a client could hide a link behind. */
export type Mail = Readonly<{ to: string; template: string; subject: string; text: string }>;

/** Where links in mail lead: configuration, never a request's Host. */
type Places = Readonly<{ dashboardUrl: string }>;

const lines = (...parts: readonly string[]): string => `${parts.join('\n\n')}\n`;
/** A page of the dashboard. What the link proves is in its fragment: browsers send that to no server and to no log. */
export const dashboardLink = (
  { dashboardUrl }: Places,
  path: string,
  secrets: Readonly<Record<string, string>> = {},
): string => {
  const url = new URL(dashboardUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
  url.hash = new URLSearchParams(secrets).toString();
  return url.href;
};

const acts: Readonly<Record<FactorAction, string>> = {
  wallet_change: 'change a wallet',
  whitelist_change: 'change the whitelist',
  api_key: 'create an API key',
  publishable_key: 'rotate the publishable key',
  ipn_secret: 'rotate the IPN secret',
  team: 'change the team',
  password: 'change your password',
  passkey: 'change your passkeys',
  backup_codes: 'make new backup codes',
  platform: 'change the platform',
  refund: 'refund a payment',
  conversion: 'convert a balance',
  mass_payout: 'send a mass payout',
  withdrawal: 'withdraw money',
  egress_limits: 'change what may be sent',
};

export const verificationMail = (to: string, code: string): Mail => ({
  to,
  template: 'verification',
  subject: 'Confirm your e-mail address',
  text: lines(
    `Your verification code is ${code}.`,
    'It is valid for 15 minutes. If you did not register, ignore this message.',
  ),
});

export const registrationApprovedMail = (to: string, places: Places): Mail => ({
  to,
  template: 'registration-approved',
  subject: 'Your registration is approved',
  text: lines('Your account is open. Sign in here:', dashboardLink(places, '/sign-in')),
});

export const registrationRefusedMail = (to: string): Mail => ({
  to,
  template: 'registration-refused',
  subject: 'Your registration was refused',
  text: lines('We cannot open an account for you. Nobody can sign in with this e-mail address.'),
});

export const resetMail = (to: string, token: string, places: Places): Mail => ({
  to,
  template: 'password-reset',
  subject: 'Reset your password',
  text: lines(
    'Somebody, probably you, asked to reset your password:',
    dashboardLink(places, '/reset-password', { email: to, token }),
    'The link is valid for 15 minutes and serves once. If it was not you, ignore this message: nothing has changed.',
  ),
});

export const outboundLimitsMail = (to: string, by: string): Mail => ({
  to,
  template: 'egress-limits',
  subject: 'The limits on what may be sent were changed',
  text: lines(
    `${by} has changed how much money may be sent within a day, or without a second person.`,
    'Tighter limits count now, looser ones in 24 hours. If this should not be, change them back and suspend the user.',
  ),
});

export const approverMail = (
  to: string,
  grant: Readonly<{
    merchantName: string;
    member: string;
    by: string;
    acts: readonly string[];
    hours: number;
  }>,
): Mail => ({
  to,
  template: 'approver',
  subject: `${grant.member} may approve payments of ${grant.merchantName}`,
  text: lines(
    `${grant.by} gave ${grant.member} the right to approve: ${grant.acts.join(', ')}.`,
    `Above the limit that takes two people it counts in ${grant.hours} hours. If this should not be, ` +
      'take the right away or suspend the member before then.',
  ),
});

export const passwordChangedMail = (to: string): Mail => ({
  to,
  template: 'password-changed',
  subject: 'Your password was changed',
  text: lines(
    'Your password was changed, and every session was signed out.',
    'If it was not you, reset your password at once and tell an admin of your team.',
  ),
});

export const factorMail = (to: string, action: FactorAction, code: string): Mail => ({
  to,
  template: 'factor',
  subject: 'Your confirmation code',
  text: lines(
    `Your code to ${acts[action]} is ${code}.`,
    'It is valid for 15 minutes, serves once, and for nothing else. Nobody from us will ever ask you for it.',
  ),
});

export const invitationMail = (
  to: string,
  invitation: Readonly<{ merchantName: string; invitedBy: string; token: string }>,
  places: Places,
): Mail => ({
  to,
  template: 'invitation',
  subject: `${invitation.merchantName} invites you`,
  text: lines(
    `${invitation.invitedBy} invites you to the team of ${invitation.merchantName}:`,
    dashboardLink(places, '/accept-invitation', { token: invitation.token }),
    'The link is valid for 7 days. If you do not know them, ignore this message.',
    'If you already have an account with this address, it cannot join a second team: ask them to invite another ' +
      'address of yours, or have your other team remove you first.',
  ),
});

export const walletChangedMail = (to: string, change: Readonly<{ merchantName: string; what: string }>): Mail => ({
  to,
  template: 'wallet-changed',
  subject: `A wallet of ${change.merchantName} was changed`,
  text: lines(change.what, 'If nobody of your team did this, tell us at once.'),
});

export const settlementChangeMail = (
  to: string,
  change: Readonly<{
    merchantName: string;
    by: string;
    currency: string;
    address: string;
    before: string;
    /** null: it counts already. */
    activeAt: Date | null;
    needsSecondPerson: boolean;
    stopUrl: string;
  }>,
): Mail => ({
  to,
  template: 'settlement-change',
  subject: `Where ${change.currency} of ${change.merchantName} settles is changed`,
  text: lines(
    `${change.by} pointed the ${change.currency} wallet at ${change.address}; before it was ${change.before}.`,
    change.activeAt === null
      ? 'It counts for payments made from now on.'
      : `It counts from ${change.activeAt.toISOString()} on` +
          `${change.needsSecondPerson ? ', once a second person has approved it' : ''}.`,
    'If this should not be, open this page and stop it. The link serves once, and nobody needs to sign in:',
    change.stopUrl,
  ),
});

export const settlementAppliedMail = (
  to: string,
  change: Readonly<{ currency: string; address: string; before: string; by: string }>,
): Mail => ({
  to,
  template: 'settlement-applied',
  subject: `${change.currency} settles to another address from now on`,
  text: lines(
    `What ${change.by} asked for counts now: the ${change.currency} wallet points at ${change.address}; ` +
      `before it was ${change.before}.`,
    'If this should not be, the link of the mail before this one stops it for another week.',
  ),
});

export const whitelistChangedMail = (to: string, change: Readonly<{ merchantName: string; what: string }>): Mail => ({
  to,
  template: 'whitelist-changed',
  subject: `The whitelist of ${change.merchantName} was changed`,
  text: lines(change.what, 'If nobody of your team did this, remove it and tell us at once.'),
});

export const endpointDisabledMail = (
  to: string,
  endpoint: Readonly<{ merchantName: string; url: string; isGone: boolean }>,
): Mail => ({
  to,
  template: 'webhook-endpoint-disabled',
  subject: `A webhook endpoint of ${endpoint.merchantName} was switched off`,
  text: lines(
    endpoint.isGone
      ? `${endpoint.url} answered 410 Gone, so no events are sent there any more.`
      : `Every delivery to ${endpoint.url} has failed for five days, so no events are sent there any more.`,
    'Once it works again, switch it on and replay what it has missed.',
  ),
});
