import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { checkParts, checkSettings, type Examined, type MacaroonFiles } from './checks';

/** Looks at every part that the settings name and prints what it finds, each fault with what to do. Changes nothing and
 *  sends no mail. Returns 1 where there is a fault. `--json`: one line a finding, for scripts. `--pay-macaroon` and
 *  `--invoice-macaroon`: files that other processes have. */
export async function runDoctor(
  env: Readonly<Record<string, string | undefined>>,
  args: readonly string[],
): Promise<number> {
  const { values } = parseArgs({ args: [...args], options });
  const macaroons: MacaroonFiles = {
    ...(values['pay-macaroon'] ? { LIGHTNING_PAY_MACAROON_FILE: values['pay-macaroon'] } : {}),
    ...(values['invoice-macaroon'] ? { LIGHTNING_INVOICE_MACAROON_FILE: values['invoice-macaroon'] } : {}),
  };
  const { config, findings } = checkSettings(env, (path) => readFileSync(path, 'utf8'));
  const all = config ? [...findings, ...(await checkParts(config, true, macaroons))] : findings;
  for (const one of all) console.log(values.json ? JSON.stringify(one) : inWords(one));
  const faults = all.filter(({ state }) => state === 'fault').length;
  const warnings = all.filter(({ state }) => state === 'warning').length;
  if (!values.json) console.log(`\n${count(faults, 'fault')}, ${count(warnings, 'warning')}`);
  return faults ? 1 : 0;
}

const options = {
  json: { type: 'boolean' },
  'pay-macaroon': { type: 'string' },
  'invoice-macaroon': { type: 'string' },
} as const;

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
const marks = { good: 'good   ', warning: 'WARNING', fault: 'FAULT  ' } as const;

const inWords = (finding: Examined): string =>
  `${marks[finding.state]}  ${finding.subject}: ${finding.what}` +
  (finding.state === 'good' ? '' : `\n         What to do: ${finding.fix}`);

if (require.main === module)
  runDoctor(process.env, process.argv.slice(2)).then(
    (code) => process.exit(code),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
