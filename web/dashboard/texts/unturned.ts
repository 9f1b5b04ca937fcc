import { unturned } from '../../../domain/text';

/** Sentences that name somebody or something: no name in them may turn around the words beside it. */

type Sentence = (...parts: readonly unknown[]) => unknown;

const named = (part: unknown): unknown => (typeof part === 'string' ? unturned(part) : part);

function wrapped(text: unknown): unknown {
  if (typeof text === 'function') return (...parts: readonly unknown[]) => (text as Sentence)(...parts.map(named));
  if (typeof text === 'object' && text !== null)
    return Object.fromEntries(Object.entries(text).map(([name, child]) => [name, wrapped(child)]));
  return text;
}

/** Catalogues by what they were made of, so that each is made once and stays the same for whoever compares. */
const known = new WeakMap<object, object>();

/** The catalogue with sentences that show a sign in place of each character that turns text around. */
export function unturnedTexts<Texts extends object>(catalogue: Texts): Texts {
  const found = known.get(catalogue) ?? (wrapped(catalogue) as object);
  known.set(catalogue, found);
  return found as Texts;
}
