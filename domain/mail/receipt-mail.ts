import { carrierOf, networks, payableAsset, type NetworkId } from '../chains/assets';
import type { InvoiceBranding } from '../branding/branding';
import { trim } from '../money';
import type { PaymentRow } from '../payments/payment';
import type { Mail } from './mail';

/** The receipt that a payer asked for, in the language of their page. The page behind the link is the receipt itself:
 *  this says what was paid, and where it is. */

type Words = Readonly<{
  subject: string;
  paid: string;
  received: string;
  order: string;
  about: string;
  invoice: string;
  network: string;
  link: string;
  contact: string;
  why: string;
}>;

const words: Readonly<Record<string, Words>> = {
  en: {
    subject: 'Your payment to {merchant}',
    paid: 'Your payment of {price} to {merchant} is confirmed.',
    received: 'Received',
    order: 'Order',
    about: 'For',
    invoice: 'Invoice',
    network: 'Network',
    link: 'The receipt, to print or as PDF:',
    contact: 'Questions about your order:',
    why: 'You get this message once, because this address was left on the payment page.',
  },
  de: {
    subject: 'Ihre Zahlung an {merchant}',
    paid: 'Ihre Zahlung von {price} an {merchant} ist bestätigt.',
    received: 'Erhalten',
    order: 'Bestellung',
    about: 'Wofür',
    invoice: 'Rechnung',
    network: 'Netzwerk',
    link: 'Der Beleg, zum Drucken oder als PDF:',
    contact: 'Fragen zu Ihrer Bestellung:',
    why: 'Sie erhalten diese Nachricht einmal, weil diese Adresse auf der Zahlungsseite angegeben wurde.',
  },
  es: {
    subject: 'Su pago a {merchant}',
    paid: 'Su pago de {price} a {merchant} está confirmado.',
    received: 'Recibido',
    order: 'Pedido',
    about: 'Concepto',
    invoice: 'Factura',
    network: 'Red',
    link: 'El recibo, para imprimir o en PDF:',
    contact: 'Preguntas sobre su pedido:',
    why: 'Recibe este mensaje una sola vez porque se indicó esta dirección en la página de pago.',
  },
  fr: {
    subject: 'Votre paiement à {merchant}',
    paid: 'Votre paiement de {price} à {merchant} est confirmé.',
    received: 'Reçu',
    order: 'Commande',
    about: 'Objet',
    invoice: 'Facture',
    network: 'Réseau',
    link: 'Le reçu, à imprimer ou en PDF :',
    contact: 'Questions sur votre commande :',
    why: 'Vous recevez ce message une seule fois, car cette adresse a été indiquée sur la page de paiement.',
  },
  pt: {
    subject: 'O seu pagamento a {merchant}',
    paid: 'O seu pagamento de {price} a {merchant} está confirmado.',
    received: 'Recebido',
    order: 'Pedido',
    about: 'Referente a',
    invoice: 'Fatura',
    network: 'Rede',
    link: 'O recibo, para imprimir ou em PDF:',
    contact: 'Dúvidas sobre o seu pedido:',
    why: 'Recebe esta mensagem uma única vez porque este endereço foi indicado na página de pagamento.',
  },
  ar: {
    subject: 'دفعتك إلى {merchant}',
    paid: 'تم تأكيد دفعتك بمبلغ {price} إلى {merchant}.',
    received: 'المبلغ المستلم',
    order: 'الطلب',
    about: 'مقابل',
    invoice: 'الفاتورة',
    network: 'الشبكة',
    link: 'الإيصال، للطباعة أو بصيغة PDF:',
    contact: 'أسئلة حول طلبك:',
    why: 'تصلك هذه الرسالة مرة واحدة لأن هذا العنوان أُدخل في صفحة الدفع.',
  },
};
export const receiptLanguages: readonly string[] = Object.keys(words);

export type ReceiptAbout = Readonly<{
  payment: Pick<
    PaymentRow,
    | 'slug'
    | 'fiat_amount'
    | 'fiat_currency'
    | 'amount_paid'
    | 'currency'
    | 'network'
    | 'merchant_order_id'
    | 'description'
  >;
  merchantName: string;
  branding: Pick<InvoiceBranding, 'supportEmail' | 'supportUrl'>;
  checkoutUrl: string;
}>;

/** Text of others stays on its line. */
const inLine = (text: string): string => text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();

/** A language without words of its own gets English ones. */
export function receiptMail(to: string, language: string, about: ReceiptAbout): Mail {
  const { payment, branding, checkoutUrl } = about;
  const w = words[language] ?? words['en']!;
  const merchant = inLine(about.merchantName);
  const price = `${trim(payment.fiat_amount)} ${payment.fiat_currency}`;
  const say = (text: string): string => text.replace('{price}', () => price).replace('{merchant}', () => merchant);
  const known = payment.currency === null ? undefined : payableAsset(payment.currency, true);
  const asset = known?.asset ?? payment.currency ?? '';
  const network = known
    ? carrierOf(known)
    : ((payment.network && networks[payment.network as NetworkId]?.name) ?? payment.network);
  const facts: ReadonlyArray<readonly [string, string | null]> = [
    [w.order, payment.merchant_order_id],
    [w.about, payment.description],
    [w.received, `${trim(payment.amount_paid)} ${asset}`],
    [w.network, network],
    [w.invoice, payment.slug],
  ];
  const contact = branding.supportUrl ?? branding.supportEmail;
  const parts = [
    say(w.paid),
    facts.flatMap(([name, text]) => (text === null ? [] : [`${name}: ${inLine(text)}`])).join('\n'),
    `${w.link}\n${new URL(`/i/${payment.slug}`, checkoutUrl).href}?language=${words[language] ? language : 'en'}`,
    ...(contact === null ? [] : [`${w.contact}\n${contact}`]),
    w.why,
  ];
  return { to, template: 'receipt', subject: say(w.subject), text: `${parts.join('\n\n')}\n` };
}
