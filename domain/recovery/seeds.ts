/** Which seed the addresses of a branch are derived from. A signer begins with one seed; another that it is given
 *  beside the first begins a branch of its own, and signs everything that is made from then on. The first one goes on
 *  signing for the branches before. The signer's epoch file says which they are, and the database too: no restore of
 *  the database takes the file back. Decision: 0064. */

/** `seed`: a fingerprint of it, which tells nothing of it. `from`: the first branch that is derived from it. */
export type SeedSpan = Readonly<{ seed: string; from: number }>;

export type SeedsVerdict =
  Readonly<{ act: 'confirm' | 'begin'; spans: readonly SeedSpan[] }> | Readonly<{ act: 'refuse'; reason: string }>;

const refusal = (reason: string): SeedsVerdict => ({ act: 'refuse', reason });

/** What the signer does with these seeds. `given`: fingerprints, the newest last. `file`, `registered`: what the epoch
 *  file and the database say; empty where they know of none, '' for a seed of the database that is not among the given
 *  ones. `begin`: the newest is another than all before, and gets a branch; `spans` are those before it. */
export function seedsOf(
  given: readonly string[],
  file: readonly SeedSpan[],
  registered: readonly SeedSpan[],
): SeedsVerdict {
  const newest = given.at(-1);
  if (newest === undefined) return refusal('The signer has no seed: set SIGNER_SEED_FILE');
  if (new Set(given).size !== given.length)
    return refusal('SIGNER_SEED_FILE and SIGNER_EARLIER_SEED_FILES hold a seed twice');
  const [spans, other] = file.length > registered.length ? [file, registered] : [registered, file];
  const differ = (a: SeedSpan, b: SeedSpan): boolean =>
    a.from !== b.from || (a.seed !== b.seed && a.seed !== '' && b.seed !== '');
  if (other.some((span, n) => differ(span, spans[n]!)))
    return refusal(
      'The epoch file and the database do not agree which seed is of which branch. Give the signer its newest file',
    );
  const strange = given.slice(0, -1).filter((seed) => !spans.some((span) => span.seed === seed));
  if (strange.length)
    return refusal('SIGNER_EARLIER_SEED_FILES holds a seed that nothing was derived from: take it out, or correct it');
  const missing = spans.filter(({ seed }) => !given.includes(seed));
  if (missing.length)
    return refusal(
      `The seed of the branches from ${missing[0]!.from} on is missing: addresses of it are known to payers, and` +
        ' nobody else can sign for them. Name its file in SIGNER_EARLIER_SEED_FILES, or in SIGNER_SEED_FILE if it is' +
        ' the newest',
    );
  if (!spans.length) return { act: 'confirm', spans: [{ seed: newest, from: 0 }] };
  if (spans.at(-1)!.seed === newest) return { act: 'confirm', spans };
  if (spans.some((span) => span.seed === newest))
    return refusal('SIGNER_SEED_FILE holds an earlier seed: no seed begins again. Name the newest one there');
  return { act: 'begin', spans };
}

/** Of things by their first branch, in order: the one of a branch. */
export const ofBranch = <T extends Readonly<{ from: number }>>(spans: readonly T[], branch: number): T | undefined =>
  spans.findLast(({ from }) => from <= branch);
