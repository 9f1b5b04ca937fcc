import type { ExpiringWallet } from '../../db/txmanager/expiry';
import type { TermsAnswer } from '../../domain/chains/chain';
import { areAllVoid, isTimeToGiveUp, refusalToSign, type ExpiringAttempt } from '../../domain/txmanager/expiry';
import type { RowFacts } from '../obligation';

/** The part of the signing policy for transactions that expire. docs/decisions/0060-signing-what-expires.md; whose turn
 *  it is: docs/decisions/0100-turns-at-a-wallet.md */

/** `attempts`: by the rows, which others write too. `signed`: by the signer's own record, void where its own node has
 *  proven it. `terms`: what that node said before the rows were locked. `ageSeconds`: since the first was signed.
 *  `isRefused`: a node says that no block takes it as it is. `givesUp`: of a row that ends, and gives back what it
 *  holds, where nothing will be mined; null: of what goes on. `before`: owners that have its wallet before it. */
export type ExpiryFacts = Readonly<{
  givesUp: Pick<RowFacts, 'state'> | null;
  attempts: readonly ExpiringAttempt[];
  signed: readonly ExpiringAttempt[];
  ageSeconds: number;
  isRefused: boolean;
  wallet: ExpiringWallet;
  before: readonly string[];
  terms: TermsAnswer;
}>;

/** `behind`: it waits for its wallet alone, and so many owners have that before it. */
type Verdict =
  | Readonly<{ state: 'waiting'; reason: string; cause: 'funds' | 'checked' | 'network'; behind?: number }>
  | Readonly<{ state: 'dropped'; reason: string; isGivenUp: true }>
  | Readonly<{ state: 'foreign'; reason: string; sequence: number }>;

const wait = (reason: string): Verdict => ({ state: 'waiting', reason, cause: 'network' });
/** Its wallet has something else first. It waits for a turn there if nothing else is against it by the node's word. */
const waitForWallet = ({ terms, before }: ExpiryFacts, reason: string): Verdict => ({
  ...{ state: 'waiting', reason, cause: 'network' },
  ...(terms.state === 'done' ? { behind: before.length } : {}),
});

/** What is against another transaction; null: nothing. `from`: its wallet. */
export const verdictOnExpiry = (facts: ExpiryFacts, from: string): Verdict | null =>
  standing(facts) ?? givenUp(facts) ?? asTheNodeSays(facts, from) ?? inTurn(facts);

/** Nothing of the intent stands, by the rows and by what the signer's own node has proven; and its wallet has nothing
 *  open. */
function standing(facts: ExpiryFacts): Verdict | null {
  const { attempts, signed, wallet, terms } = facts;
  // Without a block to sign on, only what stands counts.
  const height = terms.state === 'done' ? terms.terms.on.height : Number.MAX_SAFE_INTEGER;
  const reason = refusalToSign(signed, height) ?? refusalToSign(attempts, height);
  if (reason !== null) return wait(reason);
  return wallet.open === null ? null : waitForWallet(facts, `${wallet.open} of its wallet is open`);
}

/** All that was signed is void, so that what its row holds may be returned: after so many attempts, or so long, or
 *  where it is too late for its row. Money of our own goes on. */
function givenUp({ givesUp, attempts, signed, ageSeconds, isRefused }: ExpiryFacts): Verdict | null {
  if (!givesUp || !attempts.length || !areAllVoid([...attempts, ...signed])) return null;
  const isLate = givesUp.state === 'ended';
  if (!isLate && !isTimeToGiveUp(attempts.length, ageSeconds, isRefused)) return null;
  const reason = `no block has taken any of ${attempts.length} transactions, and all have expired`;
  return { state: 'dropped', reason, isGivenUp: true };
}

const causes = { short: 'funds', fails: 'checked', unclear: 'network' } as const;

/** The signer's own node has said on what to sign, and its account is where our own transactions have left it. */
function asTheNodeSays(facts: ExpiryFacts, from: string): Verdict | null {
  const { wallet, terms: answer } = facts;
  if (answer.state !== 'done') return { state: 'waiting', reason: answer.reason, cause: causes[answer.state] };
  const { on, sequence } = answer.terms;
  // Two that are signed on one block could have the same bytes.
  if (wallet.signedOn !== null && on.height <= wallet.signedOn)
    return waitForWallet(facts, `its wallet has signed on block ${wallet.signedOn}, and the node is at ${on.height}`);
  if (sequence === null || wallet.sequence === null || sequence === wallet.sequence) return null;
  if (sequence < wallet.sequence)
    return wait(`its account is at sequence ${sequence}, and ours at ${wallet.sequence}: the node lags`);
  const used = `${wallet.sequence}${sequence === wallet.sequence + 1 ? '' : ` to ${sequence - 1}`}`;
  return { state: 'foreign', sequence, reason: `Wallet ${from}: somebody else has used its sequence ${used}` };
}

/** Whoever waits longer for the wallet has it first. */
function inTurn(facts: ExpiryFacts): Verdict | null {
  const [first, ...others] = facts.before;
  if (first === undefined) return null;
  const more = others.length ? ` and ${others.length} more` : '';
  return waitForWallet(facts, `${first}${more} waited for its wallet before it`);
}
