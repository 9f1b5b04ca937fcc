/** The pages of the site by groups, in the order of its navigation. `from`: the Markdown in the repository. `to`: the
 *  address below the base, without slashes; empty: the first page. `name`: in the navigation, where the title is too
 *  long for it. */
export const groups = [
  {
    title: 'Start',
    pages: [
      { from: 'docs/guides/README.md', to: '' },
      { from: 'docs/guides/quickstart.md', to: 'quickstart', name: 'Quickstart' },
      { from: 'docs/guides/shop.md', to: 'shop' },
      { from: 'docs/guides/test-mode.md', to: 'test-mode' },
      { from: 'docs/guides/sdks.md', to: 'sdks' },
      { from: 'sdk/typescript/README.md', to: 'sdks/typescript' },
      { from: 'sdk/python/README.md', to: 'sdks/python' },
      { from: 'sdk/cli/README.md', to: 'command-line' },
    ],
  },
  {
    title: 'Payments',
    pages: [
      { from: 'docs/guides/payments.md', to: 'payments' },
      { from: 'docs/payment-states.md', to: 'payment-states' },
      { from: 'docs/guides/exceptions.md', to: 'exceptions' },
      { from: 'docs/guides/refunds.md', to: 'refunds' },
      { from: 'docs/widgets.md', to: 'widgets', name: 'Widgets' },
    ],
  },
  {
    title: 'Webhooks',
    pages: [
      { from: 'docs/guides/webhooks.md', to: 'webhooks' },
      { from: 'docs/guides/events.md', to: 'events' },
    ],
  },
  {
    title: 'Money',
    pages: [
      { from: 'docs/guides/conversions.md', to: 'conversions' },
      { from: 'docs/guides/payouts.md', to: 'payouts' },
      { from: 'docs/guides/custody-and-fees.md', to: 'custody-and-fees' },
    ],
  },
  {
    title: 'Calling the API',
    pages: [
      { from: 'docs/guides/scopes.md', to: 'scopes' },
      { from: 'docs/guides/errors.md', to: 'errors', hasRowAnchors: true },
      { from: 'docs/guides/refused-creations.md', to: 'refused-creations', hasRowAnchors: true },
      { from: 'docs/guides/idempotency.md', to: 'idempotency' },
      { from: 'docs/guides/lists.md', to: 'lists' },
      { from: 'docs/guides/rate-limits.md', to: 'rate-limits' },
      { from: 'docs/guides/api-changes.md', to: 'api-changes' },
    ],
  },
  {
    title: 'Going live',
    pages: [
      { from: 'docs/guides/going-live.md', to: 'going-live' },
      { from: 'docs/guides/moving.md', to: 'moving' },
      { from: 'docs/operations/test-instance.md', to: 'test-instance', name: 'Running a test instance' },
      { from: 'docs/operations/doctor.md', to: 'doctor', name: 'Checking an installation' },
      { from: 'docs/operations/backup-and-restore.md', to: 'backup-and-restore' },
      { from: 'docs/operations/audit.md', to: 'audit' },
      { from: 'docs/operations/personal-data.md', to: 'personal-data' },
      { from: 'docs/guides/glossary.md', to: 'glossary' },
    ],
  },
  {
    title: 'Operating',
    pages: [
      { from: 'docs/operations/platform.md', to: 'operating', name: 'Acts of operators' },
      { from: 'docs/operations/temporal-ui.md', to: 'temporal-ui' },
      { from: 'docs/operations/operator-requests.md', to: 'operator-requests', name: 'Requests of operators' },
      { from: 'docs/operations/incidents.md', to: 'incidents', name: 'Incidents' },
      { from: 'docs/operations/stuck-transactions.md', to: 'stuck-transactions' },
      { from: 'docs/operations/new-destinations.md', to: 'new-destinations' },
      { from: 'docs/operations/stale-node.md', to: 'stale-node' },
      { from: 'docs/operations/reorganisation.md', to: 'reorganisation' },
      { from: 'docs/operations/untraced-blocks.md', to: 'untraced-blocks' },
      { from: 'docs/conversions.md', to: 'swap-providers', name: 'Conversions at providers' },
    ],
  },
];

export const pages = groups.flatMap((group) => group.pages.map((page) => ({ ...page, group: group.title })));

/** Addresses of a part of the reference. */
export const partFolders = { integrators: 'api', dashboard: 'api/dashboard', operators: 'api/operators' };
