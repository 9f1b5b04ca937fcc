import { paymentStatuses } from '../../domain/payments/payment';
import { refundStatuses } from '../../domain/refunds/refund';
import { de } from '../../web/dashboard/texts/de';
import { en } from '../../web/dashboard/texts/en';

type Node = string | ((...args: never[]) => string) | { readonly [name: string]: Node };

/** Every text by its path, functions called with numbers, which read as texts as well. */
function textsOf(node: Node, path = ''): Map<string, string> {
  if (typeof node === 'string') return new Map([[path, node]]);
  if (typeof node === 'function')
    return new Map(
      [1, 2, 600].flatMap((count) => {
        const args = Array.from({ length: node.length }, () => count) as never[];
        return [[`${path}(${count}) of ${node.length}`, node(...args)] as const];
      }),
    );
  return new Map(Object.entries(node).flatMap(([name, child]) => [...textsOf(child, `${path}/${name}`)]));
}

const [english, german] = [en, de].map((texts) => textsOf(texts as Node)) as [Map<string, string>, Map<string, string>];
/** Words that both languages share. */
const same = [
  /^\/roles\/merchant_admin$/,
  /^\/payments\/status$/,
  /^\/passkeys\/(title|name)$/,
  /^\/timeline\/rate$/,
  /^\/home\/share/,
  /^\/nav\/(widgets|team)$/,
];

describe('the texts of the dashboard', () => {
  it('are in every language, none missing and none empty', () => {
    expect([...german.keys()].sort()).toEqual([...english.keys()].sort());
    for (const [path, text] of [...english, ...german])
      expect([path, text.trim()]).toEqual([path, expect.stringMatching(/\S/)]);
  });

  it('are translated', () => {
    const untranslated = [...english].filter(
      ([path, text]) => german.get(path) === text && !same.some((pattern) => pattern.test(path)),
    );
    expect(untranslated).toEqual([]);
  });

  it('say every status', () => {
    expect(Object.keys(en.statuses).sort()).toEqual([...paymentStatuses].sort());
    expect(Object.keys(en.refunds.statuses).sort()).toEqual([...refundStatuses].sort());
  });
});
