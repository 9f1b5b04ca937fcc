import { DomainError } from '../../domain/errors';

/** What a node answers; null: it gives no answer. What is no refusal of a node is thrown. */
export const answered = <T>(asked: Promise<T>): Promise<T | null> =>
  asked.catch((error: unknown) => {
    if (error instanceof DomainError) return null;
    throw error;
  });
