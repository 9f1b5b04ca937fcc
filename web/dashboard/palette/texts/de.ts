import type { en } from './en';

/** Wörter der Befehlspalette. */
export const de: typeof en = {
  title: 'Gehen zu oder tun',
  label: 'Seite, Aktion oder Suchtext für Zahlungen',
  list: 'Was passt',
  newPayment: 'Zahlung anlegen',
  newPayout: 'Neue Sammelzahlung',
  newWidget: 'Neues Widget',
  search: (text) => `Zahlungen nach „${text}“ durchsuchen`,
  none: 'Nichts passt.',
};
