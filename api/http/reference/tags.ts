/** The parts of the API reference, in the order in which they are shown. Every route has one of them. */
export const tags: Readonly<Record<string, string>> = {
  Payments: 'Create payments, follow them, and decide what becomes of those that were not paid as asked.',
  Invoices: 'What the page of a payer reads and does. No credential: who has the invoice id may see the invoice.',
  'Test mode': 'What only test instances answer: payers who act at once.',
  Refunds: 'Send money of a payment back to its payer.',
  Conversions: 'Quote and execute conversions between balances.',
  Currencies: 'Coins, their networks and the smallest payments.',
  Ledger: 'Balances, and every entry that led to them.',
  'Mass payouts':
    'Pay many addresses of the whitelist in one batch. Sessions of the dashboard create them; keys may read them.',
  Withdrawals:
    'Send a balance to an address of the whitelist. Sessions of the dashboard create them; keys may read them.',
  Wallets: 'Where settled money of each currency goes.',
  Whitelist: 'Addresses that money may go to, and networks from which it may be sent there.',
  Webhooks: 'Servers that are sent every event, and what became of each delivery.',
  Events: 'The stream that webhooks are made of, in order and without gaps.',
  Widgets: 'Buttons and forms for pages of shops.',
  'Widget checkout': 'What an embedded widget calls, with a publishable key.',
  'API keys': 'Secret keys with their scopes, and the publishable key.',
  Settings: 'Settings of a merchant.',
  Team: 'Members, their permissions and invitations.',
  Account: 'The signed-in user: name, password, sessions, second factors.',
  Authentication: 'Sign-up, sign-in and sessions of the dashboard.',
  Diagnostics: 'What was asked with your secret keys, and why a request was refused.',
  Platform: 'Acts of the operators of this instance.',
  Reference: 'This document.',
  Operations: 'Probes.',
};
