import type { ReactNode } from 'react';

/** What waits for a person: a line that leads to it. */
export type Line = Readonly<{ key: string; link: ReactNode }>;
/** Lines of one subject, once they are known. */
export type Part = Readonly<{ lines: readonly Line[]; error: unknown; isPending: boolean }>;

export const slow = { refetchInterval: 30_000 } as const;
