import type { UtxoChain, UtxoNetwork } from '../../domain/chains/assets';
import type { Transfer } from '../../domain/chains/chain';
import { toUnits } from '../../domain/money';
import { addressOfScript } from './codec';

/** Transactions as nodes state them, and what they move. */

export type Output = { value: number; n: number; scriptPubKey: { hex: string } };
/** Of an output in the extension block (MWEB) the node of Litecoin names an id and nothing else. */
type AnyOutput = Output | { ismweb: true; output_id: string };
/** Without `txid`: of a block's reward, or of the extension block. */
export type Input = { txid?: string; vout?: number };
export type Tx = { txid: string; vin: Input[]; vout: AnyOutput[]; blockhash?: string };

/** JSON states coins as a number with eight decimals, which a double carries exactly. */
export const unitsOf = (value: number): bigint => toUnits(value.toFixed(8), 8);

export const outpointsOf = (tx: Tx): string[] =>
  tx.vin.flatMap((input) => (input.txid === undefined ? [] : [`${input.txid}:${input.vout}`]));

export const outputsOf = (tx: Tx): Output[] => tx.vout.filter((output) => 'scriptPubKey' in output);

/** An output that has no address is named by its script. */
export const addressOf = (output: Output, chain: UtxoChain): string =>
  addressOfScript(output.scriptPubKey.hex, chain) ?? `script:${output.scriptPubKey.hex}`;

/** Reads what transactions of one chain move. */
export const transferReader =
  ({ native }: UtxoNetwork, chain: UtxoChain) =>
  (tx: Tx): Transfer[] => {
    const inputs = outpointsOf(tx);
    return outputsOf(tx).map((output) => ({
      txId: tx.txid,
      index: output.n,
      to: addressOf(output, chain),
      currency: native,
      units: unitsOf(output.value),
      inputs,
    }));
  };
