import type { DataSource } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import type { Config } from '../../domain/config';
import {
  conclude,
  noDeposit,
  nodeAway,
  noSource,
  notConfigured,
  type Finding,
  type Screen,
  type ScreenCause,
  type ScreeningProvider,
  type Trace,
  type Verdict,
} from '../../domain/screening/screening';
import { failPoint } from '../../db/fail-point';
import { depositsToTrace, screenOfLook, storeScreen, type TracedDeposit } from '../../db/screening/screening';
import { inParallel } from '../../chains/json-rpc';
import { chainalysisProvider } from './chainalysis';
import { listProvider } from './list';

export type ScreeningDeps = Readonly<{
  db: DataSource;
  config: Pick<Config, 'amlProviders' | 'AML_API_URL' | 'AML_API_KEY'>;
  log: { warn(fields: object, text: string): void };
}>;

/** After this no further address is asked about; with the last answer it stays below the time that an activity may
 *  take. */
const askingMs = 20_000;
const width = 4;

/** The providers that AML_PROVIDER names. */
function providersOf({ db, config, log }: ScreeningDeps): ScreeningProvider[] {
  const warn = (reason: string) => log.warn({ provider: 'chainalysis', reason }, 'A source could not be screened');
  const make = {
    list: () => listProvider(db),
    chainalysis: () => chainalysisProvider({ url: config.AML_API_URL, apiKey: config.AML_API_KEY, warn }),
  };
  return config.amlProviders.map((name) => make[name]());
}

export const screeningActivities = (deps: ScreeningDeps) => {
  const { db } = deps;
  const providers = providersOf(deps);

  /** What every provider says of every address. */
  async function ask(traces: readonly Trace[]) {
    const until = Date.now() + askingMs;
    const questions = traces.flatMap(({ network, addresses }) =>
      addresses.flatMap((address) => providers.map((provider) => ({ provider, address, network }))),
    );
    return inParallel(questions, width, async ({ provider, address, network }) => {
      const finding: Finding =
        Date.now() < until
          ? await provider.screen(address, network as NetworkId)
          : { outcome: 'unavailable', reason: 'There was not enough time for all sources' };
      return { provider: provider.name, address, network, finding };
    });
  }

  /** `mayChange`: another look, later, may tell more. */
  async function look(
    deposits: readonly TracedDeposit[],
    traces: readonly Trace[] | null,
  ): Promise<{ verdict: Verdict; matches: object[]; mayChange: boolean }> {
    if (!providers.length) return { verdict: notConfigured, matches: [], mayChange: false };
    if (!deposits.length) return { verdict: noDeposit, matches: [], mayChange: false };
    if (!traces) return { verdict: nodeAway, matches: [], mayChange: true };
    const answers = await ask(traces);
    const isOut = answers.some(({ finding }) => finding.outcome === 'unavailable');
    const untraced: Finding[] = traces.some((trace) => trace.incomplete.length)
      ? [{ outcome: 'unavailable', reason: noSource.reason! }]
      : [];
    const matches = answers.flatMap(({ finding, ...where }) =>
      finding.outcome === 'answered' && finding.score > 0 ? [{ ...where, ...finding }] : [],
    );
    const verdict = answers.length ? conclude([...answers.map(({ finding }) => finding), ...untraced]) : noSource;
    return { verdict, matches, mayChange: isOut && verdict.status === 'unavailable' };
  }

  return {
    /** What a screen of this payment has to trace. */
    async depositsToScreen(paymentId: string): Promise<TracedDeposit[]> {
      return providers.length ? depositsToTrace(db.manager, paymentId) : [];
    },

    /** Asks the providers about the sources and stores what they say; `traces` null: no node could tell them. A repeat
     *  of the same `key` answers what the first has stored. Never throws for a provider. */
    async screenPayment(
      paymentId: string,
      deposits: readonly TracedDeposit[],
      traces: readonly Trace[] | null,
      cause: ScreenCause,
      key: string,
    ): Promise<{ screen: Screen; mayChange: boolean }> {
      const repeated = await screenOfLook(db.manager, key);
      if (repeated) return { screen: repeated, mayChange: repeated.status === 'unavailable' };
      const { verdict, matches, mayChange } = await look(deposits, traces);
      const screen = await db.transaction((tx) =>
        storeScreen(tx, paymentId, {
          cause,
          look: key,
          verdict,
          providers: providers.map((provider) => provider.name),
          txIds: [...new Set(deposits.map((deposit) => deposit.txId))],
          matches,
        }),
      );
      await failPoint('screening.afterCommit');
      return { screen, mayChange };
    },
  };
};
