// Checks a proof of liabilities: node verify-liability.mjs <proof.json> <published root>
// Needs no package and trusts nothing but the root you were given elsewhere. The format is described in liabilities.md.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const parts = ['available', 'reserved', 'unsettled', 'unallocated', 'transit'];

/** Decimal string to whole units of 10^-18. */
function units(text) {
  const found = /^(\d{1,42})(?:\.(\d{1,18}))?$/.exec(text);
  if (!found) throw new Error(`'${text}' is not an amount`);
  return BigInt(found[1] + (found[2] ?? '').padEnd(18, '0'));
}
const sha256 = (...lines) => createHash('sha256').update(lines.join('\n')).digest('hex');
const order = (a, b) => (a.currency < b.currency ? -1 : 1);

function check(proof, root) {
  if (proof.format !== 'sha256-sum-tree-1') throw new Error(`unknown format '${proof.format}'`);
  const trees = [...proof.assets].sort(order);
  if (new Set(trees.map(({ currency }) => currency)).size !== trees.length)
    throw new Error('a currency is there twice');
  const top = sha256(proof.format, ...trees.flatMap((tree) => [tree.currency, units(tree.total), tree.root]));
  if (top !== root) throw new Error(`the currencies lead to ${top}, not to the published root`);
  const merchants = new Set(proof.leaves.map(({ leaf }) => leaf.merchantId));
  const currencies = new Set(proof.leaves.map(({ leaf }) => leaf.currency));
  if (merchants.size > 1 || currencies.size !== proof.leaves.length)
    throw new Error('leaves of several merchants, or one twice');
  for (const { leaf, path } of proof.leaves) {
    const amounts = parts.map((part) => units(leaf[part]));
    let hash = sha256('leaf', leaf.merchantId, leaf.currency, ...amounts, leaf.salt);
    let sum = amounts.reduce((total, amount) => total + amount, 0n);
    for (const step of path) {
      const other = units(step.sum);
      if (!/^[0-9a-f]{64}$/.test(step.hash)) throw new Error('a step without a hash');
      hash =
        step.side === 'left'
          ? sha256('node', other, step.hash, sum, hash)
          : sha256('node', sum, hash, other, step.hash);
      sum += other;
    }
    const tree = trees.find(({ currency }) => currency === leaf.currency);
    if (!tree || hash !== tree.root || sum !== units(tree.total))
      throw new Error(`your ${leaf.currency} is not in the tree: it leads to ${hash}, ${sum}`);
    console.log(
      `${leaf.currency}: ${parts.map((part) => `${part} ${leaf[part]}`).join(', ')}; of ${tree.total} owed in all`,
    );
  }
  console.log(
    `${proof.leaves.length} balances of merchant ${[...merchants].join()} at ${proof.createdAt} ` +
      `are in the tree ${root}`,
  );
}

const [file, root] = process.argv.slice(2);
if (!file || !root) {
  console.error('Usage: node verify-liability.mjs <proof.json> <published root>');
  process.exit(2);
}
try {
  check(JSON.parse(readFileSync(file, 'utf8')), root);
} catch (error) {
  console.error(`NOT PROVEN: ${error.message}`);
  process.exit(1);
}
