import { Client } from 'pg';
import { freshDatabase } from '../setup/postgres';
import { Describer } from './statements/describe';
import { neverNull, knownByARun } from './statements/exceptions';
import { findStatements, type Statement } from './statements/find';
import { mismatches, type Mismatch } from './statements/fit';

/** The migrated schema takes every SQL statement of the source, which gives the rows that the source reads. */

type Finding = Mismatch & Readonly<{ statement: Statement }>;

const source = findStatements();
const isSample = ({ at }: { at: string }): boolean => at.startsWith('tests/');
let database: Awaited<ReturnType<typeof freshDatabase>>;
let client: Client;
let findings: readonly Finding[];

beforeAll(async () => {
  database = await freshDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
  findings = await findingsOf(source.statements);
});
afterAll(async () => {
  await client?.end();
  await database?.drop();
});

async function findingsOf(statements: readonly Statement[]): Promise<Finding[]> {
  const describer = await Describer.on(client);
  const found: Finding[] = [];
  for (const ofFile of Map.groupBy(statements, ({ at }) => at.split(' ')[0]).values()) {
    const results = await describer.inTurn(ofFile.map(({ text }) => text));
    for (const [index, statement] of ofFile.entries()) {
      const described = results[index]!;
      if (described instanceof Error) found.push({ statement, says: `is refused: ${described.message}` });
      else for (const one of mismatches(source.checker, statement, described)) found.push({ statement, ...one });
    }
  }
  return found;
}

/** Where a statement is, how it begins, and what is wrong with it. */
const inWords = ({ statement: { at, line, text }, says }: Finding): string => {
  const [file, name] = at.split(' ');
  return `${file}:${line} (${name}) «${text.replaceAll(/\s+/g, ' ').trim().slice(0, 70)}» ${says}`;
};
const exceptionOf = ({ statement, nullable }: Finding): string => `${statement.at} ${nullable}`;

it('takes every statement, and gives the rows that it is read as', () => {
  const wrong = findings.filter((one) => !isSample(one.statement) && !(exceptionOf(one) in neverNull));
  expect([...new Set(wrong.map(inWords))]).toEqual([]);
});

it('knows the text of every statement but of a few, and no exception is left over', () => {
  const unlisted = source.opaque.filter((one) => !isSample(one) && !(one.at in knownByARun));
  expect(unlisted.map(({ at, line, part }) => `${at}:${line} ${part}`)).toEqual([]);
  expect(Object.keys(knownByARun).filter((at) => !source.opaque.some((one) => one.at === at))).toEqual([]);
  const used = new Set(findings.map(exceptionOf));
  expect(Object.keys(neverNull).filter((one) => !used.has(one))).toEqual([]);
  expect(new Set(source.statements.map(({ at, line }) => `${at}:${line}`)).size).toBeGreaterThan(500);
});

it('says what is wrong with each of the samples', () => {
  const said = findings
    .filter(({ statement }) => isSample(statement))
    .map(({ statement, says }) => [statement.at.split(' ')[1], says]);
  expect(said).toEqual([
    ['unknownColumn', 'is refused: column "nme" does not exist'],
    ['missing', 'does not give name of { id: string; name: string; }'],
    ['surplus', 'gives name, which { id: string; } does not have'],
    ['wrongType', 'gives amount: string, declared number'],
    ['wrongList', 'gives amounts: number[], declared string[]'],
    ['neverNull', 'gives block_hash, may be null, declared string'],
    ['ofEntity', 'does not give created_at of { id: boolean; mode: "live" | "test"; cr'],
    ['twice', 'gives id twice'],
    ['tooFew', 'takes 2 values and is given 1'],
    ['asRows', 'gives a pair of rows and count, read as rows'],
    ['asChange', 'is no UPDATE or DELETE: the driver gives rows alone'],
    ['onOneBranch', 'is refused: column "nme" does not exist'],
    ['untyped', 'is read as anything'],
  ]);
  expect(source.opaque.filter(isSample).map(({ part }) => part)).toEqual(['${table}']);
});
