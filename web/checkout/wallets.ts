import { html, type Html } from './html';
import type { Texts } from './texts';

/** What a wallet in the browser is asked to send: the same as the payment URI says (EIP-681), as a transaction. */

const eip681 =
  /^ethereum:(0x[0-9a-fA-F]{40})@(\d+)(?:\/transfer\?address=(0x[0-9a-fA-F]{40})&uint256=(\d+)|\?value=(\d+))$/;
const hex = (decimal: string): string => `0x${BigInt(decimal).toString(16)}`;
const word = (digits: string): string => digits.toLowerCase().padStart(64, '0');

export type WalletCall = Readonly<{ chain: string; to: string; value: string; data: string }>;

/** null: of a network that has no such wallets. */
export function walletCall(paymentUri: string): WalletCall | null {
  const [, target, chainId, recipient, units, value] = eip681.exec(paymentUri) ?? [];
  if (!target || !chainId) return null;
  if (!recipient || !units) return { chain: hex(chainId), to: target, value: hex(value!), data: '' };
  // transfer(address,uint256)
  const data = `0xa9059cbb${word(recipient.slice(2))}${word(hex(units).slice(2))}`;
  return { chain: hex(chainId), to: target, value: '0x0', data };
}

/** Where the script puts a button for each wallet that it finds. */
export function walletPlace(t: Texts, paymentUri: string): Html | null {
  const call = walletCall(paymentUri);
  return (
    call &&
    html`<div
      id="wallets"
      data-chain="${call.chain}"
      data-to="${call.to}"
      data-value="${call.value}"
      data-data="${call.data}"
      data-pay="${t.wallet.pay}"
      data-sent="${t.wallet.sent}"
      data-failed="${t.wallet.failed}"
    ></div>`
  );
}
