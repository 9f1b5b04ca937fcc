import type { Texts } from './en';

/** Words of a payment’s own page. */

export const decisions: Texts['decisions'] = {
  cancel: {
    name: 'Zahlung stornieren',
    sure: 'Niemand kann sie mehr bezahlen. Schon gesendetes Geld kommt als eigene Zahlung an.',
    done: 'Zahlung storniert',
  },
  acceptUnderpaid: {
    name: 'Angekommenes annehmen',
    sure: 'Was angekommen ist, gilt als genug, und die Zahlung wird damit abgeschlossen.',
    done: 'Angenommen',
  },
  acceptCrossChain: {
    name: 'Andere Währung annehmen',
    sure: 'Die Zahlung wechselt in die Währung, die ankam, zum Kurs des Zeitpunkts, an dem sie bemerkt wurde.',
    done: 'Angenommen',
  },
  rejectCrossChain: {
    name: 'Andere Währung ablehnen',
    sure: 'Die Zahlung schlägt fehl. Was ankam, wird gehalten, bis Sie es erstatten.',
    done: 'Abgelehnt',
  },
};

export const timeline: Texts['timeline'] = {
  title: 'Verlauf',
  updated: 'aktualisiert',
  reason: (reason) => `Grund: ${reason}`,
  by: (name) => `Von ${name}`,
  roles: { payer: 'der Person, die zahlt', merchant: 'dem Team', credit: 'dem Dienst' },
  rate: 'Kurs:',
  delivered: 'Zugestellt',
  notDelivered: 'Nicht zugestellt',
  delivery: (type, attempt) => `Ereignis ${type}, Versuch ${attempt}`,
  resend: 'Erneut senden',
  resent: 'Erneut gesendet',
  causes: {
    'aml-screened': 'der Zahler wurde geprüft',
    'cancelled-by-merchant': 'von Ihnen storniert',
    'cancelled-by-payer': 'vom Zahler storniert',
    'cancelled-by-service': 'storniert: Es kam keine Lightning-Rechnung',
    confirmed: 'bestätigt',
    created: 'angelegt',
    credit: 'gutgeschrieben',
    'currency-selected-by-lightning': 'zuerst wurde ihre Lightning-Rechnung bezahlt',
    'currency-selected-by-merchant': 'Sie haben die Währung gewählt',
    'currency-selected-by-payer': 'der Zahler hat die Währung gewählt',
    'deposit-lost': 'eine Einzahlung ging verloren',
    'deposit-mined-late': 'eine Einzahlung kam spät in einen Block',
    'deposit-returned': 'eine Einzahlung ist zurück',
    'deposit-seen': 'eine Einzahlung wurde gesehen',
    expired: 'die Zeit ist um',
    'lightning-invoice': 'ihre Lightning-Rechnung ist da',
    'lightning-taken': 'über Lightning bezahlt',
    'not-confirmed': 'nicht rechtzeitig bestätigt',
    'other-asset': 'eine andere Währung kam an',
    'other-asset-accepted-by-itself': 'die andere Währung wurde von selbst angenommen',
    'other-asset-accepted-by-merchant': 'Sie haben die andere Währung angenommen',
    'other-asset-not-accepted': 'die andere Währung wurde nicht rechtzeitig angenommen',
    'other-asset-not-accepted-by-itself': 'die andere Währung konnte nicht von selbst angenommen werden',
    'other-asset-rejected-by-merchant': 'Sie haben die andere Währung abgelehnt',
    'paid-after-quote': 'nach dem Ende des Angebots bezahlt',
    'quote-refreshed': 'ein neues Angebot',
    'refund-reorganised': 'eine Erstattung wurde reorganisiert',
    refunded: 'erstattet',
    'reorg-after-settlement': 'nach dem Abschluss reorganisiert',
    'repeat-deposit': 'eine wiederholte Einzahlung',
    'sweep-planned': 'das Einsammeln ist geplant',
    'sweep-waits': 'das Einsammeln wartet',
    swept: 'eingesammelt',
    'underpaid-accepted': 'der Teil wurde nach Ihrer Regel angenommen',
    'underpaid-accepted-by-merchant': 'Sie haben den Teil angenommen',
  },
};

export const refunds: Texts['refunds'] = {
  title: 'Erstattungen',
  create: 'Erstatten',
  none: 'Noch keine Erstattung.',
  noneAtAll: 'Noch keine Erstattung. Erstatten Sie eine Zahlung auf ihrer Seite.',
  noneFound: 'Keine Erstattung passt zu diesen Filtern.',
  statuses: {
    awaiting_address: 'Wartet auf eine Adresse',
    awaiting_approval: 'Wartet auf Freigabe',
    pending: 'Vorgemerkt',
    processing: 'Wird gesendet',
    broadcast: 'Gesendet',
    completed: 'Fertig',
    failed: 'Fehlgeschlagen',
    cancelled: 'Storniert',
  },
  decisions: {
    approve: {
      name: 'Erstattung freigeben',
      sure: 'Was signiert ist, lässt sich nicht zurückholen. Vergleichen Sie vorher mit dem Zahler, wohin es geht.',
      done: 'Erstattung freigegeben',
    },
    reject: {
      name: 'Erstattung ablehnen',
      sure: 'Nichts wird gesendet, und was sie hielt, ist wieder im Guthaben.',
      done: 'Erstattung abgelehnt',
    },
    cancel: {
      name: 'Erstattung stornieren',
      sure: 'Nichts wird gesendet, und was sie hielt, ist wieder im Guthaben.',
      done: 'Erstattung storniert',
    },
  },
  claim: 'Abruflink',
  claimWhy: 'Geben Sie diesen Link nur dem Zahler: Wer ihn hat, bestimmt, wohin das Geld geht.',
  type: 'Was erstattet wird',
  types: {
    full: 'Alles, was übrig ist',
    partial: 'Ein Teil',
    overpaid: 'Was über den Preis hinaus kam',
    underpaid: 'Was von einer fehlgeschlagenen Zahlung gehalten wird',
  },
  amount: (currency) => `Betrag in ${currency}`,
  address: 'Adresse des Zahlers',
  addressHint:
    'Fragen Sie den Zahler: Die Adresse, von der Geld kam, muss nicht seine sein. Leer: Er nennt sie über einen Link.',
  invoice: 'Lightning-Rechnung des Zahlers',
  byInvoice: 'Der Zahler nennt eine Lightning-Rechnung über einen Link, den Sie ihm geben.',
  tag: 'Destination-Tag des Zahlers',
  payerNames: 'Der Zahler nennt sie über einen Link.',
  feeBearer: 'Netzwerkgebühr',
  feeBearers: { merchant: 'Zusätzlich, von Ihnen bezahlt', payer: 'Vom Betrag abgezogen' },
  preview: 'Ergebnis zeigen',
  counts: 'Erstattung',
  fee: 'Netzwerkgebühr',
  gets: 'Der Zahler erhält',
  worth: 'Wert',
  submit: 'Erstatten',
  created: 'Erstattung angelegt',
};

export const bulk: Texts['bulk'] = {
  title: 'Ausgewählte Zahlungen',
  choose: 'Auswählen',
  chooseOne: (slug) => `Zahlung ${slug} auswählen`,
  page: 'Alle dieser Seite',
  chosen: (count) => (count === 1 ? '1 Zahlung ausgewählt' : `${count} Zahlungen ausgewählt`),
  most: (count) => `Höchstens ${count} Zahlungen lassen sich auf einmal auswählen.`,
  clear: 'Keine auswählen',
  csv: 'Ausgewählte als CSV',
  json: 'Ausgewählte als JSON',
  cancel: 'Unbezahlte stornieren',
  noneUnpaid: 'Keine der ausgewählten Zahlungen ist unbezahlt.',
  cancelSure: (count) =>
    count === 1
      ? 'Niemand kann diese Zahlung mehr bezahlen. Schon gesendetes Geld kommt als eigene Zahlung an.'
      : `Niemand kann diese ${count} Zahlungen mehr bezahlen. Schon gesendetes Geld kommt als eigene Zahlung an.`,
  notUnpaid: (count) =>
    count === 1
      ? '1 weitere ist ausgewählt, aber nicht mehr unbezahlt: Sie bleibt, wie sie ist.'
      : `${count} weitere sind ausgewählt, aber nicht mehr unbezahlt: Sie bleiben, wie sie sind.`,
  cancelNow: (count) => (count === 1 ? '1 Zahlung stornieren' : `${count} Zahlungen stornieren`),
  cancelled: (count) => (count === 1 ? '1 Zahlung storniert' : `${count} Zahlungen storniert`),
  outcomes: 'Was aus jeder wird',
  done: 'Storniert',
  waits: 'Danach',
  notTried: 'Nicht versucht',
};
