/** A whole instance is live, or for tests: other keys, other chains, another database. */
export const modes = ['live', 'test'] as const;
export type Mode = (typeof modes)[number];

export const secretKeyPrefixes = { live: 'svc_live_', test: 'svc_test_' } as const satisfies Record<Mode, string>;
export const publishableKeyPrefixes = { live: 'pk_live_', test: 'pk_test_' } as const satisfies Record<Mode, string>;

/** The mode that a key was made in, by its prefix; null: it is no key. */
export const modeOfKey = (token: string, prefixes: Readonly<Record<Mode, string>>): Mode | null =>
  modes.find((mode) => token.startsWith(prefixes[mode])) ?? null;
