import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';

/** btcd empties its regtest chain at every start (and elsewhere writes blocks to disk every five minutes only): the
 *  chain is kept here and handed back to it, so that its blocks outlive it as they would with Bitcoin Core. */

type Ask = <T>(method: string, ...params: unknown[]) => Promise<T>;

export class SavedBlocks {
  /** Raw block by hash, oldest first. */
  private readonly blocks = new Map<string, string>();
  private tip = '';

  constructor(
    private readonly file: string,
    private readonly ask: Ask,
  ) {
    if (!existsSync(file)) return;
    const text = readFileSync(file, 'utf8');
    const whole = text.slice(0, text.lastIndexOf('\n') + 1); // the last line may have been cut off by a kill
    if (whole.length < text.length) writeFileSync(file, whole);
    for (const line of whole.split('\n')) {
      const [hash, raw] = line.split(' ');
      if (hash && raw) this.blocks.set(hash, raw);
      else if (hash) this.tip = hash;
    }
  }

  /** Takes over the blocks that came since the last call. */
  async save(): Promise<void> {
    const best = await this.ask<string>('getbestblockhash');
    if (best === this.tip) return;
    const fresh: Array<[hash: string, raw: string]> = [];
    for (let hash = best; !this.blocks.has(hash);) {
      const raw = await this.ask<string>('getblock', hash, 0);
      fresh.unshift([hash, raw]);
      hash = parentOf(raw);
      if (/^0+$/.test(hash)) break;
    }
    for (const [hash, raw] of fresh) this.blocks.set(hash, raw);
    this.tip = best;
    appendFileSync(this.file, `${fresh.map((block) => `${block.join(' ')}\n`).join('')}${best}\n`);
  }

  /** Hands the node what it lost of the chain that was the best one. */
  async handBack(): Promise<void> {
    const lost: string[] = [];
    for (let hash = this.tip; this.blocks.has(hash) && !(await this.knows(hash));) {
      const raw = this.blocks.get(hash) ?? '';
      lost.unshift(raw);
      hash = parentOf(raw);
    }
    for (const raw of lost) {
      const refused = await this.ask<string | null>('submitblock', raw);
      if (refused) throw new Error(`btcd does not take its own block back: ${refused}`);
    }
  }

  private async knows(hash: string): Promise<boolean> {
    return this.ask('getblockheader', hash, false).then(
      () => true,
      (error: Error) => {
        if (/not found|unable to find/i.test(error.message)) return false;
        throw error;
      },
    );
  }
}

/** Hash of the block before, as the node writes it: bytes 4 to 36 of the header, reversed. */
const parentOf = (raw: string): string => Buffer.from(raw.slice(8, 72), 'hex').reverse().toString('hex');
